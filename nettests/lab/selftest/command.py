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
    help="Run only the flows that have to turn red and a few others; unrelated red is not looked for.",
)
@click.option(
    "--placement",
    type=click.Choice(["declared", "any"]),
    default="declared",
    show_default=True,
    help="At which nodes: those that each fault names, or any that --seed chooses.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="For --placement any.")
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
    seed: int,
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
    if assumptions and placement == "any":
        raise LabError(
            "Assumptions are broken where they are declared: --placement any is for faults."
        )
    if listing:
        shown.faults(faults)
        return
    plan = Plan(
        profiles=named_faults.profiles_of(profiles, faults),
        faults=faults,
        budget=budget,
        limit=limit,
        quick=quick,
        seed=seed if placement == "any" else None,
    )
    store = Store(resume or Path("reports") / time.strftime("selftest-%Y%m%d-%H%M%S"))
    if resume is not None and not resume.is_dir():
        raise LabError(f"There is no folder {resume} to go on with.")
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)  # labs and runs are ended then
    tell = _quietly if as_json else _tell
    if rejudge:
        judge_again(plan, store, tell)
    else:
        Selftest(plan, store, tell).carry_out()
    results = judged(plan, store)
    text = json.dumps(matrix.document(results), indent=1, ensure_ascii=False)
    store.write("selftest.json", text + "\n")
    store.write("selftest.html", page.render(results))
    store.write("selftest.md", reference.render(results, assumptions=assumptions))
    if as_json:
        click.echo(text)
    else:
        shown.matrix(results, store.path)
    sys.exit(int(results.exit))


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _quietly(_text: str) -> None:
    """Tell nothing."""
