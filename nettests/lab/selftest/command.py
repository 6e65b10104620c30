"""``nettests lab selftest``: options in, a matrix out."""

import json
import re
import signal
import sys
import time
from pathlib import Path

import click

from nettests.lab.errors import LabError
from nettests.lab.selftest import matrix, named_faults, page, reference, shown
from nettests.lab.selftest.selftest import Plan, Selftest, judge_again, judged
from nettests.lab.selftest.store import Store

# 90s, 20m, 3h
_TIME = re.compile(r"(\d+)(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_FOLDER = click.Path(path_type=Path, file_okay=False)


def _seconds(_context: click.Context, _parameter: click.Parameter, text: str) -> float:
    found = _TIME.fullmatch(text)
    if found is None:
        raise click.BadParameter("a time is 90s, 20m or 3h")
    return float(int(found[1]) * _SECONDS[found[2]])


@click.command(epilog="Example: nettests lab selftest --profile win2019-overlay --budget 60m")
@click.option("--profile", "profiles", multiple=True, help="Only on this profile; repeatable.")
@click.option("--fault", "names", multiple=True, help="Only this named fault; repeatable.")
@click.option(
    "--budget",
    default="20m",
    show_default=True,
    callback=_seconds,
    help="How long to go on: no run is begun that would probably end later.",
)
@click.option(
    "--limit",
    default="15m",
    show_default=True,
    callback=_seconds,
    help="How long one run may take before it is interrupted.",
)
@click.option("--resume", type=_FOLDER, metavar="DIR", help="Go on with a selftest.")
@click.option(
    "--quick",
    is_flag=True,
    help="Run only flows that must turn and a few others; says nothing of unrelated red.",
)
@click.option(
    "--rejudge",
    is_flag=True,
    help="With --resume: let the harness judge the journals of finished runs anew, and run nothing.",
)
@click.option("--list", "listing", is_flag=True, help="List the named faults, run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
def selftest(
    *,
    profiles: tuple[str, ...],
    names: tuple[str, ...],
    budget: float,
    limit: float,
    resume: Path | None,
    quick: bool,
    rejudge: bool,
    listing: bool,
    as_json: bool,
) -> None:
    """Break labs on purpose: which faults does a run find?

    Each named fault in turn: whether a run notices it, and says what it is.

    Exit code: 0 each was detected or recovered from, nothing else turned red, and each cause was named; 1 not so; 6 nothing
    is wrong so far, but not all were run; 7 none was run.
    """
    faults = named_faults.chosen(names)
    if listing:
        shown.faults(faults)
        return
    plan = Plan(
        profiles=named_faults.profiles_of(profiles, faults),
        faults=faults,
        budget=budget,
        limit=limit,
        quick=quick,
    )
    store = Store(resume or Path("reports") / time.strftime("selftest-%Y%m%d-%H%M%S"))
    if resume is not None and not resume.is_dir():
        raise LabError(f"There is no folder {resume} to go on with.")
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # labs and runs are ended then
    tell = _quietly if as_json else _tell
    if rejudge:
        judge_again(plan, store, tell)
    else:
        Selftest(plan, store, tell).carry_out()
    found = judged(plan, store)
    text = json.dumps(matrix.document(found), indent=1, ensure_ascii=False)
    store.write("selftest.json", text + "\n")
    store.write("selftest.html", page.render(found))
    store.write("selftest.md", reference.render(found))
    if as_json:
        click.echo(text)
    else:
        shown.matrix(found, store.path)
    sys.exit(int(found.exit))


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _quietly(_text: str) -> None:
    """Tell nothing."""
