"""A ``Trace`` as a picture: hops from left to right, request above and reply below, where it stopped in red. Pure geometry."""

import itertools
from dataclasses import dataclass

from nettests.report.trace_words import frame, mark, place, short
from nettests.tracing.hops import Hop, Stage
from nettests.tracing.result import Trace

STEP, LEFT_MARGIN, NODE_GAP = 128, 70, 24
REQUEST_Y, REPLY_Y, HEIGHT = 88, 190, 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One hop: where it is drawn, its words, and whether it was ``seen``, ``unseen`` or is where the flow ``stopped``."""

    x: int
    y: int
    word: str
    state: str
    title: str

    @property
    def label(self) -> int:
        """Where its word stands: away from the line that leads from the request to the reply."""
        return self.y - 18 if self.y == REQUEST_Y else self.y + 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The way from one hop to the next; ``state`` as that of the hop it leads to."""

    x1: int
    y1: int
    x2: int
    y2: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A node around its hops."""

    x: int
    width: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """All that is drawn."""

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
"""Below which hop of the request each hop of the reply is drawn."""
_STATES = {"✓": "seen", "·": "unseen", "✗": "stopped"}


def picture(trace: Trace) -> Picture:
    """Return the picture of a trace's hops."""
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
    """Return where each hop of the request is; between nodes there is more room."""
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
