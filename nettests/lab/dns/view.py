"""What the cluster's DNS knows: a value computed from Services and EndpointSlices, nothing else.

Follows "Kubernetes DNS-Based Service Discovery" (specification 1.1.0) as CoreDNS's ``kubernetes``
plugin serves it. Pure: objects in as the API returns them, ``DnsView`` out; ``zone`` answers from it.
Names are absolute, lower case, with the final dot.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from nettests.lab.topology import Address

Object = Mapping[str, Any]
"""A Kubernetes object as JSON."""

_FAMILIES = frozenset({"IPv4", "IPv6"})
"""Types of EndpointSlice whose addresses are addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTarget:
    """One SRV answer; priority is 0 and the weight is shared out by ``zone``."""

    port: int
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsView:
    """All records of the cluster zone. ``namespaces`` is ``None`` when any namespace is taken to exist."""

    domain: str
    addresses: Mapping[str, tuple[Address, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    services: Mapping[str, tuple[ServiceTarget, ...]] = field(default_factory=dict)
    pointers: Mapping[Address, tuple[str, ...]] = field(default_factory=dict)
    namespaces: frozenset[str] | None = None

    @property
    def zone(self) -> str:
        """The zone's apex, absolute."""
        return f"{self.domain.strip('.').lower()}."


@dataclass(slots=True)
class _Records:
    """Records while they are gathered."""

    addresses: dict[str, list[Address]] = field(default_factory=dict)
    services: dict[str, list[ServiceTarget]] = field(default_factory=dict)
    pointers: dict[Address, list[str]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def address(self, name: str, address: Address) -> None:
        addresses = self.addresses.setdefault(name, [])
        if address not in addresses:
            addresses.append(address)

    def service(self, name: str, target: ServiceTarget) -> None:
        targets = self.services.setdefault(name, [])
        if target not in targets:
            targets.append(target)

    def pointer(self, address: Address, name: str) -> None:
        names = self.pointers.setdefault(address, [])
        if name not in names:
            names.append(name)


def view_from_objects(
    services: Iterable[Object],
    endpoint_slices: Iterable[Object],
    domain: str,
    namespaces: Iterable[str] | None = None,
) -> DnsView:
    """Return the view of these objects; ``namespaces`` bounds pod records when it is given."""
    slices: dict[tuple[str, str], list[Object]] = {}
    for piece in endpoint_slices:
        owner = piece["metadata"].get("labels", {}).get("kubernetes.io/service-name", "")
        slices.setdefault((piece["metadata"]["namespace"], owner), []).append(piece)
    records = _Records()
    zone = domain.strip(".").lower()
    for service in services:
        namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
        base = f"{name}.{namespace}.svc.{zone}.".lower()
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            records.aliases[base] = f"{spec['externalName'].rstrip('.').lower()}."
        elif spec.get("clusterIP") == "None":
            _add_headless(records, base, spec, slices.get((namespace, name), []))
        elif spec.get("clusterIP"):
            _add_cluster_ip(records, base, spec)
    return DnsView(
        domain=zone,
        addresses={name: tuple(addresses) for name, addresses in records.addresses.items()},
        aliases=records.aliases,
        services={name: tuple(targets) for name, targets in records.services.items()},
        pointers={address: tuple(names) for address, names in records.pointers.items()},
        namespaces=None if namespaces is None else frozenset(namespaces),
    )


def _add_cluster_ip(records: _Records, base: str, spec: Object) -> None:
    for text in spec.get("clusterIPs") or (spec["clusterIP"],):
        address = ip_address(text)
        records.address(base, address)
        records.pointer(address, base)
    for port in spec.get("ports", ()):
        for name in _service_names(base, port):
            records.service(name, ServiceTarget(port=port["port"], target=base))


def _add_headless(records: _Records, base: str, spec: Object, slices: list[Object]) -> None:
    all_addresses = bool(spec.get("publishNotReadyAddresses"))
    for piece in slices:
        if piece.get("addressType") not in _FAMILIES:
            continue
        for endpoint in piece.get("endpoints") or ():
            ready = endpoint.get("conditions", {}).get("ready")
            if ready is False and not all_addresses:
                continue
            for address in map(ip_address, endpoint["addresses"]):
                _add_endpoint(records, base, piece, _endpoint_label(endpoint, address), address)


def _add_endpoint(
    records: _Records, base: str, piece: Object, label: str, address: Address
) -> None:
    endpoint_name = f"{label}.{base}"
    records.address(base, address)
    records.address(endpoint_name, address)
    records.pointer(address, endpoint_name)
    for port in piece.get("ports") or ():
        for name in _service_names(base, port):
            records.service(name, ServiceTarget(port=port["port"], target=endpoint_name))


def _endpoint_label(endpoint: Object, address: Address) -> str:
    """An endpoint is named by its hostname, else by its address with dashes."""
    dashed = str(address).replace(".", "-").replace(":", "-")
    return str(endpoint.get("hostname") or dashed).lower()


def _service_names(base: str, port: Object) -> Iterator[str]:
    """SRV names exist for named ports only."""
    if port.get("name"):
        yield f"_{port['name']}._{port.get('protocol', 'TCP')}.{base}".lower()
