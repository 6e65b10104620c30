"""``--enable=packets``: capture a marked connection, beside its server's answer and the facts.

The examiner of ``Question.WITNESS`` captures connections while no other check runs, one at a time
on each node, and writes the record that ``parse.witness`` reads. If a node lacks something (the
tool, disk space, a permission), the check is skipped with the reason. The capture Pods exist from
the first such check to the end of observation.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nettests import probes
from nettests.capture.captures import Captures, NoScapyError, random_base, require_scapy
from nettests.capture.scene import OUTSIDE, FlowSetup, scene_of_action
from nettests.cluster.access import Access
from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.model.check import Action
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.grouping import grouped
from nettests.parse.witness import PLAIN, WITNESS
from nettests.probes.addresses import NotOfferedError
from nettests.probes.capturing import CannotCaptureError, RefusedCaptureError
from nettests.probes.commands import CannotProbeError
from nettests.probes.endpoint import CLIENT_IP
from nettests.probes.examine import Examination
from nettests.probes.marked_flow import MarkedFlow, witnessed_flow
from nettests.tracing.mark import Mark, Marked, marked
from nettests.tracing.packet import Capture, Scene

FRAMES_KEPT = 200
"""The most frames of one connection; it has some dozens at each of a few components."""
ENCAPSULATING = {"vxlan": "vxlan", "geneve": "geneve", "host-gw": PLAIN, "windows-bgp": PLAIN}
"""How backends of network plugins encapsulate packets between nodes; others are not compared."""


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
    """Return the record as JSON values; ``request`` is what the server was queried for.

    ``preserved``: the Service wants packets' destination kept, so there may be no answer.
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
    """Return where the connection begins and ends, and the addresses of each node."""
    backend = scene.backends[0]
    return {
        "source_node": scene.source.node,
        "backend_node": backend.node,
        "backend": str(backend.address),
        "outside": backend.node == OUTSIDE,
        "client": str(scene.source.address),
        "requested": _place(scene),
        "nodes": grouped((node, str(address)) for address, node in scene.owners.items()),
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
    """Return what a record keeps of a frame: headers, where it was seen, and its tunnel."""
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


PORTS_TRIED = 3
"""How many source ports are tried, because one may be in use."""


@dataclass(slots=True, kw_only=True)
class Witnessing:
    """Captures connections for a run's checks; ``close`` removes its Pods.

    A node captures one connection at a time, because Packet Monitor belongs to the whole machine.
    """

    captures: Captures
    _capturing: set[str] = field(default_factory=set)
    """The nodes on which a capture is under way."""
    _change: threading.Condition = field(default_factory=threading.Condition)

    @classmethod
    def among(
        cls, access: Access, directory: probes.Directory, blank: probes.Blank, timing: Timing
    ) -> "Witnessing":
        """Return an examiner for a run's deployed objects."""
        return cls(
            captures=Captures(access=access, directory=directory, blank=blank, timing=timing)
        )

    def examine(self, action: Action) -> Examination:
        """Capture one connection; raises ``NotOfferedError`` if the cluster does not allow it."""
        setup = scene_of_action(action, self.captures.directory, CLIENT_IP)
        nodes = self.captures.nodes(setup.scene)
        with self._alone_on({node.name for node in nodes}):
            try:
                require_scapy()
                self.captures.stand(nodes)
                return self._capture(action, setup, nodes)
            except (RefusedCaptureError, NoScapyError) as error:
                how = f" ({error.hint})" if error.hint else ""
                why = f"nothing is witnessed on the wire: {error.message}{how}"
                raise NotOfferedError(why) from error
            except (ChannelError, CannotCaptureError) as error:
                return Examination(
                    tool=WITNESS, words=("curl",), channel="exec", error=error.message
                )

    def close(self) -> tuple[str, ...]:
        """Remove the capture Pods; return what captures lacked and what was not removed."""
        self.captures.remove()
        return tuple(self.captures.remarks)

    @contextmanager
    def _alone_on(self, nodes: set[str]) -> Iterator[None]:
        with self._change:
            self._change.wait_for(lambda: self._capturing.isdisjoint(nodes))
            self._capturing |= nodes
        try:
            yield
        finally:
            with self._change:
                self._capturing -= nodes
                self._change.notify_all()

    def _capture(self, action: Action, setup: FlowSetup, nodes: list[NodeFacts]) -> Examination:
        base, captures = random_base(), self.captures
        (flow, answer), texts = captures.during(
            setup.scene, nodes, base, lambda: self._send(action, setup, base + 2)
        )
        read = [each.capture for each in captures.read_all(nodes, texts, base, flow.mark)]
        settings = action.target.settings
        record = record_of(
            setup.scene,
            captures.directory.facts,
            flow.mark,
            read,
            answer,
            request=CLIENT_IP,
            preserved=settings is not None and settings.preserve_destination,
        )
        return Examination(
            tool=WITNESS,
            words=flow.words,
            channel="exec",
            exit_code=0,
            stdout=json.dumps(record),
            context=captures.directory.context(action),
        )

    def _send(self, action: Action, setup: FlowSetup, first: int) -> tuple[MarkedFlow, ExecAnswer]:
        scene = setup.scene
        if scene.requested_port is None:
            raise CannotProbeError(
                f"{scene.requested} has no port that answers with the address of its client"
            )
        channel = self.captures.access.open_exec(
            self.captures.blank.namespace,
            action.source.probe,
            "probe",
            node=scene.source.node,
            os=self.captures.directory.facts.node(scene.source.node).os,
        )
        for number in range(first, first + PORTS_TRIED):
            flow = witnessed_flow(
                setup.endpoint, str(scene.requested), scene.requested_port, number
            )
            try:
                with channel.slots:
                    answer = channel.run(flow.words, timeout=flow.seconds)
            except ProgramMissingError as error:
                raise RefusedCaptureError(error.message) from error
            if answer.exit_code != flow.unsent:
                return flow, answer
        raise CannotCaptureError(f"{action.source.probe} has no source port free")
