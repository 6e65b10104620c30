"""``History`` → ``history.html``: one page without network access or script, in the style of a run's report.

The template lays out values prepared here. How much is shown at once is bounded; everything is on the page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from nettests.history import sentences
from nettests.history.charts import Chart, Tick, counts_chart, durations_chart, ticks
from nettests.history.clusters import ReadRun
from nettests.history.levels import Colour, State
from nettests.history.sentences import TITLES
from nettests.history.strips import Columns, Mark, Strip, strip, worst
from nettests.history.trends import (
    CheckTrend,
    ClusterHistory,
    History,
    IncidentTrend,
    Turn,
    colour_of,
)
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import Verdict
from nettests.report import harmless
from nettests.report.summary import SYMBOL, duration
from nettests.report.text import plural

SHOWN = 6
"""Checks of a turn that are open at first sight."""
MARKED = 3000
"""Cells of a cluster that say what they are when pointed at: a year of a broken cluster has a hundred times as many."""


APART = 22
"""Pixels from one pin of the timeline to the next, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A check, or the cause of an incident, with its strip."""

    name: str
    line: str
    strip: Strip


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCard:
    """What went the same way together: ``number`` is how the timeline calls it."""

    number: int
    turn: Turn
    head: str
    lines: tuple[str, ...]
    causes: tuple[tuple[IncidentTrend, Row], ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRow:
    """A flow, the worst of its checks in each run, and its checks."""

    name: str
    strip: Strip
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A turn above the column in which it began; ``more`` began there too, or too near for a pin of their own."""

    x: float
    card: TurnCard
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPart:
    """What the page shows of one cluster; ``number`` tells its ids from those of another."""

    number: int
    history: ClusterHistory
    columns: Columns
    counts: Chart
    durations: Chart
    ticks: tuple[Tick, ...]
    cards: tuple[TurnCard, ...]
    pins: tuple[Pin, ...]
    changed: tuple[float, ...]
    """Where facts changed."""
    flows: tuple[FlowRow, ...]


def render_page(history: History) -> str:
    """Return the page."""
    style = harmless.style_of_pages() + _own_style()
    text = (
        _environment()
        .get_template("history.html.j2")
        .render(
            history=history,
            parts=[_part(number, cluster) for number, cluster in enumerate(history.clusters, 1)],
            style=Markup(style),  # noqa: S704 - shipped with the package
            policy=harmless.policy(style=style),
        )
    )
    return harmless.as_utf8(text)


def _part(number: int, history: ClusterHistory) -> ClusterPart:
    columns = Columns(number=len(history.runs))
    left = [MARKED]
    cards = tuple(
        _card(at, turn, history.runs, columns, left) for at, turn in enumerate(history.turns, 1)
    )
    return ClusterPart(
        number=number,
        history=history,
        columns=columns,
        counts=counts_chart(history, columns),
        durations=durations_chart(history.runs, columns),
        ticks=tuple(ticks(history.runs, columns)),
        cards=cards,
        pins=tuple(_pins(cards, columns)),
        changed=tuple(columns.middle(at) for at, facts in enumerate(history.facts) if facts),
        flows=tuple(_flows(history, columns)),
    )


def _card(
    number: int, turn: Turn, runs: Sequence[ReadRun], columns: Columns, left: list[int]
) -> TurnCard:
    return TurnCard(
        number=number,
        turn=turn,
        head=sentences.turn_head(turn, runs),
        lines=tuple(sentences.reasons(turn)),
        causes=tuple(_cause(incident, runs, columns) for incident in turn.incidents),
        rows=tuple(_marked(check, runs, columns, left) for check in turn.checks),
    )


def _cause(
    trend: IncidentTrend, runs: Sequence[ReadRun], columns: Columns
) -> tuple[IncidentTrend, Row]:
    seen = {Colour.RED: Verdict.FAIL, Colour.GOOD: Verdict.PASS, Colour.BLIND: None}
    line = sentences.course_line(trend.course, runs)
    verdicts = [seen[colour] for colour in trend.colours]
    drawn = strip(
        verdicts, columns, first_bad=trend.course.first_bad, label=f"{trend.cause}: {line}"
    )
    return trend, Row(name=trend.cause, line=line, strip=drawn)


def _marked(trend: CheckTrend, runs: Sequence[ReadRun], columns: Columns, left: list[int]) -> Row:
    """Return a check whose red cells lead to the reports of their runs, as long as there are marks left."""
    marks = list(_marks(trend, runs, columns))
    marks = marks if len(marks) <= left[0] else []
    left[0] -= len(marks)
    return _row(trend, runs, columns, marks)


def _row(
    trend: CheckTrend, runs: Sequence[ReadRun], columns: Columns, marks: Sequence[Mark] = ()
) -> Row:
    line = sentences.course_line(trend.course, runs)
    drawn = strip(
        trend.verdicts,
        columns,
        marks=marks,
        first_bad=trend.course.first_bad,
        label=f"{trend.id}: {line}",
    )
    return Row(name=trend.id, line=line, strip=drawn)


def _marks(trend: CheckTrend, runs: Sequence[ReadRun], columns: Columns) -> Iterator[Mark]:
    for at, verdict in enumerate(trend.verdicts):
        if verdict is not None and colour_of(verdict) is not Colour.GOOD:
            run = runs[at]
            address = f"{run.report}#{trend.id}" if run.report else ""
            text = f"{sentences.when(run)}: {verdict.value} ({run.name})"
            yield Mark(x=columns.left(at), text=text, address=address)


def _pins(cards: Sequence[TurnCard], columns: Columns) -> Iterator[Pin]:
    """Yield a pin for each turn that has room beside the one before it; the others are counted there."""
    in_order = sorted(cards, key=lambda card: (card.turn.first_bad, card.number))
    groups: list[list[TurnCard]] = []
    for card in in_order:
        x = columns.middle(card.turn.first_bad)
        if groups and x - columns.middle(groups[-1][0].turn.first_bad) < APART:
            groups[-1].append(card)
        else:
            groups.append([card])
    for together in groups:
        urgent = min(together, key=lambda card: card.number)
        x = columns.middle(together[0].turn.first_bad)
        yield Pin(x=x, card=urgent, more=len(together) - 1)


def _flows(history: ClusterHistory, columns: Columns) -> Iterator[FlowRow]:
    by_flow: dict[str, list[CheckTrend]] = {}
    for check in history.checks:
        by_flow.setdefault(check.flow, []).append(check)
    for name, checks in by_flow.items():
        verdicts = worst(check.verdicts for check in checks)
        yield FlowRow(
            name=name,
            strip=strip(verdicts, columns, label=f"{name}: the worst of {len(checks)} in each run"),
            rows=tuple(_row(check, history.runs, columns) for check in checks),
        )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = harmless.environment("nettests.history")
    environment.globals.update(
        SHOWN=SHOWN,
        State=State,
        Verdict=Verdict,
        order=SUMMARY_ORDER,
        symbol=SYMBOL,
        titles=TITLES,
        sentences=sentences,
    )
    environment.filters.update(duration=duration, plural=plural)
    return environment


@lru_cache(maxsize=1)
def _own_style() -> str:
    return files("nettests.history").joinpath("templates/history.css").read_text("utf-8")
