"""``Trace`` as text: ten lines for a terminal, and one line per frame for the page. Pure."""

import re
from collections.abc import Iterator
from typing import Any

from nettests.model.visible import one_line, plural
from nettests.model.words import Protocol
from nettests.tracing.finding import Trace
from nettests.tracing.hops import Hop, Stage
from nettests.tracing.mark import Marked, Way
from nettests.tracing.packet import Direction, End, Packet, Scene

MARKS = {True: "✓", False: "·"}
STOPPED = "✗"


def terminal_lines(trace: Trace) -> Iterator[str]:
    """Yield the lines for a terminal: question, path, finding, detail, next step."""
    scene = trace.scene
    yield f"flow      {flow_of(scene)}"
    yield f"request   {_path(trace, _REQUEST)}"
    yield f"reply     {_path(trace, _REPLY)}"
    yield f"frames    {_counted(trace)}"
    if trace.answered is not None:
        yield f"client    {'got its answer' if trace.answered else 'got no answer'}"
    if trace.node:
        yield f"where     {one_line(trace.node)}"
    yield f"finding   {trace.finding.value}: {trace.finding.words}"
    if trace.detail:
        yield f"          {one_line(trace.detail)}"
    if scene.documented:
        yield f"expected  {one_line(scene.documented)}"
    for confirmation in trace.confirmed:
        yield f"objects   {one_line(confirmation, limit=160)}"
    yield f"next      {trace.next_step}"
    for remark in trace.remarks[:2]:
        yield f"note      {one_line(remark, limit=160)}"


def flow_of(scene: Scene) -> str:
    """Return the flow in one line: source, requested address, and the backends behind it."""
    behind = (
        f" → {', '.join(end(backend) for backend in scene.backends)}" if scene.translated else ""
    )
    port = f":{scene.requested_port}" if scene.requested_port is not None else ""
    to = (
        end(scene.backends[0])
        if scene.backends and not scene.translated
        else f"{scene.requested}{port}"
    )
    return one_line(f"{scene.protocol.value} {end(scene.source)} → {to}{behind}", limit=200)


def end(side: End) -> str:
    """Return one end of a flow: name, address, port and node."""
    port = f":{side.port}" if side.port is not None else ""
    named = f"{side.name} " if side.name else ""
    return f"{named}{side.address}{port} on {side.node}"


def frame(marked: Marked) -> str:
    """Return a frame's ports, flags, sizes and tunnel."""
    packet = marked.packet
    tunnel = packet.encapsulation
    around = (
        f", in {tunnel.kind} {tunnel.vni} {tunnel.source} → {tunnel.destination} (UDP {tunnel.port})"
        if tunnel
        else ""
    )
    drop = f", dropped: {marked.sighting.drop}" if marked.sighting.drop else ""
    return (
        f"{_address(packet.source, packet.source_port)} → "
        f"{_address(packet.destination, packet.destination_port)} {_kind(packet)}, "
        f"{packet.length} bytes{around}{drop}"
    )


def place(marked: Marked) -> str:
    """Return the interface and direction in which a frame was captured."""
    seen = marked.sighting
    match seen.direction:
        case Direction.IN:
            return f"{seen.interface} in"
        case Direction.OUT:
            return f"{seen.interface} out"
        case Direction.UNKNOWN:
            return seen.interface


def short(stage: Stage) -> str:
    """Return the short label of a stage."""
    # samples: arrived at the node, reply left the node
    return re.split(" at | the ", stage.value.removeprefix("reply "))[0]


_REPLY = (
    *(Stage.ANSWERED, Stage.REPLY_LEFT, Stage.REPLY_ARRIVED),
    *(Stage.REPLY_TRANSLATED, Stage.REPLY_DELIVERED),
)
_REQUEST = tuple(stage for stage in Stage if stage not in _REPLY)


def _path(trace: Trace, stages: tuple[Stage, ...]) -> str:
    hops = [hop for hop in trace.hops if hop.stage in stages]
    if not hops:
        return "–"
    words, node = [], ""
    for hop in hops:
        at = "" if hop.node == node else f"[{one_line(hop.node, limit=40)}] "
        words.append(f"{at}{mark(trace, hop)} {short(hop.stage)}")
        node = hop.node
    return " → ".join(words)


def mark(trace: Trace, hop: Hop) -> str:
    """Return a hop's symbol: seen, not seen, or where the flow stopped."""
    stopped = trace.stopped
    if stopped is not None and (hop.stage, hop.node) == (stopped.stage, stopped.node):
        return STOPPED
    return MARKS[hop.seen]


def _counted(trace: Trace) -> str:
    nodes = dict.fromkeys(marked.sighting.node for marked in trace.frames)
    seen = [
        f"{sum(marked.sighting.node == node for marked in trace.frames)} on {one_line(node, limit=40)}"
        for node in nodes
    ]
    again = resent(trace)
    more = f"; {plural(again, 'packet')} sent again" if again else ""
    return f"{', '.join(seen) or 'none'}{more}"


def resent(trace: Trace) -> int:
    """Return how often TCP retransmitted, on the interface that saw it most."""
    by_interface: dict[tuple[str, str], list[tuple[object, ...]]] = {}
    for marked in trace.frames:
        packet = marked.packet
        if (
            packet.protocol is Protocol.TCP
            and marked.way is Way.REQUEST
            and (packet.syn or packet.carried)
        ):
            key = (
                *(packet.source, packet.source_port, packet.sequence, packet.carried),
                *(marked.sighting.direction, packet.destination),
            )
            by_interface.setdefault((marked.sighting.node, marked.sighting.interface), []).append(
                key
            )
    return max((len(keys) - len(set(keys)) for keys in by_interface.values()), default=0)


def _address(address: object, port: int | None) -> str:
    return f"{address}:{port}" if port is not None else str(address)


def _kind(packet: Packet) -> str:
    if packet.icmp is not None:
        quoted = packet.quoted
        about = f" about {quoted.source} → {quoted.destination}" if quoted else ""
        return f"ICMP {packet.icmp[0]}/{packet.icmp[1]}{about}"
    if packet.protocol is Protocol.TCP:
        flags = (
            ("SYN", packet.syn),
            ("ACK", packet.ack),
            ("FIN", packet.fin),
            ("RST", packet.reset),
        )
        data = f" {packet.carried} bytes of data" if packet.carried else ""
        return f"TCP {'+'.join(name for name, on in flags if on)}{data}"
    return f"{packet.protocol.value.upper() if packet.protocol else 'IP'}{' fragment' if packet.fragment else ''}"


def document(trace: Trace, *, title: str, page: str) -> dict[str, Any]:
    """Return the output of ``nettests trace --json``; ``page`` is the path of the HTML page."""
    scene = trace.scene
    return {
        "trace": title,
        "finding": trace.finding.value,
        "words": trace.finding.words,
        "detail": trace.detail,
        "node": trace.node,
        "next_step": trace.next_step,
        "answered": trace.answered,
        "documented": scene.documented,
        "flow": {
            "protocol": scene.protocol.value,
            "source": _end(scene.source),
            "requested": {"address": str(scene.requested), "port": scene.requested_port},
            "translator": scene.translator,
            "backends": [_end(backend) for backend in scene.backends],
        },
        "hops": [_hop(trace, hop) for hop in trace.hops],
        "frames": [_frame(frame) for frame in trace.frames],
        "objects": list(trace.confirmed),
        "remarks": list(trace.remarks),
        "page": page,
    }


def _end(end: End) -> dict[str, Any]:
    return {"address": str(end.address), "port": end.port, "node": end.node, "name": end.name}


def _hop(trace: Trace, hop: Hop) -> dict[str, Any]:
    stopped = trace.stopped
    here = stopped is not None and (hop.stage, hop.node) == (stopped.stage, stopped.node)
    return {
        "stage": hop.stage.value,
        "node": hop.node,
        "seen": hop.seen,
        "stopped": here,
        "frames": len(hop.frames),
    }


def _frame(frame: Marked) -> dict[str, Any]:
    seen, packet = frame.sighting, frame.packet
    return {
        "node": seen.node,
        "time": seen.time,
        "interface": seen.interface,
        "direction": seen.direction.value,
        "way": frame.way.value,
        **packet.ends,
        "length": packet.length,
        "tunnel": packet.tunnel,
        "drop": seen.drop,
    }
