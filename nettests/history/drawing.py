"""Strips and charts for the history page: one column per run, so that all pictures align. Pure.

A strip has a cell per run, with its verdict as colour and shape. All cells of a verdict are one
path, and adjacent cells one rectangle of it: the strip of a year of good nights takes a hundred
bytes. Charts show red checks and durations.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, log10
from typing import NamedTuple

from nettests.history.trends import ClusterHistory, ReadRun
from nettests.model.grouping import grouped
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import Verdict
from nettests.report.summary import VERDICTS

WIDE = 840
"""The width of all columns in pixels, if they are wide enough then."""
WIDEST, NARROWEST = 60.0, 3.0
"""The limits of a column's width, in pixels."""
STRIP, HEIGHT = 20, 120
"""The heights of a strip and of a chart's plane, in pixels."""
COUNTED = (Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY, Verdict.UNKNOWN)
"""The verdicts in bars, from the bottom up; passed checks would hide them."""
_GLYPH = 14
"""The width of a shape in pixels; narrower cells have none."""
_LEAST = 3.0
"""The minimum height of a bar in pixels, so that a single red check is visible."""
_TICKS, _DATE_WIDTH = 9, 44
"""The most dates below a chart, and the width of each in pixels."""
_NOTHING = 1e-6
GOOD = "good"
_NAMES: Mapping[Verdict, str] = {
    **{verdict: verdict.value for verdict in Verdict},
    **dict.fromkeys((Verdict.PASS, Verdict.LIMITED, Verdict.RECORDED, Verdict.KNOWN_BUG), GOOD),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """One column for each run; all numbers are pixels."""

    number: int

    @property
    def pitch(self) -> float:
        """The width of a column; an integer if it is whole, as all numbers follow from it."""
        pitch = round(min(WIDEST, max(NARROWEST, WIDE / self.number)), 2)
        return int(pitch) if pitch.is_integer() else pitch

    @property
    def width(self) -> float:
        """The width of all columns."""
        return round(self.pitch * self.number, 2)

    @property
    def lines(self) -> str:
        """The lines between columns, for strips."""
        return "".join(f"M{self.left(at)} 0v{STRIP}" for at in range(1, self.number))

    @property
    def gap(self) -> float:
        """The gap between two cells."""
        return 2 if self.pitch >= _GLYPH else 0.5

    def left(self, at: int) -> float:
        """Return the left edge of a column."""
        return round(at * self.pitch, 2)

    def middle(self, at: int) -> float:
        """Return the middle of a column."""
        return round((at + 0.5) * self.pitch, 2)


class Layer(NamedTuple):
    """All cells of one verdict; ``name`` is the verdict, or ``good`` for all accepted ones."""

    name: str
    squares: str
    shapes: str


class Mark(NamedTuple):
    """A cell with a tooltip and a link to the run's report; or a date below a column."""

    x: float
    text: str
    address: str = ""


class Strip(NamedTuple):
    """One strip: ``first_bad`` is the left edge of that column, ``label`` is for screen readers."""

    layers: tuple[Layer, ...]
    marks: tuple[Mark, ...] = ()
    first_bad: float | None = None
    label: str = ""


class GridLine(NamedTuple):
    """A line across a chart, with its number in words."""

    y: float
    text: str


class Bars(NamedTuple):
    """All bars of one verdict, as one path."""

    name: str
    path: str


class Chart(NamedTuple):
    """One chart: bars for counts, or a line with its area and dots."""

    grid: tuple[GridLine, ...]
    bars: tuple[Bars, ...] = ()
    line: str = ""
    area: str = ""
    dots: tuple[tuple[float, float], ...] = ()


def strip(
    verdicts: Sequence[Verdict | None],
    columns: Columns,
    *,
    marks: Iterable[Mark] = (),
    first_bad: int | None = None,
    label: str = "",
) -> Strip:
    """Return the strip of verdicts, one per run."""
    places = grouped(
        (_NAMES[verdict], at) for at, verdict in enumerate(verdicts) if verdict is not None
    )
    return Strip(
        layers=tuple(_layer(name, cells, columns) for name, cells in places.items()),
        marks=tuple(marks),
        first_bad=None if first_bad is None else columns.left(first_bad),
        label=label,
    )


def worst(strips: Iterable[Sequence[Verdict | None]]) -> list[Verdict | None]:
    """Return the worst verdict of each run; skipped ranks last."""
    ranks = {verdict: rank for rank, verdict in enumerate(SUMMARY_ORDER)}
    return [
        min((verdict for verdict in column if verdict), key=ranks.__getitem__, default=None)
        for column in zip(*strips, strict=True)
    ]


def is_steady(verdicts: Iterable[Verdict | None]) -> bool:
    """Whether a check was always good, or always skipped: its strip would show nothing."""
    seen = {_NAMES[verdict] for verdict in verdicts if verdict is not None}
    return len(seen) < 2 and seen <= {GOOD, Verdict.SKIPPED.value}


def _layer(name: str, places: Sequence[int], columns: Columns) -> Layer:
    glyph = (
        "" if name == GOOD or columns.pitch < _GLYPH else VERDICTS[Verdict(name)].get("glyph", "")
    )
    inset, top = round((columns.pitch - _GLYPH) / 2, 2), (STRIP - _GLYPH) // 2
    squares = []
    # Consecutive places have the same difference to their numbers.
    for _, streak in groupby(enumerate(places), lambda numbered: numbered[1] - numbered[0]):
        cells = [at for _, at in streak]
        wide = round(columns.pitch * len(cells), 2)
        squares.append(f"M{columns.left(cells[0])} 0h{wide}v{STRIP}h-{wide}z")
    shapes = [f"M{round(columns.left(at) + inset, 2)} {top}{glyph}" for at in places if glyph]
    return Layer(name, "".join(squares), "".join(shapes))


def counts_chart(history: ClusterHistory, columns: Columns) -> Chart:
    """Return how many checks were red or unknown in each run, by the worst member."""
    standing = [[check.standing for check in run.run.checks] for run in history.runs]
    stacks = [[shown.count(verdict) for verdict in COUNTED] for shown in standing]
    top = nice_top(max((sum(stack) for stack in stacks), default=0), whole=True)
    inset = columns.gap / 2
    wide = round(columns.pitch - columns.gap, 2)
    paths: dict[Verdict, list[str]] = {}
    for at, stack in enumerate(stacks):
        below = 0.0
        for verdict, number in zip(COUNTED, stack, strict=True):
            high = round(max(HEIGHT * number / top, _LEAST if number else 0), 2)
            if number:
                x, y = round(columns.left(at) + inset, 2), round(HEIGHT - below - high, 2)
                paths.setdefault(verdict, []).append(f"M{x} {y}h{wide}v{high}h-{wide}z")
            below += high
    bars = (Bars(each.value, "".join(paths[each])) for each in COUNTED if each in paths)
    return Chart(grid=_grid(top, lambda number: f"{number:g}"), bars=tuple(bars))


def durations_chart(runs: Sequence[ReadRun], columns: Columns) -> Chart:
    """Return how long each run took; a run without a valid duration is a gap in the line."""
    took = [run.run.run.seconds for run in runs]
    usable = [seconds if seconds is not None and seconds >= 0 else None for seconds in took]
    longest = max((seconds for seconds in usable if seconds is not None), default=0.0)
    unit, word = (1.0, "s") if longest < 120 else (60.0, "min")
    top = nice_top(longest / unit) * unit
    points = [
        None if seconds is None else (columns.middle(at), round(HEIGHT * (1 - seconds / top), 2))
        for at, seconds in enumerate(usable)
    ]
    lines, areas = [], []
    for there, streak in groupby(points, bool):
        if there:
            cells = [point for point in streak if point]
            path = "L".join(f"{x} {y}" for x, y in cells)
            lines.append(f"M{path}")
            areas.append(f"M{cells[0][0]} {HEIGHT}L{path}L{cells[-1][0]} {HEIGHT}z")
    return Chart(
        grid=_grid(top, lambda number: f"{number / unit:g} {word}"),
        line="".join(lines),
        area="".join(areas),
        dots=tuple(point for point in points if point),
    )


def ticks(runs: Sequence[ReadRun], columns: Columns) -> Iterator[Mark]:
    """Yield dates below columns, as many as fit, including the newest."""
    fits = max(1, min(_TICKS, int(columns.width // _DATE_WIDTH)))
    for at in range(len(runs) - 1, -1, -ceil(len(runs) / fits)):
        # sample: "2026-11-21T14:04:12.200000+00:00"
        yield Mark(columns.middle(at), runs[at].run.run.started[5:10])


def nice_top(largest: float, *, whole: bool = False) -> float:
    """Return the end of an axis: a round number, at least ``largest``, whose half is also round."""
    if largest < _NOTHING:
        return 2.0 if whole else 1.0
    power = 10.0 ** (ceil(log10(largest)) - 1)
    top = next(factor * power for factor in (1, 2, 4, 6, 8, 10, 20) if factor * power >= largest)
    return max(top, 2.0) if whole else top


def _grid(top: float, word: Callable[[float], str]) -> tuple[GridLine, ...]:
    return tuple(GridLine(HEIGHT - HEIGHT * part, word(top * part)) for part in (0.5, 1.0))
