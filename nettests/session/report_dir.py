"""The start of a run's folder: its name, the link ``latest``, and the first record of its journal.

Also for a run that could not start. ``run`` writes the rest.
"""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from nettests import __version__
from nettests.model.journal_records import NOT_STARTED, Begin, ManifestFile
from nettests.model.run_folder import JOURNAL, LATEST
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
