"""The matrix on a terminal: faults with what became of them, then what remains to be said."""

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


def faults(found: Sequence[NamedFault]) -> None:
    """List named faults."""
    console = _console()
    for one in found:
        console.print(Text(f"{one.name}  {', '.join(one.profiles)}", style="bold"))
        console.print(Text(f"    {one.summary}"))
        if one.blind:
            console.print(Text(f"    blind: {one.blind}"))
        if one.recovered:
            console.print(Text(f"    recovered: an event says “{one.recovered}”"))


def matrix(found: Matrix, folder: Path) -> None:
    """Print what was found."""
    console = _console()
    console.print(Text(headline(found), style="bold"))
    for profile in found.profiles:
        healthy = f"not healthy: {some(profile.red, _MOST)} {profile.problem}".rstrip()
        state_ = "healthy" if profile.healthy else healthy
        console.print(Text(f"{profile.name}: {state_}, {profile.seconds:.0f} s"))
    for name in dict.fromkeys(one.profile for one in found.ran):
        console.print(_table(name, [one for one in found.ran if one.profile == name], found))
    for one in found.wrong:
        for line in reasons(one, _MOST):
            console.print(Text(f"{one.fault} on {one.profile}: {line}"))
    for line in _rest(found, folder):
        console.print(Text(line))


def _table(profile: str, rows: Sequence[Judged], found: Matrix) -> Table:
    table = Table(title=profile, title_justify="left", box=None, pad_edge=False)
    for title in ("fault", "verdict", "s", "ratio", "flows", "red", "leading incident"):
        table.add_column(title, overflow="fold")
    for one in rows:
        turned = found.flows_of(one)
        table.add_row(
            one.fault,
            Text(word(one), style=_STYLES[state(one)]),
            f"{one.seconds:.0f}",
            Text(times(found, one), style=_STYLES["bad"] if found.too_long(one) else ""),
            str(len(turned)),
            str(sum(red for red, _ in turned.values())),
            Text(one.cause),
        )
    return table


def _rest(found: Matrix, folder: Path) -> list[str]:
    lines = [counted(found)]
    if found.missing:
        names = tuple(f"{one.fault} ({one.profile})" for one in found.missing)
        lines.append(f"not run: {some(names, _MOST)}")
    if found.idle:
        lines.append(f"flows that none of these faults turned: {', '.join(found.idle)}")
    if found.open:
        lines.append(f"flows that documents leave open: {', '.join(left_open(found))}")
    if again := judged_again(found):
        lines.append(again)
    return [
        *lines,
        f"matrix: {folder / 'selftest.html'}",
        f"go on: nettests lab selftest --resume {folder}",
    ]


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)
