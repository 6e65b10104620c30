"""``nettests open``: a run's page in a browser. ``nettests archive``, and ``--archive`` of a run: its folder as one file.

``job.archive`` decides what is in an archive; ``session.recorded_runs`` finds the folder.
"""

import os
import webbrowser
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.completion import runs
from nettests.cli.help import Command
from nettests.cli.options import own_options, report_dir_option
from nettests.errors import NettestsError, PathError
from nettests.job.archive import pack, packable, spelled_archive
from nettests.model.run_folder import HTML
from nettests.outside_files import path_error
from nettests.private import write_bytes
from nettests.session.recorded_runs import folder_of, results_of
from nettests.session.report_dir import newest, read_folder

PRINTED = "-"
"""The name of a file that stands for standard output."""


@click.command(cls=Command, example="nettests archive latest --to report.tar.gz")
@click.argument("run", metavar="RUN")
@report_dir_option("Where reports are, for latest and latest~1.")
@own_options("archive")
def archive(*, run: str, report_dir: Path, to: Path | None) -> None:
    """Archive a run's folder as one file.

    RUN is a folder, latest or latest~1. `nettests job fetch` reads what --to=- prints.
    """
    folder = results_of(run, report_dir).parent.resolve()
    write_archive(folder, to or Path(f"{folder.name}.tar.gz"))


def write_archive(folder: Path, to: Path) -> None:
    """Write, or print, the archive of a run's folder."""
    files = read_folder(folder)
    if str(to) == PRINTED:
        packed = pack(folder.name, files, most=packable())
        terminal.encoded(spelled_archive(packed))
        return
    with path_error(to, "written"):
        write_bytes(to, pack(folder.name, files).data)
    terminal.line(f"archive: {to}")


def archive_of_run(reports: Path, before: Path | None, to: Path) -> None:
    """Archive the run that has just ended; a failure is printed and does not change the run's result."""
    folder = newest(reports)
    try:
        if folder is None or folder == before:
            raise PathError("this run has left no report")
        write_archive(folder, to)
    except NettestsError as error:
        terminal.paragraph(f"archive: {error}", err=True)


@click.command("open", cls=Command, example="nettests open latest~1")
@click.argument("run", metavar="[RUN]", default="latest", shell_complete=runs)
@report_dir_option("Where `latest` and `latest~1` are looked for.")
def open_(*, run: str, report_dir: Path) -> None:
    """Open the report of a run, by default of the latest.

    RUN is a folder of a run, or latest, latest~1 …. The path is printed, too; if the output is no terminal, nothing else
    happens.
    """
    page = folder_of(run, report_dir) / HTML
    if not page.is_file():
        raise PathError(
            f"{page.parent} has no {HTML}: its run is going on, or was killed",
            hint=f"make it with `nettests rejudge {page.parent}`",
        )
    terminal.line(str(page))
    if os.isatty(1):
        webbrowser.open(page.resolve().as_uri())
