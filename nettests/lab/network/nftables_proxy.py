"""What programs the Services of a Linux node: nft rules of kube-proxy's nftables mode. Pure renderers.

Follows the chains of ``pkg/proxy/nftables``: dispatch by address and port, one chain per Service
(choose a backend) and one per backend (masquerade a hairpin, translate). Which client got which
backend is remembered in one dynamic set per backend. Addresses of load balancers are guarded by a chain
per Service that has source ranges, before anything is translated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nettests.lab.network.hints import within_zone
from nettests.lab.network.tables import Chain, Table, word
from nettests.lab.topology import Backend, Network, NodeSpec, ServicePort, ServiceTable

MASQUERADE = 0x4000
TABLE = "kube-proxy"

_ADDRESS_TYPES = {"ip": "ipv4_addr", "ip6": "ipv6_addr"}


@dataclass(slots=True)
class _Draft:
    """What is collected while walking the Service table."""

    node: NodeSpec
    cluster_cidr: Network
    chains: dict[str, list[str]] = field(default_factory=dict)
    sets: dict[str, str] = field(default_factory=dict)
    service_ips: list[str] = field(default_factory=list)
    node_ports: list[str] = field(default_factory=list)
    no_endpoint_ips: list[str] = field(default_factory=list)
    no_endpoint_node_ports: list[str] = field(default_factory=list)
    guarded_ips: list[str] = field(default_factory=list)

    @property
    def ip(self) -> str:
        """The family's word in rules."""
        return word(self.node.address)


def kube_proxy_table(services: ServiceTable, *, node: NodeSpec, cluster_cidr: Network) -> Table:
    """Return the rules of one Linux node for the Services of a cluster, in one family."""
    draft = _Draft(node, cluster_cidr)
    services = within_zone(services, node.zone)
    for service in services:
        _add_service(draft, service)
    plain = {name: Chain(rules=tuple(rules)) for name, rules in draft.chains.items()}
    return Table(
        name=TABLE,
        family=draft.ip,
        chains={**plain, **_fixed_chains(draft, services)},
        sets=dict(draft.sets),
    )


def _label(service: ServicePort) -> str:
    return f"{service.namespace}/{service.service}/{service.port_name}"


def _add_service(draft: _Draft, service: ServicePort) -> None:
    label, protocol = _label(service), service.protocol.lower()
    local = [backend for backend in service.backends if backend.node == draft.node.name]
    inside = local if service.internal_traffic_local else list(service.backends)
    for backend in service.backends:
        _add_endpoint(draft, service, backend)

    cluster_ip = f"{service.cluster_ip} . {protocol} . {service.port}"
    if inside:
        to_service = f"{draft.ip} daddr {service.cluster_ip} {protocol} dport {service.port}"
        draft.chains[f"service-{label}"] = [
            f"{to_service} {draft.ip} saddr != {draft.cluster_cidr} jump mark-for-masquerade",
            *_choose(service, inside),
        ]
        draft.service_ips.append(f"{cluster_ip} : goto service-{label}")
    else:
        verdict = "drop" if service.backends else "goto reject-chain"
        draft.no_endpoint_ips.append(f"{cluster_ip} : {verdict}")
    if service.node_port is not None or service.outer_addresses:
        _add_outside(draft, service, inside=inside, local=local)


def _add_outside(
    draft: _Draft, service: ServicePort, *, inside: list[Backend], local: list[Backend]
) -> None:
    """Serve the Service at its NodePort, its external and its load balancer's addresses."""
    label, protocol = _label(service), service.protocol.lower()
    outer = [f"{address} . {protocol} . {service.port}" for address in service.outer_addresses]
    ports = [] if service.node_port is None else [f"{protocol} . {service.node_port}"]
    if service.backends:
        draft.node_ports += [f"{port} : goto external-{label}" for port in ports]
        draft.service_ips += [f"{address} : goto external-{label}" for address in outer]
        _add_external_chain(draft, service, inside=inside, local=local)
        _guard(draft, service)
    if not service.backends or (service.external_traffic_local and not local):
        verdict = "drop" if service.backends else "goto reject-chain"
        draft.no_endpoint_node_ports += [f"{port} : {verdict}" for port in ports]
        draft.no_endpoint_ips += [f"{address} : {verdict}" for address in outer]


def _guard(draft: _Draft, service: ServicePort) -> None:
    """Drop what clients outside the source ranges send to the load balancer's addresses.

    A balancer may deliver from its own address, which is let in where a node is.
    """
    if not service.source_ranges:
        return
    allowed = list(map(str, service.source_ranges))
    if any(draft.node.address in network for network in service.source_ranges):
        allowed += map(str, service.ingress_addresses)
    name = f"firewall-{_label(service)}"
    draft.chains[name] = [f"{draft.ip} saddr != {{ {', '.join(allowed)} }} drop"]
    for address in service.ingress_addresses:
        key = f"{address} . {service.protocol.lower()} . {service.port}"
        draft.guarded_ips.append(f"{key} : goto {name}")


def _add_external_chain(
    draft: _Draft, service: ServicePort, *, inside: list[Backend], local: list[Backend]
) -> None:
    label = _label(service)
    everywhere = _choose(service, list(service.backends))
    if not service.external_traffic_local:
        draft.chains[f"external-{label}"] = ["jump mark-for-masquerade", *everywhere]
        return
    short_circuit = f"goto service-{label}" if inside else "drop"
    draft.chains[f"external-{label}"] = [
        f"{draft.ip} saddr {draft.cluster_cidr} {short_circuit}",
        f"{draft.ip} saddr {draft.node.address} jump mark-for-masquerade",
        f"{draft.ip} saddr {draft.node.address} {short_circuit}",
        *_choose(service, local),
    ]


def _choose(service: ServicePort, backends: Sequence[Backend]) -> list[str]:
    """Rules that go to the client's backend, if it has one, otherwise to a random one."""
    if not backends:
        return []
    endpoints = [_endpoint(service, backend) for backend in backends]
    remembered = [
        f"{word(backend.address)} saddr @{_affinity(service, backend)} goto endpoint-{_endpoint(service, backend)}"
        for backend in backends
    ]
    choices = ", ".join(f"{n} : goto endpoint-{name}" for n, name in enumerate(endpoints))
    return [
        *(remembered if service.client_ip_affinity else ()),
        f"numgen random mod {len(endpoints)} vmap {{ {choices} }}",
    ]


def _endpoint(service: ServicePort, backend: Backend) -> str:
    # nft's names have no colons; kube-proxy writes dots for them too.
    return f"{_label(service)}/{backend.address}/{backend.port}".replace(":", ".")


def _affinity(service: ServicePort, backend: Backend) -> str:
    return f"affinity-{service.affinity_timeout}/{_endpoint(service, backend)}"


def _add_endpoint(draft: _Draft, service: ServicePort, backend: Backend) -> None:
    name = _endpoint(service, backend)
    rules = [f"{draft.ip} saddr {backend.address} jump mark-for-masquerade"]
    if service.client_ip_affinity:
        remembered = _affinity(service, backend)
        draft.sets[remembered] = (
            f"type {_ADDRESS_TYPES[draft.ip]}; flags dynamic,timeout; timeout {service.affinity_timeout}s;"
        )
        rules.append(f"update @{remembered} {{ {draft.ip} saddr }}")
    rules.append(f"meta l4proto {service.protocol.lower()} dnat to {_place(backend)}")
    draft.chains[f"endpoint-{name}"] = rules


def _place(backend: Backend) -> str:
    address = backend.address
    host = f"[{address}]" if address.version == 6 else str(address)
    return f"{host}:{backend.port}"


def _dispatch(match: str, entries: Sequence[str]) -> list[str]:
    return [f"{match} vmap {{ {', '.join(entries)} }}"] if entries else []


def _fixed_chains(draft: _Draft, services: ServiceTable) -> dict[str, Chain]:
    by_ip = f"{draft.ip} daddr . meta l4proto . th dport"
    by_port = f"{draft.ip} daddr {draft.node.address} meta l4proto . th dport"
    cluster_ips = ", ".join(sorted({str(service.cluster_ip) for service in services}))
    invalid = [f"ct state new {draft.ip} daddr {{ {cluster_ips} }} reject"] if cluster_ips else []
    dispatch = (
        *_dispatch(by_ip, draft.service_ips),
        *_dispatch(by_port, draft.node_ports),
    )
    unserved = (*_dispatch(f"ct state new {by_ip}", draft.no_endpoint_ips), *invalid)
    unserved_ports = _dispatch(f"ct state new {by_port}", draft.no_endpoint_node_ports)
    guards = {}
    if draft.guarded_ips:
        guarded = tuple(_dispatch(f"ct state new {by_ip}", draft.guarded_ips))
        guards = {
            f"filter-{hook}-first": Chain(
                hook=f"type filter hook {hook} priority -110", rules=guarded
            )
            for hook in ("prerouting", "output")
        }
    return {
        **guards,
        "mark-for-masquerade": Chain(rules=(f"meta mark set meta mark | {MASQUERADE:#x}",)),
        "reject-chain": Chain(rules=("reject",)),
        "nat-prerouting": Chain(hook="type nat hook prerouting priority -100", rules=dispatch),
        "nat-output": Chain(hook="type nat hook output priority -100", rules=dispatch),
        "filter-input": Chain(
            hook="type filter hook input priority -110", rules=tuple(unserved_ports)
        ),
        "filter-forward": Chain(hook="type filter hook forward priority -110", rules=unserved),
        # After translation (-100): what the node itself sends meets both hooks here.
        "filter-output": Chain(hook="type filter hook output priority -90", rules=unserved),
        "nat-postrouting": Chain(
            hook="type nat hook postrouting priority 100",
            rules=(
                f"meta mark & {MASQUERADE:#x} == 0 return",
                f"meta mark set meta mark ^ {MASQUERADE:#x}",
                "masquerade fully-random",
            ),
        ),
    }
