"""The last lines of a run: what needs attention, verdict counts, limitations, where the report is.

About a dozen lines when all is well. It reads finished results and only prints.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from nettests.model.check_id import member_of, parent_of
from nettests.model.exit_code import ExitCode
from nettests.model.run_folder import DIAGNOSTICS, DIAGNOSTICS_INDEX, HTML
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import Verdict
from nettests.plugin.reporter import STYLE, Reporter
from nettests.report import Results
from nettests.report.denied import missing_permissions
from nettests.report.headline import (
    convergence_line,
    cost_line,
    exercised_line,
    headline,
    unread_line,
)
from nettests.report.heat_map import node_lines
from nettests.report.results import CheckResult, Incident
from nettests.report.summary import (
    cluster_line,
    counted_verdicts,
    coverage_line,
    duration,
    meanings,
)
from nettests.report.text import one_line, plural

SHOWN = 5
"""How many incidents are told, and how many checks of one; the report has them all."""
NAMED = 4
"""Limitations that the last lines name, the most frequent ones; the report has all."""


def show(reporter: Reporter, results: Results, directory: Path) -> None:
    """Print the summary of a finished run."""
    reporter.still()
    for incident in results.incidents[:SHOWN]:
        for line, style in _incident_lines(incident, results):
            reporter.say(line, style=style)
    if len(results.incidents) > SHOWN:
        more = sum(len(incident.checks) for incident in results.incidents[SHOWN:])
        reporter.say(f"… and {plural(more, 'more check')} that need attention, in the report")
    for line in node_lines(results.checks) if results.incidents else ():
        reporter.say(line)
    reporter.say("")
    for line, style in _lines(results, directory, quiet=reporter.quiet):
        reporter.say(line, style=style)


def _incident_lines(incident: Incident, results: Results) -> Iterator[tuple[str, str]]:
    """Yield the cause, the next step and the first checks of an incident."""
    red = {check.id: check for check in results.checks if check.id in incident.checks}
    worst = min((red[name].verdict for name in incident.checks), key=SUMMARY_ORDER.index)
    if not incident.explained:
        yield f"{worst.value.upper()} {incident.cause}", STYLE[worst]
    else:
        count = plural(len(incident.checks), "check")
        swept = f", {plural(len(incident.members), 'member')}" if incident.members else ""
        line = f"{incident.cause}: {count} {counted_verdicts(red.values())}{swept}"
        yield line, f"bold {STYLE[worst]}"
    if incident.next_step:
        yield f"  → {incident.next_step}", ""
    if incident.explained:
        more = len(incident.checks) - SHOWN
        for name in incident.checks[:SHOWN]:
            yield f"  {red[name].verdict.value} {name}{_member_labels(incident, name)}", ""
        if more > 0:
            yield f"  … and {more} more", ""
    if collected := [red[name] for name in incident.checks if red[name].diagnostics]:
        yield f"  diagnostics: {_places(collected[0])}", ""


def _member_labels(incident: Incident, check: str) -> str:
    """Return which members of a check an incident explains, those that come first."""
    labels = [member_of(member) for member in incident.members if parent_of(member) == check]
    more = f", … and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
    return f": {', '.join(labels[:NAMED])}{more}" if labels else ""


def _places(check: CheckResult) -> str:
    """Return the folders of a check's diagnostics, the ones that say most; the report links them all."""
    folders = [diagnostic.folder for diagnostic in check.diagnostics]
    more = f", … and {len(folders) - NAMED} more" if len(folders) > NAMED else ""
    return ", ".join(folders[:NAMED]) + more


def _lines(results: Results, directory: Path, *, quiet: bool) -> Iterator[tuple[str, str]]:
    run = results.run
    if run.exit_code == ExitCode.INTERRUPTED:
        yield "The run was interrupted", "bold"
    yield headline(results), "bold"
    yield from _remarks(results)
    if run.error:
        yield f"  {run.error}", ""
    elif not quiet:
        if results.facts:
            yield cluster_line(results.facts), ""
            yield exercised_line(results), ""
        for verdict in SUMMARY_ORDER:
            if results.counts.get(verdict):
                yield _counted(results, verdict), STYLE[verdict]
        spent = duration(run.seconds)
        yield f"{coverage_line(results)}, in {spent}" if spent else coverage_line(results), ""
        if converged := convergence_line(results):
            yield converged, ""
        if cost := cost_line(results):
            yield cost, ""
        if results.rounds:
            yield str(results.rounds), ""
    if results.pulls:
        lost = sum(bool(pull.problem) for pull in results.pulls)
        slowest = duration(max(pull.seconds for pull in results.pulls))
        line = f"{plural(len(results.pulls), 'image')} pulled onto nodes beforehand in at most {slowest}"
        yield f"{line}, {lost} of them failed" if lost else line, ""
    yield from _unread(results, directory)
    if results.diagnostics:
        files = sum(len(diagnostic.collected) for diagnostic in results.diagnostics)
        page = directory / DIAGNOSTICS / DIAGNOSTICS_INDEX
        yield (
            f"diagnostics: {plural(files, 'file')} about {len(results.diagnostics)} subjects, {page}",
            "",
        )
    yield f"report: {directory / HTML}", ""


def _unread(results: Results, directory: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts that no parser knows, with the request to send them."""
    if not results.unread:
        return
    yield f"{unread_line(results)}:", "bold"
    for unread in results.unread[:SHOWN]:
        yield f"  {unread.tool} on {unread.client_os}: {one_line(unread.text)}", ""
    if len(results.unread) > SHOWN:
        yield f"  … and {len(results.unread) - SHOWN} more, in the report", ""
    yield f"  → help to read them: nettests export {directory} makes a bundle to send", ""


def _remarks(results: Results) -> Iterator[tuple[str, str]]:
    """Yield what explains a headline: rights that were missing, and what happened to the cluster meanwhile."""
    if denied := missing_permissions(results):
        yield f"  this identity may not {', '.join(denied)}", ""
        yield "  → nettests preflight prints the rules that grant it", ""
    for event in results.events:
        if event.notable:
            yield f"  {event.text}", "bold"


def _counted(results: Results, verdict: Verdict) -> str:
    """Return one verdict's line; limitations are named, because people look them up."""
    line = f"{results.counts[verdict]:6} {verdict.value:9}"
    if verdict not in {Verdict.LIMITED, Verdict.KNOWN_BUG}:
        return f"{line} {meanings(results)[verdict]}"
    ids = Counter(c.limitation_id for c in results.checks if c.verdict is verdict)
    named = sorted(ids.items(), key=lambda pair: (-pair[1], str(pair[0])))
    more = f", … and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return f"{line} " + ", ".join(f"{name} ({count})" for name, count in named[:NAMED]) + more
