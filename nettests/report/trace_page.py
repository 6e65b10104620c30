"""``Trace`` → one page for people: its path as a picture, the finding, and the frames. Pure.

It needs neither network nor script. Values are prepared here and in ``trace_words``.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from jinja2 import Environment

from nettests.model.words import Verdict
from nettests.report import harmless
from nettests.report.trace_words import flow_of, frame, mark, place, short
from nettests.tracing.finding import Finding, Trace
from nettests.tracing.hops import Hop, Stage
from nettests.tracing.mark import Way

FRAMES_SHOWN = 400
"""Frames of one node shown on the page; the capture file has all."""


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
    """The frames of one node, their capture file, and how many are not shown."""

    node: str
    rows: tuple[Row, ...]
    file: str
    left_out: int


def render_trace(trace: Trace, *, title: str, files_of: Mapping[str, str]) -> str:
    """Render the page; ``files_of`` are the capture files beside it, by node."""
    return harmless.render_page(
        _environment(),
        "trace.html.j2",
        style_sheet="trace.css",
        title=title,
        trace=trace,
        verdict=_verdict(trace.finding),
        flow=flow_of(trace.scene),
        picture=picture(trace),
        nodes=_nodes(trace, files_of),
    )


def _verdict(finding: Finding) -> Verdict:
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


STEP, LEFT_MARGIN, NODE_GAP = 128, 70, 24
REQUEST_Y, REPLY_Y, HEIGHT = 88, 190, 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One hop: position, label, and whether ``seen``, ``unseen`` or where the flow ``stopped``."""

    x: int
    y: int
    word: str
    state: str
    title: str

    @property
    def label(self) -> int:
        """Position of the label: away from the line from request to reply."""
        return self.y - 18 if self.y == REQUEST_Y else self.y + 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The line between two hops; ``state`` is that of the hop it leads to."""

    x1: int
    y1: int
    x2: int
    y2: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A node drawn around its hops."""

    x: int
    width: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Everything that is drawn."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    dots: tuple[Dot, ...]


_BACK = {
    Stage.ANSWERED: Stage.DELIVERED,
    Stage.REPLY_LEFT: Stage.ARRIVED,
    Stage.REPLY_ARRIVED: Stage.LEFT,
    Stage.REPLY_TRANSLATED: Stage.TRANSLATED,
    Stage.REPLY_DELIVERED: Stage.SENT,
}
"""The request's hop below which each hop of the reply is drawn."""
_STATES = {"✓": "seen", "·": "unseen", "✗": "stopped"}


def picture(trace: Trace) -> Picture:
    """Lay out a trace's hops."""
    request = [hop for hop in trace.hops if hop.stage not in _BACK]
    reply = [hop for hop in trace.hops if hop.stage in _BACK]
    places = _places(request)
    dots = [_dot(trace, hop, places[hop.stage], REQUEST_Y) for hop in request]
    for hop in reply:
        x = places.get(_BACK[hop.stage], places[Stage.SENT])
        dots.append(_dot(trace, hop, x, REPLY_Y))
    lines = tuple(
        Line(x1=a.x, y1=a.y, x2=b.x, y2=b.y, state=b.state) for a, b in itertools.pairwise(dots)
    )
    width = max(places.values()) + LEFT_MARGIN
    return Picture(
        width=width,
        height=HEIGHT,
        boxes=tuple(_boxes(request, places)),
        lines=lines,
        dots=tuple(dots),
    )


def _places(request: list[Hop]) -> dict[Stage, int]:
    places: dict[Stage, int] = {}
    x, node = LEFT_MARGIN - STEP, request[0].node
    for hop in request:
        x += STEP + (NODE_GAP if hop.node != node else 0)
        places[hop.stage], node = x, hop.node
    return places


def _boxes(request: list[Hop], places: dict[Stage, int]) -> list[Box]:
    boxes: list[Box] = []
    for hop in request:
        x, last = places[hop.stage], boxes[-1] if boxes else None
        if last is not None and last.name == hop.node:
            boxes[-1] = Box(x=last.x, width=x + STEP // 2 - last.x, name=hop.node)
        else:
            boxes.append(Box(x=x - STEP // 2, width=STEP, name=hop.node))
    return boxes


def _dot(trace: Trace, hop: Hop, x: int, y: int) -> Dot:
    first = hop.first
    seen = f"{place(first)}: {frame(first)}" if first else "not seen"
    return Dot(
        x=x,
        y=y,
        word=short(hop.stage),
        state=_STATES[mark(trace, hop)],
        title=f"{hop.stage.value}, {hop.node}: {seen}",
    )
