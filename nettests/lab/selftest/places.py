"""The profiles that named faults are for, and which checks have a part in a place of them. Values.

All but ``FLEET`` and ``EMPTY`` have the same four nodes: ``linux-1`` and ``win-1`` are source or target, ``linux-2`` and ``win-2`` answer;
the cluster's DNS runs on ``linux-1``. A check may cross nodes that are no end of it: those of the backends
behind its Service, and those of its positive controls.
"""

from collections.abc import Callable, Mapping

from nettests.lab.selftest.declared import Checks

BRIDGE = "win2022-l2bridge-dsr"
OVERLAY = "win2019-overlay"
OLD_BRIDGE = "win2019-l2bridge"
SERVICES = "win2022-overlay-services"
"""kube-proxy is a service of its Windows nodes, which only a vantage there reads."""
FLEET = "fleet"
"""Twelve nodes: two Windows pools of four (``win-1`` to ``win-4``, ``win-5`` to ``win-8``) and four Linux nodes."""
EVERYWHERE = (BRIDGE, OVERLAY, OLD_BRIDGE)
"""Of each kind of network one: routed with DSR, overlay, and the oldest that is supported."""
EMPTY = "hns-ipam-l2bridge"
"""Its third Windows node is cordoned and has no Pods but those of the host's network."""
PROFILES = (*EVERYWHERE, SERVICES, FLEET, EMPTY)

NODES = {BRIDGE: {"linux": 2, "win": 2}, FLEET: {"linux": 4, "win": 8}}
"""How many nodes of each system a profile has where faults may be; profiles that are not listed have as many as the first."""
_OF_A_POOL = 4


def slot_of(node: str) -> str:
    """Return the node pool and the place in it by which Pods on a node are named: ``windows-2-1`` of ``win-5``."""
    system, _, number = node.rpartition("-")
    pool, member = divmod(int(number) - 1, _OF_A_POOL)
    return f"{'windows' if system == 'win' else system}-{pool + 1}-{member + 1}"


_NAMES = (
    *("dns-*", "pod-a-record", "pod-to-pod-name", "pod-to-external-dns", "node-to-external-name"),
    *("pod-to-service-fqdn", "pod-to-service-pqdn", "pod-to-service-partial-name"),
    *("service-external-name", "service-headless", "stateful-set-names", "new-pod-first-packets"),
)
_OF_PROXY = (
    *(
        "pod-to-service-*",
        "payload-*-service",
        "connection-loss",
        "service-*",
        "session-affinity",
        "dsr-source-address",
        "etp-*",
    ),
    *("itp-*", "node-to-service-*", "icmp-pod-to-service", "nodeport-localhost"),
    "new-pod-first-packets",
    *("pod-to-service-pqdn", "dns-via-service"),
)
_NEGATIVE = (
    *("etp-local-no-local-backend", "itp-local-no-local-backend", "service-no-endpoints"),
    *("nodeport-no-endpoints", "nodeport-localhost", "icmp-pod-to-service", "icmp-egress"),
    *("service-terminating-backends", "service-unready-backend", "service-two-target-ports"),
    *("service-topology-hints", "service-host-process-backend", "*session-affinity"),
    # Documented limitations of Windows nodes: the silence counts only where another node's question was answered.
    *("node-to-service-*", "nodeport-from-local-node", "nodeport-from-node-source-address"),
    *(
        "hostport-bound-*",
        "pod-to-node-closed-port",
        "pod-to-closed-port",
        "icmp-packet-beyond-mtu",
    ),
)
_BY_THE_API = ("kubectl-to-pod", "pod-restart", "pod-port-forward")

UNPROVEN = tuple(Checks(flow=flow, verdict="unknown") for flow in _NEGATIVE)
"""What expects silence, or one backend of several, where a control that would show more has failed."""
NAMES = tuple(Checks(flow=flow) for flow in _NAMES)
"""What needs an answer of the cluster's DNS."""
PROXIES = tuple(Checks(flow=flow) for flow in (*_OF_PROXY, "*nodeport*"))
"""What needs Service proxies."""


def names_from(node: str) -> tuple[Checks, ...]:
    """Return what needs an answer of the cluster's DNS on a node."""
    return tuple(Checks(flow=flow, source=node) for flow in _NAMES)


def through_proxy_of(node: str) -> tuple[Checks, ...]:
    """Return what the Service proxy of a node translates, beside names."""
    return (
        *(Checks(flow=flow, source=node) for flow in _OF_PROXY),
        Checks(flow="*nodeport*", target=node),
        Checks(flow="etp-*", target=node),
        *UNPROVEN,
    )


def answering(node: str, source: str = "") -> tuple[Checks, ...]:
    """Return what something on a node answers: its Pods, behind Services too, and itself."""
    pod = slot_of(node)
    pool = pod.rpartition("-")[0]
    affine = ("session-affinity",) if pool == "linux-1" else ()  # it has backends there
    return (
        Checks(target=node, source=source),
        *(Checks(flow=flow, source=source) for flow in affine),
        Checks(service=f"*-{pod}", source=source),
        Checks(service=f"*-{pool}", source=source),  # several backends, one of them there
        Checks(flow="dns-headless-service", source=source),  # dials what the name stands for
    )


def crossing(node: str) -> tuple[Checks, ...]:
    """Return what passes between a node and the others."""
    return (
        *(
            Checks(node=node, placement=placement)
            for placement in ("other-node", "outside", "nowhere")
        ),
        Checks(node=node, flow="*nodeport*"),
        Checks(source=node, flow="service-*"),
        Checks(source=node, flow="session-affinity"),
        *answering(node),
        *(names_from(node) if node != "linux-1" else NAMES),
        *UNPROVEN,
    )


def between(start: str, end: str) -> tuple[Checks, ...]:
    """Return what is tested from one node of another, by its Services and NodePorts too."""
    pod = slot_of(end)
    api = _BY_THE_API if start == "linux-1" else ()
    return (
        *answering(end, source=start),
        *(Checks(flow=flow, target=end) for flow in api),  # the API server proxies from there
        Checks(flow="*nodeport-*", target=start, service=f"*-{pod}"),
        Checks(flow="etp-*", target=start, service=f"*-{pod}"),
        Checks(flow="session-affinity", source=start),  # of several backends one is there
        *UNPROVEN,
    )


GROUPS: Mapping[str, Callable[..., tuple[Checks, ...]]] = {
    "unproven": lambda: UNPROVEN,
    "names": lambda: NAMES,
    "proxies": lambda: PROXIES,
    "names-from": names_from,
    "through-proxy-of": through_proxy_of,
    "answering": answering,
    "crossing": crossing,
    "between": between,
}
"""What files of named faults call these groups; the words behind are nodes."""
