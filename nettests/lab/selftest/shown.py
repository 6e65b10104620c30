"""The matrix on a terminal: faults with their verdicts, then totals and problems."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nettests.lab.selftest.declared import NamedFault
from nettests.lab.selftest.judging import Judged
from nettests.lab.selftest.matrix import Matrix
from nettests.lab.selftest.sentences import (
    counted,
    headline,
    judged_again,
    left_open,
    reasons,
    some,
    state,
    times,
    word,
)

_MOST = 6
"""Flows or ids that one line names."""
_STYLES = {"good": "green", "bad": "red", "blind": "yellow", "idle": "dim"}


def faults(named_faults: Sequence[NamedFault]) -> None:
    """List named faults."""
    console = _console()
    for fault in named_faults:
        console.print(Text(f"{fault.name}  {', '.join(fault.profiles)}", style="bold"))
        console.print(Text(f"    {fault.summary}"))
        if fault.blind:
            console.print(Text(f"    blind: {fault.blind}"))
        if fault.harmless:
            console.print(Text(f"    harmless: {fault.harmless}"))
        if fault.recovered:
            console.print(Text(f"    recovered: an event says “{fault.recovered}”"))


def matrix(results: Matrix, folder: Path) -> None:
    """Print the matrix."""
    console = _console()
    console.print(Text(headline(results), style="bold"))
    for profile in results.profiles:
        healthy = f"not healthy: {some(profile.red, _MOST)} {profile.problem}".rstrip()
        state_ = "healthy" if profile.healthy else healthy
        console.print(Text(f"{profile.name}: {state_}, {profile.seconds:.0f} s"))
    for name in dict.fromkeys(row.profile for row in results.ran):
        console.print(_table(name, [row for row in results.ran if row.profile == name], results))
    for row in results.wrong:
        for line in reasons(row, _MOST):
            console.print(Text(f"{row.fault} on {row.profile}: {line}"))
    for line in _rest(results, folder):
        console.print(Text(line))


def _table(profile: str, rows: Sequence[Judged], results: Matrix) -> Table:
    table = Table(title=profile, title_justify="left", box=None, pad_edge=False)
    for title in ("fault", "verdict", "s", "ratio", "flows", "red", "leading incident"):
        table.add_column(title, overflow="fold")
    for row in rows:
        turned = results.flows_of(row)
        table.add_row(
            row.fault,
            Text(word(row), style=_STYLES[state(row)]),
            f"{row.seconds:.0f}",
            Text(times(results, row), style=_STYLES["bad"] if results.too_long(row) else ""),
            str(len(turned)),
            str(sum(red for red, _ in turned.values())),
            Text(row.cause),
        )
    return table


def _rest(results: Matrix, folder: Path) -> list[str]:
    lines = [counted(results)]
    if results.missing:
        names = tuple(f"{row.fault} ({row.profile})" for row in results.missing)
        lines.append(f"not run: {some(names, _MOST)}")
    if results.idle:
        lines.append(f"flows that none of these faults turned: {', '.join(results.idle)}")
    if results.open:
        lines.append(f"flows that documents leave open: {', '.join(left_open(results))}")
    if again := judged_again(results):
        lines.append(again)
    return [
        *lines,
        f"matrix: {folder / 'selftest.html'}",
        f"go on: nettests lab selftest --resume {folder}",
    ]


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)
