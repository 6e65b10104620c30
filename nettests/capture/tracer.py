"""Trace one check: send its request as a marked flow while the nodes on its path capture.

For ``nettests trace CHECK`` (``trace_now``) and for runs with ``--trace`` (``session.run``). Nodes,
flows, seconds and sizes are bounded. It creates a Pod on each of those nodes, and removes it.
``tracing`` interprets the captures.
"""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import assert_never

from nettests import probes
from nettests.capture.captures import SETTLE_SECONDS, Captures, random_base
from nettests.capture.scene import FlowSetup, scene_of
from nettests.capture.trace_files import NodeCapture
from nettests.cluster.access import Access
from nettests.model.channel import ChannelError
from nettests.model.check import Check
from nettests.model.cluster_profile import Timing
from nettests.model.expectation import Expectation
from nettests.model.facts import NodeFacts
from nettests.model.words import Protocol, Question, VantageKind
from nettests.probes.capturing import CONTAINER, PORTS, CannotCaptureError, pod_name
from nettests.probes.idle_connection import IdleConnection
from nettests.probes.marked_flow import MarkedFlow, marked_flow, marked_query, marked_train
from nettests.tracing.finding import Finding, Trace
from nettests.tracing.mark import Mark
from nettests.tracing.path import trace

REHEARSAL_SECONDS = 10.0
"""How long to wait for a flow to be answered before it is traced, because a new Service needs time."""


def _most_flows(protocol: Protocol) -> int:
    """Return the most flows that a trace sends until one has no answer."""
    match protocol:
        case Protocol.TCP:
            return PORTS - 3
        case Protocol.UDP:
            return 3
        case Protocol.ICMP:
            return 1
        case _:
            assert_never(protocol)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A trace of a check, with the frames on which it is based."""

    check: str
    trace: Trace
    captures: tuple[NodeCapture, ...]


@dataclass(slots=True, kw_only=True)
class Tracer:
    """Traces checks on a run's deployed objects."""

    access: Access
    directory: probes.Directory
    blank: probes.Blank
    timing: Timing
    tell: Callable[[str], None] = lambda _stage: None
    remarks: list[str] = field(default_factory=list)

    def trace(self, check: Check, expectation: Expectation, *, rehearse: bool) -> Traced:
        """Return the trace of a check; raises ``NettestsError`` with why there is none."""
        setup = scene_of(check, expectation, self.directory)
        captures = Captures(
            access=self.access,
            directory=self.directory,
            blank=self.blank,
            timing=self.timing,
            tell=self.tell,
            remarks=self.remarks,
        )
        nodes = captures.nodes(setup.scene)
        try:
            captures.stand(nodes)
            if (
                rehearse
                and not setup.scene.documented
                and check.action.question is not Question.IDLE
            ):
                self._rehearse(check, setup)
            return self._capture(check, setup, captures, nodes)
        finally:
            captures.remove()

    def _rehearse(self, check: Check, setup: FlowSetup) -> None:
        """Wait a while until the flow is answered: what is merely new is not broken."""
        self.tell("rehearse")
        until = time.monotonic() + REHEARSAL_SECONDS
        base = random_base()
        for number in range(base, base + PORTS):
            if self._send(check, self._flow(check, setup, number)) or time.monotonic() > until:
                return
            time.sleep(SETTLE_SECONDS)

    def _capture(
        self, check: Check, setup: FlowSetup, captures: Captures, nodes: list[NodeFacts]
    ) -> Traced:
        """Capture flows until one is lost; return its trace, or that of the last one that shows harm."""
        if check.action.question is Question.IDLE:
            return self._capture_idle(check, setup, captures, nodes)
        base = random_base()

        def send() -> tuple[list[MarkedFlow], bool, Mark | None]:
            sent, answered = self._send_until_lost(check, setup, base)
            direct = None if answered else self._send_directly(check, setup, base + PORTS - 1)
            return sent, answered, direct

        (sent, answered, direct), texts = captures.during(setup.scene, nodes, base, send)

        def traced(mark: Mark) -> Traced:
            read = captures.read_all(nodes, texts, base, mark)
            seen = [node_capture.capture for node_capture in read]
            result = trace(setup.scene, mark, seen, answered=answered, direct=direct)
            return Traced(check=check.id, trace=result, captures=read)

        last = traced(sent[-1].mark)
        if last.trace.finding is not Finding.NOTHING_WRONG:
            return last
        # All flows were answered, but a retransmission may have hidden a loss in an earlier one.
        earlier = (traced(flow.mark) for flow in reversed(sent[:-1]))
        return next((result for result in earlier if not result.trace.finding.harmless), last)

    def _capture_idle(
        self, check: Check, setup: FlowSetup, captures: Captures, nodes: list[NodeFacts]
    ) -> Traced:
        """Let a connection idle as the check does, and capture the first word after that."""
        self.tell("silence")
        idle = IdleConnection(
            talks=self.access,
            namespace=self.blank.namespace,
            facts=self.directory.facts,
            standing=self.directory.deployment.pods,
            timing=self.timing,
            services=self.directory.deployment.services,
        )
        base = random_base()
        with contextlib.ExitStack() as lines:
            held = idle.hold(check.action, lines)
            scene = replace(
                setup.scene,
                requested_port=held.port,
                backends=tuple(
                    replace(backend, port=held.port) for backend in setup.scene.backends
                ),
                silence=self.timing.idle,
            )
            answered, texts = captures.during(scene, nodes, base, held.answered)
            anew = None if answered else held.answered_anew()
        mark = Mark(protocol=Protocol.TCP, served=held.port)
        read = captures.read_all(nodes, texts, base, mark)
        seen = [node_capture.capture for node_capture in read]
        result = trace(scene, mark, seen, answered=answered, anew=anew)
        return Traced(check=check.id, trace=result, captures=read)

    def _send_until_lost(
        self, check: Check, setup: FlowSetup, base: int
    ) -> tuple[list[MarkedFlow], bool]:
        """Send flows until one has no answer; return them, and whether the last was answered."""
        if check.action.question is Question.LOSS:
            train = marked_train(
                check.action,
                setup.endpoint,
                str(setup.scene.requested),
                setup.scene.requested_port,
                f"nettests{base}",
            )
            return [train], bool(self._send(check, train))
        sent: list[MarkedFlow] = []
        answered = True
        for number in range(base + 2, base + 2 + _most_flows(setup.scene.protocol)):
            flow = self._flow(check, setup, number)
            was_answered = self._send(check, flow)
            if was_answered is None:
                continue
            sent.append(flow)
            answered = was_answered
            if not answered:
                break
        if not sent:
            raise CannotCaptureError(f"{check.source.probe} has no source port free for a trace")
        return sent, answered

    def _send_directly(self, check: Check, setup: FlowSetup, number: int) -> Mark | None:
        """Send one flow to a backend's own address if its own node translates; return the mark."""
        scene = setup.scene
        backends = [
            backend for backend in scene.backends if backend.address != scene.source.address
        ]
        token = f"direct{number}"
        if scene.translator != scene.source.node or not backends:
            return None
        address = str(backends[0].address)
        if check.action.question is Question.RESOLVE:
            flow = self._query(address, token)
        else:
            flow = marked_flow(
                check.action, setup.endpoint, address, backends[0].port, number=number, token=token
            )
        with contextlib.suppress(ChannelError):  # the captures will lack it
            self._send(check, flow)
        return flow.mark

    def _query(self, server: str, token: str) -> MarkedFlow:
        return marked_query(server, probes.domain_of(self.directory.facts), token)

    def _flow(self, check: Check, setup: FlowSetup, number: int) -> MarkedFlow:
        scene = setup.scene
        if check.action.question is Question.RESOLVE:
            return self._query(str(scene.requested), f"nettests{number}")
        return marked_flow(
            check.action,
            setup.endpoint,
            str(scene.requested),
            scene.requested_port,
            number=number,
            token=f"nettests{number}",
        )

    def _send(self, check: Check, flow: MarkedFlow) -> bool | None:
        """Send a flow and return whether it was answered; ``None`` if nothing was sent."""
        node = self.directory.facts.node(check.source.node or "")
        pod, container = check.source.probe, "probe"
        if check.source.kind is VantageKind.NODE:
            pod, container = pod_name(node), CONTAINER
        channel = self.access.open_exec(
            self.blank.namespace, pod, container, node=node.name, os=node.os
        )
        with channel.slots:
            answer = channel.run(flow.words, timeout=flow.seconds)
        if flow.unsent is not None and answer.exit_code == flow.unsent:
            return None
        return flow.answered(answer)
