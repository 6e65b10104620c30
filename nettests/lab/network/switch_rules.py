"""nft rules of a Windows node's virtual switch and of its host firewall. Pure renderers.

``ports_table`` has the rules that CNI plugin and VFP set up once (OutBoundNAT, encapsulation),
``ageing_table`` those by which VFP forgets flows, ``load_balancers_table`` those of kube-proxy's
policies, ``stealth_table`` those of the host's own firewall. The order of hooks in the switch:

    prerouting -150  mark the port by which a packet entered (not visible after routing)
    prerouting -140  set the idle time-out of flows between the switch's own pods
    prerouting -100  load balancing: VIP to backend, chosen by hash
    prerouting  -95  mark packets that keep their destination (preserve-destination)
    prerouting  -90  mark packets to encapsulate (overlay) or to send to the fabric (L2tunnel)
    forward     -10  refuse Services without backends (Open vSwitch)
    forward     -10  drop packets of forgotten flows
    forward       0  drop packets to the service CIDR that no load balancer translated
    postrouting 100  source rewriting of load-balanced flows
    postrouting 110  OutBoundNAT
    postrouting 300  provider addresses only on the uplink (overlay)
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nettests.lab.network.services import Frontend
from nettests.lab.network.tables import Chain, Lookup, Table, place, word
from nettests.lab.network.thresholds import SwitchFeatures
from nettests.lab.network.winkernel.load_balancer import LoadBalancer, Port, Source
from nettests.lab.topology import Address, Network

FROM_POD = 0x1
REWRITE_TO_NODE = 0x10
REWRITE_TO_VIP = 0x20
ENCAPSULATE = 0x100
TO_FABRIC = 0x200
PRESERVED = 0x1000
"""Mark bits; two select routing tables: the VXLAN routes, and everything to the gateway."""

IDLE_SECONDS = 6
"""Idle flows are forgotten after this time: VFP's 240 s (kubernetes/kubernetes issue 79359), scaled down."""

_ICMP = {"ip": "icmp", "ip6": "ipv6-icmp"}
_MESSAGES = {"ip": "icmp", "ip6": "icmpv6"}
_ADDRESS_TYPES = {"ip": "ipv4_addr", "ip6": "ipv6_addr"}
_LOOPBACK = {"ip": "127.0.0.0/8", "ip6": "::1"}

_REWRITE = {Source.KEPT: 0, Source.NODE: REWRITE_TO_NODE, Source.VIP: REWRITE_TO_VIP}


def ports_table(
    *,
    node_address: Address,
    pod_cidr: Network,
    service_cidr: Network,
    exceptions: Sequence[Network],
    features: SwitchFeatures,
    pods_elsewhere: Sequence[Network] = (),
) -> Table:
    """Return the switch's static rules: port marks, OutBoundNAT with exceptions, encapsulation.

    ``pods_elsewhere`` are the other nodes' pod CIDRs.

    A packet to a Service that no load balancer translated is dropped before conntrack confirms its flow,
    so that a SYN retransmitted after kube-proxy's policies came is translated. In kube-proxy's userspace
    mode no packet to a Service is dropped here.

    OutBoundNAT translates TCP and UDP only; ICMP leaves with the pod's address, and the replies are lost
    (Kubernetes "Windows networking", limitations). On overlay only packets from the node's own
    (provider) address may leave by the uplink.
    """
    kept = ", ".join(map(str, (*exceptions, node_address)))
    ip = word(node_address)
    translated = f"tcp, udp, {_ICMP[ip]}" if features.outbound_icmp else "tcp, udp"
    outbound = (
        f"meta mark & {FROM_POD | PRESERVED:#x} == {FROM_POD:#x} "
        f"{ip} saddr {pod_cidr} {ip} daddr != {{ {kept} }} "
        f'meta l4proto {{ {translated} }} snat to {node_address} comment "OutBoundNAT"'
    )
    # packets that keep their destination get the node's address as source
    hiding = f"meta mark & {PRESERVED:#x} != 0 meta l4proto {{ tcp, udp }} snat to {node_address}"
    chains = {
        "ports": Chain(
            hook="type filter hook prerouting priority -150",
            rules=(f'iifname "{Port.POD}" meta mark set {FROM_POD:#x}',),
        ),
        "untranslated": _untranslated(node_address, service_cidr, features),
        "outbound-nat": Chain(
            hook="type nat hook postrouting priority 110",
            rules=(
                *((outbound,) if features.outbound_nat else ()),
                *(() if features.preserved_sources else (hiding,)),
            ),
        ),
    }
    if features.overlay:
        from_host = pods_elsewhere if features.host_encapsulates else ()
        chains |= _overlay_chains(node_address, from_host)
    if features.tunnel:
        chains["tunnel"] = _tunnel_chain()
    return Table(name="vfp", family=ip, chains=chains)


def _untranslated(node_address: Address, service_cidr: Network, features: SwitchFeatures) -> Chain:
    """Return the rules for Pods' packets to a Service that no load balancer translated, or to a host without ROUTE."""
    from_pod = f'iifname "{Port.POD}" {word(node_address)}'
    unserved = "reject" if features.refuse_unserved else "drop"
    rules = () if features.user_mode else (f"{from_pod} daddr {service_cidr} {unserved}",)
    lost = (
        () if features.own_node_route else (f"{from_pod} daddr {node_address} ct state new drop",)
    )
    return Chain(hook="type filter hook forward priority 0", rules=(*rules, *lost))


def ageing_table(pod_cidr: Network) -> Table:
    """Return the rules by which the switch forgets idle TCP flows between pods of its node.

    A flow is a conntrack entry. Once it has expired, packets other than a SYN are dropped before conntrack
    picks them up as a new flow. No document says that VFP sends a reset.
    """
    ip = word(pod_cidr.network_address)
    between = f'iifname "{Port.POD}" {ip} daddr {pod_cidr} meta l4proto tcp'
    flags = "tcp flags & (fin | syn | rst | ack)"
    return Table(
        name="ageing",
        family=ip,
        timeouts={
            "idle": (
                "protocol tcp",
                f"l3proto {ip}",
                f"policy = {{ established : {IDLE_SECONDS} }}",
            )
        },
        chains={
            "remembered": Chain(
                hook="type filter hook prerouting priority -140",
                rules=(f'{between} ct state new {flags} == syn ct timeout set "idle"',),
            ),
            "forgotten": Chain(
                hook="type filter hook forward priority -10",
                rules=(f"{between} ct state new {flags} != syn drop",),
            ),
        },
    )


def _tunnel_chain() -> Chain:
    """Send all of the pods' packets to the fabric, which sends those for pods of this node back.

    Load-balanced packets stay in the switch, because their flow must pass it only once.
    """
    untranslated = f"meta mark & {FROM_POD | PRESERVED:#x} == {FROM_POD:#x} ct status & dnat == 0"
    return Chain(
        hook="type filter hook prerouting priority -90",
        rules=(f"{untranslated} meta mark set meta mark | {TO_FABRIC:#x}",),
    )


def _overlay_chains(node_address: Address, from_host: Sequence[Network]) -> dict[str, Chain]:
    """Return the chains of an overlay; the host's packets to ``from_host`` are encapsulated too.

    These leave with the source VIP, to which other nodes reply through the overlay.
    """
    encapsulate = f"meta mark set meta mark | {ENCAPSULATE:#x}"
    hosts = tuple(
        f'iifname "{Port.HOST}" {word(node_address)} daddr {network} '
        f"meta mark set meta mark | {ENCAPSULATE | REWRITE_TO_VIP:#x}"
        for network in from_host
    )
    return {
        "encapsulation": Chain(
            hook="type filter hook prerouting priority -90",
            rules=(
                f"meta mark & {FROM_POD:#x} != 0 {encapsulate}",
                f"ct status dnat {encapsulate}",
                *hosts,
            ),
        ),
        "provider-addresses": Chain(
            hook="type filter hook postrouting priority 300",
            rules=(
                # A backend's reply has the address that its client dialled as source.
                f'oifname "{Port.UPLINK}" ct direction reply accept',
                f'oifname "{Port.UPLINK}" {word(node_address)} saddr != {node_address} drop',
            ),
        ),
    }


@dataclass(frozen=True, slots=True)
class PolicyRules:
    """The rules of one policy: chains, sets, and its element of the dispatch maps."""

    chains: Mapping[str, Chain]
    sets: Mapping[str, str]
    frontend: str
    ports: tuple[Port, ...]
    verdict: str


Rules = Callable[[Sequence[LoadBalancer]], Iterable[PolicyRules]]
"""Maps :func:`policy_rules` over policies."""


def policy_rules(policy: LoadBalancer) -> PolicyRules:
    """Return the rules of one policy that translates."""
    clients = f"type {_ADDRESS_TYPES[word(policy.vip)]}; flags dynamic,timeout;"
    remembering = () if policy.forgets is None else policy.backends
    return PolicyRules(
        chains=dict(_chains(policy)),
        sets={
            _client_set(policy, address): f"{clients} timeout {policy.forgets}s;"
            for address in remembering
        },
        frontend=_frontend(policy),
        ports=policy.ports,
        verdict=f"goto {_chain_name(policy)}",
    )


def load_balancers_table(
    policies: Sequence[LoadBalancer],
    *,
    node_address: Address,
    source_vip: Address | None,
    loopback: Sequence[Address] = (),
    refused: Sequence[Frontend] = (),
    rules: Rules = lambda policies: map(policy_rules, policies),
) -> Table:
    """Return the rules of kube-proxy's policies: one chain each, and per kind of port a dispatch map.

    ``loopback`` are local pods whose flows to themselves are rewritten (``loopbackDSR``); otherwise
    such a packet arrives with the pod's own address as source, and its stack drops it. ``refused`` are
    frontends of Services without endpoints. ``rules`` may cache the results of :func:`policy_rules`.
    """
    ip = word(node_address)
    translating = [policy for policy in policies if not policy.preserved]
    chains: dict[str, Chain] = {}
    sets: dict[str, str] = {}
    dispatch: dict[Port, dict[str, str]] = {port: {} for port in Port}
    for rendered in rules(translating):
        chains.update(rendered.chains)
        sets.update(rendered.sets)
        for port in rendered.ports:
            dispatch[port][rendered.frontend] = rendered.verdict
    rewriting = (
        f"meta mark & {REWRITE_TO_NODE:#x} != 0 snat to {node_address}",
        *([f"meta mark & {REWRITE_TO_VIP:#x} != 0 snat to {source_vip}"] if source_vip else ()),
        *(f"{ip} saddr {pod} {ip} daddr {pod} snat to {node_address}" for pod in loopback),
    )
    chains["load-balancing"] = Chain(
        hook="type nat hook prerouting priority -100",
        rules=tuple(
            f'iifname "{port}" {ip} daddr . meta l4proto . th dport vmap @{_map_name(port)}'
            for port in Port
        ),
    )
    chains["source-rewriting"] = Chain(
        hook="type nat hook postrouting priority 100", rules=rewriting
    )
    if refused:
        chains["without-backends"] = _refusals(ip, refused)
    if len(translating) < len(policies):
        chains["preserved"] = _preserved(ip, policies)
    kind = f"{_ADDRESS_TYPES[ip]} . inet_proto . inet_service : verdict"
    lookups = {_map_name(port): Lookup(type=kind, elements=dispatch[port]) for port in Port}
    return Table(name="hns", family=ip, chains=chains, sets=sets, lookups=lookups)


def _map_name(port: Port) -> str:
    return f"from-{port.name.lower()}"


def _preserved(ip: str, policies: Sequence[LoadBalancer]) -> Chain:
    """Mark packets that keep their destination; a route leads them to the backend."""
    kept = ", ".join(_frontend(policy) for policy in policies if policy.preserved)
    mark = f"meta mark set meta mark | {PRESERVED:#x}"
    rule = f"{ip} daddr . meta l4proto . th dport {{ {kept} }} {mark}"
    return Chain(hook="type filter hook prerouting priority -95", rules=(rule,))


def _frontend(policy: LoadBalancer) -> str:
    return f"{policy.vip} . {policy.protocol} . {policy.external_port}"


def _refusals(ip: str, refused: Sequence[Frontend]) -> Chain:
    """Refuse TCP by a reset, whose source is the Service's address; the switch has no address."""
    empty = ", ".join(f"{each.address} . {each.protocol} . {each.port}" for each in refused)
    unserved = f"ct state new {ip} daddr . meta l4proto . th dport {{ {empty} }}"
    return Chain(
        hook="type filter hook forward priority -10",
        rules=(f"{unserved} meta l4proto tcp reject with tcp reset", f"{unserved} reject"),
    )


def _chain_name(policy: LoadBalancer) -> str:
    return policy.name.replace(":", "/")


def _chains(policy: LoadBalancer) -> Iterable[tuple[str, Chain]]:
    """Yield a policy's chain, and with affinity time-outs one chain for each backend."""
    ip, name = word(policy.vip), _chain_name(policy)
    allowed = ", ".join(map(str, policy.allowed))
    guard = (f"{ip} saddr != {{ {allowed} }} drop",) if allowed else ()
    if policy.forgets is None:
        yield name, Chain(rules=(*guard, _translation(policy)))
        return
    each = [(address, _backend_chain(policy, address)) for address in policy.backends]
    again = (f"{ip} saddr @{_client_set(policy, address)} goto {chain}" for address, chain in each)
    choices = ", ".join(f"{number} : goto {chain}" for number, (_, chain) in enumerate(each))
    anew = f"numgen random mod {len(each)} vmap {{ {choices} }}"
    yield name, Chain(rules=(*guard, *again, anew))
    for address, chain in each:
        # "add" does not renew the timeout of a known client, as Open vSwitch's learned flows have a hard timeout.
        learn = f"add @{_client_set(policy, address)} {{ {ip} saddr }}"
        yield chain, Chain(rules=(learn, f"{_marked(policy)}dnat to {_place(policy, address)}"))


def _backend_chain(policy: LoadBalancer, backend: Address) -> str:
    return f"{_chain_name(policy)}/{backend}".replace(":", ".")


def _client_set(policy: LoadBalancer, backend: Address) -> str:
    return f"affinity-{policy.forgets}/{_backend_chain(policy, backend)}"


def _place(policy: LoadBalancer, backend: Address) -> str:
    return place(backend, dict(policy.own_ports).get(backend, policy.internal_port))


def _marked(policy: LoadBalancer) -> str:
    """Return the start of a rule that translates: protocol, and mark of the source rewriting."""
    rewrite = _REWRITE[policy.source]
    mark = f"meta mark set meta mark | {rewrite:#x} " if rewrite else ""
    return f"meta l4proto {policy.protocol} {mark}"


def _translation(policy: LoadBalancer) -> str:
    # nft reads the map of each policy at every change; a single backend needs none
    if len(policy.backends) == 1:
        return f"{_marked(policy)}dnat to {_place(policy, policy.backends[0])}"
    ip = word(policy.vip)
    transport = f"{policy.protocol} sport . {ip} daddr . {policy.protocol} dport"
    key = f"{ip} saddr" if policy.by_client else f"{ip} saddr . {transport}"
    # A fixed seed: programming the same policy again must not move clients to other backends.
    seed = zlib.crc32(f"{policy.service} {policy.vip}:{policy.external_port}".encode())
    own_ports = dict(policy.own_ports)
    backends = ", ".join(
        f"{number} : {address} . {own_ports.get(address, policy.internal_port)}"
        for number, address in enumerate(policy.backends)
    )
    return (
        f"{_marked(policy)}dnat {ip} to"
        f" jhash {key} mod {len(policy.backends)} seed {seed:#x} map {{ {backends} }}"
    )


def stealth_table(like: Address) -> Table:
    """Return the rules of the Windows firewall's stealth mode, in the family of ``like``.

    Closed ports of the node do not answer, except to loopback addresses. The only reset with
    sequence number 0 is the answer to a SYN for a closed port. Source: Microsoft KB 2586744.
    """
    ip = word(like)
    icmp = _MESSAGES[ip]
    rules = (
        f"{ip} daddr {_LOOPBACK[ip]} accept",
        "tcp flags & (rst | ack) == rst | ack tcp sequence 0 drop",
        f"{icmp} type destination-unreachable {icmp} code port-unreachable drop",
    )
    hook = "type filter hook output priority 0"
    return Table(name="firewall", family=ip, chains={"stealth": Chain(hook=hook, rules=rules)})
