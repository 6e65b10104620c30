"""Turn termination signals into ``KeyboardInterrupt``, like Ctrl-C.

What a ``with`` block holds (a run's objects, a lab) is then removed in any case. ``kill -9`` cannot
be caught; leftover objects carry the run's labels.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

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
