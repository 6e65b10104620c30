"""``nettests lab selftest``: the command, and the matrix on the terminal."""

import json
import re
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nettests.lab.errors import LabError
from nettests.lab.selftest import matrix, named_faults, reference
from nettests.lab.selftest.judging import Judged
from nettests.lab.selftest.named_faults import ALIKE, NamedFault
from nettests.lab.selftest.selftest import Plan, Selftest, Store, judge_again, judged

_MOST = 6
"""The most flows or ids in one line."""
_STYLES = {"good": "green", "bad": "red", "blind": "yellow", "idle": "dim"}


def list_faults(faults: Sequence[NamedFault]) -> None:
    """List named faults."""
    for fault in faults:
        _print(f"{fault.name}  {', '.join(fault.profiles)}", style="bold")
        _print(f"    {fault.summary}")
        if fault.blind:
            _print(f"    blind: {fault.blind}")
        if fault.harmless:
            _print(f"    harmless: {fault.harmless}")
        if fault.recovered:
            _print(f"    recovered: an event says “{fault.recovered}”")


def print_matrix(results: matrix.Matrix, folder: Path) -> None:
    """Print the matrix."""
    _print(reference.headline(results), style="bold")
    for profile in results.profiles:
        healthy = f"not healthy: {reference.some(profile.red, _MOST)} {profile.problem}".rstrip()
        state_ = "healthy" if profile.healthy else healthy
        _print(f"{profile.name}: {state_}, {profile.seconds:.0f} s")
    for name in dict.fromkeys(row.profile for row in results.ran):
        rows = [row for row in results.ran if row.profile == name]
        _console().print(_table(name, rows, results))
    for row in results.wrong:
        for line in reference.reasons(row, _MOST):
            _print(f"{row.fault} on {row.profile}: {line}")
    for line in _rest(results, folder):
        _print(line)


def _table(profile: str, rows: Sequence[Judged], results: matrix.Matrix) -> Table:
    table = Table(title=profile, title_justify="left", box=None, pad_edge=False)
    for title in ("fault", "verdict", "s", "ratio", "flows", "red", "leading incident"):
        table.add_column(title, overflow="fold")
    for row in rows:
        turned = results.flows_of(row)
        table.add_row(
            row.fault,
            Text(reference.word(row), style=_STYLES[reference.state(row)]),
            f"{row.seconds:.0f}",
            Text(
                reference.times(results, row), style=_STYLES["bad"] if results.too_long(row) else ""
            ),
            str(len(turned)),
            str(sum(red for red, _ in turned.values())),
            Text(row.cause),
        )
    return table


def _rest(results: matrix.Matrix, folder: Path) -> list[str]:
    lines = [reference.counted(results)]
    if results.missing:
        names = tuple(f"{row.fault} ({row.profile})" for row in results.missing)
        lines.append(f"not run: {reference.some(names, _MOST)}")
    if results.idle:
        lines.append(f"flows that none of these faults turned: {', '.join(results.idle)}")
    if results.open:
        lines.append(f"flows that documents leave open: {', '.join(reference.left_open(results))}")
    if again := reference.judged_again(results):
        lines.append(again)
    return [
        *lines,
        f"matrix: {folder / 'selftest.html'}",
        f"go on: nettests lab selftest --resume {folder}",
    ]


_console = partial(Console, highlight=False, markup=False, emoji=False)


def _print(text: str, style: str = "") -> None:
    _console().print(Text(text, style=style))


# 90s, 20m, 3h
_TIME = re.compile(r"(\d+)(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_FOLDER = click.Path(path_type=Path, file_okay=False)


def _seconds(_context: click.Context, _parameter: click.Parameter, text: str) -> float:
    match = _TIME.fullmatch(text)
    if match is None:
        raise click.BadParameter("a time is 90s, 20m or 3h")
    return float(int(match[1]) * _SECONDS[match[2]])


@click.command(epilog="Example: nettests lab selftest --profile win2019-overlay --budget 60m")
@click.option(
    "--assumptions",
    is_flag=True,
    help="Break what the harness assumes of tools, and leave the network in order.",
)
@click.option("--profile", "profiles", multiple=True, help="Only on this profile; repeatable.")
@click.option("--fault", "names", multiple=True, help="Only this named fault; repeatable.")
@click.option(
    "--budget",
    default="20m",
    show_default=True,
    callback=_seconds,
    help="Time limit: no run starts that would probably end later.",
)
@click.option(
    "--limit",
    default="15m",
    show_default=True,
    callback=_seconds,
    help="How long one run may take before it is interrupted.",
)
@click.option("--resume", type=_FOLDER, metavar="DIR", help="Continue the selftest in this folder.")
@click.option(
    "--quick",
    is_flag=True,
    help="Run only the flows that have to turn red and a few others, and not again without the fault.",
)
@click.option(
    "--placement",
    type=click.Choice(["declared", "any"]),
    default="declared",
    show_default=True,
    help="At which nodes: those that each fault names, or any that --seed chooses.",
)
@click.option(
    "--seed",
    "seeds",
    type=int,
    multiple=True,
    default=(0,),
    show_default=True,
    help="For --placement any and --combine; repeatable.",
)
@click.option(
    "--combine",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Instead of single faults, so many combinations of two to four a profile, from --seed on.",
)
@click.option(
    "--rejudge",
    is_flag=True,
    help="With --resume: judge the journals of finished runs again, and run nothing.",
)
@click.option("--list", "listing", is_flag=True, help="List the named faults, run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
def selftest(
    *,
    assumptions: bool,
    profiles: tuple[str, ...],
    names: tuple[str, ...],
    budget: float,
    limit: float,
    resume: Path | None,
    quick: bool,
    placement: str,
    seeds: tuple[int, ...],
    combine: int,
    rejudge: bool,
    listing: bool,
    as_json: bool,
) -> None:
    """Inject named faults one by one: which does a run detect?

    A run has to detect each fault, turn nothing unrelated red, and name the cause. With --assumptions its checks may
    become unknown only, and the leading incident has to name the instrument.

    Exit code: 0 all faults detected (or recovered from) and named, nothing unrelated red; 1 otherwise; 6 all well so
    far, but not all faults were run; 7 none was run.
    """
    faults = named_faults.chosen(
        names, named_faults.ASSUMPTIONS if assumptions else named_faults.FAULTS
    )
    anywhere = placement == "any" or combine > 0
    if assumptions and anywhere:
        raise LabError(
            "Assumptions are broken where they are declared: --placement any and --combine are for faults."
        )
    if listing:
        list_faults(faults)
        return
    plan = Plan(
        profiles=named_faults.profiles_of(profiles, faults, [*ALIKE] if anywhere else ()),
        faults=faults,
        budget=budget,
        limit=limit,
        quick=quick,
        seeds=tuple(range(seeds[0], seeds[0] + combine)) if combine else seeds if anywhere else (),
        combine=combine > 0,
    )
    store = Store(resume or Path("reports") / time.strftime("selftest-%Y%m%d-%H%M%S"))
    if resume is not None and not resume.is_dir():
        raise LabError(f"There is no folder {resume} to go on with.")
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)  # labs and runs are ended then

    def tell(text: str) -> None:
        if not as_json:
            click.echo(text, err=True)

    if rejudge:
        judge_again(plan, store, tell)
    else:
        Selftest(plan, store, tell).carry_out()
    results = judged(plan, store)
    text = json.dumps(matrix.document(results), indent=1, ensure_ascii=False)
    store.write("selftest.json", text + "\n")
    store.write("selftest.html", reference.page(results))
    page = "assumptions" if assumptions else "placements" if anywhere else "selftest"
    store.write("selftest.md", reference.render(results, of=page))
    if as_json:
        click.echo(text)
    else:
        print_matrix(results, store.path)
    sys.exit(int(results.exit))
