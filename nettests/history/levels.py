"""One thing in run after run, red or good → when it changed for good, and when it only swung. Pure.

Used for checks and incidents alike; what makes a run red for one of them is decided in ``trends``. A sequence is cut into
levels, in each of which the thing is red or good throughout but for swings. Cutting takes the fewest contradictions: a
change of level has to save more than it costs. So, from the first run to the newest (``.`` good, ``X`` red):

- ``......XX`` is red since the seventh: two lapses (40) cost more than a change (30);
- ``..XXX...`` is repaired: it swung, because three lapses (60) cost no more than two changes; a fourth makes a level;
- ``..X..X..`` is flaky, and ``.......X`` red since the newest (``_without_ends``).
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

LUCKY, LAPSE, CHANGE = 21, 20, 30
"""What a good run in a red level, a red run in a good level and a change of level cost (decision 0056).

Two red runs at the end are a change, and so are four in the middle; one or three are swings. A good run costs a little
more, so that a red level begins with the run after which all are red, where two cuts are alike.
"""


class Colour(StrEnum):
    """What a run says of a thing."""

    RED = "red"
    GOOD = "good"
    BLIND = "blind"
    """It was not judged, or not there: neither good nor red."""


class State(StrEnum):
    """What a thing is after all runs."""

    RED = "red"
    """It is red, and was in all or most runs since its first bad one."""
    FLAKY = "flaky"
    """It was red more than once, with good runs in between, and is good most of the time."""
    GONE = "gone"
    """It was red or flaky when it was last planned, and no run plans it any more."""
    REPAIRED = "repaired"
    """It was red at one time, and is good since."""
    GOOD = "good"
    NOT_JUDGED = "not-judged"
    """No run says anything of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a thing went; runs are named by their places in the sequence.

    ``first_bad`` begins the last time that it was red, ``last_good`` is the last good run before that and ``good_since``
    the first good one after. ``swings`` are the runs that contradict the level of their time.
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
    """The first run that no longer plans it, of what is gone."""

    @property
    def flake_rate(self) -> float:
        """The share of judged runs that contradict the level of their time."""
        return round(self.swings / self.judged, 4) if self.judged else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    colour: Colour
    places: tuple[int, ...]


def course(colours: Sequence[Colour], wavering: frozenset[int] = frozenset()) -> Course:
    """Return how a thing went; ``wavering`` are the runs whose own verdict was ``flaky``."""
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
    """Return the first and the last run of the last red time, and what the thing is since."""
    last = levels[-1]
    if last.colour is Colour.RED:
        first = next(place for place in last.places if colours[place] is Colour.RED)
        return first, last.places[-1], State.RED
    streaks = list(_red_streaks(last.places, colours))
    if len(streaks) > 1 or wavering & {place for streak in streaks for place in streak}:
        return streaks[0][0], streaks[-1][-1], State.FLAKY
    if streaks:
        return streaks[0][0], streaks[0][-1], State.REPAIRED
    # A red level may begin or end with a good run, which does not count as a bad one.
    reds = [place for place in levels[-2].places if colours[place] is Colour.RED]
    return reds[0], reds[-1], State.REPAIRED


def _red_streaks(places: Sequence[int], colours: Sequence[Colour]) -> Iterator[list[int]]:
    """Yield red runs that follow each other, what was not judged left aside."""
    streak: list[int] = []
    for place in places:
        if colours[place] is Colour.RED:
            streak.append(place)
        elif streak:
            yield streak
            streak = []
    if streak:
        yield streak


def _levels(colours: Sequence[Colour], judged: Sequence[int]) -> list[_Level]:
    """Return the levels with the fewest contradictions, and what lies at the ends as levels of their own."""
    levels: list[_Level] = []
    for place, colour in zip(judged, _cheapest([colours[at] for at in judged]), strict=True):
        if levels and levels[-1].colour is colour:
            levels[-1] = _Level(colour=colour, places=(*levels[-1].places, place))
        else:
            levels.append(_Level(colour=colour, places=(place,)))
    ends = {judged[0], judged[-1]}
    return [part for level in levels for part in _without_ends(level, ends, colours)]


def _without_ends(level: _Level, ends: Set[int], colours: Sequence[Colour]) -> Iterator[_Level]:
    """Yield a level; split off its first and last run if only they contradict it: one run is a change at an end.

    Red at both ends is no change: it was red before, and swings.
    """
    odd = [place for place in level.places if colours[place] is not level.colour]
    if not ends >= set(odd) or (len(odd) > 1 and level.colour is Colour.GOOD):
        yield level
        return
    for colour, places in groupby(level.places, colours.__getitem__):
        yield _Level(colour=colour, places=tuple(places))


def _cheapest(seen: Sequence[Colour]) -> list[Colour]:
    """Return the level of each run, so that contradictions and changes cost least together (Viterbi's algorithm)."""
    costs = {Colour.GOOD: 0, Colour.RED: 0}
    steps: list[dict[Colour, Colour]] = []
    for colour in seen:
        previous = {level: _cheapest_before(level, costs) for level in costs}
        costs = {
            level: costs[previous[level]]
            + CHANGE * (previous[level] is not level)
            + _contradiction(level, colour)
            for level in previous
        }
        steps.append(previous)
    level = min(costs, key=lambda candidate: costs[candidate])
    levels = []
    for previous in reversed(steps):
        levels.append(level)
        level = previous[level]
    return levels[::-1]


def _cheapest_before(level: Colour, costs: Mapping[Colour, int]) -> Colour:
    """Return the level of the run before; it changes where that saves something."""
    other = next(colour for colour in costs if colour is not level)
    return other if costs[other] + CHANGE < costs[level] else level


def _contradiction(level: Colour, seen: Colour) -> int:
    if seen is level:
        return 0
    return LAPSE if seen is Colour.RED else LUCKY
