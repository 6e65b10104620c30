"""Faults of packets (between nodes, on a node's way to its pods, at single pods), and of Service proxies' rules."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial

from nettests.lab.client import Json
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import (
    FAULTS,
    Inject,
    Targets,
    Undo,
    changed,
    count,
    fault,
    number,
    packets,
    text,
    together,
)
from nettests.lab.network import alterations
from nettests.lab.network.alterations import Alteration, Which
from nettests.lab.network.node_faults import NodeFaults
from nettests.lab.network.switch_rules import IDLE_SECONDS
from nettests.lab.network.wire_faults import GATEWAY, Path
from nettests.lab.topology import OS

_VNI = 9999
_EVERY = 5
_SERVICES = 200
_GAP_SECONDS = 0.3

_OF_NODES: Mapping[str, Callable[[NodeFaults, str, Json], Awaitable[Undo]]] = {
    "connection-loss": lambda faults, node, options: faults.lose_connections(
        node, count(options, "every", _EVERY), packets(options)
    ),
    "ports-run-out": lambda faults, node, options: faults.bound_connections(
        node, count(options, "connections", 1000), count(options, "seconds", 30)
    ),
    "small-mtu": lambda faults, node, options: faults.shrink(node, count(options, "bytes", 1400)),
    "network-id-disguised": lambda faults, node, options: faults.disguise_network_id(
        node, count(options, "vni", _VNI)
    ),
    "idle-flows-forgotten": lambda faults, node, options: faults.forget_idle(
        node, count(options, "seconds", IDLE_SECONDS)
    ),
    "idle-outside-flows-forgotten": lambda faults, node, options: faults.forget_idle_outwards(
        node, count(options, "seconds", IDLE_SECONDS)
    ),
    "not-encapsulated": lambda faults, node, _: faults.send_plainly(node),
    "source-rewritten": lambda faults, node, _: faults.rewrite_sources(node),
    "sources-disguised": lambda faults, node, _: faults.disguise_sources(node),
    "macs-kept": lambda faults, node, _: faults.keep_macs(node),
    "host-silent": lambda faults, node, _: faults.silence_host(node),
}
"""Faults of one node."""
_ALTERATIONS: Mapping[str, Callable[[Which], Alteration]] = {
    "service-rules-missing": alterations.without,
    "removed-services-kept": alterations.removed_kept,
    "proxy-stopped": alterations.stopped,
    "wrong-target-port": alterations.with_wrong_port,
    "one-backend": alterations.with_one_backend,
    "affinity-lost": alterations.without_affinity,
    "endpoints-frozen": alterations.frozen,
    "shared-endpoints-lost": alterations.shared_lost,
    "readdressed-endpoints-lost": alterations.readdressed_lost,
    "renamed-ports-lost": alterations.renamed_lost,
}
"""Faults of Service rules; several faults of a node add up."""


def _of_node(name: str) -> Inject:
    async def inject(targets: Targets, options: Json) -> Undo:
        faults = targets.fabric.node_faults
        return await _OF_NODES[name](faults, str(targets.node(options)), options)

    return inject


FAULTS.update({name: _of_node(name) for name in _OF_NODES})


async def _loss(targets: Targets, options: Json) -> Undo:
    rate = number(options, "rate", 1)
    return await targets.fabric.wire_faults.lose(_path(targets, options), packets(options), rate)


async def _held_back(targets: Targets, options: Json, *, seconds: float, every: int) -> Undo:
    return await targets.fabric.wire_faults.hold_back(
        _path(targets, options),
        packets(options),
        seconds=number(options, "seconds", seconds),
        jitter=number(options, "jitter", 0),
        every=count(options, "every", every),
        seed=count(options, "seed", 0),
    )


async def _route_missing(targets: Targets, options: Json) -> Undo:
    node, peer = str(targets.node(options)), str(targets.node(options, "peer"))
    if node == peer:
        raise LabError("A node needs no route to its own pods.", hint="Name another --peer.")
    return await targets.fabric.node_faults.forget_route(node, peer)


async def _hairpin_broken(targets: Targets, options: Json) -> Undo:
    lose = targets.fabric.node_faults.lose_hairpins
    return await together([await lose(node) for node in targets.nodes(options)])


async def _other_vni(targets: Targets, options: Json) -> Undo:
    change = targets.fabric.wire_faults.change_network_id
    return await change(str(targets.node(options)), count(options, "vni", _VNI))


FAULTS |= {
    "other-vni": _other_vni,
    "packet-loss": _loss,
    "packet-delay": partial(_held_back, seconds=0.2, every=1),
    "packet-reordering": partial(_held_back, seconds=0.02, every=_EVERY),
    "route-missing": _route_missing,
    "hairpin-broken": _hairpin_broken,
}


def _path(targets: Targets, options: Json) -> Path:
    node = targets.node(options)
    source, target = (
        GATEWAY if options.get(name) == GATEWAY else targets.node(options, name) or ""
        for name in ("from", "to")
    )
    if node is None:
        return Path(source=source, target=target)
    if source or target:
        raise LabError("Either --node, or --from and --to.", hint="--node is both ways.")
    return Path(source=node, both=True)


def _altering(name: str, alteration: Callable[[Targets, Which, Json], Alteration]) -> None:
    @fault(name)
    async def alter(targets: Targets, options: Json) -> AsyncIterator[None]:
        # The Service need not exist yet: a run creates its own after the fault is injected.
        which = Which(service=text(options, "service"), port=text(options, "port"))
        key, nodes = object(), targets.nodes(options)
        for node in nodes:
            altered = targets.altered.setdefault(node, {})
            altered[key] = alteration(targets, which, options)
            await targets.fabric.nodes[node].alter_services(tuple(altered.values()))
        yield
        for node in nodes:
            del targets.altered[node][key]
            remaining = tuple(targets.altered[node].values())
            await targets.fabric.nodes[node].alter_services(remaining)


for _name, _alteration in _ALTERATIONS.items():
    _altering(_name, lambda _targets, which, _, alteration=_alteration: alteration(which))
_altering(
    "rules-run-out",
    lambda _targets, _, options: alterations.full(count(options, "services", _SERVICES)),
)
_altering(
    "stale-endpoint",
    lambda targets, which, _: alterations.with_stale_endpoint(which, targets.profile),
)


@fault("slow-rules")
async def _slow_rules(targets: Targets, options: Json) -> AsyncIterator[None]:
    nodes = [targets.fabric.nodes[name] for name in targets.nodes(options)]
    seconds, services = number(options, "seconds", 3.0), count(options, "services", 0)
    with changed(nodes, rules_delay=seconds, quick_rules=services):
        yield


@fault("rules-recreated")
async def _rules_recreated(targets: Targets, options: Json) -> AsyncIterator[None]:
    nodes = [targets.fabric.nodes[name] for name in targets.nodes(options)]
    with changed(nodes, rules_gap=number(options, "seconds", _GAP_SECONDS)):
        yield


@fault("udp-flows-kept")
async def _udp_flows_kept(targets: Targets, options: Json) -> AsyncIterator[None]:
    nodes = [targets.fabric.nodes[name] for name in targets.nodes(options)]
    forgetting = [node.forgetting for node in nodes if node.forgetting is not None]
    if not forgetting:
        raise LabError(
            "kube-proxy on Windows forgets no flow in any case.", hint="Name a Linux --node."
        )
    with changed(forgetting, udp=False):
        yield


@fault("dsr-off")
async def _dsr_off(targets: Targets, options: Json) -> AsyncIterator[None]:
    nodes = [n for n in targets.nodes(options) if targets.profile.node(n).os is OS.WINDOWS]
    if not nodes:
        raise LabError("DSR is of Windows nodes alone.", hint="Name one with --node.")
    for node in nodes:
        await targets.fabric.nodes[node].rewrite_sources(always=True)
    yield
    for node in reversed(nodes):
        await targets.fabric.nodes[node].rewrite_sources(always=False)
