"""``nettests lab``: the lab is a separate program; its arguments are passed on."""

import os
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

    SIGTERM and SIGHUP are passed on as SIGTERM. An interrupt at the terminal reaches the program too: this process waits until it has cleaned up. Signals are blocked and waited for, so that none comes between two steps: before the program has started, or before the wait for its end.
    """
    if sys.platform == "win32":  # the lab says there what to do instead
        return subprocess.run(words, check=False).returncode
    ending = {number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN}
    signals = {*ending, signal.SIGINT, signal.SIGCHLD}
    former = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        program = os.posix_spawnp(words[0], list(words), os.environ, setsigmask=former)
        while not (ended := os.waitpid(program, os.WNOHANG))[0]:
            if signal.sigwait(signals) in ending:
                os.kill(program, signal.SIGTERM)
        return os.waitstatus_to_exitcode(ended[1])
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
