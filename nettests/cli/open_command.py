"""``nettests open``: the page of a run in a browser. Reads only."""

import os
import webbrowser
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.completion import runs
from nettests.cli.help import Command
from nettests.cli.options import report_dir_option
from nettests.errors import PathError
from nettests.model.run_folder import HTML
from nettests.session.recorded_runs import folder_of


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
