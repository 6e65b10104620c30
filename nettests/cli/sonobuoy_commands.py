"""``nettests sonobuoy render | run``: the plugin definition for Sonobuoy, and the command in its container.

Arguments and output only: ``job.sonobuoy`` renders, ``session.sonobuoy_run`` runs.
"""

import os
import sys
import tempfile
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.job_options import require_run_arguments
from nettests.job import Wanted, checked
from nettests.job.sonobuoy import PORT_VARIABLE, RESULTS_FOLDER, RESULTS_VARIABLE, definition
from nettests.model.yaml_writing import write_yaml
from nettests.session.sonobuoy_run import deliver_run, port_of


@click.group()
def sonobuoy() -> None:
    """Run as a plugin of Sonobuoy."""


@sonobuoy.command(
    cls=Command,
    example="nettests sonobuoy render --image registry.example/nettests:0.1.0 -- --enable=costly",
)
@click.option("--image", required=True, metavar="REFERENCE", help="The image that holds nettests.")
@click.argument("run_args", nargs=-1, type=click.UNPROCESSED)
def render(*, image: str, run_args: tuple[str, ...]) -> None:
    """Print the plugin's definition, for `sonobuoy run --plugin`.

    RUN_ARGS, after --, are those of `nettests run`.
    """
    require_run_arguments(run_args)
    checked(Wanted(image=image))
    terminal.block(write_yaml(definition(image, run_args), ascii_only=True))


@sonobuoy.command(name="run", cls=Command, example="nettests sonobuoy run -- --enable=costly")
@click.argument("run_args", nargs=-1, type=click.UNPROCESSED)
def run_plugin(*, run_args: tuple[str, ...]) -> None:
    """Run in the container of Sonobuoy's plugin, and deliver the report.

    RUN_ARGS, after --, are those of `nettests run`, whose exit code this has. Progress goes to Sonobuoy's worker; the
    report, and then the file done, into its results folder.
    """
    results = Path(os.environ.get(RESULTS_VARIABLE) or RESULTS_FOLDER)
    port = port_of(os.environ.get(PORT_VARIABLE, ""))
    reports = Path(tempfile.mkdtemp(prefix="nettests-"))
    code = deliver_run(
        run_args, results, reports, port, lambda sentence: terminal.paragraph(sentence, err=True)
    )
    terminal.line(f"results: {results}")
    sys.exit(code)
