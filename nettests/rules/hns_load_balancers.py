"""Load balancers as HNS shows them on a Windows node, with the endpoints that they refer to.

No rule is declared here: ``load_balancers`` compares them with Services. Sources: kube-proxy
``pkg/proxy/winkernel``, Microsoft's ``networkhealth.ps1`` (References against endpoints).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nettests.rules.balancing import Frontend
from nettests.rules.evidence import Evidence, Object
from nettests.rules.hns import policies_of, shown_by

PROTOCOLS = {6: "TCP", 17: "UDP", 132: "SCTP"}
POLICIES = shown_by("Get-HnsPolicyList", "hns-policies")
ENDPOINTS_BESIDE = shown_by("Get-HnsEndpoint", "hns-endpoints-beside-policies")
"""Read together with the load balancers, so that it holds the endpoints that they refer to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A load balancer that HNS shows: ``backends`` by address; ``gone`` counts references to missing endpoints."""

    front: Frontend
    family: int
    backends: frozenset[str]
    gone: int
    port: int
    direct: bool
    source: str
    """The source VIP; empty where HNS takes the node's address."""


def balancers(evidence: Evidence) -> Iterator[Shown]:
    """Yield the load balancers, each with the addresses of the endpoints that it refers to."""
    # sample: {"Policies": [{"Type": "ELB", …}], "References": ["/endpoints/c55b2c86-…"]}
    by_id = {str(row.get("ID")).lower(): row for row in evidence.rows(ENDPOINTS_BESIDE)}
    for row in evidence.rows(POLICIES):
        references = [str(text).rsplit("/", 1)[-1].lower() for text in row.get("References") or []]
        endpoints = [by_id[number] for number in references if number in by_id]
        for policy in policies_of(row, "ELB"):
            for front in frontends([row]):
                second = bool(policy.get("IPv6")) or ":" in front[0] or _all_second(endpoints)
                key = "IPv6Address" if second else "IPAddress"
                yield Shown(
                    front=front,
                    family=6 if second else 4,
                    backends=frozenset(
                        str(endpoint.get(key) or endpoint.get("IPAddress"))
                        for endpoint in endpoints
                    ),
                    gone=len(references) - len(endpoints),
                    port=int(policy.get("InternalPort") or 0),
                    direct=bool(policy.get("IsDSR")),
                    source=str(policy.get("SourceVIP") or ""),
                )


def frontends(lists: Iterable[Object]) -> Iterator[Frontend]:
    """Yield the frontends of the load balancers in policy lists."""
    # sample: {"ExternalPort":  443, "InternalPort":  6443, "IsDSR":  false, "Protocol":  6,
    #          "SourceVIP":  "10.244.3.2", "Type":  "ELB", "VIPs":  ["10.96.0.1"]}
    for row in lists:
        for policy in policies_of(row, "ELB"):
            protocol = PROTOCOLS.get(policy.get("Protocol", 0), "?")
            vips = policy.get("VIPs") or [""]
            for vip in vips if isinstance(vips, list) else [vips]:
                yield str(vip), int(policy["ExternalPort"]), protocol


def addresses(evidence: Evidence) -> tuple[set[str], set[str]]:
    """Return the addresses of remote and of local endpoints."""
    by_place: tuple[set[str], set[str]] = set(), set()
    for row in evidence.rows(ENDPOINTS_BESIDE):
        for key in ("IPAddress", "IPv6Address"):
            if row.get(key):
                by_place[not row.get("IsRemoteEndpoint")].add(str(row[key]))
    return by_place


def held_twice(evidence: Evidence) -> Iterator[str]:
    """Yield addresses that two HNS endpoints share, for example if a remote one was created for a local Pod."""
    remote, local = addresses(evidence)
    for address in sorted(remote & local):
        yield f"a remote endpoint at {address}, which is a local one's"
    held = Counter(
        (str(row.get("VirtualNetworkName")), bool(row.get("IsRemoteEndpoint")), str(row[key]))
        for row in evidence.rows(ENDPOINTS_BESIDE)
        for key in ("IPAddress", "IPv6Address")
        if row.get(key)
    )
    for (_, remote_one, address), count in sorted(held.items()):
        if count > 1:
            yield f"{count} {'remote' if remote_one else 'local'} endpoints at {address}"


def _all_second(endpoints: list[Object]) -> bool:
    return bool(endpoints) and all(":" in str(endpoint.get("IPAddress")) for endpoint in endpoints)
