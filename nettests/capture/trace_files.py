"""The files of a trace, and traces of existing capture files without a cluster."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path

from nettests.diagnose.folder import safe_name, write_below
from nettests.errors import PlanError
from nettests.model.facts import Address
from nettests.private import require_writable
from nettests.report.trace_page import render_trace
from nettests.report.trace_words import terminal_lines
from nettests.tracing.finding import Trace
from nettests.tracing.mark import Mark, belonging
from nettests.tracing.packet import Capture, Frame, Sighting
from nettests.tracing.path import StatedFlow, protocol_of, scene_of_captures, spanning, trace
from nettests.tracing.pcap import pcap

PAGE, LINES = "trace.html", "trace.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCapture:
    """What was captured on a node, and the flow's frames; frames of others are not kept.

    The mark may also be another program's port, so only the mark is kept of a payload.
    """

    capture: Capture
    frames: tuple[Frame, ...]

    @classmethod
    def of(
        cls, capture: Capture, pairs: Iterable[tuple[Frame, Sighting]], mark: Mark
    ) -> "NodeCapture":
        """Return a capture with the flow's frames among ``pairs``."""
        belongs = belonging(capture.sightings, mark)
        frames = tuple(
            replace(frame, data=_heads(frame, sighting, mark))
            for frame, sighting in pairs
            if belongs(sighting.packet)
        )
        return cls(capture=capture, frames=frames)


def _heads(frame: Frame, sighting: Sighting, mark: Mark) -> bytes:
    """Return a frame up to its payload, or to the end of the mark that begins it."""
    payload = sighting.packet.payload
    kept = len(mark.token) if mark.token and payload.startswith(mark.token) else 0
    return frame.data[: len(frame.data) - max(0, len(payload) - kept)]


def write_trace(
    directory: Path, trace: Trace, captures: Iterable[NodeCapture], *, title: str
) -> Path:
    """Write the folder of a trace and return the path of its page."""
    directory.mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    for node_capture in captures:
        node = node_capture.capture.node
        files[node] = f"{safe_name(node)}.pcap"
        write_below(directory, [files[node]], pcap(node_capture.frames))
    write_below(directory, [LINES], ("\n".join((title, *terminal_lines(trace))) + "\n").encode())
    page = render_trace(trace, title=title, files_of=files)
    write_below(directory, [PAGE], page.encode())
    return directory / PAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Capture files, perhaps with nodes' names (``NODE=FILE``), and the flow's description."""

    captures: tuple[str, ...]
    port: int | None = None
    token: str | None = None
    service: str | None = None
    backends: tuple[str, ...] = ()
    vni: int | None = None


def trace_captures(given: Given, directory: Path) -> tuple[Trace, Path]:
    """Read the captures, write the trace, and return both; raises ``NettestsError``."""
    if (given.port is None) == (not given.token):
        raise PlanError(
            "which flow is it? Name one of --port and --token",
            hint="--port 51234, the client's port of a TCP connection; --token hello, how its datagrams begin",
        )
    require_writable(directory)
    flow = StatedFlow(
        mark=Mark(
            protocol=protocol_of(token=given.token),
            port=given.port,
            token=(given.token or "").encode(),
        ),
        service=_address("--service", given.service) if given.service else None,
        backends=tuple(_address("--backend", backend) for backend in given.backends),
        vni=given.vni,
    )
    captures = spanning(_read(given.captures), flow.mark)
    result = trace(scene_of_captures(captures, flow), flow.mark, captures)
    page = write_trace(directory, result, (), title=", ".join(given.captures))
    return result, page


def _read(files: tuple[str, ...]) -> list[Capture]:
    from nettests import wire  # noqa: PLC0415 - scapy is an extra

    captures: dict[str, Capture] = {}
    for text in files:
        name, equals, rest = text.partition("=")
        path = Path(rest if equals else text)
        node = name if equals else path.stem
        if node in captures:
            raise PlanError(
                f"two captures are of {node}", hint="name their nodes: --pcap win-1=a.pcap"
            )
        captures[node] = wire.read_file(node, path)
    return list(captures.values())


def _address(option: str, text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise PlanError(f"{option} {text} is not an IP address") from error
