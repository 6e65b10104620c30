"""Service rules of a Linux node: nft rules of kube-proxy's nftables mode. Pure renderers.

Follows the chains and maps of ``pkg/proxy/nftables``: dispatch by address and port, one chain per Service
(choose a backend) and one per backend (masquerade a hairpin, translate). Session affinity keeps clients in
one dynamic set per backend. Services with source ranges have a chain that filters clients of their load
balancer's addresses before translation.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from nettests.lab.network.services import within_zone
from nettests.lab.network.tables import Chain, Lookup, Table, place, word
from nettests.lab.topology import Backend, Network, NodeSpec, ServicePort, ServiceTable

MASQUERADE = 0x4000
TABLE = "kube-proxy"

_ADDRESS_TYPES = {"ip": "ipv4_addr", "ip6": "ipv6_addr"}
# kube-proxy's names
_CLUSTER_IPS, _SERVICE_IPS, _NODE_PORTS = "cluster-ips", "service-ips", "service-nodeports"
_EMPTY_IPS, _EMPTY_NODE_PORTS = "no-endpoint-services", "no-endpoint-nodeports"
_GUARDED_IPS = "firewall-ips"


@dataclass(slots=True)
class PortRules:
    """The rules of one Service port: chains, sets, and elements of the shared lookups."""

    node: NodeSpec
    cluster_cidr: Network
    chains: dict[str, Chain] = field(default_factory=dict)
    sets: dict[str, str] = field(default_factory=dict)
    elements: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def ip(self) -> str:
        """The family's keyword in rules."""
        return word(self.node.address)

    def chain(self, name: str, *rules: str) -> None:
        """Add a chain."""
        self.chains[name] = Chain(rules=rules)


Rules = Callable[[ServiceTable], Iterable[PortRules]]
"""Returns the rules of each Service port."""


def port_rules(service: ServicePort, node: NodeSpec, cluster_cidr: Network) -> PortRules:
    """Return the rules of one Service port on one node."""
    draft = PortRules(node, cluster_cidr)
    _add_service(draft, service)
    return draft


def kube_proxy_table(services: ServiceTable, *, node: NodeSpec, rules: Rules) -> Table:
    """Return the rules of one Linux node for the Services of a cluster, in one family.

    ``rules`` maps :func:`port_rules` over Service ports, and may cache the results.
    """
    rendered = list(rules(within_zone(services, node.zone)))
    ip = word(node.address)
    address, endpoint = _ADDRESS_TYPES[ip], "inet_proto . inet_service"
    by_ip, by_port = f"{address} . {endpoint} : verdict", f"{endpoint} : verdict"
    types = {_CLUSTER_IPS: address, _NODE_PORTS: by_port, _EMPTY_NODE_PORTS: by_port}
    lookups = {}
    for name in (
        _CLUSTER_IPS,
        _SERVICE_IPS,
        _NODE_PORTS,
        _EMPTY_IPS,
        _EMPTY_NODE_PORTS,
        _GUARDED_IPS,
    ):
        elements = {key: to for port in rendered for key, to in port.elements[name].items()}
        if elements or name != _GUARDED_IPS:
            lookups[name] = Lookup(type=types.get(name, by_ip), elements=elements)
    chains = {name: chain for port in rendered for name, chain in port.chains.items()}
    return Table(
        name=TABLE,
        family=ip,
        chains={**chains, **_fixed_chains(ip, node, guarded=_GUARDED_IPS in lookups)},
        sets={name: definition for port in rendered for name, definition in port.sets.items()},
        lookups=lookups,
    )


def _label(service: ServicePort) -> str:
    return f"{service.namespace}/{service.service}/{service.port_name}"


def _add_service(draft: PortRules, service: ServicePort) -> None:
    label, protocol = _label(service), service.protocol.lower()
    local = [backend for backend in service.backends if backend.node == draft.node.name]
    inside = local if service.internal_traffic_local else list(service.backends)
    for backend in service.backends:
        _add_endpoint(draft, service, backend)

    cluster_ip = f"{service.cluster_ip} . {protocol} . {service.port}"
    if inside:
        to_service = f"{draft.ip} daddr {service.cluster_ip} {protocol} dport {service.port}"
        draft.chain(
            f"service-{label}",
            f"{to_service} {draft.ip} saddr != {draft.cluster_cidr} jump mark-for-masquerade",
            *_choose(service, inside),
        )
        draft.elements[_SERVICE_IPS][cluster_ip] = f"goto service-{label}"
    else:
        verdict = "drop" if service.backends else "goto reject-chain"
        draft.elements[_EMPTY_IPS][cluster_ip] = verdict
    draft.elements[_CLUSTER_IPS][str(service.cluster_ip)] = ""
    if service.node_port is not None or service.outer_addresses:
        _add_outside(draft, service, inside=inside, local=local)


def _add_outside(
    draft: PortRules, service: ServicePort, *, inside: list[Backend], local: list[Backend]
) -> None:
    """Add the rules for the NodePort, externalIPs and load balancer addresses."""
    label, protocol = _label(service), service.protocol.lower()
    outer = [f"{address} . {protocol} . {service.port}" for address in service.outer_addresses]
    ports = [] if service.node_port is None else [f"{protocol} . {service.node_port}"]
    if service.backends:
        draft.elements[_NODE_PORTS] |= dict.fromkeys(ports, f"goto external-{label}")
        draft.elements[_SERVICE_IPS] |= dict.fromkeys(outer, f"goto external-{label}")
        _add_external_chain(draft, service, inside=inside, local=local)
        _guard(draft, service)
    if not service.backends or (service.external_traffic_local and not local):
        verdict = "drop" if service.backends else "goto reject-chain"
        draft.elements[_EMPTY_NODE_PORTS] |= dict.fromkeys(ports, verdict)
        draft.elements[_EMPTY_IPS] |= dict.fromkeys(outer, verdict)


def _guard(draft: PortRules, service: ServicePort) -> None:
    """Drop packets to the load balancer's addresses from clients outside the source ranges.

    The load balancer's own addresses are allowed if the node's is, as the packets may come from them.
    """
    if not service.source_ranges:
        return
    allowed = list(map(str, service.source_ranges))
    if any(draft.node.address in network for network in service.source_ranges):
        allowed += map(str, service.ingress_addresses)
    name = f"firewall-{_label(service)}"
    draft.chain(name, f"{draft.ip} saddr != {{ {', '.join(allowed)} }} drop")
    for address in service.ingress_addresses:
        key = f"{address} . {service.protocol.lower()} . {service.port}"
        draft.elements[_GUARDED_IPS][key] = f"goto {name}"


def _add_external_chain(
    draft: PortRules, service: ServicePort, *, inside: list[Backend], local: list[Backend]
) -> None:
    label = _label(service)
    everywhere = _choose(service, list(service.backends))
    if not service.external_traffic_local:
        draft.chain(f"external-{label}", "jump mark-for-masquerade", *everywhere)
        return
    short_circuit = f"goto service-{label}" if inside else "drop"
    draft.chain(
        f"external-{label}",
        f"{draft.ip} saddr {draft.cluster_cidr} {short_circuit}",
        f"{draft.ip} saddr {draft.node.address} jump mark-for-masquerade",
        f"{draft.ip} saddr {draft.node.address} {short_circuit}",
        *_choose(service, local),
    )


def _choose(service: ServicePort, backends: Sequence[Backend]) -> list[str]:
    """Return rules that go to the client's remembered backend, if any, otherwise to a random one."""
    if not backends:
        return []
    endpoints = [_endpoint(service, backend) for backend in backends]
    choices = ", ".join(f"{n} : goto endpoint-{name}" for n, name in enumerate(endpoints))
    # nft reads the maps of all Services at every change; a single backend needs none
    any_of = f"numgen random mod {len(endpoints)} vmap {{ {choices} }}"
    if len(endpoints) == 1:
        any_of = f"goto endpoint-{endpoints[0]}"
    remembered = [
        f"{word(backend.address)} saddr @{_affinity(service, backend)} goto endpoint-{name}"
        for backend, name in zip(backends, endpoints, strict=True)
    ]
    return [*(remembered if service.client_ip_affinity else ()), any_of]


def _endpoint(service: ServicePort, backend: Backend) -> str:
    # nft names must not contain colons; kube-proxy also replaces them by dots.
    return f"{_label(service)}/{backend.address}/{backend.port}".replace(":", ".")


def _affinity(service: ServicePort, backend: Backend) -> str:
    return f"affinity-{service.affinity_timeout}/{_endpoint(service, backend)}"


def _add_endpoint(draft: PortRules, service: ServicePort, backend: Backend) -> None:
    name = _endpoint(service, backend)
    rules = [f"{draft.ip} saddr {backend.address} jump mark-for-masquerade"]
    if service.client_ip_affinity:
        remembered = _affinity(service, backend)
        draft.sets[remembered] = (
            f"type {_ADDRESS_TYPES[draft.ip]}; flags dynamic,timeout; timeout {service.affinity_timeout}s;"
        )
        rules.append(f"update @{remembered} {{ {draft.ip} saddr }}")
    rules.append(
        f"meta l4proto {service.protocol.lower()} dnat to {place(backend.address, backend.port)}"
    )
    draft.chain(f"endpoint-{name}", *rules)


def _fixed_chains(ip: str, node: NodeSpec, *, guarded: bool) -> dict[str, Chain]:
    by_ip = f"{ip} daddr . meta l4proto . th dport vmap"
    by_port = f"{ip} daddr {node.address} meta l4proto . th dport vmap"
    dispatch = (f"{by_ip} @service-ips", f"{by_port} @service-nodeports")
    unserved = (
        f"ct state new {by_ip} @no-endpoint-services",
        f"ct state new {ip} daddr @cluster-ips reject",
    )
    unserved_ports = (f"ct state new {by_port} @no-endpoint-nodeports",)
    guard = (f"ct state new {by_ip} @{_GUARDED_IPS}",)
    guards = {
        f"filter-{hook}-first": Chain(hook=f"type filter hook {hook} priority -110", rules=guard)
        for hook in (("prerouting", "output") if guarded else ())
    }
    return {
        **guards,
        "mark-for-masquerade": Chain(rules=(f"meta mark set meta mark | {MASQUERADE:#x}",)),
        "reject-chain": Chain(rules=("reject",)),
        "nat-prerouting": Chain(hook="type nat hook prerouting priority -100", rules=dispatch),
        "nat-output": Chain(hook="type nat hook output priority -100", rules=dispatch),
        "filter-input": Chain(hook="type filter hook input priority -110", rules=unserved_ports),
        "filter-forward": Chain(hook="type filter hook forward priority -110", rules=unserved),
        # After translation (-100), because the node's own packets pass both in this hook.
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
