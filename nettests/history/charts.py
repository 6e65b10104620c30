"""Charts for the history page: red checks and durations of all runs, aligned with the strips. Pure geometry and text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log10

from nettests.history.clusters import ReadRun
from nettests.history.strips import Columns
from nettests.history.trends import ClusterHistory
from nettests.model.words import Verdict

COUNTED = (Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY, Verdict.UNKNOWN)
"""What bars are made of, from the bottom up; they are few beside what passed, which would hide them."""
HEIGHT = 120
"""Pixels of a chart's plane."""
_TICKS = 9
"""Dates below a chart, at most, and how many pixels each takes."""
_DATE_WIDTH = 44
_NOTHING = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class GridLine:
    """A line across a chart, with its number in words."""

    y: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A date below a column."""

    x: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """All bars of one verdict, as one path."""

    name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One chart: bars for counts, or a line with its area and dots."""

    grid: tuple[GridLine, ...]
    bars: tuple[Bars, ...] = ()
    line: str = ""
    area: str = ""
    dots: tuple[tuple[float, float], ...] = ()


def counts_chart(history: ClusterHistory, columns: Columns) -> Chart:
    """Return how many checks were red or unknown in each run."""
    stacks = [_counts(run) for run in history.runs]
    top = nice_top(max((sum(stack) for stack in stacks), default=0), whole=True)
    inset = columns.gap / 2
    wide = round(columns.pitch - columns.gap, 2)
    paths: dict[Verdict, list[str]] = {}
    for at, stack in enumerate(stacks):
        below = 0.0
        for verdict, number in zip(COUNTED, stack, strict=True):
            high = round(HEIGHT * number / top, 2)
            if number:
                x, y = round(columns.left(at) + inset, 2), round(HEIGHT - below - high, 2)
                paths.setdefault(verdict, []).append(f"M{x} {y}h{wide}v{high}h-{wide}z")
            below += high
    return Chart(
        grid=tuple(_grid(top, lambda number: f"{number:g}")),
        bars=tuple(
            Bars(name=verdict.value, path="".join(paths[verdict]))
            for verdict in COUNTED
            if verdict in paths
        ),
    )


def durations_chart(runs: Sequence[ReadRun], columns: Columns) -> Chart:
    """Return how long each run took; a run without an end, or whose clock was set back, is a gap in the line."""
    seconds = [_usable(run.run.run.seconds) for run in runs]
    longest = max((duration for duration in seconds if duration is not None), default=0.0)
    unit, word = (1.0, "s") if longest < 120 else (60.0, "min")
    top = nice_top(longest / unit) * unit
    lines, areas, dots = [], [], []
    for streak in _streaks(seconds):
        points = [(columns.middle(at), round(HEIGHT * (1 - took / top), 2)) for at, took in streak]
        path = "L".join(f"{x} {y}" for x, y in points)
        lines.append(f"M{path}")
        areas.append(f"M{points[0][0]} {HEIGHT}L{path}L{points[-1][0]} {HEIGHT}z")
        dots += points
    return Chart(
        grid=tuple(_grid(top, lambda number: f"{number / unit:g} {word}")),
        line="".join(lines),
        area="".join(areas),
        dots=tuple(dots),
    )


def ticks(runs: Sequence[ReadRun], columns: Columns) -> Iterator[Tick]:
    """Yield dates below columns, as many as there is room for, the newest among them."""
    fits = max(1, min(_TICKS, int(columns.width // _DATE_WIDTH)))
    step = ceil(len(runs) / fits)
    for at in range(len(runs) - 1, -1, -step):
        # sample: "2026-11-21T14:04:12.200000+00:00"
        yield Tick(x=columns.middle(at), text=runs[at].run.run.started[5:10])


def nice_top(largest: float, *, whole: bool = False) -> float:
    """Return the end of an axis: a round number, at least ``largest``, whose half is round too."""
    if largest < _NOTHING:
        return 2.0 if whole else 1.0
    power = 10.0 ** (ceil(log10(largest)) - 1)
    top = next(factor * power for factor in (1, 2, 4, 6, 8, 10, 20) if factor * power >= largest)
    return max(top, 2.0) if whole else top


def _grid(top: float, word: Callable[[float], str]) -> Iterable[GridLine]:
    return [GridLine(y=HEIGHT - HEIGHT * part, text=word(top * part)) for part in (0.5, 1.0)]


def _counts(run: ReadRun) -> list[int]:
    """Return how many checks were of each counted verdict; a member that deviates counts as its check."""
    shown = [check.standing for check in run.run.checks]
    return [shown.count(verdict) for verdict in COUNTED]


def _usable(seconds: float | None) -> float | None:
    return seconds if seconds is not None and seconds >= 0 else None


def _streaks(seconds: Sequence[float | None]) -> Iterator[list[tuple[int, float]]]:
    """Yield each streak of runs with usable durations, as places and seconds."""
    streak: list[tuple[int, float]] = []
    for at, duration in enumerate(seconds):
        if duration is not None:
            streak.append((at, duration))
        elif streak:
            yield streak
            streak = []
    if streak:
        yield streak
