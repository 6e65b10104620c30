"""Compare a run that is about to end with the site's baseline, from its journal.

For ``run --fail-on new`` and ``rejudge``: the last record holds the exit code, so new failures must
be found before it is written.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from nettests.baseline.entries import Baseline, read_baseline
from nettests.baseline.matching import BaselineComparison, compared, counted
from nettests.compare.reading import read_results
from nettests.errors import PlanError
from nettests.model.journal_records import Accepted, AcceptedFailure
from nettests.model.observation import Observation
from nettests.model.run_folder import JOURNAL, RESULTS
from nettests.model.words import FailOn, Verdict
from nettests.outside_files import text_of
from nettests.report import build_results, render_json
from nettests.session.journal import read_journal, understood

_NONE: Mapping[str, Observation] = MappingProxyType({})


def baseline_of(file: Path | None, fail_on: Collection[FailOn]) -> Baseline | None:
    """Return the baseline in ``file``; ``PlanError`` if ``--fail-on new`` lacks one."""
    if file is None:
        if FailOn.NEW in fail_on:
            raise PlanError(
                "--fail-on=new needs the failures that are known",
                hint="name their file with --baseline; nettests baseline accept writes one",
            )
        return None
    return read_baseline_file(file)


def read_baseline_file(file: Path) -> Baseline:
    """Return the baseline in a file; ``ManifestError`` if it is invalid."""
    text = text_of(file, "baseline", "nettests baseline accept RUN writes one")
    return read_baseline(text, str(file))


def comparison_of(
    directory: Path, baseline: Baseline, observations: Mapping[str, Observation] = _NONE
) -> BaselineComparison:
    """Compare the run in a folder, as far as its journal goes, with the baseline."""
    journal = directory / JOURNAL
    records = read_journal(journal)
    with understood(journal):
        results = build_results(records, observations)
    run = read_results(render_json(results), RESULTS)
    return compared(run, baseline, datetime.now(UTC).date())


def accepted_record(comparison: BaselineComparison, fail_on: Collection[FailOn]) -> Accepted:
    """Return the journal's record of accepted failures."""
    return Accepted(
        file=comparison.file,
        excused=FailOn.NEW in fail_on,
        failures=tuple(
            AcceptedFailure(
                check=failure.check, reason=failure.reason, expires=failure.expires.isoformat()
            )
            for failure in comparison.holding
        ),
    )


def ending(
    comparison: BaselineComparison | None,
    fail_on: Collection[FailOn],
    verdicts: Mapping[str, Verdict],
    members: Collection[Verdict],
) -> tuple[Mapping[str, Verdict], Collection[Verdict]]:
    """Return the verdicts, of checks and of members, that decide the exit code.

    A run that could not be compared with the baseline counts every deviation and is ``unknown`` at
    best: an entry may have expired.
    """
    if FailOn.NEW not in fail_on:
        return verdicts, members
    if comparison is None:
        return verdicts, {*members, Verdict.UNKNOWN}
    return counted(comparison, verdicts, members)
