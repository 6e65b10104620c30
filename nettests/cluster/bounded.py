"""Give up on a call that may never return.

The client library cannot time out a WebSocket handshake, so such calls run in a thread of their own
that is abandoned, not waited for, when it hangs.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """Return what ``call`` returns or raise what it raises; ``TimeoutError`` after ``seconds``."""
    future: Future[T] = Future()

    def fulfil() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread
            future.set_exception(error)

    threading.Thread(target=fulfil, daemon=True).start()
    return future.result(seconds)
