"""``--trace``: trace the leading incidents of a run while its objects still exist.

Runs after diagnostics and before clean-up. One check represents each incident; a run without a red
check traces nothing. It changes no verdict and never fails a run.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from nettests.capture.scene import refusal
from nettests.capture.trace_files import write_trace
from nettests.capture.tracer import Traced, Tracer
from nettests.diagnose.folder import safe_name
from nettests.diagnose.object_text import is_whole
from nettests.diagnose.subjects import NODE, Subject
from nettests.errors import NettestsError
from nettests.model import limits
from nettests.model.check import Check, Plan
from nettests.model.facts import ClusterFacts
from nettests.model.run_folder import DIAGNOSTICS
from nettests.model.words import Question, Verdict
from nettests.outside_files import read_text
from nettests.report.incidents import find_incidents
from nettests.report.results import CheckResult
from nettests.session.judging import Judging
from nettests.tracing.confirming import Read, confirmations

TRACES = "traces"
"""The folder of traces in a run's folder."""
TRACING_SECONDS = 15.0
"""For all traces of one run; no further trace begins once half of it is spent."""
_TRACED = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.LIFTED})


def trace_run(
    tracer: Tracer, plan: Plan, judging: Judging, directory: Path, tell: Callable[[str], None]
) -> None:
    """Trace the incidents of a run and report the results through ``tell``; never raise."""
    checks = list(plan.each)
    try:
        trace_incidents(
            representatives(checks, judging, tracer.directory.facts),
            lambda check: _confirmed(
                tracer.trace(check, judging.expectations[check.id], rehearse=False),
                directory / DIAGNOSTICS,
            ),
            directory,
            tell,
        )
    except Exception as error:  # noqa: BLE001 - the run is valid without traces
        tell(f"no trace: {type(error).__name__}: {error}")
    for remark in tracer.remarks:
        tell(remark)


def _confirmed(traced: Traced, diagnostics: Path) -> Traced:
    confirmed = confirmations(traced.trace, collected(diagnostics))
    return replace(traced, trace=replace(traced.trace, confirmed=confirmed))


def collected(diagnostics: Path) -> Read:
    """Return a reader of nodes' diagnostics; it skips truncated files, as the rest may matter."""

    def read(node: str, file: str) -> str | None:
        path = diagnostics / Subject(NODE, node).folder / file
        try:
            text = read_text(path, limits.EXEC_BYTES)
        except (OSError, UnicodeError):
            return None
        return text if is_whole(text) else None

    return read


def representatives(
    checks: Sequence[Check], judging: Judging, facts: ClusterFacts
) -> Iterator[Check]:
    """Yield one traceable check for each incident of a run, the leading incident first."""
    verdicts = judging.verdicts()
    results = [
        CheckResult(
            id=check.id,
            flow=check.flow,
            verdict=verdicts[check.id],
            message="",
            ran=True,
            check=check,
            expectation=judging.expectations.get(check.id),
            observation=judging.observations.get(check.id),
        )
        for check in checks
        if check.id in verdicts
    ]
    by_id = {check.id: check for check in checks}
    for incident in find_incidents(results, facts):
        for name in incident.checks:
            check = by_id.get(name)
            if (
                check is not None
                and verdicts[name] in _TRACED
                and (not refusal(check) and check.action.question is not Question.IDLE)
            ):
                yield check
                break


def trace_incidents(
    chosen: Iterator[Check],
    trace: Callable[[Check], Traced],
    directory: Path,
    tell: Callable[[str], None],
) -> None:
    """Trace checks while time is left, write each trace below ``directory``, and report it."""
    began = time.monotonic()
    for number, check in enumerate(chosen):
        if number and time.monotonic() - began > TRACING_SECONDS / 2:
            return
        try:
            traced = trace(check)
            folder = safe_name(check.id)
            write_trace(directory / TRACES / folder, traced.trace, traced.captures, title=check.id)
        except NettestsError as error:
            tell(f"no trace of {check.id}: {error.message}")
            return
        result = traced.trace
        where = f" on {result.node}" if result.node else ""
        detail = f": {result.detail}" if result.detail else ""
        detail += f"; {'; '.join(result.confirmed)}" if result.confirmed else ""
        tell(
            f"trace of {check.id}: {result.finding.words}{where}{detail}; {TRACES}/{folder}/trace.html"
        )
