"""Find finished runs on disk: a run's folder, its ``results.json``, or ``latest`` and its predecessors. Reads only."""

import re
from pathlib import Path

from nettests.compare.reading import read_results
from nettests.compare.recorded import RecordedRun
from nettests.errors import PathError
from nettests.model import limits
from nettests.model.journal_lines import decode_only
from nettests.model.journal_records import NOT_STARTED, Begin
from nettests.model.run_folder import CALIBRATION, JOURNAL, LATEST, RESULTS
from nettests.outside_files import read_bytes

# samples: "latest", "latest~1"
_BACK = re.compile(rf"{LATEST}(?:~(?P<back>\d{{1,4}}))?")


def results_of(word: str, reports: Path) -> Path:
    """Return the ``results.json`` that a word of the command line means; ``PathError`` where there is none."""
    match = _BACK.fullmatch(word)
    if match is not None and not Path(word).exists():
        return _results_file(_back(int(match["back"] or 0), reports))
    path = Path(word)
    if path.is_dir():
        return _results_file(path)
    _require_there(path)
    if path.name == JOURNAL:
        raise PathError(
            f"{path} is a journal, and documents are compared", hint=_rejudge_hint(path.parent)
        )
    return path


def recorded_run(word: str, reports: Path) -> RecordedRun:
    """Return the run that a word of the command line means, as its ``results.json`` has it."""
    path = results_of(word, reports)
    return read_results(read_document(path), str(path))


def folder_of(word: str, reports: Path) -> Path:
    """Return the folder of the run that a word of the command line means, for those who read its journal."""
    match = _BACK.fullmatch(word)
    if match is not None and not Path(word).exists():
        folder = _back(int(match["back"] or 0), reports)
    else:
        path = Path(word)
        _require_there(path)
        # Of a run's documents the folder is meant; any other file is no run, whatever lies beside it.
        folder = path.parent if path.name in {RESULTS, JOURNAL} else path
    if not (folder / JOURNAL).is_file():
        raise PathError(
            f"there is no {JOURNAL} of the run {word}",
            hint=f"name a run's folder, or {LATEST}, {LATEST}~1 … (--report-dir)",
        )
    return folder


def _require_there(path: Path) -> None:
    if not path.exists():
        raise PathError(
            f"there is no run {path}",
            hint=f"name a run's folder, its {RESULTS}, or {LATEST}, {LATEST}~1 … (--report-dir)",
        )


def read_document(path: Path) -> bytes:
    """Return what is in a document; ``PathError`` where it cannot be read."""
    try:
        return read_bytes(path)
    except OSError as error:
        raise PathError(f"{path} cannot be read: {error.strerror}") from error


def runs_in(reports: Path) -> list[Path]:
    """Return the folders of runs in a folder of reports, in the order in which they started; not of those that could not."""
    if not reports.is_dir():
        return []
    began = {folder: _start(folder) for folder in _below(reports)}
    return sorted(
        (folder for folder in began if began[folder]),
        key=lambda folder: (str(began[folder]), folder.name),
    )


def folders_of_runs(reports: Path) -> list[Path]:
    """Return what runs left in a folder, by name: folders with a journal or with documents alone, links left aside."""
    try:
        below = sorted(_below(reports))
    except OSError as error:
        raise PathError(
            f"{reports} cannot be read: {error.strerror}",
            hint="name the folder that holds the folders of runs",
        ) from error
    return [
        folder for folder in below if (folder / RESULTS).is_file() or (folder / JOURNAL).is_file()
    ]


def _below(reports: Path) -> list[Path]:
    return [
        folder
        for folder in reports.iterdir()
        if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith(CALIBRATION)
    ]


def _back(steps: int, reports: Path) -> Path:
    runs = runs_in(reports)
    if steps >= len(runs):
        held = f"{len(runs)} runs" if runs else "no run"
        raise PathError(
            f"{reports} holds {held}, and no run {steps} before the latest",
            hint="name the folder of reports with --report-dir",
        )
    return runs[-1 - steps]


def begin_of(folder: Path) -> Begin | None:
    """Return the first record of a run's journal; ``None`` for what is no run's folder."""
    try:
        if not (folder / JOURNAL).is_file():  # a pipe would be waited for
            return None
        with (folder / JOURNAL).open("rb") as file:
            return decode_only(file.readline(limits.YAML_BYTES), Begin)
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _start(folder: Path) -> str | None:
    """Return when a run started; ``None`` for one that could not, and for what is no run's folder."""
    begin = begin_of(folder)
    if begin is None:
        return None
    with (folder / JOURNAL).open("rb") as file:
        file.readline(limits.YAML_BYTES)
        second = file.readline(limits.YAML_BYTES)
    return None if NOT_STARTED.encode() in second else begin.started


def _results_file(folder: Path) -> Path:
    document = folder / RESULTS
    if document.is_file():
        return document
    if (folder / JOURNAL).is_file():
        raise PathError(
            f"{folder} has no {RESULTS}: its run is going on, or was killed",
            hint=_rejudge_hint(folder),
        )
    raise PathError(f"{folder} is no run's folder: it has neither {RESULTS} nor {JOURNAL}")


def _rejudge_hint(folder: Path) -> str:
    return f"make its documents with `nettests rejudge {folder}`, and name {folder / 'rejudged'}"
