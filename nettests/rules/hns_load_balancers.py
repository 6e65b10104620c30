"""HNS load balancers of a Windows node, with the endpoints that they refer to.

No rule is declared here: ``load_balancers`` compares them with Services. Sources: kube-proxy
``pkg/proxy/winkernel``, Microsoft's ``networkhealth.ps1`` (References against endpoints).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nettests.model.json_text import Object
from nettests.rules.balancing import Frontend
from nettests.rules.evidence import Evidence, UnreadableError
from nettests.rules.hns import (
    DIRECT,
    Endpoint,
    endpoints,
    is_second,
    listed,
    objects_in,
    of_kind,
    policies_of,
    shown_by,
)

PROTOCOLS = {6: "TCP", 17: "UDP", 132: "SCTP"}
POLICIES = shown_by("Get-HnsPolicyList", "hns-policies")
ENDPOINTS_BESIDE = shown_by("Get-HnsEndpoint", "hns-endpoints-beside-policies")
"""Read right after the load balancers, so that it contains the endpoints that they refer to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBalancer:
    """An HNS load balancer at one port; ``references`` are ids of endpoints."""

    id: str
    fronts: tuple[Frontend, ...]
    references: tuple[str, ...]
    port: int
    direct: bool
    source: str
    """The source VIP; empty if HNS uses the node's address."""
    ipv6: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An HNS load balancer, ``backends`` by address; ``gone`` counts missing endpoints."""

    front: Frontend
    family: int
    backends: frozenset[str]
    gone: int
    port: int
    direct: bool
    source: str


def load_balancers_in(text: str) -> list[LoadBalancer]:
    """Parse the load balancers in an output; ``UnreadableError`` if it is no HNS list."""
    try:
        return [balancer for row in objects_in(text) for balancer in _load_balancers_of(row)]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableError(
            f"a load balancer in a form that HNS does not show: {error!r}"
        ) from error


def load_balancers_of(evidence: Evidence) -> list[LoadBalancer]:
    """Return the load balancers of a node."""
    return load_balancers_in(evidence.text(POLICIES))


def _load_balancers_of(row: Object) -> Iterator[LoadBalancer]:
    # samples: {"ID": "d680…", "References": ["/endpoints/c55b2c86-…"], "Policies": [{"Type": "ELB", "ExternalPort": 443, "InternalPort":
    #           6443, "IsDSR": false, "Protocol": 6, "SourceVIP": "10.244.3.2", "VIPs": ["10.96.0.1"]}]}
    #          {"ID": "d680…", "HostComputeEndpoints": ["c55b2c86-…"], "FrontendVIPs": ["10.96.0.1"], "SourceVIP": "10.244.3.2", "Flags": 0,
    #           "PortMappings": [{"ExternalPort": 443, "InternalPort": 6443, "Protocol": 6}], "SchemaVersion": {"Major": 2, "Minor": 0}}
    second = is_second(row)
    ports = listed(row.get("PortMappings")) if second else list(of_kind(policies_of(row), "ELB"))
    references = row.get("HostComputeEndpoints" if second else "References") or []
    for port in ports:
        holder = row if second else port
        vips = holder.get("FrontendVIPs" if second else "VIPs") or [""]
        protocol = PROTOCOLS.get(int(port.get("Protocol") or 0), "?")
        yield LoadBalancer(
            id=str(row.get("ID")),
            fronts=tuple(
                (str(vip), int(port["ExternalPort"]), protocol)
                for vip in (vips if isinstance(vips, list) else [vips])
            ),
            references=tuple(str(text).rsplit("/", 1)[-1].lower() for text in references),
            port=int(port.get("InternalPort") or 0),
            direct=bool(int(row.get("Flags") or 0) & DIRECT if second else port.get("IsDSR")),
            source=str(holder.get("SourceVIP") or ""),
            ipv6=bool(port.get("IPv6")),
        )


def balancers(evidence: Evidence) -> Iterator[Shown]:
    """Yield the load balancers, each with the addresses of its endpoints."""
    by_id = {endpoint.id: endpoint for endpoint in endpoints(evidence, ENDPOINTS_BESIDE)}
    for balancer in load_balancers_of(evidence):
        referred = [by_id[number] for number in balancer.references if number in by_id]
        for front in balancer.fronts:
            second = balancer.ipv6 or ":" in front[0] or _all_second(referred)
            yield Shown(
                front=front,
                family=6 if second else 4,
                backends=frozenset(
                    endpoint.addresses[-1 if second else 0]
                    for endpoint in referred
                    if endpoint.addresses
                ),
                gone=len(balancer.references) - len(referred),
                port=balancer.port,
                direct=balancer.direct,
                source=balancer.source,
            )


def frontends(shown_balancers: Iterable[LoadBalancer]) -> Iterator[Frontend]:
    """Yield the frontends of load balancers."""
    return (front for balancer in shown_balancers for front in balancer.fronts)


def addresses(evidence: Evidence) -> tuple[set[str], set[str]]:
    """Return the addresses of remote and of local endpoints."""
    by_place: tuple[set[str], set[str]] = set(), set()
    for endpoint in endpoints(evidence, ENDPOINTS_BESIDE):
        by_place[not endpoint.remote].update(endpoint.addresses)
    return by_place


def held_twice(evidence: Evidence) -> Iterator[str]:
    """Yield addresses of two HNS endpoints, such as a remote one created for a local Pod."""
    remote, local = addresses(evidence)
    for address in sorted(remote & local):
        yield f"a remote endpoint at {address}, which is a local one's"
    held = Counter(
        (endpoint.network, endpoint.remote, address)
        for endpoint in endpoints(evidence, ENDPOINTS_BESIDE)
        for address in endpoint.addresses
    )
    for (_, remote_one, address), count in sorted(held.items()):
        if count > 1:
            yield f"{count} {'remote' if remote_one else 'local'} endpoints at {address}"


def _all_second(referred: list[Endpoint]) -> bool:
    return bool(referred) and all(":" in (*endpoint.addresses, "")[0] for endpoint in referred)
