"""``nettests lab``: the lab is a separate program; its arguments are passed on."""

import signal
import subprocess
import sys
from collections.abc import Sequence

import click

from nettests.plugin.lab import COMMAND
from nettests.session.process import ENDING


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def lab(*, arguments: tuple[str, ...]) -> None:
    """Start and stop emulated clusters, and inject faults.

    lab up | down | status | profiles | kubeconfig | fault; each has its own --help.
    """
    sys.exit(carried_out([*COMMAND, *(arguments or ("--help",))]))


def carried_out(words: Sequence[str]) -> int:
    """Run a program to its end and return its exit code.

    SIGTERM and SIGHUP are passed on as SIGTERM. An interrupt at the terminal reaches the program too: this process waits until it has cleaned up.
    """
    with subprocess.Popen(words) as program:
        former = {
            number: signal.signal(number, lambda *_: program.terminate())
            for number in ENDING
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        former[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            return program.wait()
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
