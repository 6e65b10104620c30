"""Terminal output of a run: progress, and a summary of finished results.

On a terminal, one live line shows stage, progress and verdicts; a pipe gets plain lines, one for
each stage and quarter of the checks. ``NO_COLOR`` is honoured (by rich). Output goes to pytest's
original terminal, because pytest captures standard output during tests.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from nettests.model.check_id import member_of, parent_of
from nettests.model.exit_code import ExitCode
from nettests.model.permission import FOR_FACTS, LIST_SERVICE_CIDRS
from nettests.model.run_folder import DIAGNOSTICS, DIAGNOSTICS_INDEX, HTML
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.visible import as_line, as_paragraph, one_line, plural
from nettests.model.words import Verdict
from nettests.redaction import Redactor
from nettests.report import Results
from nettests.report.heat_map import node_lines
from nettests.report.results import CheckResult, Incident
from nettests.report.summary import (
    cluster_line,
    convergence_line,
    cost_line,
    counted_verdicts,
    coverage_line,
    duration,
    exercised_line,
    headline,
    meanings,
    unread_line,
)
from nettests.session.run_options import Progress
from nettests.terminal import uncaptured
from nettests.terminal.drawing import console

STYLE = {
    Verdict.FAIL: "bold red",
    Verdict.LIFTED: "bold red",
    Verdict.UNKNOWN: "bold magenta",
    Verdict.FLAKY: "bold red",
    Verdict.KNOWN_BUG: "bold yellow",
    Verdict.LIMITED: "yellow",
    Verdict.RECORDED: "cyan",
    Verdict.PASS: "green",
    Verdict.SKIPPED: "dim",
}

_BY_SHAPE = Redactor()
_UNITS = {
    "pull": "images on nodes",
    "deploy": "pods Ready",
    "converge": "paths to Services ready",
    "observe": "observations made",
    "diagnose": "diagnostics read",
}


class Reporter:
    """Prints progress and results; ``output`` is the option of that name.

    Called from the run's background threads and from pytest's hooks.
    """

    def __init__(self, output: str) -> None:
        self._stream, self._own_stream = uncaptured()
        self.console = console(self._stream, soft_wrap=True)
        self.quiet = output == "quiet"
        self._beside_pytest = output == "pytest"
        self._progress = Progress(stage="start")
        self._counts: Counter[Verdict] = Counter()
        self._printed: set[tuple[str, int]] = set()
        self._lock = threading.Lock()
        # Only one live display is possible: pytest's has precedence.
        live = output == "own" and self.console.is_terminal
        self._live = (
            Live(get_renderable=self._line, console=self.console, transient=True) if live else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.still()
        if self._own_stream:
            self._stream.close()

    def still(self) -> None:
        """End the live line, before permanent output."""
        if self._live:
            self._live.stop()

    def stage(self, text: str) -> None:
        """Show that a stage before the tests begins."""
        self._tell(Progress(stage=text))

    def progress(self, progress: Progress) -> None:
        """Show the run's progress, unless pytest shows its own."""
        if not self._beside_pytest:
            self._tell(progress)

    def _tell(self, progress: Progress) -> None:
        with self._lock:
            self._progress = progress
            if self._live or self.quiet or progress.stage == "done":
                return
            quarter = 4 * progress.done // progress.total if progress.total else 0
            key = (progress.stage, quarter)
            if key not in self._printed:
                self._printed.add(key)
                self.console.print(as_line(_plain(progress)), style="dim")

    def verdict(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self._counts[verdict] += 1

    def _line(self) -> Table:
        progress = self._progress
        line = Table.grid(padding=(0, 1))
        cells: list[Spinner | ProgressBar | Text] = [
            Spinner("dots"),
            Text(progress.stage, style="bold"),
        ]
        if progress.total:
            cells.append(ProgressBar(total=progress.total, completed=progress.done, width=24))
            cells.append(Text(f"{progress.done}/{progress.total}"))
        cells += [
            Text(f"{self._counts[verdict]} {verdict.value}", style=STYLE[verdict])
            for verdict in SUMMARY_ORDER
            if self._counts[verdict]
        ]
        line.add_row(*cells)
        return line

    def say(self, text: str, *, style: str = "") -> None:
        """Print one line literally: texts of a cluster cannot end it or act as markup."""
        self.console.print(as_line(text), style=style or None)

    def paragraph(self, text: str, *, style: str = "") -> None:
        """Print a text without secrets; further lines are indented."""
        self.console.print(as_paragraph(_BY_SHAPE.text(text)), style=style or None)


def _plain(progress: Progress) -> str:
    if not progress.total:
        return progress.stage
    return f"{progress.stage}: {progress.done}/{progress.total} {_UNITS.get(progress.stage, '')}"


SHOWN = 5
"""How many incidents are shown, and how many checks of each; the report has all."""
NAMED = 4
"""How many limitations the summary names, by frequency; the report has all."""


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
        at = f", at {incident.places}" if incident.places else ""
        line = f"{incident.cause}: {count} {counted_verdicts(red.values())}{at}"
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
    """Return the first members of a check that an incident explains."""
    labels = [member_of(member) for member in incident.members if parent_of(member) == check]
    more = f", … and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
    return f": {', '.join(labels[:NAMED])}{more}" if labels else ""


def _places(check: CheckResult) -> str:
    """Return the most useful folders of a check's diagnostics; the report links all."""
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
    """Yield the texts that no parser understood, and how to send them."""
    if not results.unread:
        return
    yield f"{unread_line(results)}:", "bold"
    for unread in results.unread[:SHOWN]:
        yield f"  {unread.tool} on {unread.client_os}: {one_line(unread.text)}", ""
    if len(results.unread) > SHOWN:
        yield f"  … and {len(results.unread) - SHOWN} more, in the report", ""
    yield f"  → help to read them: nettests export {directory} makes a bundle to send", ""


_REASON = "this identity may not "
"""How the reasons of such skips begin (``plan.permissions``)."""
_OF_FACTS = frozenset(map(str, (*FOR_FACTS, LIST_SERVICE_CIDRS)))


def missing_permissions(results: Results) -> tuple[str, ...]:
    """Return the permissions missing in a run that ended with exit code 7, in order of its review.

    Empty if checks were skipped for other reasons; permissions only for facts are omitted.
    """
    if results.run.exit_code != ExitCode.NOTHING_JUDGED or results.facts is None:
        return ()
    skipped = (check.message for check in results.checks if check.verdict is Verdict.SKIPPED)
    if not any(message.startswith(_REASON) for message in skipped):
        return ()
    return tuple(
        permission
        for permission in results.facts.denied
        if permission not in _OF_FACTS and not permission.startswith("get configmaps ")
    )


def _remarks(results: Results) -> Iterator[tuple[str, str]]:
    """Yield what explains a headline: missing permissions and notable events."""
    if denied := missing_permissions(results):
        yield f"  this identity may not {', '.join(denied)}", ""
        yield "  → nettests preflight prints the rules that grant it", ""
    for event in results.events:
        if event.notable:
            yield f"  {event.text}", "bold"


def _counted(results: Results, verdict: Verdict) -> str:
    line = f"{results.counts[verdict]:6} {verdict.value:9}"
    if verdict not in {Verdict.LIMITED, Verdict.KNOWN_BUG}:
        return f"{line} {meanings(results)[verdict]}"
    ids = Counter(c.limitation_id for c in results.checks if c.verdict is verdict)
    named = sorted(ids.items(), key=lambda pair: (-pair[1], str(pair[0])))
    more = f", … and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return f"{line} " + ", ".join(f"{name} ({count})" for name, count in named[:NAMED]) + more
