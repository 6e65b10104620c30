"""Checks as tables: the connectivity matrix of each flow and of the whole run.

Used by the renderers for people. A row is a source, a column a target with its placement; a cell
holds every check of that pair, in plan order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nettests.model.check import Check
from nettests.model.grouping import grouped
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import OS, Placement, Question, TargetKind, VantageKind, Verdict
from nettests.report.results import CheckResult
from nettests.report.summary import end_label

_PLACEMENTS = list(Placement)
_QUESTIONS = list(Question)
_VANTAGES = list(VantageKind)
_TARGETS = list(TargetKind)
_WITHOUT_PATH = len(_QUESTIONS)
"""Rank of checks without a path: after all that have one, before suites of which nothing ran."""
API_SERVER = "API server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's heading: the target, and its placement as seen from the source."""

    target: str
    placement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One flow's matrix; a pair that was not planned has no cell."""

    flow: str
    vantage: str
    rows: tuple[str, ...]
    columns: tuple[Column, ...]
    cells: Mapping[tuple[str, Column], tuple[CheckResult, ...]]

    def cell(self, row: str, column: Column) -> tuple[CheckResult, ...]:
        """Return the checks of one pair, empty if none was planned."""
        return self.cells.get((row, column), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowGroup:
    """One flow: its matrix, its checks, and its skips that never applied."""

    flow: str
    suite: str
    table: Table
    checks: tuple[CheckResult, ...]
    skips: tuple[CheckResult, ...]

    @property
    def counts(self) -> dict[Verdict, int]:
        """Count the verdicts, worst first, without zeros."""
        every = [check.verdict for check in (*self.checks, *self.skips)]
        return {verdict: every.count(verdict) for verdict in SUMMARY_ORDER if verdict in every}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The flows that one suite declares; ``topic`` comes from the suite's docstring."""

    topic: str
    groups: tuple[FlowGroup, ...]

    @property
    def counts(self) -> dict[Verdict, int]:
        """Count the verdicts, worst first, without zeros."""
        every = [group.counts for group in self.groups]
        sums = {
            verdict: sum(counts.get(verdict, 0) for counts in every) for verdict in SUMMARY_ORDER
        }
        return {verdict: number for verdict, number in sums.items() if number}

    @property
    def applies(self) -> bool:
        """Whether any of its flows has a check on this cluster."""
        return any(group.checks for group in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A column of the overview: source, target and placement."""

    source: str
    target: str
    placement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The whole run in one table: flows by pairs of source and target OS and placement."""

    pairs: tuple[Pair, ...]
    cells: Mapping[tuple[str, Pair], tuple[CheckResult, ...]]

    def cell(self, flow: str, pair: Pair) -> tuple[CheckResult, ...]:
        """Return the checks of a flow for one pair."""
        return self.cells.get((flow, pair), ())

    def sum(self, suite: Suite, pair: Pair) -> tuple[CheckResult, ...]:
        """Return the checks of all flows of a suite for one pair."""
        return tuple(check for group in suite.groups for check in self.cell(group.flow, pair))

    @property
    def sources(self) -> dict[str, int]:
        """Return the sources in the order of the pairs, each with its number of pairs."""
        sources = [pair.source for pair in self.pairs]
        return {source: sources.count(source) for source in sources}


def suites(groups: Iterable[FlowGroup]) -> tuple[Suite, ...]:
    """Group flows, in plan order, by suite: plainest path first, suites without a path last."""
    by_topic = grouped((group.suite, group) for group in groups)
    unordered = (Suite(topic=topic, groups=tuple(members)) for topic, members in by_topic.items())
    return tuple(sorted(unordered, key=lambda suite: (_plainest(suite), suite.topic)))


def _plainest(suite: Suite) -> tuple[int, ...]:
    """Return the rank of a suite's plainest path; Pod to Pod comes first."""
    checks = (result.check for group in suite.groups for result in group.checks)
    return min(
        (_rank(check) for check in checks if check is not None), default=(_WITHOUT_PATH + 1,)
    )


def _rank(check: Check) -> tuple[int, ...]:
    action = check.action
    if not action.question.has_path:
        return (_WITHOUT_PATH, _QUESTIONS.index(action.question))
    return (
        _QUESTIONS.index(action.question),
        _VANTAGES.index(check.source.kind),
        _TARGETS.index(check.target.kind),
        bool(check.members),
        action.size or 0,
    )


def flow_groups(checks: Iterable[CheckResult]) -> tuple[FlowGroup, ...]:
    """Group checks by flow in plan order; a flow of skips only stays where they are."""
    by_flow = grouped((check.flow, check) for check in checks)
    return tuple(_group(flow, members) for flow, members in by_flow.items())


def _group(flow: str, members: list[CheckResult]) -> FlowGroup:
    planned = tuple(check for check in members if check.check is not None)
    return FlowGroup(
        flow=flow,
        suite=members[0].suite,
        table=_table(flow, planned),
        checks=planned,
        skips=tuple(check for check in members if check.check is None),
    )


def _table(flow: str, results: tuple[CheckResult, ...]) -> Table:
    cells: dict[tuple[str, Column], tuple[CheckResult, ...]] = {}
    order: dict[Column, tuple[object, ...]] = {}
    rows: dict[str, tuple[object, ...]] = {}
    for result in results:
        check = result.check
        if check is not None:
            source = end_label(check.source)
            rows.setdefault(source, (*_windows_first(check.source.os), source))
            column = Column(target=end_label(check.target), placement=_placement(check))
            order.setdefault(column, _column_order(check))
            place = (source, column)
            cells[place] = (*cells.get(place, ()), result)
    kinds = {r.check.source.kind.value for r in results if r.check is not None}
    return Table(
        flow=flow,
        vantage=" / ".join(sorted(kinds)),
        rows=tuple(sorted({row for row, _ in cells}, key=lambda row: rows[row])),
        columns=tuple(sorted(order, key=lambda column: order[column])),
        cells=cells,
    )


def _column_order(check: Check) -> tuple[object, ...]:
    return (
        *_windows_first(check.target.os),
        end_label(check.target),
        _PLACEMENTS.index(check.placement),
        _placement(check),
    )


def _windows_first(os: OS | None) -> tuple[bool, bool]:
    # Windows first, as the run is about it; ends outside the cluster last.
    return (os is not OS.WINDOWS, os is None)


def _placement(check: Check) -> str:
    words = check.placement.value.replace("-", " ")
    return "" if check.placement in {Placement.OUTSIDE, Placement.NOWHERE} else words


def overview(groups: Iterable[FlowGroup]) -> Overview:
    """Return the table of the whole run, without flows that never applied."""
    cells: dict[tuple[str, Pair], tuple[CheckResult, ...]] = {}
    order: dict[Pair, tuple[int, ...]] = {}
    for group in groups:
        for result in group.checks:
            if result.check is not None:
                pair = _pair(result.check)
                order.setdefault(pair, _pair_order(pair, result.check.placement))
                place = (group.flow, pair)
                cells[place] = (*cells.get(place, ()), result)
    return Overview(
        pairs=tuple(sorted(order, key=lambda pair: order[pair])),
        cells=cells,
    )


def _pair(check: Check) -> Pair:
    if check.placement is Placement.NOWHERE:
        source = _side(check.source.os) if check.source.os else API_SERVER
        return Pair(source=source, target="", placement="node-local")
    return Pair(
        source=_side(check.source.os), target=_side(check.target.os), placement=_placement(check)
    )


def _side(os: OS | None) -> str:
    return os.value.capitalize() if os else "outside"


def _pair_order(pair: Pair, placement: Placement) -> tuple[int, ...]:
    # Windows first, as the run is about it.
    rank = ["Windows", "Linux", "outside", API_SERVER, ""]
    return (rank.index(pair.source), rank.index(pair.target), _PLACEMENTS.index(placement))
