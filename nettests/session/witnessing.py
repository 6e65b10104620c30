"""``--enable=packets``: one marked connection, captured on the nodes of its way, beside what its server and facts say of it.

The examiner of ``Question.WITNESS``: it captures one connection at a time while no other check runs, and writes a record that
``parse.witness`` reads. What nodes do not offer (their tool, room, a role that may do it) is a skip with the reason. The Pods
that capture stand from the first such check to the end of observation.
"""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.model.check import Action
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.probes.addresses import NotOfferedError
from nettests.probes.capturing import CannotCaptureError, RefusedCaptureError
from nettests.probes.commands import CannotProbeError
from nettests.probes.endpoint import CLIENT_IP
from nettests.probes.examine import Examination
from nettests.probes.marked import MarkedFlow, witnessed_flow
from nettests.session.captures import Captures, random_base
from nettests.session.trace_scene import OUTSIDE, Set, scene_of_action
from nettests.tracing.mark import Marked, marked
from nettests.tracing.sighting import Capture

TOOL = "witness"
FRAMES_KEPT = 200
"""Of one connection; it has some dozens at each of a few components."""
TRIES = 3
"""Source ports that are tried, where one is somebody else's."""
ENCAPSULATING = {"vxlan": "vxlan", "geneve": "geneve", "host-gw": "plain", "windows-bgp": "plain"}
"""What backends of network plugins make of packets between nodes; of others nothing is claimed."""


@dataclass(slots=True, kw_only=True)
class Witnessing:
    """Captures connections for the checks of one run, one after the other; ``close`` removes what it made."""

    captures: Captures
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _refused: str = ""
    """Why nothing is captured any more: what a node refuses once it refuses each time."""

    def examine(self, action: Action) -> Examination:
        """Capture one connection; ``NotOfferedError`` where the cluster does not offer that."""
        with self._lock:
            if self._refused:
                raise NotOfferedError(self._refused)
            made = scene_of_action(action, self.captures.directory, CLIENT_IP)
            nodes = self.captures.nodes(made.scene)
            try:
                self.captures.stand(nodes)
                return self._captured(action, made, nodes)
            except RefusedCaptureError as error:
                self._refused = f"nothing is witnessed on the wire: {error.message}"
                raise NotOfferedError(self._refused) from error
            except (ChannelError, CannotCaptureError) as error:
                return Examination(tool=TOOL, words=("curl",), channel="exec", error=error.message)

    def close(self) -> None:
        """Remove the Pods that capture."""
        with self._lock:
            self.captures.remove()

    def _captured(self, action: Action, made: Set, nodes: list[NodeFacts]) -> Examination:
        base, captures = random_base(), self.captures
        (flow, answer), texts = captures.during(
            made.scene, nodes, base, lambda: self._sent(action, made, base + 2)
        )
        read = [
            captures.read(node, text, base, flow.mark).capture
            for node, text in zip(nodes, texts, strict=True)
        ]
        frames = [frame for one in read for frame in map(_frame, marked(one.sightings, flow.mark))]
        record = {
            "request": CLIENT_IP,
            "exit_code": answer.exit_code,
            "stdout": answer.stdout,
            "stderr": answer.stderr,
            **_ends(made),
            **_configured(captures.directory.facts, made),
            "doubts": list(_doubts(read, len(frames))),
            "frames": frames[:FRAMES_KEPT],
        }
        return Examination(
            tool=TOOL, words=flow.words, channel="exec", exit_code=0, stdout=json.dumps(record)
        )

    def _sent(self, action: Action, made: Set, first: int) -> tuple[MarkedFlow, ExecAnswer]:
        """Connect once from the source's Pod."""
        scene = made.scene
        if scene.requested_port is None:
            raise CannotProbeError(f"{scene.requested} does not tell whom it sees")
        channel = self.captures.access.open_exec(
            self.captures.blank.namespace,
            action.source.probe,
            "probe",
            node=scene.source.node,
            os=self.captures.directory.facts.node(scene.source.node).os,
        )
        for number in range(first, first + TRIES):
            flow = witnessed_flow(made.endpoint, str(scene.requested), scene.requested_port, number)
            try:
                with channel.slots:
                    answer = channel.run(flow.words, timeout=flow.seconds)
            except ProgramMissingError as error:
                raise RefusedCaptureError(error.message) from error
            if answer.exit_code != flow.unsent:
                return flow, answer
        raise CannotCaptureError(f"{action.source.probe} has no source port free")


def _ends(made: Set) -> dict[str, Any]:
    """Return where the connection begins and ends, and whose addresses are whose."""
    scene = made.scene
    by_node: defaultdict[str, list[str]] = defaultdict(list)
    for address, node in scene.owners.items():
        by_node[node].append(str(address))
    backend = scene.backends[0]
    return {
        "source_node": scene.source.node,
        "backend_node": backend.node,
        "backend": str(backend.address),
        "outside": backend.node == OUTSIDE,
        "nodes": dict(by_node),
    }


def _configured(facts: ClusterFacts, made: Set) -> dict[str, Any]:
    """Return what facts say of the packets between the nodes."""
    backend, plugin = facts.cni.backend.value or "", facts.cni.plugin.value
    named = f"{plugin}'s backend {backend}" if plugin else f"the backend {backend}"
    return {
        "encapsulation": ENCAPSULATING.get(backend, ""),
        "told_by": f"{named} ({facts.cni.backend.origin})",
        "vni": made.scene.vni,
        "driver": facts.node(made.scene.source.node).cni_driver.value or "",
    }


def _doubts(read: list[Capture], frames: int) -> Iterator[str]:
    for one in read:
        if one.doubt:
            yield one.doubt
    if frames > FRAMES_KEPT:
        yield f"the connection has {frames} frames; {FRAMES_KEPT} are kept"


def _frame(one: Marked) -> Mapping[str, Any]:
    """Return what a record keeps of a frame: heads, where it was, and the tunnel around it."""
    packet, seen = one.packet, one.sighting
    tunnel = packet.encapsulation
    return {
        "node": seen.node,
        "interface": seen.interface,
        "edge": seen.edge.value,
        "direction": seen.direction.value,
        "way": one.way.value,
        "source": str(packet.source),
        "source_port": packet.source_port,
        "destination": str(packet.destination),
        "destination_port": packet.destination_port,
        "source_mac": packet.source_mac,
        "destination_mac": packet.destination_mac,
        "tunnel": None
        if tunnel is None
        else {
            "kind": tunnel.kind,
            "vni": tunnel.vni,
            "source": str(tunnel.source),
            "destination": str(tunnel.destination),
        },
    }
