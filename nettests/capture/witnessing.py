"""``--enable=packets``: capture one marked connection on its nodes, beside its server's answer and the facts.

The examiner of ``Question.WITNESS``: it captures one connection at a time while no other check runs, and writes a
record that ``parse.witness`` reads. What a node lacks (the tool, disk space, a permission) is a skip with the reason.
The capturing Pods exist from the first such check to the end of observation.
"""

import json
import threading
from dataclasses import dataclass, field

from nettests import probes
from nettests.capture.captures import Captures, NoScapyError, random_base, require_scapy
from nettests.capture.scene import FlowSetup, scene_of_action
from nettests.capture.witness_record import record_of
from nettests.cluster.access import Access
from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.model.check import Action
from nettests.model.cluster_profile import Timing
from nettests.model.facts import NodeFacts
from nettests.parse.witness import WITNESS
from nettests.probes.addresses import NotOfferedError
from nettests.probes.capturing import CannotCaptureError, RefusedCaptureError
from nettests.probes.commands import CannotProbeError
from nettests.probes.endpoint import CLIENT_IP
from nettests.probes.examine import Examination
from nettests.probes.marked import MarkedFlow, witnessed_flow

PORTS_TRIED = 3
"""Source ports that are tried, where one is in use."""


@dataclass(slots=True, kw_only=True)
class Witnessing:
    """Captures connections for the checks of one run, one after the other; ``close`` removes what it made."""

    captures: Captures
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def among(
        cls, access: Access, directory: probes.Directory, blank: probes.Blank, timing: Timing
    ) -> "Witnessing":
        """Return an examiner that captures among what stands."""
        return cls(
            captures=Captures(access=access, directory=directory, blank=blank, timing=timing)
        )

    def examine(self, action: Action) -> Examination:
        """Capture one connection; ``NotOfferedError`` where the cluster does not offer that."""
        with self._lock:
            setup = scene_of_action(action, self.captures.directory, CLIENT_IP)
            nodes = self.captures.nodes(setup.scene)
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
        """Remove the Pods that capture; return what captures lacked, and what could not be removed."""
        with self._lock:
            self.captures.remove()
            return tuple(self.captures.remarks)

    def _capture(self, action: Action, setup: FlowSetup, nodes: list[NodeFacts]) -> Examination:
        base, captures = random_base(), self.captures
        (flow, answer), texts = captures.during(
            setup.scene, nodes, base, lambda: self._send(action, setup, base + 2)
        )
        read = [
            captures.read(node, text, base, flow.mark).capture
            for node, text in zip(nodes, texts, strict=True)
        ]
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
