"""Find finished runs on disk: by folder, ``results.json``, ``latest`` and ``latest~N``; reads only.

The previous run is the last one on the same cluster with the same selection of checks; a run's page
shows what changed since. Unreadable runs are ignored there: an earlier run's document must not
break this run's.
"""

import re
from collections.abc import Hashable
from pathlib import Path

from nettests.compare.fact_changes import choice_of
from nettests.compare.reading import read_results
from nettests.compare.recorded import RecordedRun, cluster_name
from nettests.errors import PathError, PlanError
from nettests.model import limits
from nettests.model.codec import decode_only
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import NOT_STARTED, Begin
from nettests.model.run_folder import CALIBRATION, JOURNAL, LATEST, RESULTS
from nettests.model.verdict import DEVIATING
from nettests.model.words import Verdict
from nettests.outside_files import path_error, read_bytes
from nettests.plan import Choice

# samples: "latest", "latest~1"
_BACK = re.compile(rf"{LATEST}(?:~(?P<back>\d{{1,4}}))?")


def results_of(word: str, reports: Path) -> Path:
    """Return the ``results.json`` that a command-line argument names; ``PathError`` without one."""
    path = _path(word, reports)
    if path.is_dir():
        document = path / RESULTS
        if document.is_file():
            return document
        if (path / JOURNAL).is_file():
            raise PathError(
                f"{path} has no {RESULTS}: its run is going on, or was killed",
                hint=_rejudge_hint(path),
            )
        raise PathError(f"{path} is not a run's folder: it has neither {RESULTS} nor {JOURNAL}")
    if path.name == JOURNAL:
        raise PathError(
            f"{path} is a journal, and documents are compared", hint=_rejudge_hint(path.parent)
        )
    return path


def _path(word: str, reports: Path) -> Path:
    """Return the path that an argument names: an earlier run's folder, or an existing path."""
    match, path = _BACK.fullmatch(word), Path(word)
    if path.exists():
        return path
    if match is None:
        raise PathError(
            f"there is no run {path}",
            hint=f"name a run's folder, its {RESULTS}, or {LATEST}, {LATEST}~1 … (--report-dir)",
        )
    steps, runs = int(match["back"] or 0), runs_in(reports)
    if steps >= len(runs):
        held = f"{len(runs)} runs" if runs else "no run"
        raise PathError(
            f"{reports} holds {held}, and no run {steps} before the latest",
            hint="name the folder of reports with --report-dir",
        )
    return runs[-1 - steps]


def recorded_run(word: str, reports: Path) -> RecordedRun:
    """Return the run that a command-line argument names, as recorded in its ``results.json``."""
    path = results_of(word, reports)
    return read_results(read_document(path), str(path))


def started_run(word: str, reports: Path) -> tuple[RecordedRun, ClusterFacts]:
    """Return the run that a command-line argument names, with its facts; ``PathError`` without any."""
    run = recorded_run(word, reports)
    if run.facts is None:
        raise PathError(
            f"{results_of(word, reports)} has no facts: that run could not start",
            hint="name another run",
        )
    return run, run.facts


def folder_of(word: str, reports: Path) -> Path:
    """Return the folder, with a journal, of the run that a command-line argument names."""
    path = _path(word, reports)
    # A run's document stands for its folder; any other file does not.
    folder = path.parent if path.name in {RESULTS, JOURNAL} else path
    if not (folder / JOURNAL).is_file():
        raise PathError(
            f"there is no {JOURNAL} of the run {word}",
            hint=f"name a run's folder, or {LATEST}, {LATEST}~1 … (--report-dir)",
        )
    return folder


def read_document(path: Path) -> bytes:
    """Return the content of a document; ``PathError`` if it cannot be read."""
    with path_error(path):
        return read_bytes(path)


def runs_in(reports: Path) -> list[Path]:
    """Return the folders of runs below ``reports``, oldest first, unless they could not start."""
    if not reports.is_dir():
        return []
    began = {folder: _start(folder) for folder in _below(reports)}
    return sorted(
        (folder for folder in began if began[folder]),
        key=lambda folder: (str(began[folder]), folder.name),
    )


def folders_of_runs(reports: Path) -> list[Path]:
    """Return the folders below ``reports`` with a journal or documents, by name, without links."""
    with path_error(reports, hint="name the folder that holds the folders of runs"):
        below = sorted(_below(reports))
    return [
        folder for folder in below if (folder / RESULTS).is_file() or (folder / JOURNAL).is_file()
    ]


def _below(reports: Path) -> list[Path]:
    return [
        folder
        for folder in reports.iterdir()
        if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith(CALIBRATION)
    ]


def begin_of(folder: Path) -> Begin | None:
    """Return the first record of a run's journal, or ``None`` if the folder is not a run's."""
    try:
        if not (folder / JOURNAL).is_file():  # reading a pipe would block
            return None
        with (folder / JOURNAL).open("rb") as file:
            return decode_only(file.readline(limits.YAML_BYTES), Begin)
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _start(folder: Path) -> str | None:
    """Return when a run started, or ``None`` if it could not start or the folder is not a run's."""
    begin = begin_of(folder)
    if begin is None:
        return None
    with (folder / JOURNAL).open("rb") as file:
        file.readline(limits.YAML_BYTES)
        second = file.readline(limits.YAML_BYTES)
    return None if NOT_STARTED.encode() in second else begin.started


def _rejudge_hint(folder: Path) -> str:
    return f"make its documents with `nettests rejudge {folder}`, and name {folder / 'rejudged'}"


def previous_run(directory: Path) -> tuple[Path, RecordedRun] | None:
    """Return the folder and the results of the run before the one in ``directory``, or ``None``.

    Looks beside the folder; ignores runs that could not start or planned nothing.
    """
    current = begin_of(directory)
    if current is None or not current.run_id:
        return None
    for folder in reversed(runs_in(directory.parent)):
        begin, document = begin_of(folder), folder / RESULTS
        if begin is None or begin.run_id == current.run_id or begin.started > current.started:
            continue
        if _cluster_and_choice(begin) == _cluster_and_choice(current) and document.is_file():
            try:
                recorded = read_results(read_document(document), str(document))
            except PathError:
                continue
            if recorded.run.error is None and recorded.checks:
                return folder, recorded
    return None


def _cluster_and_choice(begin: Begin) -> Hashable:
    """Return what makes runs comparable: the cluster and the choice of checks."""
    cluster = cluster_name(begin.server or "", begin.context or "")
    return cluster, choice_of(begin.argv, begin.suites)


AGAIN = DEVIATING | {Verdict.UNKNOWN}


def with_failed(choice: Choice, word: str | None, reports: Path) -> Choice:
    """Return the choice, reduced to checks and members that deviated or were unknown in a run.

    ``word`` names the run, as on the command line (``recorded_runs``); ``None`` changes nothing.
    """
    if word is None:
        return choice
    run, facts = started_run(word, reports)
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
    return Choice(patterns=choice.patterns, run=run.run.run_id, again=again, seed=facts.fleet.seed)
