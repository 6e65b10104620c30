"""``History`` → ``history.html``: one page without network access or script, styled like a report.

The template lays out what is prepared here. Everything is on the page, but not all is open.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from jinja2 import Environment

from nettests.history import history_text
from nettests.history.drawing import (
    Columns,
    Mark,
    Strip,
    counts_chart,
    durations_chart,
    is_steady,
    strip,
    ticks,
    worst,
)
from nettests.history.levels import Colour, State
from nettests.history.trends import (
    CheckTrend,
    ClusterHistory,
    History,
    IncidentTrend,
    Turn,
    colour_of,
)
from nettests.model.grouping import grouped
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.visible import plural
from nettests.model.words import Verdict
from nettests.report import harmless
from nettests.report.summary import duration

SHOWN = 6
"""How many strips of a turn are initially open."""
MARKED = 3000
"""The most cells with tooltips per cluster; a bad year has a hundred times as many."""
LANES = 8
"""How many turns have a lane below the chart."""
_SEEN = {Colour.RED: Verdict.FAIL, Colour.GOOD: Verdict.PASS, Colour.BLIND: None}


class Part:
    """The page's part about one cluster; ``number`` makes its ids unique."""

    def __init__(self, number: int, history: ClusterHistory) -> None:
        self.number = number
        self.history = history
        self.turns = tuple(enumerate(history.turns, 1))
        """Turns by their number in the timeline."""
        self.columns = Columns(number=len(history.runs))
        self.counts = counts_chart(history, self.columns)
        self.durations = durations_chart(history.runs, self.columns)
        self.ticks = tuple(ticks(history.runs, self.columns))
        self.changed = [self.columns.middle(at) for at, facts in enumerate(history.facts) if facts]
        self._marks_left = MARKED

    def line(self, trend: CheckTrend | IncidentTrend) -> str:
        """Return how often a check or an incident was red."""
        return history_text.course_line(trend.course, self.history.runs)

    def cause(self, trend: IncidentTrend) -> Strip:
        """Return the strip of an incident."""
        verdicts = [_SEEN[colour] for colour in trend.colours]
        label = f"{trend.cause}: {self.line(trend)}"
        return strip(verdicts, self.columns, first_bad=trend.course.first_bad, label=label)

    def lanes(self) -> Iterator[tuple[int, Turn, Strip]]:
        """Yield the most urgent turns, each with the worst of its checks in each run."""
        for number, turn in self.turns[:LANES]:
            verdicts = worst(check.verdicts for check in turn.checks)
            yield number, turn, strip(verdicts, self.columns, first_bad=turn.first_bad, label=history_text.turn_name(turn))  # fmt: skip

    def strips(
        self, trends: Iterable[CheckTrend], *, marked: bool = False
    ) -> list[tuple[list[CheckTrend], Strip]]:
        """Return a strip for all checks with equal verdicts; if ``marked``, with links."""
        alike = grouped((tuple(trend.verdicts), trend) for trend in trends)
        return [(checks, self._check(checks[0], marked=marked)) for checks in alike.values()]

    def _check(self, trend: CheckTrend, *, marked: bool) -> Strip:
        """Return the strip of a check; while marks are left, its red cells have some."""
        marks = [*self._marks(trend)] if marked else []
        marks = marks if len(marks) <= self._marks_left else []
        self._marks_left -= len(marks)
        return strip(
            trend.verdicts,
            self.columns,
            marks=marks,
            first_bad=trend.course.first_bad,
            label=f"{trend.id}: {self.line(trend)}",
        )

    def _marks(self, trend: CheckTrend) -> Iterator[Mark]:
        for at, verdict in enumerate(trend.verdicts):
            if verdict is not None and colour_of(verdict) is not Colour.GOOD:
                run = self.history.runs[at]
                address = f"{run.report}#{trend.id}" if run.report else ""
                text = f"{history_text.when(run)}: {verdict.value} ({run.name})"
                yield Mark(self.columns.left(at), text, address)

    def flows(self) -> Iterator[tuple[str, Strip, list[CheckTrend], list[CheckTrend]]]:
        """Yield flows with changes: the worst check per run, changed checks, and other checks."""
        for name, checks in self._by_flow().items():
            changed = [check for check in checks if not is_steady(check.verdicts)]
            if changed:
                label = f"{name}: the worst of {len(checks)} in each run"
                verdicts = worst(check.verdicts for check in checks)
                steady = [check for check in checks if check not in changed]
                yield name, strip(verdicts, self.columns, label=label), changed, steady

    def steady_flows(self) -> dict[str, list[CheckTrend]]:
        """Return the flows whose checks were each always good, or always skipped."""
        return {
            name: checks
            for name, checks in self._by_flow().items()
            if all(is_steady(check.verdicts) for check in checks)
        }

    def _by_flow(self) -> dict[str, list[CheckTrend]]:
        return grouped((check.flow, check) for check in self.history.checks)


def render_page(history: History) -> str:
    """Return the page."""
    parts = [Part(number, cluster) for number, cluster in enumerate(history.clusters, 1)]
    return harmless.render_page(
        _environment(), "history.html.j2", style_sheet="history.css", history=history, parts=parts
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = harmless.environment("nettests.history")
    environment.globals.update(
        SHOWN=SHOWN,
        State=State,
        order=SUMMARY_ORDER,
        titles=history_text.TITLES,
        sentences=history_text,
    )
    environment.filters.update(duration=duration, plural=plural)
    return environment
