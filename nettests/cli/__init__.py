"""The command line: ``nettests run | preflight | plan | render | images | lab`` and more.

Arguments in, text out; no logic. ``run`` is pytest with our plugin; ``lab`` is a separate program.
"""

from pathlib import Path

import click

import nettests
from nettests.cli.command_group import Commands

__all__ = ["main"]


def _commands() -> dict[str, dict[str, tuple[str, str]]]:
    """Return the module and the line in ``--help`` of each command, by heading and name."""
    commands: dict[str, dict[str, tuple[str, str]]] = {}
    for line in Path(__file__).with_name("commands.txt").read_text("utf-8").splitlines()[1:]:
        heading, name, module, says = line.split("; ", 3)
        commands.setdefault(heading, {})[name] = (module, says)
    return commands


COMMANDS = _commands()
"""Listed in ``commands.txt``: no command is imported to list them all."""


def _version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's call
    if wanted:
        # Our own text; the writer of texts of a cluster would take longer to load.
        click.echo(f"nettests, version {nettests.__version__}")  # noqa: TID251
        ctx.exit()


@click.group(
    cls=Commands, commands_of=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, envvar="NETTESTS_DEBUG", help="Show tracebacks.")
def main(*, debug: bool) -> None:
    """Does Windows networking in this Kubernetes cluster behave as documented?

    See it at work on an emulated cluster: nettests run --lab. Then test your own:
    nettests run --kubeconfig FILE.
    """
