"""Faults of packets (between nodes, between a node and its pods, at single pods), and of Service rules."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial

from nettests.lab.errors import LabError
from nettests.lab.faults.targets import (
    FAULTS,
    Inject,
    Options,
    Targets,
    Undo,
    changed,
    fault,
    together,
)
from nettests.lab.network import alterations
from nettests.lab.network.alterations import Alteration, Which
from nettests.lab.network.node_faults import NodeFaults
from nettests.lab.network.switch_rules import IDLE_SECONDS
from nettests.lab.network.wire_faults import GATEWAY, Detour, Path, damaged, twice
from nettests.lab.topology import OS

_VNI = 9999
_EVERY = 5
_SERVICES = 200
_GAP_SECONDS = 0.3
_KILOBITS = 1000

_OF_NODES: Mapping[str, Callable[[NodeFaults, str, Options], Awaitable[Undo]]] = {
    "connection-loss": lambda faults, node, options: faults.lose_connections(
        node, options.count("every", _EVERY), options.packets
    ),
    "ports-run-out": lambda faults, node, options: faults.bound_connections(
        node, options.count("connections", 1000), options.count("seconds", 30)
    ),
    "small-mtu": lambda faults, node, options: faults.shrink(node, options.count("bytes", 1400)),
    "network-id-disguised": lambda faults, node, options: faults.disguise_network_id(
        node, options.count("vni", _VNI)
    ),
    "idle-flows-forgotten": lambda faults, node, options: faults.forget_idle(
        node, options.count("seconds", IDLE_SECONDS)
    ),
    "idle-outside-flows-forgotten": lambda faults, node, options: faults.forget_idle_outwards(
        node, options.count("seconds", IDLE_SECONDS)
    ),
    "not-encapsulated": lambda faults, node, _: faults.send_plainly(node),
    "source-rewritten": lambda faults, node, options: faults.rewrite_sources(
        node, options.text("peer")
    ),
    "sources-disguised": lambda faults, node, _: faults.disguise_sources(node),
    "macs-kept": lambda faults, node, _: faults.keep_macs(node),
    "host-silent": lambda faults, node, _: faults.silence_host(node),
    "host-without-services": lambda faults, node, _: faults.silence_host(node, to_services=True),
    "stale-neighbour": lambda faults, node, options: faults.misdirect(node, options.text("peer")),
}
"""Faults of one node."""
_ALTERATIONS: Mapping[str, Callable[[Targets, Which, Options], Alteration]] = {
    "service-rules-missing": lambda _lab, which, _: alterations.without(which),
    "rules-run-out": lambda _lab, _which, options: alterations.full(
        options.count("services", _SERVICES)
    ),
    "removed-services-kept": lambda _lab, which, _: alterations.removed_kept(which),
    "proxy-stopped": lambda _lab, which, _: alterations.stopped(which),
    "stale-endpoint": lambda lab, which, _: alterations.with_stale_endpoint(which, lab.profile),
    "wrong-target-port": lambda _lab, which, _: alterations.with_wrong_port(which),
    "one-backend": lambda _lab, which, _: alterations.with_one_backend(which),
    "affinity-lost": lambda _lab, which, options: alterations.without_affinity(
        which, options.count("seconds", 0)
    ),
    "policies-ignored": lambda _lab, which, _: alterations.without_policies(which),
    "endpoints-frozen": lambda _lab, which, _: alterations.frozen(which),
    "shared-endpoints-lost": lambda _lab, which, _: alterations.shared_lost(which),
    "readdressed-endpoints-lost": lambda _lab, which, _: alterations.readdressed_lost(which),
    "renamed-ports-lost": lambda _lab, which, _: alterations.renamed_lost(which),
}
"""Faults of Service rules; a node may have several at once."""


def _of_node(name: str) -> Inject:
    async def inject(lab: Targets, options: Options) -> Undo:
        lab.node(options, "peer")  # there has to be one of that name
        return await _OF_NODES[name](lab.fabric.node_faults, str(lab.node(options)), options)

    return inject


FAULTS.update({name: _of_node(name) for name in _OF_NODES})


async def _loss(lab: Targets, options: Options) -> Undo:
    rate = options.number("rate", 1)
    return await lab.fabric.wire_faults.lose(_path(lab, options), options.packets, rate)


async def _held_back(lab: Targets, options: Options, *, way: Detour) -> Undo:
    detour = replace(
        way,
        seconds=options.number("seconds", way.seconds),
        jitter=options.number("jitter", 0),
        every=options.count("every", way.every),
        seed=options.count("seed", 0),
    )
    path = _path(lab, options)
    return await lab.fabric.wire_faults.hold_back(path, options.packets, detour)


def _too_fast(options: Options) -> str:
    """Return the nft verdict of a policer, which drops packets beyond a rate."""
    kilobytes = options.count("kilobits", _KILOBITS) // 8
    return f"limit rate over {kilobytes} kbytes/second burst 16 kbytes drop"


async def _struck(lab: Targets, options: Options, *, verdict: Callable[[Options], str]) -> Undo:
    path = _path(lab, options)
    return await lab.fabric.wire_faults.strike(path, options.packets, verdict(options))


async def _route_missing(lab: Targets, options: Options) -> Undo:
    node, peer = str(lab.node(options)), str(lab.node(options, "peer"))
    if node == peer:
        raise LabError("A node needs no route to its own pods.", hint="Name another --peer.")
    return await lab.fabric.node_faults.forget_route(node, peer, options.count("prefix", 0))


async def _other_vni(lab: Targets, options: Options) -> Undo:
    node, vni = str(lab.node(options)), options.count("vni", _VNI)
    return await lab.fabric.wire_faults.change_network_id(node, vni)


async def _hairpin_broken(lab: Targets, options: Options) -> Undo:
    lose = lab.fabric.node_faults.lose_hairpins
    return await together([await lose(node) for node in lab.nodes(options)])


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
    "other-vni": _other_vni,
}


def _path(lab: Targets, options: Options) -> Path:
    node = lab.node(options)
    source, target = (
        GATEWAY if options.get(name) == GATEWAY else lab.node(options, name) or ""
        for name in ("from", "to")
    )
    if node is None:
        return Path(source=source, target=target)
    if source or target:
        raise LabError("Either --node, or --from and --to.", hint="--node is both ways.")
    return Path(source=node, both=True)


def _altering(name: str) -> None:
    @fault(name)
    async def alter(lab: Targets, options: Options) -> AsyncIterator[None]:
        # The Service need not exist yet: a run creates its Services after the fault is injected.
        which = Which(service=options.text("service"), port=options.text("port"))
        key, nodes = object(), lab.nodes(options)
        for node in nodes:
            altered = lab.altered.setdefault(node, {})
            altered[key] = _ALTERATIONS[name](lab, which, options)
            await lab.fabric.nodes[node].alter_services(tuple(altered.values()))
        yield
        for node in nodes:
            del lab.altered[node][key]
            remaining = tuple(lab.altered[node].values())
            await lab.fabric.nodes[node].alter_services(remaining)


for _name in _ALTERATIONS:
    _altering(_name)


@fault("slow-rules")
async def _slow_rules(lab: Targets, options: Options) -> AsyncIterator[None]:
    nodes = [lab.fabric.nodes[name] for name in lab.nodes(options)]
    seconds, services = options.number("seconds", 3.0), options.count("services", 0)
    with changed(nodes, rules_delay=seconds, quick_rules=services):
        yield


@fault("rules-recreated")
async def _rules_recreated(lab: Targets, options: Options) -> AsyncIterator[None]:
    nodes = [lab.fabric.nodes[name] for name in lab.nodes(options)]
    with changed(nodes, rules_gap=options.number("seconds", _GAP_SECONDS)):
        yield


@fault("udp-flows-kept")
async def _udp_flows_kept(lab: Targets, options: Options) -> AsyncIterator[None]:
    nodes = [lab.fabric.nodes[name] for name in lab.nodes(options)]
    forgetting = [node.forgetting for node in nodes if node.forgetting is not None]
    if not forgetting:
        raise LabError(
            "kube-proxy on Windows forgets no flow in any case.", hint="Name a Linux --node."
        )
    with changed(forgetting, udp=False):
        yield


@fault("dsr-off")
async def _dsr_off(lab: Targets, options: Options) -> AsyncIterator[None]:
    nodes = [n for n in lab.nodes(options) if lab.profile.node(n).os is OS.WINDOWS]
    if not nodes:
        raise LabError("DSR is of Windows nodes alone.", hint="Name one with --node.")
    for node in nodes:
        await lab.fabric.nodes[node].rewrite_sources(always=True)
    yield
    for node in reversed(nodes):
        await lab.fabric.nodes[node].rewrite_sources(always=False)
