"""``--trace``: trace the leading incidents of a run while its objects still exist.

After the last check and its diagnostics, before clean-up. One check represents each incident; a run without a red
check traces nothing. It changes no verdict and never fails a run.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from nettests.diagnose.names import safe_name
from nettests.diagnose.subjects import NODE, Subject
from nettests.errors import NettestsError
from nettests.model.check import Check, Plan
from nettests.model.facts import ClusterFacts
from nettests.model.run_folder import DIAGNOSTICS
from nettests.model.words import Verdict
from nettests.report.incidents import find_incidents
from nettests.report.results import CheckResult
from nettests.session.trace_files import write_trace
from nettests.session.trace_scene import refusal
from nettests.session.tracing import Traced, Tracer
from nettests.session.watch import Watch
from nettests.tracing.confirming import confirmations

TRACES = "traces"
"""The folder of traces in that of a run."""
TRACING_SECONDS = 15.0
"""For all traces of one run; another one is begun while half of it is left."""
_TRACED = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.LIFTED})


def trace_run(
    tracer: Tracer, plan: Plan, watch: Watch, directory: Path, tell: Callable[[str], None]
) -> None:
    """Trace what stands for the incidents of a run; whatever happens is told, and nothing is raised."""
    checks = [one for check in plan.checks for one in check.each]
    try:
        trace_incidents(
            representatives(checks, watch, tracer.directory.facts),
            lambda check: _confirmed(
                tracer.trace(check, watch.expectations[check.id], rehearse=False),
                directory / DIAGNOSTICS,
            ),
            directory,
            tell,
        )
    except Exception as error:  # noqa: BLE001 - what was observed stands without it
        tell(f"no trace: {type(error).__name__}: {error}")
    for remark in tracer.remarks:
        tell(remark)


def _confirmed(traced: Traced, diagnostics: Path) -> Traced:
    """Return the trace with what the diagnostics of its nodes say of it."""

    def read(node: str, file: str) -> str | None:
        try:
            return (diagnostics / Subject(NODE, node).folder / file).read_text(encoding="utf-8")
        except (OSError, UnicodeError):
            return None

    said = confirmations(traced.trace, read)
    return replace(traced, trace=replace(traced.trace, confirmed=said))


def representatives(checks: Sequence[Check], watch: Watch, facts: ClusterFacts) -> Iterator[Check]:
    """Yield the checks that stand for the incidents of a run, that of the leading one first."""
    verdicts = watch.verdicts()
    results = [
        CheckResult(
            id=check.id,
            flow=check.flow,
            verdict=verdicts[check.id],
            message="",
            ran=True,
            check=check,
            expectation=watch.expectations.get(check.id),
            observation=watch.observations.get(check.id),
        )
        for check in checks
        if check.id in verdicts
    ]
    known = {check.id: check for check in checks}
    for incident in find_incidents(results, facts):
        for name in incident.checks:
            check = known.get(name)
            if check is not None and verdicts[name] in _TRACED and not refusal(check):
                yield check
                break


def trace_incidents(
    chosen: Iterator[Check],
    trace: Callable[[Check], Traced],
    directory: Path,
    tell: Callable[[str], None],
) -> None:
    """Trace these checks while there is time, write each trace below ``directory``, and tell what was found."""
    began = time.monotonic()
    for number, check in enumerate(chosen):
        if number and time.monotonic() - began > TRACING_SECONDS / 2:
            return
        try:
            found = trace(check)
            folder = safe_name(check.id)
            write_trace(directory / TRACES / folder, found.trace, found.captures, title=check.id)
        except NettestsError as error:
            tell(f"no trace of {check.id}: {error.message}")
            return
        one = found.trace
        where = f" on {one.node}" if one.node else ""
        detail = f": {one.detail}" if one.detail else ""
        detail += f"; {'; '.join(one.confirmed)}" if one.confirmed else ""
        tell(
            f"trace of {check.id}: {one.finding.words}{where}{detail}; {TRACES}/{folder}/trace.html"
        )
