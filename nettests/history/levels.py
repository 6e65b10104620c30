"""Something that is red or good in each run → when it changed, and when it only swung. Pure.

Used for checks and incidents; ``trends`` decides when a run is red for them. A sequence is cut into
levels, in which it is red or good except for swings, with the lowest total cost of contradictions
and changes of level. From the first run to the newest (``.`` good, ``X`` red):

- ``......XX`` is red since the seventh: two lapses (40) cost more than a change (30);
- ``..XXX...`` is repaired: it swung, as three lapses (60) cost as much as two changes; a fourth
  makes a level;
- ``..X..X..`` is flaky, and ``.......X`` red since the newest (``_without_ends``).
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

LUCKY, LAPSE, CHANGE = 21, 20, 30
"""The costs of a good run in a red level, a red run in a good level and a change (decision 0056).

Two red runs at the end are a change, and so are four in the middle; one or three are swings. A good
run costs slightly more, so that of equal cuts a red level begins before runs that are all red.
"""


class Colour(StrEnum):
    """What a run shows."""

    RED = "red"
    GOOD = "good"
    BLIND = "blind"
    """Not judged, or not planned: neither good nor red."""


class State(StrEnum):
    """The state after all runs."""

    RED = "red"
    """Red, and red in all or most runs since the first bad one."""
    FLAKY = "flaky"
    """Red more than once, with good runs in between, and mostly good."""
    GONE = "gone"
    """Red or flaky when last planned, and no longer planned."""
    REPAIRED = "repaired"
    """Red at one time, and good since."""
    GOOD = "good"
    NOT_JUDGED = "not-judged"
    """Not judged in any run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The course of a check or incident; runs are named by their index.

    ``first_bad`` begins the last red time, ``last_good`` is the last good run before it and
    ``good_since`` the first good one after it. ``swings`` are the runs that contradict their level.
    """

    state: State
    red: int = 0
    judged: int = 0
    swings: int = 0
    first_bad: int | None = None
    last_good: int | None = None
    good_since: int | None = None
    last_red: int | None = None
    last_judged: int | None = None
    gone_since: int | None = None
    """The first run that no longer plans it, if it is gone."""

    @property
    def flake_rate(self) -> float:
        """The share of judged runs that contradict their level."""
        return round(self.swings / self.judged, 4) if self.judged else 0.0


class _Level(NamedTuple):
    colour: Colour
    places: tuple[int, ...]


_COST = {Colour.RED: LAPSE, Colour.GOOD: LUCKY}
_Path = tuple[Colour, "_Path"] | None
"""Levels, the newest first."""


def course(colours: Sequence[Colour], wavering: frozenset[int] = frozenset()) -> Course:
    """Return the course; ``wavering`` are runs with a ``flaky`` verdict."""
    judged = [place for place, colour in enumerate(colours) if colour is not Colour.BLIND]
    if not judged:
        return Course(state=State.NOT_JUDGED)
    levels = _levels(colours, judged)
    reds = [place for place in judged if colours[place] is Colour.RED]
    swings = sum(colours[place] is not level.colour for level in levels for place in level.places)
    counted = {"red": len(reds), "judged": len(judged), "swings": swings}
    if not reds:
        return Course(state=State.GOOD, last_judged=judged[-1], **counted)
    first, until, state = _last_red_time(levels, colours, wavering)
    before = [place for place in judged if place < first and colours[place] is Colour.GOOD]
    after = [place for place in judged if place > until and colours[place] is Colour.GOOD]
    return Course(
        state=state,
        first_bad=first,
        last_good=before[-1] if before else None,
        good_since=after[0] if state is State.REPAIRED else None,
        last_red=reds[-1],
        last_judged=judged[-1],
        **counted,
    )


def _last_red_time(
    levels: Sequence[_Level], colours: Sequence[Colour], wavering: frozenset[int]
) -> tuple[int, int, State]:
    """Return the first and last run of the last red time, and the state since."""
    last = levels[-1]
    if last.colour is Colour.RED:
        first = next(place for place in last.places if colours[place] is Colour.RED)
        return first, last.places[-1], State.RED
    of_colour = groupby(last.places, colours.__getitem__)
    streaks = [[*streak] for colour, streak in of_colour if colour is Colour.RED]
    if len(streaks) > 1 or wavering & {place for streak in streaks for place in streak}:
        return streaks[0][0], streaks[-1][-1], State.FLAKY
    if streaks:
        return streaks[0][0], streaks[0][-1], State.REPAIRED
    # A red level may begin or end with a good run, which is not a bad one.
    reds = [place for place in levels[-2].places if colours[place] is Colour.RED]
    return reds[0], reds[-1], State.REPAIRED


def _levels(colours: Sequence[Colour], judged: Sequence[int]) -> list[_Level]:
    """Return the cheapest levels, with runs at the ends split off."""
    level_of = dict(zip(judged, _cheapest([colours[at] for at in judged]), strict=True))
    levels = [_Level(colour, tuple(of)) for colour, of in groupby(judged, level_of.__getitem__)]
    ends = {judged[0], judged[-1]}
    return [part for level in levels for part in _without_ends(level, ends, colours)]


def _without_ends(level: _Level, ends: Set[int], colours: Sequence[Colour]) -> Iterator[_Level]:
    """Yield a level, without its first or last run if only they contradict it: that is a change.

    Red at both ends is no change: it was red before, and swings.
    """
    odd = [place for place in level.places if colours[place] is not level.colour]
    if not ends >= set(odd) or (len(odd) > 1 and level.colour is Colour.GOOD):
        yield level
        return
    yield from (
        _Level(colour, tuple(places))
        for colour, places in groupby(level.places, colours.__getitem__)
    )


def _cheapest(seen: Sequence[Colour]) -> list[Colour]:
    """Return each run's level for the least cost of all contradictions and changes (Viterbi)."""
    levels = (Colour.GOOD, Colour.RED)
    best: dict[Colour, tuple[int, _Path]] = dict.fromkeys(levels, (0, None))
    for colour in seen:
        # Change the previous level where that is cheaper.
        changed = {level: (cost + CHANGE, path) for level, (cost, path) in best.items()}
        before = {
            level: changed[other] if changed[other][0] < best[level][0] else best[level]
            for level, other in (levels, levels[::-1])
        }
        best = {
            level: (cost + _COST[colour] * (level is not colour), (level, path))
            for level, (cost, path) in before.items()
        }
    _, path = min(best.values(), key=lambda each: each[0])
    newest_first = []
    while path:
        level, path = path
        newest_first.append(level)
    return newest_first[::-1]
