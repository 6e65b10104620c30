"""A ``Trace`` → one page for people: the picture of its path, the finding, and the frames below. Needs no network and no script.

The template lays out; what it shows is prepared here and in ``trace_words`` and ``trace_picture``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from nettests.model.words import Verdict
from nettests.report import harmless
from nettests.report.trace_picture import picture
from nettests.report.trace_words import flow_of, frame, place
from nettests.tracing.finding import Finding
from nettests.tracing.mark import Way
from nettests.tracing.result import Trace

FRAMES_SHOWN = 400
"""Frames of one node on the page; the capture file has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A frame: seconds since the first one on its node."""

    seconds: str
    place: str
    way: str
    text: str
    drop: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFrames:
    """The frames of one node, the file that holds them, and how many are not shown."""

    node: str
    rows: tuple[Row, ...]
    file: str
    left_out: int


def render_trace(trace: Trace, *, title: str, files_of: Mapping[str, str]) -> str:
    """Return the page; ``files_of`` are capture files beside it, by node."""
    page_style = files("nettests.report").joinpath("templates/trace.css").read_text("utf-8")
    style = harmless.style_of_pages() + page_style
    page = _environment().get_template("trace.html.j2")
    text = page.render(
        title=title,
        trace=trace,
        verdict=_verdict(trace.finding),
        flow=flow_of(trace.scene),
        picture=picture(trace),
        nodes=_nodes(trace, files_of),
        style=Markup(style),  # noqa: S704 - shipped with the package
        policy=harmless.policy(style=style),
    )
    return harmless.as_utf8(text)


def _verdict(finding: Finding) -> Verdict:
    """Return the verdict whose colour a finding has."""
    if finding.harmless:
        return Verdict.PASS
    return Verdict.UNKNOWN if finding is Finding.UNSURE else Verdict.FAIL


def _nodes(trace: Trace, files_of: Mapping[str, str]) -> tuple[NodeFrames, ...]:
    names = dict.fromkeys((*files_of, *(marked.sighting.node for marked in trace.frames)))
    nodes = []
    for node in names:
        frames = sorted(
            (marked for marked in trace.frames if marked.sighting.node == node),
            key=lambda marked: marked.sighting.time,
        )
        first = frames[0].sighting.time if frames else 0.0
        rows = tuple(
            Row(
                seconds=f"{marked.sighting.time - first:.6f}",
                place=place(marked),
                way=_WAYS[marked.way],
                text=frame(marked),
                drop=bool(marked.sighting.drop),
            )
            for marked in frames[:FRAMES_SHOWN]
        )
        left_out = max(0, len(frames) - FRAMES_SHOWN)
        nodes.append(
            NodeFrames(node=node, rows=rows, file=files_of.get(node, ""), left_out=left_out)
        )
    return tuple(nodes)


_WAYS = {Way.REQUEST: "→", Way.REPLY: "←", Way.ERROR: "!"}


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return harmless.environment("nettests.report")
