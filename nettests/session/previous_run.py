"""Find the previous run: the last one on the same cluster with the same selection of checks. Reads only.

The page of a run says what changed since. Unreadable runs are ignored: a document of an earlier run must not break
those of this one.
"""

from collections.abc import Hashable, Iterator
from pathlib import Path

from nettests.compare.fact_changes import choice_of
from nettests.compare.reading import read_results
from nettests.compare.recorded import RecordedRun, cluster_name
from nettests.errors import PathError
from nettests.model.journal_records import Begin
from nettests.model.run_folder import RESULTS
from nettests.session.recorded_runs import begin_of, read_document, runs_in


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
