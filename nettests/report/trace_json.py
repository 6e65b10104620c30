"""A ``Trace`` as one JSON value, for programs: finding, hops, frames. Pure; ``trace_words`` says the same to people."""

from typing import Any

from nettests.tracing.hops import Hop
from nettests.tracing.mark import Marked
from nettests.tracing.result import Trace
from nettests.tracing.scene import End


def document(trace: Trace, *, title: str, page: str) -> dict[str, Any]:
    """Return what ``nettests trace --json`` prints; ``page`` is the path of the page for people."""
    scene = trace.scene
    return {
        "trace": title,
        "finding": trace.finding.value,
        "words": trace.finding.words,
        "detail": trace.detail,
        "node": trace.node,
        "next_step": trace.finding.next_step,
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
    tunnel = packet.encapsulation
    return {
        "node": seen.node,
        "time": seen.time,
        "interface": seen.interface,
        "direction": seen.direction.value,
        "way": frame.way.value,
        "source": str(packet.source),
        "source_port": packet.source_port,
        "destination": str(packet.destination),
        "destination_port": packet.destination_port,
        "length": packet.length,
        "tunnel": None
        if tunnel is None
        else {
            "kind": tunnel.kind,
            "vni": tunnel.vni,
            "source": str(tunnel.source),
            "destination": str(tunnel.destination),
        },
        "drop": seen.drop,
    }
