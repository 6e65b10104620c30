"""Read a run's folder to be archived, and write a fetched archive into a folder. The I/O of ``job.archive``."""

from pathlib import Path, PurePosixPath

from nettests.errors import PathError
from nettests.model import limits
from nettests.model.run_folder import JOURNAL, RESULTS, RUN_ID
from nettests.outside_files import path_error, read_bytes
from nettests.private import make_folder, require_writable, write_bytes
from nettests.session.report_dir import link_latest


def read_folder(folder: Path) -> dict[PurePosixPath, bytes]:
    """Return the regular files of a run's folder; ``PathError`` if it is none or unreadable."""
    if not (folder / RESULTS).is_file() and not (folder / JOURNAL).is_file():
        raise PathError(
            f"{folder} is not a run's folder: it has neither {RESULTS} nor {JOURNAL}",
            hint="name the folder of one run, or latest",
        )
    with path_error(folder):
        return {
            PurePosixPath(path.relative_to(folder)): read_bytes(path, limits.JOURNAL_BYTES)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }


def write_folder(reports: Path, run: str, files: dict[PurePosixPath, bytes]) -> Path:
    """Write a run's folder below ``reports``, as a run would; ``PathError`` if it exists."""
    require_writable(reports)
    folder = reports / run
    if folder.exists():
        raise PathError(
            f"{folder} is there already",
            hint="it was fetched before, or is of another run: name another folder with --to",
        )
    try:
        for path, content in files.items():
            make_folder((folder / path).parent)
            write_bytes(folder / path, content)
    except (OSError, ValueError) as error:  # the latter for a NUL or a lone surrogate
        reason = error.strerror if isinstance(error, OSError) else error
        raise PathError(f"{folder} cannot be written: {reason}") from error
    link_latest(folder)
    return folder


def newest(reports: Path) -> Path | None:
    """Return the folder of the newest run, even one that could not start, or ``None``."""
    if not reports.is_dir():
        return None
    runs = [folder for folder in reports.iterdir() if RUN_ID.fullmatch(folder.name)]
    return max(runs, default=None)
