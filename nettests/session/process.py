"""The process of a run: signals that end it, the system that it needs, and the files that it may open.

Termination signals become ``KeyboardInterrupt``, like Ctrl-C: what a ``with`` block holds (a run's
objects, a lab) is then removed in any case. ``kill -9`` cannot be caught; leftover objects carry
the run's labels.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nettests.errors import NettestsError

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Sent by service managers and closed terminals, as far as the system has them."""


@contextmanager
def ending_signals() -> Iterator[None]:
    """Let the signals interrupt the block; a signal that is ignored (``nohup``) stays ignored."""
    before = {number: signal.getsignal(number) for number in ENDING}
    caught = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in caught:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, before[number])


def require_posix() -> None:
    """Raise ``NettestsError`` on Windows, which has neither ``openat`` nor ``poll``, with what to do there."""
    if sys.platform == "win32":
        raise NettestsError(
            "this command needs Linux or macOS",
            hint="on Windows start nettests in WSL 2, or in the cluster: nettests job",
        )


def make_room() -> None:
    """Raise the limit of open files to the hard limit: each probe keeps a few connections open.

    A large cluster has hundreds of probes; shells usually set a soft limit of 1,024.
    """
    require_posix()
    import resource  # noqa: PLC0415 - Windows has none

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError):  # macOS reports no hard limit, but enforces one
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
