"""What node diagnostics say about a trace's finding: objects that confirm or contradict it. Pure.

``session.run`` reads the files that ``diagnose`` wrote; a missing file says nothing.
Addresses are searched for as words: a load balancer with the Service's address, an endpoint with a
Pod's.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from ipaddress import IPv4Network, ip_address
from typing import assert_never

from nettests.tracing.finding import Finding, Trace
from nettests.tracing.mark import Way

BALANCERS, ENDPOINTS, NETWORKS = (
    "hns-load-balancers.json",
    "hns-endpoints.json",
    "hns-networks.json",
)
ROUTES, NFTABLES, IPTABLES = "routes.txt", "nftables.txt", "iptables.txt"
FILES = (BALANCERS, ENDPOINTS, NETWORKS, ROUTES, NFTABLES, IPTABLES)
"""File names as in the inventory of ``diagnose``; a test compares them."""
_RULES = {BALANCERS: "HNS load balancer", NFTABLES: "nftables rule", IPTABLES: "iptables rule"}

Read = Callable[[str, str], str | None]
"""Returns the text of a node's file; ``None`` if it was not collected completely."""


def confirmations(trace: Trace, read: Read) -> tuple[str, ...]:
    """Return what objects of the nodes say about the finding, each with its file."""
    return tuple(_statements(trace, read))


def _statements(trace: Trace, read: Read) -> Iterator[str]:
    scene, node = trace.scene, trace.node
    sender = scene.source
    backend = trace.backend or (scene.backends[0] if scene.backends else scene.source)
    match trace.finding:
        case Finding.UNTRANSLATED | Finding.REPLY_NOT_TRANSLATED:
            yield from _rules(node, str(scene.requested), read)
        case Finding.DEAD_BACKEND:
            yield from _rules(node, _translated_to(trace), read)
        case Finding.LOST_IN_SOURCE_NODE | Finding.NOT_ENCAPSULATED | Finding.LOST_BETWEEN_NODES:
            yield from _route(scene.translator or sender.node, str(backend.address), read)
        case Finding.REPLY_LOST | Finding.REPLY_OTHER_WAY:
            yield from _route(backend.node, str(sender.address), read)
        case Finding.WRONG_VNI:
            vni = str(scene.vni) if scene.vni is not None else ""
            yield from _has(node, NETWORKS, "HNS network", vni, read)
        case Finding.NOT_DELIVERED | Finding.UNANSWERED | Finding.DROPPED | Finding.REFUSED:
            yield from _has(backend.node, ENDPOINTS, "HNS endpoint", str(backend.address), read)
        case Finding.NEVER_LEFT_POD | Finding.REPLY_NOT_DELIVERED | Finding.SOURCE_REWRITTEN:
            if not sender.on_host:
                yield from _has(sender.node, ENDPOINTS, "HNS endpoint", str(sender.address), read)
        case Finding.NOTHING_WRONG | Finding.UNSURE | Finding.LOSES_SOME | Finding.FORGOTTEN:
            return
        case Finding.TOO_BIG_UNTOLD | Finding.TOO_BIG_TOLD:
            return
        case _:
            assert_never(trace.finding)


def _translated_to(trace: Trace) -> str:
    """Return the last address, not the requested one, to which the flow was sent."""
    elsewhere = [
        frame.packet.destination
        for frame in trace.frames
        if frame.way is Way.REQUEST and frame.packet.destination != trace.scene.requested
    ]
    return str(elsewhere[-1]) if elsewhere else ""


def _rules(node: str, address: str, read: Read) -> Iterator[str]:
    for file, what in _RULES.items():
        yield from _has(node, file, what, address, read)


def _has(node: str, file: str, what: str, word: str, read: Read) -> Iterator[str]:
    text = read(node, file)
    if text and word:
        verb = "has an" if _names(text, word) else "has no"
        yield f"{node} {verb} {what} with {word} ({file})"


def _names(text: str, word: str) -> bool:
    """Whether a text holds a word not within a longer address or number; a port may follow."""
    end = r"(?![\da-fA-F:])" if ":" in word else r"(?!\d|\.\d)"
    return re.search(rf"(?<![\d.:a-fA-F]){re.escape(word)}{end}", text, re.IGNORECASE) is not None


_ADDRESS = r"\d{1,3}(?:\.\d{1,3}){3}"
_ROUTE = re.compile(
    rf"^\s*(?:(?:unicast|local)\s+)?({_ADDRESS})(?:/(\d+)|\s+({_ADDRESS}))?(?!\S)", re.MULTILINE
)
_DEFAULT = re.compile(rf"^default via {_ADDRESS}\b|^default dev ", re.MULTILINE)
# samples: "default via 172.30.0.1 dev eth0", "default dev tun0 scope link"; not "default via fe80::1 dev eth0", "unreachable default …"
# samples: "10.244.1.0/24 via 172.30.0.11 dev eth0", "local 10.244.1.1 dev cni0 …", "  10.244.1.0    255.255.255.0  On-link …"


def _route(node: str, address: str, read: Read) -> Iterator[str]:
    """Say which of the node's routes leads to an address, apart from a default route."""
    text = read(node, ROUTES)
    if not text or ":" in address:
        return
    routes = [route for route in _routes(text) if ip_address(address) in route and route.prefixlen]
    if routes:
        nearest = max(routes, key=lambda route: route.prefixlen)
        yield f"{node} has a route to {address}, {nearest} ({ROUTES})"
    else:
        default = any(not route.prefixlen for route in _routes(text)) or _DEFAULT.search(text)
        but = "but a default" if default else "and no default"
        yield f"{node} has no route to {address} {but} ({ROUTES})"


def _routes(text: str) -> Iterator[IPv4Network]:
    for network, length, mask in _ROUTE.findall(text):
        with suppress(ValueError):  # other tables have addresses too
            yield IPv4Network(f"{network}/{length or mask or 32}", strict=False)
