"""Captures of one marked connection and its server's answer → the record for the journal, which ``parse.witness`` reads.

It holds headers of frames with their node and interface, no payload, and what facts say about such a connection, so
that a journal can be read without the cluster.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nettests.capture.scene import OUTSIDE
from nettests.model.channel import ExecAnswer
from nettests.model.facts import ClusterFacts
from nettests.parse.witness import PLAIN
from nettests.tracing.mark import Mark, Marked, marked
from nettests.tracing.packet import Capture, Scene

FRAMES_KEPT = 200
"""Of one connection; it has some dozens at each of a few components."""
ENCAPSULATING = {"vxlan": "vxlan", "geneve": "geneve", "host-gw": PLAIN, "windows-bgp": PLAIN}
"""What backends of network plugins make of packets between nodes; of others nothing is claimed."""


def record_of(
    scene: Scene,
    facts: ClusterFacts,
    mark: Mark,
    captures: Sequence[Capture],
    answer: ExecAnswer,
    *,
    request: str,
    preserved: bool = False,
) -> dict[str, Any]:
    """Return the record, as JSON has it; ``request`` is what the server was queried for.

    ``preserved`` says that the Service wants the destination of its packets kept, so that no answer may come.
    """
    frames = [
        frame for capture in captures for frame in map(_frame, marked(capture.sightings, mark))
    ]
    return {
        "request": request,
        "preserved": preserved,
        "exit_code": answer.exit_code,
        "stdout": answer.stdout,
        "stderr": answer.stderr,
        **_ends(scene),
        **_configured(facts, scene),
        "doubts": list(_doubts(captures, len(frames))),
        "frames": frames[:FRAMES_KEPT],
    }


def _ends(scene: Scene) -> dict[str, Any]:
    """Return where the connection begins and ends, and whose addresses are whose."""
    by_node: defaultdict[str, list[str]] = defaultdict(list)
    for address, node in scene.owners.items():
        by_node[node].append(str(address))
    backend = scene.backends[0]
    return {
        "source_node": scene.source.node,
        "backend_node": backend.node,
        "backend": str(backend.address),
        "outside": backend.node == OUTSIDE,
        "client": str(scene.source.address),
        "requested": _place(scene),
        "nodes": dict(by_node),
    }


def _place(scene: Scene) -> str:
    address = f"[{scene.requested}]" if scene.requested.version == 6 else str(scene.requested)
    return f"{address}:{scene.requested_port}"


def _configured(facts: ClusterFacts, scene: Scene) -> dict[str, Any]:
    backend, plugin = facts.cni.backend.value or "", facts.cni.plugin.value
    named = f"{plugin}'s backend {backend}" if plugin else f"the backend {backend}"
    return {
        "encapsulation": ENCAPSULATING.get(backend, ""),
        "told_by": f"{named} ({facts.cni.backend.origin})",
        "vni": scene.vni,
        "tunnel_port": facts.cni.vxlan_port.value,
        "driver": facts.node(scene.source.node).cni_driver.value or "",
    }


def _doubts(read: Sequence[Capture], frames: int) -> Iterator[str]:
    for capture in read:
        if capture.doubt:
            yield capture.doubt
    if frames > FRAMES_KEPT:
        yield f"the connection has {frames} frames; {FRAMES_KEPT} are kept"


def _frame(frame: Marked) -> Mapping[str, Any]:
    """Return what a record keeps of a frame: heads, where it was, and the tunnel around it."""
    packet, seen = frame.packet, frame.sighting
    return {
        "node": seen.node,
        "interface": seen.interface,
        "edge": seen.edge.value,
        "direction": seen.direction.value,
        "way": frame.way.value,
        **packet.ends,
        "source_mac": packet.source_mac,
        "destination_mac": packet.destination_mac,
        "tunnel": packet.tunnel,
    }
