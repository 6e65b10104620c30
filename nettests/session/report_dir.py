"""The start of a run's folder: its name, the link ``latest``, and the first record of its journal.

Also for a run that could not start. ``run`` writes the rest. A run in the cluster ends as an archive
of its folder, which is fetched and unpacked here (the I/O of ``job.archive``).
"""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from nettests import __version__
from nettests.errors import PathError
from nettests.model import limits
from nettests.model.journal_records import NOT_STARTED, Begin, ManifestFile
from nettests.model.run_folder import JOURNAL, LATEST, RESULTS, RUN_ID
from nettests.outside_files import path_error, read_bytes
from nettests.private import make_folder, require_writable, write_bytes
from nettests.session.journal import Journal
from nettests.session.run_options import RunOptions


def link_latest(directory: Path) -> None:
    """Point ``latest`` at the newest run, if the file system has links."""
    link = directory.parent / LATEST
    temporary = directory.parent / f".{LATEST}-{directory.name}"
    with suppress(OSError):
        temporary.symlink_to(directory.name)
        temporary.replace(link)


def new_run_id() -> str:
    """Return a run id: sortable by time, unique, and usable in a DNS label."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def record_failed_start(options: RunOptions, error: Exception, *, exit_code: int) -> Path:
    """Write a journal that says why no run began, without secrets, and return its run directory.

    ``latest`` is not changed: such a run is useless for comparisons and baselines.
    """
    run_id = new_run_id()
    directory = options.report_dir / run_id
    with Journal(directory / JOURNAL) as journal:
        write_head(journal, options, run_id, context="", server="", digests=())
        journal.event(f"{NOT_STARTED}{error}")
        journal.end(exit_code=exit_code, counts={})
    return directory


def write_head(
    journal: Journal,
    options: RunOptions,
    run_id: str,
    *,
    context: str,
    server: str,
    digests: Sequence[ManifestFile],
) -> None:
    """Write the first record of a journal: who ran what, against which cluster."""
    journal.write(
        Begin(
            run_id=run_id,
            started=datetime.now(UTC).isoformat(),
            nettests=__version__,
            context=context,
            server=server,
            cluster_profile=str(options.cluster_profile) if options.cluster_profile else None,
            argv=tuple(options.argv),
            suites=tuple(options.suites),
            manifests=tuple(digests),
        )
    )


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
