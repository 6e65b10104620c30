"""Capture one marked flow on several nodes: a Pod on each, canaries, text → sightings.

For ``tracer``, which finds where a flow was lost, and for ``witnessing``, which compares captures
with what servers and facts say. Nodes, seconds and sizes are bounded.
"""

import contextlib
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TypeVar

from nettests import probes
from nettests.bounds import Bounds
from nettests.capture.scene import OUTSIDE
from nettests.capture.trace_files import NodeCapture
from nettests.cluster.access import Access
from nettests.errors import ClusterError, NotInstalledError
from nettests.model import ports
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from nettests.model.facts import NodeFacts
from nettests.model.json_text import Object
from nettests.model.network_drivers import HYBRID
from nettests.model.visible import plural
from nettests.model.words import OS, Protocol
from nettests.probes.capturing import (
    PORTS,
    CannotCaptureError,
    Capturer,
    Flow,
    capture_pod,
    give_up,
    pod_name,
)
from nettests.probes.commands import host_programs
from nettests.probes.objects import NODE_CLOSED
from nettests.tracing.mark import Mark, proven
from nettests.tracing.packet import Capture, Scene
from nettests.tracing.printed import Printed, read_pktmon, read_tcpdump

BASES = range(28000, 29600, PORTS)
"""Source ports of traces, below the dynamic ports of Linux and Windows and below NodePorts."""
NODES = 4
"""The most nodes on which one trace captures."""
CANARY_SECONDS = 2
SETTLE_SECONDS = 0.2
"""Seconds between the last packet of a flow and the end of its captures."""

T = TypeVar("T")


class NoScapyError(NotInstalledError):
    """Scapy, which reads captures, is not installed."""


def random_base() -> int:
    """Return the first source port of a flow at random, because a used port is not free at once."""
    return random.choice(BASES)  # noqa: S311 - a port, no secret


@dataclass(slots=True, kw_only=True)
class Captures:
    """Captures on a run's nodes, once ``stand`` has created a Pod there."""

    access: Access
    directory: probes.Directory
    blank: probes.Blank
    timing: Timing
    tell: Callable[[str], None] = lambda _stage: None
    remarks: list[str] = field(default_factory=list)
    """What captures lack, and which Pods could not be removed."""
    _pods: dict[str, str] = field(default_factory=dict)
    """The created Pods, each with why it is not Ready; empty if it is."""

    def nodes(self, scene: Scene) -> list[NodeFacts]:
        """Return the nodes that the flow may touch, its source's first."""
        names = dict.fromkeys(
            (scene.source.node, scene.translator, *(backend.node for backend in scene.backends))
        )
        wanted = [name for name in names if name and name != OUTSIDE]
        return [self.directory.facts.node(name) for name in wanted[:NODES]]

    def stand(self, nodes: Sequence[NodeFacts]) -> None:
        """Create missing capture Pods on nodes; ``CannotCaptureError`` if one is not Ready."""
        lacking = {
            pod_name(node): capture_pod(node, self.blank)
            for node in nodes
            if pod_name(node) not in self._pods
        }
        if lacking:
            self.tell("pods")
            self._create(lacking)
        for name in map(pod_name, nodes):
            if why := self._pods[name]:
                raise CannotCaptureError(
                    f"Pod {name} is not Ready: {why}",
                    hint="images.capture of the cluster profile names another image",
                )

    def _create(self, lacking: Mapping[str, Object]) -> None:
        for name, item in lacking.items():
            self._pods[name] = "it was not created"
            self.access.create(item)
        ready, problems = self.access.wait_for_pods(
            self.blank.namespace,
            lacking,
            ready=self.timing.ready,
            stuck=self.timing.stuck,
            on_change=lambda *_: None,
        )
        for name in lacking:
            why = problems.get(name, "its status gives no reason")
            self._pods[name] = "" if name in ready else why

    def remove(self) -> None:
        """Remove the capture Pods."""
        while self._pods:
            name, _ = self._pods.popitem()
            try:
                self.access.delete_pod(self.blank.namespace, name)
            except ClusterError as error:
                self.remarks.append(f"Pod {name} was not removed: {error.message}")

    def during(
        self, scene: Scene, nodes: Sequence[NodeFacts], base: int, send: Callable[[], T]
    ) -> tuple[T, tuple[str, ...]]:
        """Capture on these nodes during ``send``; return its result, and each tool's output."""
        served = {scene.requested_port, *(backend.port for backend in scene.backends)}
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
                # Raise only when all have ended and can be undone.
                futures = [pool.submit(Capturer.begin, capturer) for capturer in capturers]
                wait(futures)
                for future in futures:
                    future.result()
                list(pool.map(lambda capturer: self._canary(capturer, nodes, base), capturers))
                sent = send()
                list(pool.map(lambda capturer: self._canary(capturer, nodes, base + 1), capturers))
                time.sleep(SETTLE_SECONDS)
            except BaseException:
                give_up(capturers)
                raise
            self.tell("read")
            texts = tuple(
                pool.map(lambda capturer: capturer.end(until=f".{base + 1} >"), capturers)
            )
        self.remarks += [text for capturer in capturers for text in capturer.remarks]
        return sent, texts

    def _tunnel(self, scene: Scene) -> int | None:
        if not scene.encapsulated:
            return None
        cni = self.directory.facts.cni
        if cni.backend.value == HYBRID and scene.vni is None:  # between nodes that OVN runs on
            return ports.GENEVE
        usual = ports.GENEVE if cni.backend.value == "geneve" else ports.VXLAN
        return cni.vxlan_port.value or usual

    def read_all(
        self, nodes: Sequence[NodeFacts], texts: Sequence[str], base: int, mark: Mark
    ) -> tuple[NodeCapture, ...]:
        """Read the outputs of the nodes' tools, of which only the flow's frames are kept."""
        return tuple(
            self._read(node, text, base, mark) for node, text in zip(nodes, texts, strict=True)
        )

    def _read(self, node: NodeFacts, text: str, base: int, mark: Mark) -> NodeCapture:
        from nettests import wire  # noqa: PLC0415 - scapy is an extra, and takes a second to load

        printed = read_pktmon(text) if node.os is OS.WINDOWS else read_tcpdump(text)
        vxlan = self.directory.facts.cni.vxlan_port.value
        pairs, unread = wire.dissected(node.name, printed.frames, vxlan_port=vxlan)
        capture = Capture(
            node=node.name,
            sightings=tuple(sighting for _, sighting in pairs),
            doubt=_doubt(printed, node.name),
            unread=(*printed.unread, *unread),
        )
        return NodeCapture.of(proven(capture, before=base, after=base + 1), pairs, mark)

    def _canary(self, capturer: Capturer, nodes: Sequence[NodeFacts], number: int) -> None:
        """Send a packet from a node that its own capture must show, answered or not."""
        others = [node for node in nodes if node.name != capturer.node.name]
        if not others:
            others = [
                node for node in self.directory.facts.nodes if node.name != capturer.node.name
            ]
        addresses = [
            address for node in others for address in node.addresses if address.version == 4
        ]
        if not addresses:
            return
        curl = host_programs(capturer.node.os)[1]
        url = f"http://{addresses[0]}:{NODE_CLOSED}/"
        words = (curl, "-s", "-m", str(CANARY_SECONDS), "--local-port", str(number), url)
        with contextlib.suppress(ChannelError):  # the capture will lack it
            capturer.run(words, CANARY_SECONDS + 4)


def _doubt(printed: Printed, node: str) -> str:
    """Return why missing packets prove nothing in a capture; empty if it is complete."""
    if printed.lost:
        return f"tcpdump on {node} lost {plural(printed.lost, 'packet')} of those that it was to capture"
    return f"only the first frames of {node} were read" if printed.cut else ""


def require_scapy() -> None:
    """Raise ``NoScapyError`` if scapy is missing, before anything is created.

    It is not imported, which takes a second that a run without captures need not spend.
    """
    if find_spec("scapy") is None:
        raise NoScapyError(
            "captures are read with scapy, which is not installed",
            hint='pip install "nettests[packets]"',
        )
