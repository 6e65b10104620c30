"""One check's question again, with a marked flow, while the nodes on its way capture: the trace of a check.

For ``nettests trace CHECK`` (``trace_now``) and for runs with ``--trace`` (``run_traces``). Everything is bounded: nodes, flows,
seconds, sizes. It creates a Pod on each of those nodes, and removes it. What the captures say is decided in ``tracing``.
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import assert_never

from nettests import probes
from nettests.bounds import Bounds
from nettests.cluster.access import Access
from nettests.errors import ClusterError, NettestsError
from nettests.model import ports
from nettests.model.channel import ChannelError, ExecChannel
from nettests.model.check import Check
from nettests.model.cluster_profile import Timing
from nettests.model.expectation import Expectation
from nettests.model.facts import NodeFacts
from nettests.model.words import OS, Protocol, VantageKind
from nettests.probes.capturing import (
    CONTAINER,
    PORTS,
    CannotCaptureError,
    Capturer,
    Flow,
    capture_pod,
    give_up,
    pod_name,
)
from nettests.probes.commands import host_programs
from nettests.probes.marked import MarkedFlow, marked_flow
from nettests.probes.objects import NODE_CLOSED
from nettests.session.trace_files import NodeCapture
from nettests.session.trace_scene import OUTSIDE, Set, scene_of
from nettests.tracing.canary import proven
from nettests.tracing.mark import Mark
from nettests.tracing.path import trace
from nettests.tracing.printed import read_pktmon, read_tcpdump
from nettests.tracing.result import Trace
from nettests.tracing.scene import Scene
from nettests.tracing.sighting import Capture

BASES = range(28000, 29600, PORTS)
"""Source ports of traces: below the dynamic ports of both systems and below NodePorts."""
NODES = 4
"""Nodes on which one trace captures."""
CANARY_SECONDS = 2
SETTLE_SECONDS = 0.2
"""Between the last packet of a flow and the end of its captures."""
REHEARSAL_SECONDS = 10.0
"""A flow that is answered in this time is traced from then on: a new Service needs time."""


def _most_flows(protocol: Protocol) -> int:
    """Return how many flows of a trace are sent at most, until one has no answer."""
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
    """A trace of a check, with the frames that it rests on."""

    check: str
    trace: Trace
    captures: tuple[NodeCapture, ...]


@dataclass(slots=True, kw_only=True)
class Tracer:
    """Traces checks among what stands."""

    access: Access
    directory: probes.Directory
    blank: probes.Blank
    timing: Timing
    tell: Callable[[str], None] = lambda _stage: None
    remarks: list[str] = field(default_factory=list)

    def trace(self, check: Check, expectation: Expectation, *, rehearse: bool) -> Traced:
        """Return the trace of a check; ``NettestsError`` where it cannot be traced, which says why."""
        made = scene_of(check, expectation, self.directory)
        nodes = self._nodes(made.scene)
        with self._standing(nodes):
            if rehearse and not made.scene.documented:
                self._rehearse(check, made)
            return self._captured(check, made, nodes)

    def _nodes(self, scene: Scene) -> list[NodeFacts]:
        """Return the nodes that the flow may touch, its source's first."""
        names = dict.fromkeys(
            (scene.source.node, scene.translator, *(one.node for one in scene.backends))
        )
        wanted = [name for name in names if name and name != OUTSIDE]
        return [self.directory.facts.node(name) for name in wanted[:NODES]]

    @contextlib.contextmanager
    def _standing(self, nodes: Sequence[NodeFacts]) -> Iterator[None]:
        """Put a Pod that captures on each node, for the time of the block."""
        items = [capture_pod(node, self.blank) for node in nodes]
        names = [pod_name(node) for node in nodes]
        self.tell("pods")
        try:
            for item in items:
                self.access.create(item)
            ready, problems = self.access.wait_for_pods(
                self.blank.namespace,
                names,
                ready=self.timing.ready,
                stuck=self.timing.stuck,
                on_change=lambda *_: None,
            )
            lacking = [name for name in names if name not in ready]
            if lacking:
                raise CannotCaptureError(
                    f"Pod {lacking[0]} is not Ready: {problems.get(lacking[0], 'nobody says why')}",
                    hint="images.capture of the cluster profile names another image",
                )
            yield
        finally:
            for name in names:
                try:
                    self.access.delete_pod(self.blank.namespace, name)
                except ClusterError as error:
                    self.remarks.append(f"Pod {name} was not removed: {error.message}")

    def _rehearse(self, check: Check, made: Set) -> None:
        """Wait until the flow is answered, for a while: what is new is not what is broken."""
        self.tell("rehearse")
        until = time.monotonic() + REHEARSAL_SECONDS
        base = random.choice(BASES)  # noqa: S311 - a port, no secret
        for number in range(base, base + PORTS):
            if self._sent(check, self._flow(check, made, number)) or time.monotonic() > until:
                return
            time.sleep(SETTLE_SECONDS)

    def _captured(self, check: Check, made: Set, nodes: Sequence[NodeFacts]) -> Traced:
        scene = made.scene
        base = random.choice(BASES)  # noqa: S311 - a port, no secret
        served = {scene.requested_port, *(one.port for one in scene.backends)}
        icmp = scene.protocol is Protocol.ICMP
        flow = Flow(
            base=base,
            served=() if icmp else tuple(sorted(port for port in served if port is not None)),
            tunnel=self._tunnel(scene),
        )
        capturers = [
            Capturer(cluster=self.access, namespace=self.blank.namespace, node=node, flow=flow)
            for node in nodes
        ]
        self.tell("capture")
        with ThreadPoolExecutor(Bounds.of(self.timing).host_readings, "captures") as pool:
            try:
                list(pool.map(Capturer.begin, capturers))
                list(pool.map(lambda one: self._canary(one, nodes, base), capturers))
                sent, answered = self._sent_until_lost(check, made, base)
                direct = None if answered else self._directly(check, made, base + PORTS - 1)
                list(pool.map(lambda one: self._canary(one, nodes, base + 1), capturers))
                time.sleep(SETTLE_SECONDS)
            except BaseException:
                give_up(capturers)
                raise
            self.tell("read")
            texts = list(pool.map(lambda one: one.end(until=f".{base + 1} >"), capturers))
        self.remarks += [text for one in capturers for text in one.remarks]
        read = [
            self._read(node, text, base, sent.mark) for node, text in zip(nodes, texts, strict=True)
        ]
        found = trace(
            scene,
            sent.mark,
            [one.capture for one in read],
            answered=answered,
            direct=direct,
        )
        return Traced(check=check.id, trace=found, captures=tuple(read))

    def _tunnel(self, scene: Scene) -> int | None:
        if not scene.encapsulated:
            return None
        cni = self.directory.facts.cni
        usual = ports.GENEVE if cni.backend.value == "geneve" else ports.VXLAN
        return cni.vxlan_port.value or usual

    def _read(self, node: NodeFacts, text: str, base: int, mark: Mark) -> NodeCapture:
        """Return what a node's tool printed, as far as it is of the flow and its canaries."""
        from nettests import wire  # noqa: PLC0415 - scapy is an extra, and takes a second to load

        printed = read_pktmon(text) if node.os is OS.WINDOWS else read_tcpdump(text)
        vxlan = self.directory.facts.cni.vxlan_port.value
        pairs, unread = wire.dissected(node.name, printed.frames, vxlan_port=vxlan)
        capture = Capture(
            node=node.name,
            sightings=tuple(sighting for _, sighting in pairs),
            doubt=f"only the first frames of {node.name} were read" if printed.cut else "",
            unread=(*printed.unread, *unread),
        )
        return NodeCapture.of(proven(capture, before=base, after=base + 1), pairs, mark)

    def _canary(self, one: Capturer, nodes: Sequence[NodeFacts], number: int) -> None:
        """Send something from a node that its own capture has to show; whether it is answered does not matter."""
        others = [node for node in nodes if node.name != one.node.name]
        if not others:
            others = [node for node in self.directory.facts.nodes if node.name != one.node.name]
        addresses = [
            address for node in others for address in node.addresses if address.version == 4
        ]
        if not addresses:
            return
        curl = host_programs(one.node.os)[1]
        url = f"http://{addresses[0]}:{NODE_CLOSED}/"
        words = (curl, "-s", "-m", str(CANARY_SECONDS), "--local-port", str(number), url)
        with contextlib.suppress(ChannelError):  # its absence from the capture says it
            one.run(words, CANARY_SECONDS + 4)

    def _sent_until_lost(self, check: Check, made: Set, base: int) -> tuple[MarkedFlow, bool]:
        """Send flows until one has no answer; return the last one, and whether it had one."""
        last: tuple[MarkedFlow, bool] | None = None
        for number in range(base + 2, base + 2 + _most_flows(check.action.protocol)):
            flow = self._flow(check, made, number)
            answered = self._sent(check, flow)
            if answered is None:
                continue
            last = flow, answered
            if not answered:
                break
        if last is None:
            raise CannotCaptureError(f"{check.source.probe} has no source port free for a trace")
        return last

    def _directly(self, check: Check, made: Set, number: int) -> Mark | None:
        """Send one flow to a backend's own address, where a Service's was requested on the same node; return its mark."""
        scene = made.scene
        backends = [one for one in scene.backends if one.address != scene.source.address]
        if scene.translator != scene.source.node or not backends:
            return None
        flow = marked_flow(
            check.action,
            made.endpoint,
            str(backends[0].address),
            backends[0].port,
            number=number,
            token=f"direct{number}",
        )
        with contextlib.suppress(ChannelError):  # its absence from the captures says it
            self._sent(check, flow)
        return flow.mark

    def _flow(self, check: Check, made: Set, number: int) -> MarkedFlow:
        scene = made.scene
        return marked_flow(
            check.action,
            made.endpoint,
            str(scene.requested),
            scene.requested_port,
            number=number,
            token=f"nettests{number}",
        )

    def _sent(self, check: Check, flow: MarkedFlow) -> bool | None:
        """Send a flow and return whether it was answered; ``None`` where nothing was sent."""
        channel = self._source(check)
        with channel.slots:
            answer = channel.run(flow.words, timeout=flow.seconds)
        if flow.unsent is not None and answer.exit_code == flow.unsent:
            return None
        return flow.answered(answer)

    def _source(self, check: Check) -> ExecChannel:
        """Return the channel to the check's source: its Pod, or for a node the Pod that captures there."""
        node = self.directory.facts.node(check.source.node or "")
        pod, container = check.source.probe, "probe"
        if check.source.kind is VantageKind.NODE:
            pod, container = pod_name(node), CONTAINER
        return self.access.open_exec(
            self.blank.namespace, pod, container, node=node.name, os=node.os
        )


def require_scapy() -> None:
    """Raise ``NettestsError`` where captures cannot be read: before anything is created for them."""
    try:
        from nettests import wire  # noqa: F401, PLC0415 - scapy is an extra
    except ModuleNotFoundError as error:
        raise NettestsError(
            "traces read captures with scapy, which is not installed",
            hint='pip install "nettests[packets]"',
        ) from error
