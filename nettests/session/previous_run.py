"""Find the previous run: the last one on the same cluster with the same selection of checks. Reads only.

The page of a run says what changed since. Unreadable runs are ignored: a document of an earlier run must not break
those of this one.

The checks of a finished run that need another look: for ``nettests run --rerun-failed``.
"""

from collections.abc import Hashable, Iterator
from pathlib import Path

from nettests.compare.fact_changes import choice_of
from nettests.compare.reading import read_results
from nettests.compare.recorded import RecordedRun, cluster_name
from nettests.errors import PathError, PlanError
from nettests.model.journal_records import Begin
from nettests.model.run_folder import RESULTS
from nettests.model.verdict import DEVIATING
from nettests.model.words import Verdict
from nettests.plan import Choice
from nettests.session.recorded_runs import begin_of, read_document, results_of, runs_in


def previous_run(directory: Path) -> tuple[Path, RecordedRun] | None:
    """Return the folder and the results of the run before the one in a folder; ``None`` where there is none.

    Runs are looked for beside the folder. One that could not start, or broke off before it planned anything, says nothing.
    """
    current = begin_of(directory)
    if current is None or not current.run_id:
        return None
    for folder in _earlier_runs(directory, current):
        try:
            recorded = read_results(read_document(folder / RESULTS), str(folder / RESULTS))
        except PathError:
            continue
        if recorded.run.error is None and recorded.checks:
            return folder, recorded
    return None


def _earlier_runs(directory: Path, current: Begin) -> Iterator[Path]:
    """Yield the folders of runs that could be the one before, the newest first."""
    for folder in reversed(runs_in(directory.parent)):
        begin = begin_of(folder)
        if begin is None or begin.run_id == current.run_id or begin.started > current.started:
            continue
        if (
            _cluster_and_choice(begin) == _cluster_and_choice(current)
            and (folder / RESULTS).is_file()
        ):
            yield folder


def _cluster_and_choice(begin: Begin) -> Hashable:
    """Return what a run is of: a cluster, and a choice of checks."""
    cluster = cluster_name(begin.server or "", begin.context or "")
    return cluster, choice_of(begin.argv, begin.suites)


AGAIN = DEVIATING | {Verdict.UNKNOWN}


def with_failed(choice: Choice, word: str | None, reports: Path) -> Choice:
    """Return the choice, reduced to what deviated or was unknown in a run, and of it to the members that did.

    ``word`` is a run as on the command line (``recorded_runs``), ``None`` for no such wish.
    """
    if word is None:
        return choice
    path = results_of(word, reports)
    run = read_results(read_document(path), str(path))
    if run.facts is None:
        raise PathError(f"{path} has no checks: that run could not start", hint="name another run")
    again = {
        check.id: tuple(label for label, m in check.members.items() if m.verdict in AGAIN)
        for check in run.checks
        if check.verdict in AGAIN or check.standing in AGAIN
    }
    if not again:
        raise PlanError(
            f"nothing failed in run {run.run.run_id}, and nothing was unknown there",
            hint="leave --rerun-failed out, or name another run",
        )
    return Choice(
        patterns=choice.patterns, run=run.run.run_id, again=again, seed=run.facts.fleet.seed
    )
