"""``nettests diff A B``: what changed between two runs, and why.

Only words here: runs are found by ``session.recorded_runs``, compared and worded by ``compare``.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.text import Text

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import report_dir_option
from nettests.compare import (
    Difference,
    Section,
    difference,
    document,
    headline,
    read_results,
    render_markdown,
    render_page,
    run_line,
    sections,
)
from nettests.errors import PathError
from nettests.model.visible import as_line
from nettests.model.words import Verdict
from nettests.plugin.reporter import STYLE
from nettests.private import write_text
from nettests.report.text import plural
from nettests.session.recorded_runs import read_document, results_of
from nettests.terminal.drawing import console

SHOWN = 12
"""Items of a section on a terminal; the page and --output json have all."""
NAMED = 4
"""Checks of one item."""


@click.command(cls=Command, example="nettests diff latest~1 latest --html diff.html")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@report_dir_option("Where `latest` and `latest~1` are looked for.")
@click.option(
    "--output",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="What is printed.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a page with everything that changed.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print the headline only.")
def diff(
    *, before: str, after: str, report_dir: Path, output: str, page: Path | None, quiet: bool
) -> None:
    """Show what changed between run A and run B, and why.

    A and B are folders of runs, results.json files, or latest, latest~1 … for the runs in --report-dir. Checks are
    joined by their ids. A change is explained where a fact that its expectation depends on changed too.

    Exit code: 0 B is not worse; 1 a check deviates that did not; 6 checks were judged and are unknown; 7 B judged nothing.
    """
    paths = [results_of(word, report_dir) for word in (before, after)]
    old, new = (read_results(read_document(path), str(path)) for path in paths)
    found = difference(old, new, (before, after))
    if page is not None:
        _write(page, render_page(found))
    if output == "json":
        terminal.document(document(found))
    elif output == "markdown":
        terminal.block(render_markdown(found))
    else:
        _tell(found, quiet=quiet)
    if page is not None and output == "text":
        terminal.line(f"page: {page}")
    sys.exit(found.exit_code)


def _tell(found: Difference, *, quiet: bool) -> None:
    drawn = console(soft_wrap=True)
    if not quiet:
        for line in _lines(found):
            drawn.print(line)
    drawn.print(Text(as_line(headline(found)), style="bold"))


def _lines(found: Difference) -> Iterator[Text]:
    for one in (found.before, found.after):
        yield Text(as_line(run_line(one)))
    for warning in found.warnings:
        yield Text(as_line(f"warning: {warning}"), style="yellow")
    for section in sections(found):
        yield Text("")
        yield Text(as_line(f"{section.title} ({section.size})"), style="bold")
        yield from _items(section)
    yield Text("")


def _items(section: Section) -> Iterator[Text]:
    if section.lead:
        yield Text(as_line(f"  {section.lead}"), style="dim")
    for item in section.items[:SHOWN]:
        head = Text(as_line(f"  {item.head}"), style=_style(item.verdict))
        names = item.names if len(item.names) == 1 else (plural(len(item.names), "check"),)
        yield head.append(as_line(f"  {names[0]}"), style="default")
        for line in item.lines:
            if line:
                yield Text(as_line(f"      {line}"), style="dim")
        if len(item.names) > 1:
            yield from _names(item.names)
    more = len(section.items) - SHOWN
    if more > 0:
        yield Text(f"  … and {plural(more, 'more item')}: --output json and --html have all")


def _names(names: tuple[str, ...]) -> Iterator[Text]:
    for name in names[:NAMED]:
        yield Text(as_line(f"      {name}"))
    if len(names) > NAMED:
        yield Text(f"      … and {len(names) - NAMED} more")


def _style(verdict: Verdict | None) -> str:
    return STYLE[verdict] if verdict else "default"


def _write(file: Path, text: str) -> None:
    try:
        write_text(file, text)
    except OSError as error:
        raise PathError(
            f"{file} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from error
