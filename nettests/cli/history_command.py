"""``nettests history DIR``: trends over many runs: what has been red since when, and which facts changed.

Arguments and output only: ``session.recorded_runs`` finds folders, ``compare`` reads runs, ``history`` finds trends.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import click
from rich.text import Text

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.output_options import json_option
from nettests.compare.reading import read_results
from nettests.compare.sections import Section
from nettests.errors import PathError
from nettests.history import (
    ClusterHistory,
    History,
    LeftOutRun,
    ReadRun,
    document,
    headline,
    history_of,
    left_out_lines,
    render_page,
    sections,
    span_line,
    warnings,
)
from nettests.model.run_folder import HTML
from nettests.model.visible import as_line
from nettests.plugin.reporter import STYLE
from nettests.private import write_text
from nettests.report.text import plural
from nettests.session.recorded_runs import folders_of_runs, read_document, results_of
from nettests.terminal.drawing import console

SHOWN = 8
"""Items of a section on a terminal; the page and --json have all."""
NAMED = 4
"""Checks of one item."""


@click.command(cls=Command, example="nettests history reports --html history.html")
@click.argument(
    "folder",
    metavar="[DIR]",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("reports"),
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    metavar="DATE",
    help="Leave runs out that started before (UTC).",
)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a page with charts and a strip for each check.",
)
@json_option("Print the history for programs.")
@click.option(
    "--one-cluster",
    is_flag=True,
    help="Take all runs for those of one cluster, whatever API server they name.",
)
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
        _write(page, render_page(trends))
    if as_json:
        terminal.document(document(trends))
        return
    _tell(trends)
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


def _tell(trends: History) -> None:
    drawn = console(soft_wrap=True)
    for cluster in trends.clusters:
        for line in _lines(cluster):
            drawn.print(line)
    if trends.left_out:
        drawn.print(Text(f"Left out ({len(trends.left_out)})", style="bold"))
        for sentence in left_out_lines(trends.left_out):
            drawn.print(Text(as_line(f"  {sentence}"), style="dim"))


def _lines(cluster: ClusterHistory) -> Iterator[Text]:
    yield Text(as_line(span_line(cluster)), style="bold")
    for warning in warnings(cluster):
        yield Text(as_line(f"warning: {warning}"), style="yellow")
    for section in sections(cluster):
        yield Text("")
        yield Text(as_line(f"{section.title} ({section.size})"), style="bold")
        yield from _items(section)
    yield Text("")
    yield Text(as_line(headline(cluster)), style="bold")
    yield Text("")


def _items(section: Section) -> Iterator[Text]:
    for item in section.items[:SHOWN]:
        style = STYLE[item.verdict] if item.verdict else "default"
        names = item.names if len(item.names) == 1 else (plural(len(item.names), "check"),)
        head = Text(as_line(f"  {item.head}"), style=style)
        yield head.append(as_line(f"  {names[0]}"), style="default")
        for line in item.lines:
            yield Text(as_line(f"      {line}"), style="dim")
        if len(item.names) > 1:
            for name in item.names[:NAMED]:
                yield Text(as_line(f"      {name}"))
        if len(item.names) > NAMED:
            yield Text(f"      … and {len(item.names) - NAMED} more")
    more = len(section.items) - SHOWN
    if more > 0:
        yield Text(f"  … and {plural(more, 'more item')}: --json and --html have all")


def _write(file: Path, text: str) -> None:
    try:
        write_text(file, text)
    except OSError as error:
        raise PathError(
            f"{file} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from error
