"""The first hop that a flow did not reach → what is wrong there. Pure.

What frames show (another network id, a refusal, a drop with its reason) is ``seen`` and needs no
complete capture; for what was not seen, ``path`` decides whether it would have been.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from nettests.tracing.finding import Finding
from nettests.tracing.hops import Hop, Stage, leaves, passed_on
from nettests.tracing.mark import Marked, Way
from nettests.tracing.packet import (
    PORT_UNREACHABLE,
    Direction,
    Edge,
    End,
    Packet,
    Scene,
    Sighting,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """What is wrong, the evidence, and the node if it is not the hop's."""

    finding: Finding
    detail: str = ""
    node: str = ""
    seen: bool = False


Frames = tuple[Marked, ...]


def chosen(scene: Scene, frames: Frames) -> End | Difference | None:
    """Return the backend that the flow was translated to, or what is wrong with it, or ``None``."""
    if not scene.translated:
        return scene.backends[0] if scene.backends else None
    translated = [
        frame.packet
        for frame in frames
        if frame.way is Way.REQUEST
        and frame.packet.destination != scene.requested
        and frame.sighting.node == scene.translator
    ]
    if not translated:
        return None
    last = translated[-1]
    backend = scene.backend(last.destination)
    if backend is None:
        endpoints = ", ".join(str(end.address) for end in scene.backends)
        return Difference(
            Finding.DEAD_BACKEND,
            f"translated to {last.destination}, which is not an endpoint of the Service (its endpoints: {endpoints})",
            seen=True,
        )
    if backend.port is not None and last.destination_port not in {backend.port, None}:
        return Difference(
            Finding.DEAD_BACKEND,
            f"translated to port {last.destination_port} of {backend.address}, which serves at {backend.port}",
            seen=True,
        )
    return backend


_SHOWN_AT = {
    Stage.LEFT: "sent it on",
    Stage.ARRIVED: "received it",
    Stage.DELIVERED: "delivered it",
}
"""What a node did with a packet at the hops that show its source, in order."""


def rewritten(scene: Scene, path: Iterable[Hop]) -> Difference | None:
    """Return a difference at the first hop with another source, if the source must be kept."""
    if not scene.source_kept:
        return None
    for hop in path:
        if hop.stage in _SHOWN_AT and hop.first is not None:
            source = hop.first.packet.source
            if source != scene.source.address:
                text = f"{hop.node} {_SHOWN_AT[hop.stage]} with source {source} instead of {scene.source.address}"
                return Difference(Finding.SOURCE_REWRITTEN, text, node=hop.node, seen=True)
    return None


def of(
    scene: Scene,
    backend: End | None,
    path: tuple[Hop, ...],
    stopped: Hop,
    frames: Frames,
    *,
    captured: Iterable[Sighting] = (),
) -> Difference:
    """Return what is wrong with a flow that did not reach ``stopped``; ``captured``: all packets."""
    shown = (
        _dropped(scene, stopped, frames)
        or refused(backend, frames)
        or _other_network(scene, path, frames)
        or rewritten(scene, path)
    )
    if shown is not None:
        return shown
    unseen = _unseen(scene, backend, path, stopped, frames, captured=captured)
    errors = _errors(frames)
    return replace(unseen, detail=f"{unseen.detail}; {errors}") if errors else unseen


def _errors(frames: Frames) -> str:
    """Say which ICMP errors were sent about the flow; no hop shows those of routers."""
    errors = dict.fromkeys(
        (frame.packet.source, frame.packet.icmp)
        for frame in frames
        if frame.way is Way.ERROR and frame.packet.icmp is not None
    )
    return ", ".join(
        f"{source} answered with ICMP {kind} code {code}" for source, (kind, code) in errors
    )


def _dropped(scene: Scene, stopped: Hop, frames: Frames) -> Difference | None:
    """Return what the node's tool reports as dropped: ``UNTRANSLATED`` if before translation."""
    dropped = [
        frame for frame in frames if frame.sighting.drop and frame.sighting.node == stopped.node
    ]
    if not dropped:
        return None
    last = dropped[-1]
    text = reason(stopped.node, frames)
    if stopped.stage is Stage.TRANSLATED and last.packet.destination == scene.requested:
        return Difference(Finding.UNTRANSLATED, f"{text}, as {_flow(last.packet)}", seen=True)
    return Difference(Finding.DROPPED, f"{text}, {_flow(last.packet)}", seen=True)


def reason(node: str, frames: Frames) -> str:
    """Say where and why a node's tool reports that it dropped a packet; empty without a drop."""
    dropped = [
        frame.sighting for frame in frames if frame.sighting.drop and frame.sighting.node == node
    ]
    if not dropped:
        return ""
    return f"{node} dropped it at {dropped[-1].interface or 'a component'}: {dropped[-1].drop}"


def refused(backend: End | None, frames: Frames) -> Difference | None:
    """Return a difference if the backend refused: by a reset alone, or by "port unreachable"."""
    if backend is None:
        return None
    replies = [frame.packet for frame in frames if frame.way is Way.REPLY]
    resets = [packet for packet in replies if packet.reset]
    if resets and not any(packet.syn for packet in replies):
        return Difference(Finding.REFUSED, f"{resets[0].source} answered with a reset", seen=True)
    for frame in frames:
        if frame.way is Way.ERROR and frame.packet.icmp in PORT_UNREACHABLE:
            text = f'{frame.packet.source} answered with ICMP "port unreachable"'
            return Difference(Finding.REFUSED, text, seen=True)
    return None


def _other_network(scene: Scene, path: tuple[Hop, ...], frames: Frames) -> Difference | None:
    """Return a difference if packets crossed without the tunnel, or with another network id."""
    tunnelled = [
        (frame, frame.packet.encapsulation)
        for frame in frames
        if frame.packet.encapsulation is not None
    ]
    # If the network id is unknown, it must stay that of the first request.
    first_vni = next((tunnel.vni for frame, tunnel in tunnelled if frame.way is Way.REQUEST), None)
    for frame, tunnel in tunnelled:
        right = (
            scene.vni if scene.vni is not None else first_vni if frame.way is Way.REQUEST else None
        )
        if right is not None and tunnel.vni != right:
            node = frame.sighting.node
            text = f"{tunnel.kind} with VNI {tunnel.vni} instead of {right}, seen on {node}"
            return Difference(Finding.WRONG_VNI, text, node=node, seen=True)
    for hop in path:
        if hop.stage is Stage.LEFT and scene.encapsulated:
            plain = [frame for frame in hop.frames if frame.packet.encapsulation is None]
            if plain and not tunnelled:
                text = f"{_flow(plain[0].packet)} left {hop.node} without encapsulation"
                return Difference(Finding.NOT_ENCAPSULATED, text, node=hop.node, seen=True)
    return None


def _by_router(before: Hop | None, node: str, captured: Iterable[Sighting]) -> str:
    """Say that a packet was sent to a router's MAC address instead of the node's, if so.

    That need not be wrong: a cloud's router may lead there.
    """
    macs = {seen.packet.source_mac for seen in captured if seen.node == node and _sends(seen)}
    sent = [frame.packet for frame in before.frames if leaves(frame)] if before else []
    if before is None or not sent or not macs or sent[-1].destination_mac in {*macs, ""}:
        return ""
    return (
        f", to MAC address {sent[-1].destination_mac}, which is a router's and not that of {node}: unless routers carry "
        f"Pods' packets here, {before.node} has no route to {sent[-1].destination} through {node}"
    )


def _sends(seen: Sighting) -> bool:
    """Whether a frame that leaves its node shows the node's own MAC address."""
    on_wire = seen.edge is Edge.WIRE and seen.direction is Direction.OUT
    return on_wire and bool(seen.packet.source_mac)


def _unseen(
    scene: Scene,
    backend: End | None,
    path: tuple[Hop, ...],
    stopped: Hop,
    frames: Frames,
    *,
    captured: Iterable[Sighting],
) -> Difference:
    earlier = path[: path.index(stopped)]
    before = next((hop for hop in reversed(earlier) if hop.seen), None)
    match stopped.stage:
        case Stage.SENT:
            return Difference(Finding.NEVER_LEFT_POD, f"no frame of it was seen on {stopped.node}")
        case Stage.ARRIVED_AT_TRANSLATOR | Stage.ARRIVED:
            by = _by_router(before, stopped.node, captured)
            return Difference(Finding.LOST_BETWEEN_NODES, f"{_last(before)}{by}")
        case Stage.TRANSLATED:
            return Difference(
                Finding.UNTRANSLATED,
                f"{stopped.node} did not translate the destination {scene.requested}",
            )
        case Stage.LEFT:
            return Difference(Finding.LOST_IN_SOURCE_NODE, _last(before))
        case Stage.DELIVERED:
            return Difference(Finding.NOT_DELIVERED, _last(before))
        case Stage.ANSWERED:
            who = backend.name or str(backend.address) if backend else "the destination"
            return Difference(Finding.UNANSWERED, f"{who} received it and did not answer")
        case Stage.REPLY_LEFT | Stage.REPLY_ARRIVED:
            return _reply(scene, stopped, before, frames)
        case Stage.REPLY_TRANSLATED:
            sources = (
                sorted({str(frame.packet.source) for frame in before.frames}) if before else []
            )
            return Difference(
                Finding.REPLY_NOT_TRANSLATED,
                f"the reply came with source {', '.join(sources)} instead of {scene.requested}",
            )
        case Stage.REPLY_DELIVERED:
            return Difference(Finding.REPLY_NOT_DELIVERED, _last(before))
        case _:
            assert_never(stopped.stage)


def swallowed(scene: Scene, stopped: Hop, frames: Frames, direct: Frames) -> Difference:
    """Tell an untranslated packet from one that its node lost, perhaps after translation.

    What happens inside a node shows only in what comes out: the packet unchanged, or nothing
    although a packet that needs no translation comes out.
    """
    as_it_was = [
        frame
        for frame in frames
        if frame.way is Way.REQUEST and (leaves(frame) or frame.sighting.node != stopped.node)
    ]
    untranslated = Difference(
        Finding.UNTRANSLATED, f"{stopped.node} did not translate the destination {scene.requested}"
    )
    if any(frame.packet.destination == scene.requested and leaves(frame) for frame in as_it_was):
        return untranslated
    if scene.translator == scene.source.node and as_it_was:
        return untranslated
    requests = [frame for frame in direct if frame.way is Way.REQUEST]
    if any(passed_on(request, stopped.node) for request in requests):
        text = f"{stopped.node} lost it, but forwarded a packet sent straight to the backend"
        return Difference(Finding.UNTRANSLATED, text)
    if requests:
        text = f"{stopped.node} did not forward a packet sent straight to the backend either"
        return Difference(Finding.LOST_IN_SOURCE_NODE, text)
    text = f"it entered {stopped.node} and did not leave; the captures do not show whether it was translated"
    return Difference(Finding.UNSURE, text, seen=True)


def _reply(scene: Scene, stopped: Hop, before: Hop | None, frames: Frames) -> Difference:
    """Tell a reply that went to another node from one that was lost."""
    back = {scene.source.node, scene.translator}
    for frame in frames:
        if frame.way is not Way.REPLY or not leaves(frame):
            continue
        outer = frame.packet.encapsulation
        towards = outer.destination if outer is not None else frame.packet.destination
        owner = scene.owners.get(towards)
        if owner is not None and owner not in back:
            return Difference(
                Finding.REPLY_OTHER_WAY, f"it left {frame.sighting.node} for {owner} ({towards})"
            )
    node = before.node if stopped.stage is Stage.REPLY_LEFT and before else ""
    return Difference(Finding.REPLY_LOST, _last(before), node=node)


def _last(hop: Hop | None) -> str:
    """Say where the flow was last seen, and with which addresses."""
    if hop is None or not hop.frames:
        return "no earlier place saw it"
    last = hop.frames[-1]
    at = f" at {last.sighting.interface}" if last.sighting.interface else ""
    return f"seen last on {hop.node}{at}: {_flow(last.packet)}"


def _flow(packet: Packet) -> str:
    tunnel = packet.encapsulation
    around = (
        f" in {tunnel.kind} {tunnel.vni} {tunnel.source} → {tunnel.destination}" if tunnel else ""
    )
    return f"{_end(packet.source, packet.source_port)} → {_end(packet.destination, packet.destination_port)}{around}"


def _end(address: object, port: int | None) -> str:
    return f"{address}:{port}" if port is not None else str(address)
