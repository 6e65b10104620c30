"""The folder of a trace: its page, its summary, and for each node a capture file with the frames of the flow."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nettests.diagnose.folder import write_below
from nettests.diagnose.names import safe_name
from nettests.report.trace_page import render_trace
from nettests.report.trace_words import told
from nettests.tracing.mark import Mark, belonging
from nettests.tracing.pcap_file import pcap
from nettests.tracing.result import Trace
from nettests.tracing.sighting import Capture, Frame, Sighting

PAGE, LINES = "trace.html", "trace.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCapture:
    """What was captured on a node, and the frames of it that are of the flow; others are not kept."""

    capture: Capture
    frames: tuple[Frame, ...]

    @classmethod
    def of(
        cls, capture: Capture, pairs: Iterable[tuple[Frame, Sighting]], mark: Mark
    ) -> "NodeCapture":
        """Return a capture with the frames of the flow that its sightings show."""
        belongs = belonging(capture.sightings, mark)
        frames = tuple(frame for frame, sighting in pairs if belongs(sighting.packet))
        return cls(capture=capture, frames=frames)


def write_trace(
    directory: Path, trace: Trace, captures: Iterable[NodeCapture], *, title: str
) -> Path:
    """Write the folder of a trace and return the path of its page."""
    directory.mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    for one in captures:
        node = one.capture.node
        files[node] = f"{safe_name(node)}.pcap"
        write_below(directory, [files[node]], pcap(one.frames))
    write_below(directory, [LINES], ("\n".join((title, *told(trace))) + "\n").encode())
    page = render_trace(trace, title=title, files_of=files)
    write_below(directory, [PAGE], page.encode())
    return directory / PAGE
