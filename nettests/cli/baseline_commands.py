"""``nettests baseline accept | stale``: accept results of a run until a date, and find entries that are out of date.

Arguments and output only: ``baseline`` makes and matches entries, ``session.recorded_runs`` finds runs.
"""

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

import click

from nettests import terminal
from nettests.baseline.accepting import (
    Accepted,
    accepted,
    covers,
    deviating_checks,
    merged,
    of_incident,
)
from nettests.baseline.entries import Baseline, Entry, read_baseline, render_baseline
from nettests.baseline.matching import STALE, Fit, elsewhere, fittings
from nettests.cli import completion
from nettests.cli.help import Command
from nettests.cli.options import own_options, report_dir_option
from nettests.cli.output_options import json_option
from nettests.cli.section_lines import write_page
from nettests.compare.recorded import RecordedRun
from nettests.compare.sections import named
from nettests.errors import PathError
from nettests.model.exit_code import ExitCode
from nettests.model.visible import plural
from nettests.plan.selection import near
from nettests.session.baseline_comparison import read_baseline_file
from nettests.session.recorded_runs import recorded_run


@click.group()
def baseline() -> None:
    """Accept known failures until a date.

    With --fail-on new a nightly job then fails only on failures that the baseline does not accept.
    """


@baseline.command(
    cls=Command,
    example='nettests baseline accept latest --reason "ticket 4711" --expires 2027-03-31',
)
@click.argument("runs", metavar="RUN…", nargs=-1, required=True, shell_complete=completion.runs)
@own_options("baseline-accept")
@report_dir_option("Where `latest` and `latest~1` are looked for.")
def accept(
    *,
    runs: tuple[str, ...],
    patterns: tuple[str, ...],
    incident: int | None,
    flow: str | None,
    node: str | None,
    limited: bool,
    reason: str,
    expires: datetime,
    file: Path,
    report_dir: Path,
) -> None:
    """Accept the deviating and recorded checks of RUN until a date.

    RUN is a folder of a run, its results.json, or latest, latest~1 …. An entry accepts the verdict, outcome and
    deviating members that RUN shows, on the cluster facts of RUN: anything else is new. Given several runs, the results
    of the newest are accepted, on the fewest facts that tell runs with the failure from runs without it. The entry of a
    node or a flow accepts whatever deviates there, on any facts.
    """
    if not reason.strip():
        raise click.BadParameter("say why", param_hint="--reason")
    if expires.date() < datetime.now(UTC).date():
        raise click.BadParameter(f"{expires:%Y-%m-%d} is over", param_hint="--expires")
    chosen = [patterns, incident, flow, node]
    if sum(bool(each) for each in chosen) > 1:
        raise click.UsageError("--check, --incident, --flow and --node exclude each other")
    read = sorted((recorded_run(run, report_dir) for run in runs), key=lambda run: run.run.started)
    if incident is not None:
        if incident > len(read[-1].incidents):
            incidents = plural(len(read[-1].incidents), "incident")
            raise PathError(
                f"run {read[-1].run.run_id} has {incidents}, not {incident}",
                hint="its page and summary number them",
            )
        checks, node = of_incident(read[-1], incident)
        patterns = () if node else checks
    if flow or node:
        entry = Entry(
            node=node or "",
            flow=flow or "",
            run=read[-1].run.run_id,
            reason=reason.strip(),
            expires=expires.date(),
        )
        _require_covered(entry, read[-1])
        acceptances: tuple[Accepted, ...] = (Accepted(entry=entry, showing=(entry.run,)),)
    else:
        acceptances = accepted(
            read, patterns, reason=reason.strip(), expires=expires.date(), limited=limited
        )
    if not acceptances:
        raise _nothing_deviates(runs, patterns, limited=limited)
    old = read_baseline_file(file) if file.exists() else Baseline(file=str(file))
    notes = [note for note in dict.fromkeys(elsewhere(run, old) for run in read) if note]
    text = render_baseline(merged(old, [acceptance.entry for acceptance in acceptances], read))
    # A file of another origin or of a newer version may hold keys that no baseline has.
    read_baseline(text, str(file))
    write_page(file, text)
    before = {entry.subject: entry for entry in old.entries}
    for acceptance in acceptances:
        terminal.lines(accepted_lines(acceptance))
        if was := before.get(acceptance.entry.subject):
            terminal.line(f"  replaces what was accepted until {was.expires}: {was.reason}")
    for note in notes:
        terminal.line(f"note: the file was {note}; from now on it is for both")
    written = "1 entry" if flow or node else plural(len(acceptances), "check")
    terminal.line(f"{written} written to {file}")


def _nothing_deviates(runs: Sequence[str], patterns: Sequence[str], *, limited: bool) -> PathError:
    which = f"no check that matches {' or '.join(patterns)}" if patterns else "no check"
    kept = "was recorded or limited there" if limited else "was recorded there"
    return PathError(
        f"{which} deviates in {' or '.join(runs)}, or {kept}",
        hint="nettests diff and report.html name the checks of a run",
    )


def _require_covered(entry: Entry, run: RecordedRun) -> None:
    if any(covers(entry, check) for check in deviating_checks(run)):
        return
    nodes = [node.name for node in run.facts.nodes] if run.facts else []
    there = nodes if entry.node else sorted({check.flow for check in run.checks})
    exists = entry.node in nodes or any(fnmatchcase(flow, entry.flow) for flow in there)
    raise PathError(
        f"nothing deviates at {entry.subject} alone in {run.run.run_id}"
        if exists
        else f"run {run.run.run_id} has no {entry.subject}",
        hint="" if exists else near(entry.node or entry.flow, there),
    )


@baseline.command(cls=Command, example="nettests baseline stale latest --baseline baseline.yaml")
@click.argument("run", metavar="RUN", shell_complete=completion.runs)
@own_options("baseline-stale")
@report_dir_option("Where `latest` and `latest~1` are looked for.")
@json_option()
def stale(*, run: str, file: Path, report_dir: Path, as_json: bool) -> None:
    """List the entries that no longer match RUN.

    Reasons: the failure was repaired, is a different one, or occurs on other facts; the check is gone; the entry expired.

    Exit code: 0 all entries match or were not judged; 1 some no longer match.
    """
    held = read_baseline_file(file)
    of = recorded_run(run, report_dir)
    fitted = fittings(of, held, datetime.now(UTC).date())
    other = elsewhere(of, held)
    old = [fitting for fitting in fitted if fitting.fit in STALE]
    if as_json:
        entries = [
            {
                "check": fitting.entry.subject,
                "fit": fitting.fit.value,
                "stale": fitting.fit in STALE,
                "why": fitting.why,
                "reason": fitting.entry.reason,
                "expires": fitting.entry.expires.isoformat(),
            }
            for fitting in fitted
        ]
        terminal.document({"elsewhere": other, "entries": entries})
    else:
        if other:
            terminal.line(f"note: {other}")
        for fitting in old:
            terminal.line(f"{fitting.fit.value}: {fitting.entry.subject}: {fitting.why}")
        blind = sum(fitting.fit is Fit.NOT_JUDGED for fitting in fitted)
        rest = f", {blind} not judged" if blind else ""
        terminal.line(f"{len(old)} of {len(fitted)} entries no longer match{rest}")
    sys.exit(ExitCode.TESTS_FAILED if old else ExitCode.OK)


def accepted_lines(acceptance: Accepted) -> Iterator[str]:
    """Yield what was accepted; for several runs, also on which facts and why."""
    entry = acceptance.entry
    outcome = f" {entry.seen.outcome}" if entry.seen.outcome else ""
    yield f"accepted until {entry.expires}: {entry.subject}{f' {entry.verdict}' if entry.verdict else ''}{outcome}"
    if not acceptance.without:
        return
    facts = ", ".join(f"{fact}: {' or '.join(values)}" for fact, values in entry.facts.items())
    counts = f"{plural(len(acceptance.showing), 'run')} with it, {len(acceptance.without)} without"
    if acceptance.alike:
        yield (
            f"  no recorded fact separates the runs ({counts}): {named(acceptance.alike, 'run')} without it"
            f" on facts like those of {acceptance.showing[-1]}"
        )
    yield f"  holds on {facts or 'any facts'} ({counts})"
