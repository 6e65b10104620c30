"""``nettests diff A B``: what changed between two runs, and why.

Arguments and output only: ``session.recorded_runs`` finds the runs, ``compare`` compares and describes them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.text import Text

from nettests import terminal
from nettests.cli.completion import runs
from nettests.cli.help import Command
from nettests.cli.options import report_dir_option
from nettests.cli.output_options import output_option
from nettests.cli.section_lines import section_lines
from nettests.compare import (
    Difference,
    difference,
    document,
    headline,
    read_results,
    render_markdown,
    render_page,
    run_line,
    sections,
)
from nettests.compare.items import NO_MORE, More
from nettests.errors import PathError
from nettests.forecast import forecast_data, fulfilment, more_of, read_forecast
from nettests.model.visible import as_line
from nettests.private import write_text
from nettests.session.recorded_runs import read_document, results_of
from nettests.terminal.drawing import console


@click.command(cls=Command, example="nettests diff latest~1 latest --html diff.html")
@click.argument("before", metavar="A", shell_complete=runs)
@click.argument("after", metavar="B", shell_complete=runs)
@report_dir_option("Where `latest` and `latest~1` are looked for.")
@output_option()
@click.option(
    "--forecast",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Say which changes of a forecast were observed: what `nettests forecast --output json` printed before the upgrade.",
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
    *,
    before: str,
    after: str,
    report_dir: Path,
    forecast: Path | None,
    output: str,
    page: Path | None,
    quiet: bool,
) -> None:
    """Show what changed between run A and run B, and why.

    A and B are folders of runs, results.json files, or latest, latest~1 … for the runs in --report-dir. Checks are
    joined by their ids. A change is explained where a fact that its expectation depends on changed too, and predicted
    where --forecast named it and B shows what was forecast.

    Exit code: 0 B is not worse; 1 a check deviates that did not; 6 checks were judged and are unknown; 7 B judged nothing.
    """
    paths = [results_of(word, report_dir) for word in (before, after)]
    old, new = (read_results(read_document(path), str(path)) for path in paths)
    changes = difference(old, new, (before, after))
    fulfilled = None
    if forecast is not None:
        expected = read_forecast(read_document(forecast), str(forecast))
        fulfilled = fulfilment(expected, changes, new)
    more = more_of(fulfilled) if fulfilled else NO_MORE
    if page is not None:
        _write(page, render_page(changes, more))
    if output == "json":
        extra = {"forecast": forecast_data(fulfilled)} if fulfilled else {}
        terminal.document({**document(changes), **extra})
    elif output == "markdown":
        terminal.block(render_markdown(changes, more))
    else:
        _tell(changes, more, quiet=quiet)
    if page is not None and output == "text":
        terminal.line(f"page: {page}")
    sys.exit(changes.exit_code)


def _tell(changes: Difference, more: More, *, quiet: bool) -> None:
    drawn = console(soft_wrap=True)
    if not quiet:
        for line in _lines(changes, more):
            drawn.print(line)
    for sentence in more.lines:
        drawn.print(Text(as_line(sentence)))
    drawn.print(Text(as_line(headline(changes)), style="bold"))


def _lines(changes: Difference, more: More) -> Iterator[Text]:
    for run in (changes.before, changes.after):
        yield Text(as_line(run_line(run)))
    for warning in (*changes.warnings, *more.warnings):
        yield Text(as_line(f"warning: {warning}"), style="yellow")
    yield from section_lines(
        (*more.sections, *sections(changes)), "--output json and --html have all"
    )


def _write(file: Path, text: str) -> None:
    try:
        write_text(file, text)
    except OSError as error:
        raise PathError(
            f"{file} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from error
