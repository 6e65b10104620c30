"""Faults of packets: between nodes, on a node's way to its pods, and at single pods."""

from collections.abc import Mapping

from nettests.lab.client import Json
from nettests.lab.errors import LabError
from nettests.lab.faults.following import Pods
from nettests.lab.faults.targets import (
    Inject,
    Targets,
    Undo,
    number,
    packets,
    seed,
    text,
    together,
)
from nettests.lab.network.switch_rules import IDLE_SECONDS
from nettests.lab.network.wire_faults import GATEWAY, Path

_VNI = 9999
_EVERY = 5
_CONNECTIONS = 1000
_COUNTED_SECONDS = 30


class PacketFaults:
    """Acts in the fabric of one lab."""

    def __init__(self, targets: Targets, pods: Pods) -> None:
        self._targets = targets
        self._wire = targets.fabric.wire_faults
        self._node = targets.fabric.node_faults
        self._pods = pods

    def actions(self) -> Mapping[str, Inject]:
        """Return what puts each kind in force."""
        return {
            "packet-loss": self.loss,
            "packet-delay": self.delay,
            "packet-reordering": self.reordering,
            "connection-loss": self.connections,
            "ports-run-out": self.ports,
            "small-mtu": self.small_mtu,
            "route-missing": self.route,
            "other-vni": self.other_vni,
            "not-encapsulated": self.plainly,
            "source-rewritten": self.sources,
            "sources-disguised": self.disguised,
            "network-id-disguised": self.disguised_id,
            "macs-kept": self.macs,
            "hairpin-broken": self.hairpins,
            "host-silent": self.silent_host,
            "idle-flows-forgotten": self.idle_flows,
            "idle-outside-flows-forgotten": self.idle_flows_outwards,
            "pod-silent": self.silent_pod,
        }

    async def loss(self, options: Json) -> Undo:
        """``packet-loss``."""
        return await self._wire.lose(
            self._path(options), packets(options), number(options, "rate", 1)
        )

    async def delay(self, options: Json) -> Undo:
        """``packet-delay``."""
        return await self._wire.hold_back(
            self._path(options),
            packets(options),
            seconds=number(options, "seconds", 0.2),
            jitter=number(options, "jitter", 0),
            every=1,
            seed=seed(options),
        )

    async def reordering(self, options: Json) -> Undo:
        """``packet-reordering``."""
        return await self._wire.hold_back(
            self._path(options),
            packets(options),
            seconds=number(options, "seconds", 0.02),
            jitter=0,
            every=int(number(options, "every", _EVERY)),
            seed=seed(options),
        )

    async def connections(self, options: Json) -> Undo:
        """``connection-loss``."""
        every = int(number(options, "every", _EVERY))
        return await self._node.lose_connections(self._named(options), every, packets(options))

    async def ports(self, options: Json) -> Undo:
        """``ports-run-out``."""
        most = int(number(options, "connections", _CONNECTIONS))
        seconds = int(number(options, "seconds", _COUNTED_SECONDS))
        return await self._node.bound_connections(self._named(options), most, seconds)

    async def small_mtu(self, options: Json) -> Undo:
        """``small-mtu``."""
        return await self._node.shrink(self._named(options), int(number(options, "bytes", 1400)))

    async def route(self, options: Json) -> Undo:
        """``route-missing``."""
        node, peer = self._named(options), str(self._targets.node(options, "peer"))
        if node == peer:
            raise LabError("A node needs no route to its own pods.", hint="Name another --peer.")
        return await self._node.forget_route(node, peer)

    async def other_vni(self, options: Json) -> Undo:
        """``other-vni``."""
        vni = int(number(options, "vni", _VNI))
        return await self._wire.change_network_id(self._named(options), vni)

    async def plainly(self, options: Json) -> Undo:
        """``not-encapsulated``."""
        return await self._node.send_plainly(self._named(options))

    async def sources(self, options: Json) -> Undo:
        """``source-rewritten``."""
        return await self._node.rewrite_sources(self._named(options))

    async def disguised(self, options: Json) -> Undo:
        """``sources-disguised``."""
        return await self._node.disguise_sources(self._named(options))

    async def disguised_id(self, options: Json) -> Undo:
        """``network-id-disguised``."""
        vni = int(number(options, "vni", _VNI))
        return await self._node.disguise_network_id(self._named(options), vni)

    async def macs(self, options: Json) -> Undo:
        """``macs-kept``."""
        return await self._node.keep_macs(self._named(options))

    async def hairpins(self, options: Json) -> Undo:
        """``hairpin-broken``."""
        return await together(
            [await self._node.lose_hairpins(node) for node in self._targets.nodes(options)]
        )

    async def silent_host(self, options: Json) -> Undo:
        """``host-silent``."""
        return await self._node.silence_host(self._named(options))

    async def idle_flows(self, options: Json) -> Undo:
        """``idle-flows-forgotten``."""
        seconds = int(number(options, "seconds", IDLE_SECONDS))
        return await self._node.forget_idle(self._named(options), seconds)

    async def idle_flows_outwards(self, options: Json) -> Undo:
        """``idle-outside-flows-forgotten``."""
        seconds = int(number(options, "seconds", IDLE_SECONDS))
        return await self._node.forget_idle_outwards(self._named(options), seconds)

    async def silent_pod(self, options: Json) -> Undo:
        """``pod-silent``; the pod need not be there yet."""
        chosen, rate = packets(options), number(options, "rate", 1)

        async def strike(pod: Json) -> Undo | None:
            namespaces = self._targets.fabric.nodes[pod["spec"]["nodeName"]].pod_namespaces()
            namespace = namespaces.get(pod["metadata"]["uid"])
            if namespace is None:  # on its node's network, or gone again
                return None
            return await self._node.lose_entering(namespace, chosen, rate)

        return await self._pods.follow(text(options, "pod"), strike)

    def _named(self, options: Json) -> str:
        return str(self._targets.node(options))

    def _path(self, options: Json) -> Path:
        node = self._targets.node(options)
        source, target = self._end(options, "from"), self._end(options, "to")
        if node is not None:
            if source or target:
                raise LabError("Either --node, or --from and --to.", hint="--node is both ways.")
            return Path(source=node, both=True)
        return Path(source=source, target=target)

    def _end(self, options: Json, name: str) -> str:
        if options.get(name) == GATEWAY:
            return GATEWAY
        return self._targets.node(options, name) or ""
