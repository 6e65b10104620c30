"""``nettests lab``: passes everything on to the lab, which is a program of its own."""

import subprocess
import sys

import click

from nettests.plugin.lab import COMMAND


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def lab(*, arguments: tuple[str, ...]) -> None:
    """Bring an emulated cluster up or down, break and mend it.

    lab up | down | status | profiles | kubeconfig | fault; each has its own --help.
    """
    sys.exit(subprocess.run([*COMMAND, *(arguments or ("--help",))], check=False).returncode)
