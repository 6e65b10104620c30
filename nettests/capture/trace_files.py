"""What is kept of a trace: its page, its summary, and for each node a capture file with the frames of the flow."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from nettests.diagnose.folder import safe_name, write_below
from nettests.report.trace_page import render_trace
from nettests.report.trace_words import terminal_lines
from nettests.tracing.finding import Trace
from nettests.tracing.mark import Mark, belonging
from nettests.tracing.packet import Capture, Frame, Sighting
from nettests.tracing.pcap import pcap

PAGE, LINES = "trace.html", "trace.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCapture:
    """What was captured on a node, and the frames of it that are of the flow, without payload; others are not kept.

    A mark may be somebody else's port as well: of what a packet carries nothing but the mark itself is kept.
    """

    capture: Capture
    frames: tuple[Frame, ...]

    @classmethod
    def of(
        cls, capture: Capture, pairs: Iterable[tuple[Frame, Sighting]], mark: Mark
    ) -> "NodeCapture":
        """Return a capture with the frames of the flow that its sightings show."""
        belongs = belonging(capture.sightings, mark)
        frames = tuple(
            replace(frame, data=_heads(frame, sighting, mark))
            for frame, sighting in pairs
            if belongs(sighting.packet)
        )
        return cls(capture=capture, frames=frames)


def _heads(frame: Frame, sighting: Sighting, mark: Mark) -> bytes:
    """Return a frame up to its payload, or to the end of the mark that its payload begins with."""
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
