"""Network faults of one node: routes, encapsulation, source addresses, sizes, connections.

Each method injects one fault in the namespace that forwards for the node's pods, which is the switch of a Windows
node and the host of a Linux one, and returns the undo. ``wire_faults`` has the faults between nodes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from ipaddress import ip_network
from typing import TypeVar

from nettests.lab.errors import LabError
from nettests.lab.interfaces import Namespace
from nettests.lab.network.addressing import mac
from nettests.lab.network.faults import ENTERING, Faults, Undo
from nettests.lab.network.linux_node import VXLAN_DEVICE as LINUX_VXLAN
from nettests.lab.network.namespace import NetworkNamespace
from nettests.lab.network.netlink import Netlink, Route, configure
from nettests.lab.network.packets import Packets, plain, share
from nettests.lab.network.pods import other_nodes
from nettests.lab.network.switch_rules import ENCAPSULATE
from nettests.lab.network.tables import Chain
from nettests.lab.network.windows_node import VXLAN_DEVICE as WINDOWS_VXLAN
from nettests.lab.network.windows_node import VXLAN_TABLE
from nettests.lab.topology import OS, Address, Network, NodeSpec, Profile

T = TypeVar("T")

BITS_TO_VNI = 8 * (8 + 4)
"""From the outer UDP header to the network id of VXLAN and GENEVE: the header itself, then flags."""
_STRUCK = "struck"
_DISGUISES = ip_network("198.18.0.0/16")
"""Part of the network for benchmarks (RFC 2544), which no cluster uses."""
_BEGINNING = "type filter hook prerouting priority -150"
"""After connection tracking, which identifies new connections, and before any translation."""
_BEFORE_TRANSLATION = "type filter hook prerouting priority -140"
_BEFORE_REWRITING = "type filter hook postrouting priority 90"
_REWRITING = "type nat hook postrouting priority 90"
_BEFORE_SERVICES = "type filter hook output priority -150"
_NOBODY = "02:00:00:00:00:fe"


class NodeFaults:
    """Faults on the nodes of a fabric. ``forwarding`` has their forwarding namespaces by node name."""

    def __init__(
        self,
        profile: Profile,
        forwarding: Mapping[str, NetworkNamespace],
        faults: Faults,
    ) -> None:
        self._profile = profile
        self._forwarding = forwarding
        self._faults = faults

    async def lose_entering(self, namespace: Namespace, packets: Packets, rate: float) -> Undo:
        """Lose a share of the packets that enter a namespace, such as a pod's."""
        rule = " ".join(word for word in (plain(packets), share(rate), "drop") if word)
        return await self._put(namespace, "entering", ENTERING, rule)

    async def deafen(self, namespace: Namespace) -> Undo:
        """Drop all packets that enter a pod by its link; its loopback works."""
        rule = 'iifname "eth0" drop'
        return await self._put(namespace, "entering", ENTERING, rule, family="inet")

    async def lose_connections(self, node: str, every: int, packets: Packets) -> Undo:
        """Lose one in ``every`` new connections to the node's pods, with its client's retransmissions."""
        key = "ip protocol . ip saddr . th sport"
        which = plain(packets) or "meta l4proto { tcp, udp }"
        begins = f"ip daddr {self._spec(node).pod_cidr} ct state new {which}"
        rules = (
            f"{key} @{_STRUCK} drop",
            f"{begins} numgen inc mod {every} {every - 1} add @{_STRUCK} {{ {key} }} drop",
        )
        kind = "type inet_proto . ipv4_addr . inet_service; flags dynamic,timeout; timeout 120s;"
        return await self._put(self._at(node), "beginning", _BEGINNING, *rules, struck=kind)

    async def bound_connections(self, node: str, most: int, seconds: int) -> Undo:
        """Drop SYNs of the node's pods beyond ``most`` connections; each counts for ``seconds`` from its SYN."""
        key = "ip saddr . ip daddr . tcp sport"
        begins = f"ip saddr {self._spec(node).pod_cidr} tcp flags & (syn | ack) == syn"
        rules = (f"{begins} add @{_STRUCK} {{ {key} }} accept", f"{begins} drop")
        kind = (
            "type ipv4_addr . ipv4_addr . inet_service; flags dynamic,timeout; "
            f"timeout {seconds}s; gc-interval 1s; size {most};"
        )
        return await self._put(self._at(node), "bounding", _BEGINNING, *rules, struck=kind)

    async def rewrite_sources(self, node: str, peer: str = "") -> Undo:
        """Rewrite sources of the node's pods to the node's address, towards pods of all other nodes, or of one."""
        spec = self._spec(node)
        network = self._spec(peer).pod_cidr if peer else self._profile.cluster_cidr
        to_others = f"ip daddr {network} ip daddr != {spec.pod_cidr}"
        rule = f"ip saddr {spec.pod_cidr} {to_others} snat to {spec.address}"
        return await self._put(self._at(node), "rewriting", _REWRITING, rule)

    async def disguise_sources(self, node: str) -> Undo:
        """Give the node's pods other addresses on the wire, which every other node restores on entry.

        Servers do not notice. In encapsulated packets the inner addresses change.
        """
        pods: list[Address] = [*self._spec(node).pod_cidr.hosts()]
        masks: list[Address] = [_DISGUISES[number] for number in range(1, len(pods) + 1)]
        on, off = _sources(pods, masks), _sources(masks, pods)
        return await self._disguise(node, on, off, self._crossing)

    async def disguise_network_id(self, node: str, vni: int) -> Undo:
        """Give the node's tunnel packets another network id on the wire, which other nodes restore on entry."""
        self._require_overlay()
        cni = self._profile.cni
        on, off = (
            f"udp dport {cni.tunnel_port} @th,{BITS_TO_VNI},24 {old} @th,{BITS_TO_VNI},24 set {new}"
            for old, new in ((cni.vni, vni), (vni, cni.vni))
        )
        return await self._disguise(node, on, off, _card)

    async def keep_macs(self, node: str) -> Undo:
        """Send packets of the node's pods with the pods' own MAC addresses as source; receivers ignore these."""
        spec = self._spec(node)
        if self._profile.cni.encapsulates:
            raise LabError(
                "What leaves a node of this cluster is encapsulated, with the node's MAC address.",
                hint="Use a profile with l2bridge.",
            )
        macs = {address: mac(spec.os, address) for address in spec.pod_cidr.hosts()}
        rule = f"{_mapped(macs)} ether saddr set ip saddr map {{ {_pairs(macs)} }}"
        return await self._at_card(node, "egress", rule, _card(spec))

    async def _disguise(
        self, node: str, on: str, off: str, device: Callable[[NodeSpec], str]
    ) -> Undo:
        """Load a rule where packets leave the node, and its reverse where they enter other nodes."""
        undos = []
        for spec in self._profile.nodes:
            way, rule = ("egress", on) if spec.name == node else ("ingress", off)
            undos.append(await self._at_card(spec.name, way, rule, device(spec)))

        async def undo() -> None:
            for each in undos:
                await each()

        return undo

    async def _at_card(self, node: str, way: str, rule: str, device: str) -> Undo:
        hook = f'type filter hook {way} device "{device}" priority 0'
        return await self._put(self._at(node), "disguise", hook, rule, family="netdev")

    def _crossing(self, node: NodeSpec) -> str:
        """Return the device by which pods' packets leave a node, before encapsulation."""
        tunnel = WINDOWS_VXLAN if node.os is OS.WINDOWS else LINUX_VXLAN
        return tunnel if self._profile.cni.encapsulates else _card(node)

    async def lose_hairpins(self, node: str) -> Undo:
        """Lose packets that pods send to themselves through a Service."""
        pods = ", ".join(f"{host} . {host}" for host in self._spec(node).pod_cidr.hosts())
        rule = f"ip saddr . ip daddr {{ {pods} }} drop"
        return await self._put(self._at(node), "hairpins", _BEFORE_REWRITING, rule)

    async def silence_host(self, node: str, *, to_services: bool = False) -> Undo:
        """Lose the node's own packets to pods of other nodes, or to Services; those of its pods pass."""
        spec, profile = self._spec(node), self._profile
        pods = f"ip daddr {profile.cluster_cidr} ip daddr != {spec.pod_cidr}"
        where = f"ip daddr {profile.service_cidr}" if to_services else pods
        rule = f"ip saddr {spec.address} {where} drop"
        hooks = {"entering": ENTERING, "leaving": _BEFORE_SERVICES}
        chains = {name: Chain(hook=hook, rules=(rule,)) for name, hook in hooks.items()}
        return await self._faults.put(self._at(node), "ip", chains)

    async def forget_idle(self, node: str, seconds: int) -> Undo:
        """Forget idle TCP connections of the node's pods to Services; later packets of them are dropped."""
        return await self._forget(node, f"ip daddr {self._profile.service_cidr}", seconds)

    async def forget_idle_outwards(self, node: str, seconds: int) -> Undo:
        """Forget idle TCP connections of the node's pods to the outside; later packets are dropped."""
        profile = self._profile
        inside = (profile.service_cidr, profile.cluster_cidr, profile.node_network)
        outside = " ".join(f"ip daddr != {network}" for network in inside)
        return await self._forget(node, outside, seconds)

    async def _forget(self, node: str, where: str, seconds: int) -> Undo:
        new = f"ip saddr {self._spec(node).pod_cidr} {where} ct state new"
        flags = "tcp flags & (fin | syn | rst | ack)"
        rules = (f"{new} {flags} != syn drop", f'{new} {flags} == syn ct timeout set "{_STRUCK}"')
        policy = ("protocol tcp", "l3proto ip", f"policy = {{ established : {seconds} }}")
        chains = {"remembered": Chain(hook=_BEFORE_TRANSLATION, rules=rules)}
        return await self._faults.put(self._at(node), "ip", chains, timeouts={_STRUCK: policy})

    async def shrink(self, node: str, mtu: int) -> Undo:
        """Reduce the MTU of the node's network card; senders of larger forwarded packets get ICMP errors."""
        card = _card(self._spec(node))
        before = await self._configure(node, lambda links: links.size(card))
        await self._configure(node, lambda links: links.resize(card, mtu))
        return partial(self._configure, node, lambda links: links.resize(card, before))

    async def forget_route(self, node: str, peer: str, prefix: int = 0) -> Undo:
        """Remove a node's routes to the pods of another node; with ``prefix`` keep the first subnet of that length."""
        pods = self._spec(peer).pod_cidr
        return await self._without_routes(node, [pods], prefix)

    async def misdirect(self, node: str, peer: str) -> Undo:
        """Give a node a wrong MAC address for another node, like a stale neighbour entry."""
        spec = self._spec(peer)

        async def told(address: str) -> None:
            await self._configure(
                node,
                lambda links: links.neighbours(_card(self._spec(node)), [(spec.address, address)]),
            )

        await told(_NOBODY)
        return partial(told, mac(spec.os, spec.address))

    async def send_plainly(self, node: str) -> Undo:
        """Let a node of an overlay cluster send its pods' packets without encapsulation."""
        self._require_overlay()
        spec = self._spec(node)
        if spec.os is OS.LINUX:
            others = other_nodes(self._profile.nodes, spec)
            return await self._without_routes(node, [other.pod_cidr for other in others])

        async def encapsulate(*, end: bool) -> None:
            await self._configure(
                node, lambda links: links.route_marked(ENCAPSULATE, VXLAN_TABLE, end=end)
            )

        await encapsulate(end=True)
        return partial(encapsulate, end=False)

    async def _without_routes(self, node: str, networks: list[Network], prefix: int = 0) -> Undo:
        def withdraw(links: Netlink) -> list[tuple[Network, Route]]:
            routes = [
                (network, route) for network in networks for route in links.routes_to(network)
            ]
            for network, route in routes:
                links.withdraw(network, route)
                for kept in [*network.subnets(new_prefix=prefix)][:1] if prefix else ():
                    links.route(kept, route.link, via=route.via, table=route.table)
            return routes

        withdrawn = await self._configure(node, withdraw)
        if not withdrawn:
            raise LabError(f"{node} has no route of its own to those pods.")

        def restore(links: Netlink) -> None:
            for network, route in withdrawn:
                for kept in [*network.subnets(new_prefix=prefix)][:1] if prefix else ():
                    links.withdraw(kept, route)
                links.route(network, route.link, via=route.via, table=route.table)

        return partial(self._configure, node, restore)

    def _at(self, node: str) -> NetworkNamespace:
        return self._forwarding[node]

    async def _configure(self, node: str, change: Callable[[Netlink], T]) -> T:
        def job() -> T:
            with configure(self._at(node)) as links:
                return change(links)

        return await self._faults.worker.run(job)

    def _spec(self, node: str) -> NodeSpec:
        return self._profile.node(node)

    def _require_overlay(self) -> None:
        if not self._profile.cni.encapsulates:
            raise LabError("No packets are encapsulated in this cluster.", hint="Use an overlay.")

    async def _put(
        self,
        namespace: Namespace,
        name: str,
        hook: str,
        *rules: str,
        family: str = "ip",
        struck: str = "",
    ) -> Undo:
        """Load one chain; ``struck`` defines the set in which its rules remember packets."""
        chains, sets = {name: Chain(hook=hook, rules=rules)}, {_STRUCK: struck} if struck else {}
        return await self._faults.put(namespace, family, chains, sets=sets)


def _mapped(of: Mapping[Address, object]) -> str:
    return f"ip saddr {{ {', '.join(map(str, of))} }}"


def _pairs(of: Mapping[Address, object]) -> str:
    return ", ".join(f"{address} : {other}" for address, other in of.items())


def _sources(old: Sequence[Address], new: Sequence[Address]) -> str:
    of = dict(zip(old, new, strict=True))
    return f"{_mapped(of)} ip saddr set ip saddr map {{ {_pairs(of)} }}"


def _card(node: NodeSpec) -> str:
    return "uplink" if node.os is OS.WINDOWS else "eth0"
