"""Capture packets on nodes: Pods that capture, and how a capture starts, stops and becomes text.

Linux: ``tcpdump`` in a Pod on the node's network, controlled while it runs. Windows: the node's own
``pktmon``, whose log is a file on the node until it has been read. Filters pass only the ports of
one flow and ICMP; sizes, seconds and files are bounded, and every change on a node is undone.
``tracing.printed`` reads the text.

Sources: tcpdump(1), pcap-filter(7); Microsoft (learn.microsoft.com), ``pktmon filter add``,
``pktmon start``, ``pktmon etl2txt``.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Protocol, assert_never

from nettests.errors import NettestsError
from nettests.model.channel import (
    ChannelError,
    Conversation,
    ExecAnswer,
    ExecChannel,
    ProgramMissingError,
)
from nettests.model.facts import NodeFacts
from nettests.model.json_text import Object
from nettests.model.labels import POD_LABEL
from nettests.model.windows_programs import node_argv
from nettests.model.words import OS
from nettests.plan.images import capture_image
from nettests.plan.pod_security import forbidden
from nettests.probes.objects import Blank, outfitted, read_template
from nettests.probes.packet_monitor import (
    ROOM,
    ROOM_MIB,
    Dialect,
    free_mib,
    has_filters,
    is_running,
)
from nettests.probes.seams import Converses, Executes

CONTAINER = "capture"
CAPTURE_SECONDS = 40
"""A capture ends by itself after this time, in case its client has gone."""
BEGIN_SECONDS = 8.0
END_SECONDS = 1.5
TOOL_SECONDS = 20.0
CAPTURE_FRAMES = 3000
SNAP_BYTES = 256
"""Captured bytes per packet: two Ethernet, three IP and two transport headers, and the mark."""
LOG_MIB = 4
"""Maximum size of pktmon's log."""
PORTS = 8
"""Source ports of one trace: two for canaries, the rest for flows. A power of two, for filters."""
# samples: 12 packets captured, 0 packets dropped by kernel
_STATISTICS = re.compile(
    r"^\d{1,12} packets? (?:captured|received|dropped) ?.{0,40}$", re.MULTILINE
)
FOLDER = r"C:\Windows\Temp"


class CannotCaptureError(NettestsError):
    """Nothing can be captured on a node."""


class RefusedCaptureError(CannotCaptureError):
    """A healthy node that allows no capture: its tool, free space or the Pod Security level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What a capture keeps: source ports from ``base`` on, and the backends' ports."""

    base: int
    served: tuple[int, ...] = ()
    tunnel: int | None = None
    """The UDP port of VXLAN or GENEVE."""


class Cluster(Executes, Converses, Protocol):
    """The cluster operations that captures need."""


class CapturedNode(Protocol):
    """The properties of a node that captures need."""

    @property
    def name(self) -> str:
        """The node's name."""

    @property
    def os(self) -> OS:
        """The node's OS."""

    @property
    def pool(self) -> str:
        """The node's pool."""

    @property
    def member(self) -> int:
        """The node's ordinal in its pool."""


def pod_name(node: CapturedNode) -> str:
    """Return the name of the Pod that captures on a node."""
    return f"capture-{node.pool}-{node.member}"


def capture_pod(node: NodeFacts, blank: Blank) -> Object:
    """Return the Pod that captures on a node; ``RefusedCaptureError`` if it is not allowed."""
    if node.os is OS.WINDOWS and node.host_process.value is not True:
        raise RefusedCaptureError(
            f"{node.name} has no HostProcess containers, in which pktmon is run: {node.host_process.origin}"
        )
    item = deepcopy(read_template(f"capture-{node.os.value}"))
    name = pod_name(node)
    item["metadata"]["name"], item["metadata"]["namespace"] = name, blank.namespace
    item["metadata"]["labels"] |= {**blank.labels, POD_LABEL: name}
    item["spec"]["os"] = {"name": node.os.value}
    pod = outfitted(item, node, blank)
    if node.os is OS.LINUX:
        pod["spec"]["containers"][0]["image"] = capture_image(blank.images)
    if what := forbidden(pod["spec"], node.os, blank.pod_security):
        raise RefusedCaptureError(
            f"level {blank.pod_security} of Pod Security forbids the Pod that captures on {node.name}: {what}",
            hint="use a namespace of level privileged, or capture by hand: nettests trace --pcap",
        )
    return pod


def expression(flow: Flow) -> str:
    """Return the flow as a pcap-filter(7) expression; tunnelled headers are at fixed offsets."""
    mask = 0xFFFF & ~(PORTS - 1)
    plain = [_ports(flow), *(f"port {port}" for port in flow.served), "icmp"]
    if flow.tunnel is None:
        return " or ".join(plain)
    inner = [
        primitive
        for offset in (_INNER_SOURCE_PORT, _INNER_SOURCE_PORT + 2)
        for primitive in (
            f"udp[{offset}:2] & {mask:#x} = {flow.base}",
            *(f"udp[{offset}:2] = {port}" for port in flow.served),
        )
    ]
    inner.append(f"udp[{_INNER_PROTOCOL}] = 1")
    return " or ".join([*plain, f"( udp port {flow.tunnel} and ( {' or '.join(inner)} ) )"])


def _ports(flow: Flow) -> str:
    return f"portrange {flow.base}-{flow.base + PORTS - 1}"


_INNER_PROTOCOL = 8 + 8 + 14 + 9
_INNER_SOURCE_PORT = 8 + 8 + 14 + 20
"""Offsets from the outer UDP header: UDP, VXLAN or GENEVE without options, Ethernet, IPv4 without options."""


def tcpdump_words(flow: Flow) -> tuple[str, ...]:
    """Return the argv of a capture on a Linux node."""
    bounds = ("timeout", "-s", "INT", str(CAPTURE_SECONDS))
    shown = ("-i", "any", "-nn", "-tt", "-l", "-x", "-p")
    most = ("-s", str(SNAP_BYTES), "-c", str(CAPTURE_FRAMES))
    return (*bounds, "tcpdump", *shown, *most, expression(flow))


def pktmon_filters(flow: Flow) -> Iterator[tuple[str, ...]]:
    """Yield the argv of each filter for a Windows node."""
    inside = ("-e",) if flow.tunnel is None else ("-e", str(flow.tunnel))
    for port in (*range(flow.base, flow.base + PORTS), *flow.served):
        yield ("pktmon", "filter", "add", "nettests", "-p", str(port), *inside)
    yield ("pktmon", "filter", "add", "nettests", "-t", "ICMP", *inside)


@dataclass(slots=True, kw_only=True)
class Capturer:
    """A capture on one node: call ``begin``, then ``end`` in any case."""

    cluster: Cluster
    namespace: str
    node: CapturedNode
    flow: Flow
    remarks: list[str] = field(default_factory=list)
    """Problems, such as changes that could not be undone."""
    _talk: Conversation | None = None
    _filtered: bool = False
    _started: bool = False
    _dialect: Dialect = Dialect.PRESENT

    def begin(self) -> None:
        """Start to capture; raises ``CannotCaptureError``."""
        try:
            match self.node.os:
                case OS.LINUX:
                    self._begin_tcpdump()
                case OS.WINDOWS:
                    self._begin_pktmon()
                case _:
                    assert_never(self.node.os)
        except ProgramMissingError as error:
            raise RefusedCaptureError(
                f"nothing can be captured on {self.node.name}: {error.message}",
                hint="images.capture of the cluster profile names an image with tcpdump, timeout, pkill and curl",
            ) from error
        except ChannelError as error:
            raise CannotCaptureError(
                f"nothing can be captured on {self.node.name}: {error.message}"
            ) from error

    def run(self, words: Sequence[str], seconds: float) -> int:
        """Run a program in the capturing Pod, and return its exit code."""
        return self._exec().run(node_argv(*words), timeout=seconds).exit_code

    def end(self, *, until: str) -> str:
        """Stop, undo all changes and return the captured text, complete once it has ``until``."""
        match self.node.os:
            case OS.LINUX:
                return self._end_tcpdump(until)
            case OS.WINDOWS:
                return self._end_pktmon()
            case _:
                assert_never(self.node.os)

    def _exec(self) -> ExecChannel:
        return self.cluster.open_exec(
            self.namespace,
            pod_name(self.node),
            CONTAINER,
            node=self.node.name,
            os=self.node.os,
        )

    def _begin_tcpdump(self) -> None:
        talk = self.cluster.converse(
            self.namespace, pod_name(self.node), CONTAINER, tcpdump_words(self.flow)
        )
        self._talk = talk
        talk.hear(lambda _: "listening on" in talk.stderr, seconds=BEGIN_SECONDS)
        if talk.exit_code is not None or "listening on" not in talk.stderr:
            message = (
                " ".join(talk.stderr.split())[:200] or f"it said nothing for {BEGIN_SECONDS:g} s"
            )
            raise CannotCaptureError(f"tcpdump does not capture on {self.node.name}: {message}")

    def _end_tcpdump(self, until: str) -> str:
        talk = self._talk
        if talk is None:
            return ""
        try:
            talk.hear(lambda text: until in text, seconds=END_SECONDS)
            if until:
                self._interrupt(talk)
        except ChannelError as error:
            self.remarks.append(error.message)
        finally:
            talk.close()
        return talk.stdout + "".join(f"{line}\n" for line in _STATISTICS.findall(talk.stderr))

    def _interrupt(self, talk: Conversation) -> None:
        """End tcpdump by SIGINT, so that it reports lost packets; without a signal it does not."""
        if talk.exit_code is None:
            self._run("pkill", "-INT", "-f", _ports(self.flow))
        if not talk.hear(lambda _: "dropped by kernel" in talk.stderr, seconds=END_SECONDS):
            self.remarks.append(
                f"tcpdump on {self.node.name} did not say how many packets its kernel dropped"
            )

    def _begin_pktmon(self) -> None:
        self._require_room()
        status = self._run("pktmon", "status")
        if status.exit_code != 0 and "denied" not in status.stdout + status.stderr:
            self._dialect = Dialect.FIRST  # it has no such command, and refuses to start twice
        elif status.exit_code != 0:
            self._tool("pktmon", "status")
        elif (running := is_running(status.stdout)) is not False:
            what = "runs already" if running else "shows no status, and may run"
            raise RefusedCaptureError(
                f"pktmon {what} on {self.node.name} for somebody else",
                hint="end that capture first: pktmon stop",
            )
        filters = self._tool("pktmon", "filter", "list")
        if has_filters(filters):
            raise RefusedCaptureError(
                f"somebody else's filters of pktmon are set on {self.node.name}",
                hint="remove them first: pktmon filter remove",
            )
        self._filtered = True
        for words in pktmon_filters(self.flow):
            self._tool(*words)
        log, _ = self._files()
        self._started = True
        self._tool(*self._dialect.start(log, packet_bytes=SNAP_BYTES, log_mib=LOG_MIB))

    def _require_room(self) -> None:
        """Raise if the node has little free space; if that is unknown, let the tool fail."""
        free = None
        with suppress(ProgramMissingError):
            free = free_mib(self._run(*ROOM).stdout)
        if free is not None and free < ROOM_MIB:
            raise RefusedCaptureError(
                f"{self.node.name} has {free} MiB free on C:; a capture takes {ROOM_MIB} MiB at most",
                hint="make room there",
            )

    def _end_pktmon(self) -> str:
        log, text = self._files()
        try:
            if not self._started:
                return ""
            self._tool("pktmon", "stop")
            self._tool(*self._dialect.to_text(log, text))
            return self._tool("cmd", "/c", "type", text)
        except ChannelError as error:
            self.remarks.append(error.message)
            return ""
        finally:
            self._undo_pktmon(log, text)

    def _undo_pktmon(self, *files: str) -> None:
        undo: list[tuple[str, ...]] = []
        if self._filtered:
            undo.append(("pktmon", "filter", "remove"))
        if self._started:
            undo.append(("cmd", "/c", "del", "/q", *files))
        for words in undo:
            try:
                self._tool(*words)
            except ChannelError as error:
                self.remarks.append(f"left on {self.node.name}: {error.message}")

    def _files(self) -> tuple[str, str]:
        name = rf"{FOLDER}\nettests-{self.flow.base}-{self.namespace}"
        return f"{name}.etl", f"{name}.txt"

    def _run(self, *words: str) -> ExecAnswer:
        channel = self._exec()
        with channel.slots:
            return channel.run(node_argv(*words), timeout=TOOL_SECONDS)

    def _tool(self, *words: str) -> str:
        answer = self._run(*words)
        if answer.exit_code != 0:
            output = " ".join((answer.stderr or answer.stdout).split())[:200]
            raise ChannelError(f"{' '.join(words[:3])} failed on {self.node.name}: {output}")
        return answer.stdout


def give_up(captures: Sequence[Capturer]) -> None:
    """End captures whose output is not needed."""
    for capture in captures:
        with suppress(ChannelError, OSError):
            capture.end(until="")
