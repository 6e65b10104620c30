"""The matrix on a terminal: a table of faults, what they turned, and what remains to be said."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nettests.lab.selftest.declared import NamedFault
from nettests.lab.selftest.judging import Judged
from nettests.lab.selftest.matrix import Matrix, counts

_MOST = 6
"""Flows or ids that one row names."""


def faults(found: Sequence[NamedFault]) -> None:
    """List named faults."""
    table = Table(box=None, pad_edge=False)
    for title in ("fault", "profiles", "what is broken"):
        table.add_column(title)
    for one in found:
        blind = f" (blind: {one.blind})" if one.blind else ""
        table.add_row(one.name, ", ".join(one.profiles), Text(f"{one.summary}{blind}"))
    _console().print(table)


def matrix(found: Matrix, folder: Path) -> None:
    """Print what was found."""
    console = _console()
    for profile in found.profiles:
        state = "healthy" if profile.healthy else f"not healthy: {', '.join(profile.red[:_MOST])}"
        console.print(Text(f"{profile.name}: {state}, {profile.seconds:.0f} s"))
    table = Table(box=None, pad_edge=False)
    for title in ("fault", "profile", "verdict", "s", "red", "leading incident"):
        table.add_column(title, overflow="fold")
    for one in found.ran:
        red = sum(number for _, number, _ in one.turned)
        table.add_row(
            one.fault,
            one.profile,
            Text(one.word, style=_style(one)),
            f"{one.seconds:.0f}",
            str(red),
            Text(one.cause),
        )
    console.print(table)
    for one in found.wrong:
        for line in _reasons(one):
            console.print(Text(f"{one.fault} on {one.profile}: {line}"))
    for line in _rest(found, folder):
        console.print(Text(line))


def _rest(found: Matrix, folder: Path) -> list[str]:
    said = ", ".join(f"{number} {word}" for word, number in counts(found.judged).items())
    named, detected = found.named
    lines = [said, f"causes named: {named} of {detected}"]
    if found.missing:
        lines.append(f"not run: {_some([f'{one.fault} ({one.profile})' for one in found.missing])}")
    if found.idle:
        lines.append(f"flows that none of these faults turned: {', '.join(found.idle)}")
    return [*lines, f"go on: nettests lab selftest --resume {folder}"]


def _reasons(one: Judged) -> list[str]:
    lines = [f"nothing turned of {what}" for what in one.missed]
    if one.unrelated:
        lines.append(f"red and unrelated: {_some(one.unrelated)}")
    if one.detected and not one.named:
        lines.append(f"the leading incident does not name it: {one.cause or 'there is none'}")
    if one.left:
        lines.append(f"still red without the fault: {_some(one.left)}")
    if one.detail:
        lines.append(one.detail)
    return lines


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {more} more" if more > 0 else "")


def _style(one: Judged) -> str:
    if one.problems:
        return "red"
    return "yellow" if one.blind else "green"


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)
