"""Compare a run that is about to end with the site's baseline, from its journal.

For ``run --fail-on new`` and ``rejudge``: the journal's last record holds the exit code, so new failures have to be
known before it is written.
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
    """Return the baseline that a run is to be held to; ``PlanError`` where it is wanted and not named."""
    if file is None:
        if FailOn.NEW in fail_on:
            raise PlanError(
                "--fail-on=new needs the failures that are known",
                hint="name their file with --baseline; nettests baseline accept writes one",
            )
        return None
    return read_baseline_file(file)


def read_baseline_file(file: Path) -> Baseline:
    """Return the baseline in a file; ``ManifestError`` says what is wrong with it."""
    text = text_of(file, "baseline", "nettests baseline accept RUN writes one")
    return read_baseline(text, str(file))


def against(
    directory: Path, baseline: Baseline, observations: Mapping[str, Observation] = _NONE
) -> BaselineComparison:
    """Return what of the run in a folder the baseline covers, by what its journal says so far."""
    journal = directory / JOURNAL
    records = read_journal(journal)
    with understood(journal):
        results = build_results(records, observations)
    run = read_results(render_json(results), RESULTS)
    return compared(run, baseline, datetime.now(UTC).date())


def accepted_record(comparison: BaselineComparison, fail_on: Collection[FailOn]) -> Accepted:
    """Return what the journal says of the failures that a baseline holds."""
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
    """Return the verdicts, of checks and of members, that decide how a run ends.

    A run that could not be compared with the baseline counts every deviation, and is not good without any: whether an
    entry expired, or something is otherwise than accepted, is unknown.
    """
    if FailOn.NEW not in fail_on:
        return verdicts, members
    if comparison is None:
        return verdicts, {*members, Verdict.UNKNOWN}
    return counted(comparison, verdicts, members)
