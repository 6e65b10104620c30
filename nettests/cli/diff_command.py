"""``nettests diff A B``: what changed between two runs, and why.

Arguments and output only: ``session.recorded_runs`` finds the runs, ``compare`` compares and describes them.
"""

import sys
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.completion import runs
from nettests.cli.help import Command
from nettests.cli.options import own_options, report_dir_option
from nettests.cli.output_options import output_option
from nettests.cli.section_lines import tell, write_page
from nettests.compare.difference import difference
from nettests.compare.difference_text import document, overview
from nettests.compare.sections import render_markdown, render_page
from nettests.forecast.forecast_text import read_forecast
from nettests.forecast.fulfilment import forecast_data, fulfilment, with_forecast
from nettests.session.recorded_runs import read_document, recorded_run


@click.command(cls=Command, example="nettests diff latest~1 latest --html diff.html")
@click.argument("before", metavar="A", shell_complete=runs)
@click.argument("after", metavar="B", shell_complete=runs)
@report_dir_option("Where `latest` and `latest~1` are looked for.")
@output_option()
@own_options("diff")
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
    old, new = (recorded_run(word, report_dir) for word in (before, after))
    changes = difference(old, new, (before, after))
    shown, data = overview(changes), document(changes)
    if forecast is not None:
        expected = read_forecast(read_document(forecast), str(forecast))
        fulfilled = fulfilment(expected, changes, new)
        shown, data["forecast"] = with_forecast(shown, fulfilled), forecast_data(fulfilled)
    if page is not None:
        write_page(page, render_page(shown))
    if output == "json":
        terminal.document(data)
    elif output == "markdown":
        terminal.block(render_markdown(shown))
    else:
        tell(shown, "--output json and --html have all", quiet=quiet)
    if page is not None and output == "text":
        terminal.line(f"page: {page}")
    sys.exit(changes.exit_code)
