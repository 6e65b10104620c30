"""The members of a flow as one grid of nodes per protocol: sources down, targets across.

Used by the HTML report. Verdicts differ by shape as well as by colour. All cells of a verdict are
one path, and adjacent cells one rectangle in it, so a green grid of 60 by 60 nodes takes a few
kilobytes. Pure geometry and text: the template draws it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nettests.model.check import Check
from nettests.model.check_id import parts_of
from nettests.model.grouping import grouped
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER
from nettests.model.words import OS, Question, TargetKind, VantageKind, Verdict
from nettests.report.results import CheckResult
from nettests.report.summary import SYMBOL, VERDICTS

CELL = 14
"""Side of a cell, in SVG units."""
LETTER = 6.2
"""Width of a label's letter at most, in SVG units."""
MARKED = 120
"""How many cells of the first picture are links; the reports list all members."""
IN_TEXT = 20
"""How many nodes fit into the terminal's grid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """All cells of one verdict: its squares, separated by lines between columns, and its glyphs."""

    verdict: Verdict
    number: int
    squares: str
    shapes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A cell with a tooltip; ``check``, and ``member`` if given, identify its evidence."""

    x: int
    y: int
    check: str
    member: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """One grid."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    layers: tuple[Layer, ...]
    marks: tuple[Mark, ...]

    @property
    def left(self) -> int:
        """Width of the row labels."""
        return round(LETTER * max(map(len, self.rows))) + 8

    @property
    def top(self) -> int:
        """Height of the column labels, which are written upwards."""
        return round(LETTER * max(map(len, self.columns))) + 8

    @property
    def lines(self) -> str:
        """Path of the lines between columns, from the corner of the cells."""
        return "".join(f"M{CELL * n - 0.5} 0V{CELL * len(self.rows)}" for n in range(1, len(self.columns)))  # fmt: skip

    @property
    def width(self) -> int:
        """Width of the whole picture."""
        return self.left + CELL * len(self.columns) + 2

    @property
    def height(self) -> int:
        """Height of the whole picture."""
        return self.top + CELL * len(self.rows) + 2


def heat_maps(checks: Iterable[CheckResult]) -> tuple[HeatMap, ...]:
    """Return one grid for each protocol and variant among a flow's checks with members."""
    by_manner = grouped((_manner(check), check) for check in checks if check.members)
    return tuple(_heat_map(manner, _placed(results)) for manner, results in by_manner.items())


def node_map(checks: Iterable[CheckResult]) -> HeatMap | None:
    """Return one grid of several flows: the worst verdict per pair; ``None`` without two nodes.

    Uses only direct checks by Pod address if any of them needs attention: without DNS, every pair
    fails by name. A pair that passes one flow and is limited in another counts as a pass.
    """
    worst = _worst_by_pair(checks)
    if len({placed.source for placed in worst}) < 2:
        return None
    return _heat_map("Worst result of each pair of nodes", worst)


def node_lines(checks: Iterable[CheckResult]) -> Iterator[str]:
    """Yield the same grid as text, columns numbered like rows; nothing for more nodes than fit."""
    worst = _worst_by_pair(checks)
    systems = {pair.source: pair.member.check.source.os for pair in worst if pair.member.check}
    systems |= {pair.target: pair.member.check.target.os for pair in worst if pair.member.check}
    names = sorted(systems, key=lambda name: _order(systems[name], name))
    if not 2 <= len(names) <= IN_TEXT:
        return
    seen = {(pair.source, pair.target): SYMBOL[pair.member.verdict] for pair in worst}
    wide = max(len("from ↓ to →"), *(len(name) + 3 for name in names))
    yield f"{'from ↓ to →':{wide}} {''.join(f'{n:3}' for n in range(1, len(names) + 1))}"
    for number, source in enumerate(names, start=1):
        cells = "".join(f"{seen.get((source, target), '·'):>3}" for target in names)
        yield f"{number:2} {source:{wide - 3}} {cells}"


def _worst_by_pair(checks: Iterable[CheckResult]) -> list["_Placed"]:
    """Return the most urgent member of each node pair; none if no pair needs attention."""
    placed = [pair for pair in _placed(checks) if pair.target]
    direct = [pair for pair in placed if pair.member.check and _is_direct(pair.member.check)]
    for pairs in (direct, placed):
        by_pair = grouped(((pair.source, pair.target), pair) for pair in pairs)
        worst = [min(members, key=_urgency) for members in by_pair.values()]
        if any(pair.member.verdict in ATTENTION for pair in worst):
            return worst
    return []


def _is_direct(check: Check) -> bool:
    """Whether a single packet of ordinary size between two Pods, by address, is enough."""
    action = check.action
    plain = action.question is Question.REACH and action.size is None
    return plain and (check.source.kind, check.target.kind) == (VantageKind.POD, TargetKind.POD_IP)


def _urgency(placed: "_Placed") -> tuple[bool, bool, int]:
    """Sort what needs attention first, and a pass before a documented limitation."""
    verdict = placed.member.verdict
    order = SUMMARY_ORDER.index(verdict)
    return (verdict not in ATTENTION, verdict is not Verdict.PASS, order)


def _manner(result: CheckResult) -> str:
    assert result.check is not None, "only what was planned has members"
    protocol, parts = result.check.action.protocol.value, parts_of(result.id)
    rest = parts[parts.index(protocol) + 1 :] if protocol in parts else ()
    return " ".join((protocol.upper(), *rest))


class _Placed(NamedTuple):
    """A member with its nodes; ``target`` is empty for a member of a single node."""

    source: str
    target: str
    member: CheckResult
    check: str


def _placed(checks: Iterable[CheckResult]) -> list[_Placed]:
    return [
        _Placed(*member.label.partition(" → ")[::2], member, check.id)
        for check in checks
        for member in check.members
    ]


def _heat_map(title: str, members: Iterable[_Placed]) -> HeatMap:
    rows: dict[str, tuple[object, ...]] = {}
    columns: dict[str, tuple[object, ...]] = {}
    placed: list[tuple[str, str, CheckResult, str]] = []
    for source, node, member, check_id in members:
        assert member.check is not None, "a member was planned"
        target = node or member.check.target.kind.value
        rows.setdefault(source, _order(member.check.source.os, source))
        columns.setdefault(target, _order(member.check.target.os, target))
        placed.append((source, target, member, check_id))
    down = {name: at for at, name in enumerate(sorted(rows, key=rows.__getitem__))}
    across = {name: at for at, name in enumerate(sorted(columns, key=columns.__getitem__))}
    cells: dict[Verdict, list[tuple[int, int]]] = {}
    marks: list[Mark] = []
    for source, target, member, check_id in placed:
        at = (CELL * across[target], CELL * down[source])
        cells.setdefault(member.verdict, []).append(at)
        if member.verdict in ATTENTION and len(marks) < MARKED:
            marks.append(
                Mark(
                    x=at[0], y=at[1], check=check_id, member=member.label, text=_hover_text(member)
                )
            )
    return HeatMap(
        title=title,
        rows=tuple(down),
        columns=tuple(across),
        layers=tuple(
            _layer(verdict, cells[verdict]) for verdict in SUMMARY_ORDER if verdict in cells
        ),
        marks=tuple(marks),
    )


def _order(os: OS | None, name: str) -> tuple[object, ...]:
    parts = [part.zfill(6) if part.isdigit() else part for part in name.split("-")]
    return (os is not OS.WINDOWS, parts)


def _hover_text(member: CheckResult) -> str:
    seen = member.observation
    detail = seen.attempts[-1].detail if seen and seen.attempts else member.message
    return f"{member.label}: {member.verdict.value}, expected {member.expected}, observed {member.observed}. {detail}"


def _layer(verdict: Verdict, cells: Sequence[tuple[int, int]]) -> Layer:
    side = CELL - 1
    shape = VERDICTS[verdict].get("glyph", "")
    return Layer(
        verdict=verdict,
        number=len(cells),
        squares="".join(f"M{x} {y}h{wide}v{side}h-{wide}z" for x, y, wide in _rectangles(cells)),
        shapes="".join(f"M{x} {y}{shape}" for x, y in cells) if shape else "",
    )


def _rectangles(cells: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    start, end, row = 0, 0, -1
    for y, x in sorted({(y, x) for x, y in cells}):
        if (x, y) != (end, row):
            if row >= 0:
                yield start, row, end - start - 1
            start, row = x, y
        end = x + CELL
    if row >= 0:
        yield start, row, end - start - 1
