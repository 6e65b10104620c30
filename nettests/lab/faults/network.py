"""Faults of packets (between nodes, between a node and its pods, at single pods), and of Service rules."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
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
from nettests.lab.network.switch_rules import IDLE_SECONDS
from nettests.lab.network.wire_faults import GATEWAY, Detour, Path, damaged, twice
from nettests.lab.topology import OS

_VNI = 9999
_EVERY = 5
_SERVICES = 200
_GAP_SECONDS = 0.3
_KILOBITS = 1000

_OF_NODES: Mapping[str, Callable[[Targets, str, Json], Awaitable[Undo]]] = {
    "connection-loss": lambda targets, node, options: targets.fabric.node_faults.lose_connections(
        node, count(options, "every", _EVERY), packets(options)
    ),
    "ports-run-out": lambda targets, node, options: targets.fabric.node_faults.bound_connections(
        node, count(options, "connections", 1000), count(options, "seconds", 30)
    ),
    "small-mtu": lambda targets, node, options: targets.fabric.node_faults.shrink(
        node, count(options, "bytes", 1400)
    ),
    "other-vni": lambda targets, node, options: targets.fabric.wire_faults.change_network_id(
        node, count(options, "vni", _VNI)
    ),
    "network-id-disguised": lambda targets, node, options: (
        targets.fabric.node_faults.disguise_network_id(node, count(options, "vni", _VNI))
    ),
    "idle-flows-forgotten": lambda targets, node, options: targets.fabric.node_faults.forget_idle(
        node, count(options, "seconds", IDLE_SECONDS)
    ),
    "idle-outside-flows-forgotten": lambda targets, node, options: (
        targets.fabric.node_faults.forget_idle_outwards(
            node, count(options, "seconds", IDLE_SECONDS)
        )
    ),
    "not-encapsulated": lambda targets, node, _: targets.fabric.node_faults.send_plainly(node),
    "source-rewritten": lambda targets, node, options: targets.fabric.node_faults.rewrite_sources(
        node, targets.node(options, "peer") or ""
    ),
    "sources-disguised": lambda targets, node, _: targets.fabric.node_faults.disguise_sources(node),
    "macs-kept": lambda targets, node, _: targets.fabric.node_faults.keep_macs(node),
    "host-silent": lambda targets, node, _: targets.fabric.node_faults.silence_host(node),
    "host-without-services": lambda targets, node, _: targets.fabric.node_faults.silence_host(
        node, to_services=True
    ),
    "stale-neighbour": lambda targets, node, options: targets.fabric.node_faults.misdirect(
        node, str(targets.node(options, "peer"))
    ),
}
"""Faults of one node."""
_ALTERATIONS: Mapping[str, Callable[[Targets, Which, Json], Alteration]] = {
    "service-rules-missing": lambda _targets, which, _: alterations.without(which),
    "rules-run-out": lambda _targets, _which, options: alterations.full(
        count(options, "services", _SERVICES)
    ),
    "removed-services-kept": lambda _targets, which, _: alterations.removed_kept(which),
    "proxy-stopped": lambda _targets, which, _: alterations.stopped(which),
    "stale-endpoint": lambda targets, which, _: alterations.with_stale_endpoint(
        which, targets.profile
    ),
    "wrong-target-port": lambda _targets, which, _: alterations.with_wrong_port(which),
    "one-backend": lambda _targets, which, _: alterations.with_one_backend(which),
    "affinity-lost": lambda _targets, which, options: alterations.without_affinity(
        which, count(options, "seconds", 0)
    ),
    "policies-ignored": lambda _targets, which, _: alterations.without_policies(which),
    "endpoints-frozen": lambda _targets, which, _: alterations.frozen(which),
    "shared-endpoints-lost": lambda _targets, which, _: alterations.shared_lost(which),
    "readdressed-endpoints-lost": lambda _targets, which, _: alterations.readdressed_lost(which),
    "renamed-ports-lost": lambda _targets, which, _: alterations.renamed_lost(which),
}
"""Faults of Service rules; a node may have several at once."""


def _of_node(name: str) -> Inject:
    async def inject(targets: Targets, options: Json) -> Undo:
        return await _OF_NODES[name](targets, str(targets.node(options)), options)

    return inject


FAULTS.update({name: _of_node(name) for name in _OF_NODES})


async def _loss(targets: Targets, options: Json) -> Undo:
    rate = number(options, "rate", 1)
    return await targets.fabric.wire_faults.lose(_path(targets, options), packets(options), rate)


async def _held_back(targets: Targets, options: Json, *, way: Detour) -> Undo:
    detour = replace(
        way,
        seconds=number(options, "seconds", way.seconds),
        jitter=number(options, "jitter", 0),
        every=count(options, "every", way.every),
        seed=count(options, "seed", 0),
    )
    path = _path(targets, options)
    return await targets.fabric.wire_faults.hold_back(path, packets(options), detour)


def _too_fast(options: Json) -> str:
    """Return the nft verdict of a policer, which drops packets beyond a rate."""
    kilobytes = count(options, "kilobits", _KILOBITS) // 8
    return f"limit rate over {kilobytes} kbytes/second burst 16 kbytes drop"


async def _struck(targets: Targets, options: Json, *, verdict: Callable[[Json], str]) -> Undo:
    path = _path(targets, options)
    return await targets.fabric.wire_faults.strike(path, packets(options), verdict(options))


async def _route_missing(targets: Targets, options: Json) -> Undo:
    node, peer = str(targets.node(options)), str(targets.node(options, "peer"))
    if node == peer:
        raise LabError("A node needs no route to its own pods.", hint="Name another --peer.")
    return await targets.fabric.node_faults.forget_route(node, peer, count(options, "prefix", 0))


async def _hairpin_broken(targets: Targets, options: Json) -> Undo:
    lose = targets.fabric.node_faults.lose_hairpins
    return await together([await lose(node) for node in targets.nodes(options)])


FAULTS |= {
    "packet-loss": _loss,
    "packet-delay": partial(_held_back, way=Detour(seconds=0.2)),
    "packet-reordering": partial(_held_back, way=Detour(seconds=0.02, every=_EVERY)),
    "packet-corruption": partial(_held_back, way=Detour(every=_EVERY, change=damaged)),
    "packet-duplication": partial(_held_back, way=Detour(change=twice)),
    "narrow-link": partial(_struck, verdict=_too_fast),
    "ttl-too-small": partial(_struck, verdict=lambda _: "ip ttl set 1"),
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


def _altering(name: str) -> None:
    @fault(name)
    async def alter(targets: Targets, options: Json) -> AsyncIterator[None]:
        # The Service need not exist yet: a run creates its Services after the fault is injected.
        which = Which(service=text(options, "service"), port=text(options, "port"))
        key, nodes = object(), targets.nodes(options)
        for node in nodes:
            altered = targets.altered.setdefault(node, {})
            altered[key] = _ALTERATIONS[name](targets, which, options)
            await targets.fabric.nodes[node].alter_services(tuple(altered.values()))
        yield
        for node in nodes:
            del targets.altered[node][key]
            remaining = tuple(targets.altered[node].values())
            await targets.fabric.nodes[node].alter_services(remaining)


for _name in _ALTERATIONS:
    _altering(_name)


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
