"""``nettests history DIR``: trends over many runs: what has been red since when, and which facts changed.

Arguments and output only: ``session.recorded_runs`` finds folders, ``compare`` reads runs, ``history`` finds trends.
"""

import os
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import click
from rich.text import Text

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import own_options
from nettests.cli.output_options import json_option
from nettests.cli.section_lines import tell, write_page
from nettests.compare.reading import read_results
from nettests.errors import PathError
from nettests.history.history_page import render_page
from nettests.history.history_text import document, left_out_lines, overview
from nettests.history.trends import LeftOutRun, ReadRun, history_of
from nettests.model.run_folder import HTML
from nettests.model.visible import as_line
from nettests.session.recorded_runs import folders_of_runs, read_document, results_of
from nettests.terminal.drawing import console

SHOWN = 8
"""Items of a section on a terminal; the page and --json have all."""


@click.command(cls=Command, example="nettests history reports --html history.html")
@click.argument(
    "folder",
    metavar="[DIR]",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("reports"),
)
@own_options("history")
@json_option("Print the history for programs.")
def history(
    *, folder: Path, since: datetime | None, page: Path | None, as_json: bool, one_cluster: bool
) -> None:
    """Show trends over all runs in DIR.

    Which checks are red since when, which are flaky, which were repaired.

    DIR is the --report-dir of the runs, reports by default. For each check that turned red: its first bad run, the last good run before it,
    and the facts that changed in between. Runs of different clusters are kept apart. Unreadable runs are listed and
    left out.
    """
    read, unread = _read(folder, page)
    if not read:
        raise PathError(
            f"{folder} holds no run that can be read",
            hint="name the folder that holds the folders of runs, such as reports",
        )
    begins = since.replace(tzinfo=UTC) if since else None
    trends = history_of(read, unread, since=begins, one_cluster=one_cluster)
    if not trends.clusters and since:
        raise PathError(
            f"{folder} holds no run that started on {since:%Y-%m-%d} or later",
            hint="name an earlier day with --since, or leave it out",
        )
    if page is not None:
        write_page(page, render_page(trends))
    if as_json:
        terminal.document(document(trends))
        return
    drawn = console(soft_wrap=True)
    for cluster in trends.clusters:
        tell(overview(cluster), "--json and --html have all", shown=SHOWN, line_style="bold")
        drawn.print(Text(""))
    if trends.left_out:
        drawn.print(Text(f"Left out ({len(trends.left_out)})", style="bold"))
        for sentence in left_out_lines(trends.left_out):
            drawn.print(Text(as_line(f"  {sentence}"), style="dim"))
    if page is not None:
        terminal.line(f"page: {page}")


def _read(folder: Path, page: Path | None) -> tuple[list[ReadRun], list[LeftOutRun]]:
    """Return the runs below a folder, and what there could not be read."""
    read, unread = [], []
    for run_folder in folders_of_runs(folder):
        try:
            path = results_of(str(run_folder), folder)
            run = read_results(read_document(path), path.name)
        except PathError as error:
            unread.append(LeftOutRun(name=run_folder.name, reason=error.message))
        else:
            read.append(ReadRun(name=run_folder.name, run=run, report=_report(run_folder, page)))
    return read, unread


def _report(folder: Path, page: Path | None) -> str:
    """Return the address of a run's report from the page that links to it; empty where there is none."""
    report = folder / HTML
    if page is None or not report.is_file():
        return ""
    return quote(Path(os.path.relpath(report, page.parent)).as_posix())
