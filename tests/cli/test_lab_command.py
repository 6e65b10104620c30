"""``nettests lab`` hands over to the lab's program, and ends with it."""

import os
import signal
import subprocess
import sys

import pytest

CALLED = (
    "import signal, sys; from nettests.cli.lab_command import carried_out; "
    "signal.signal(signal.SIGHUP, signal.SIG_DFL); sys.exit(carried_out(sys.argv[1:]))"
)
"""SIGHUP as at a terminal, also where the tests run under ``nohup``."""
ENDS_ITSELF = (
    "import signal, sys\n"
    "codes = {signal.SIGTERM: 7, signal.SIGINT: 8}\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, codes)\n"
    "print('ready', flush=True)\n"
    "told = signal.sigtimedwait(codes, 60)\n"
    "sys.exit(codes[told.si_signo] if told else 'nobody told me')\n"
)
"""It waits for signals that it blocks: a handler would run only after a sleep that began in the same moment."""


@pytest.mark.parametrize(
    ("number", "group", "code"),
    [(signal.SIGTERM, False, 7), (signal.SIGHUP, False, 7), (signal.SIGINT, True, 8)],
    ids=["terminated", "hung up", "interrupted at the terminal"],
)
def test_the_program_ends_as_it_likes_to(number: signal.Signals, group: bool, code: int) -> None:
    """It is told, neither killed nor left behind, and its exit code is that of the command."""
    words = [sys.executable, "-c", CALLED, sys.executable, "-c", ENDS_ITSELF]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as ran:
        assert ran.stdout is not None
        assert ran.stdout.readline() == "ready\n"
        (os.killpg if group else os.kill)(ran.pid, number)
        assert ran.wait(30) == code
        assert ran.stdout.read() == ""  # no process holds it open any more
