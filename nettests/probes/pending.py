"""Pending requests: each in a thread of its own, so that others can be sent while it waits.

Silence costs seconds of waiting and no work, so requests that are needed anyway are sent meanwhile.
Answers are not interpreted here.
"""

import concurrent.futures
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from nettests.model.check import Action
from nettests.model.observation import Raw
from nettests.model.retransmission import QUERY_SECONDS
from nettests.model.words import Outcome, Question, VantageKind
from nettests.parse.read import read_raw


@dataclass(slots=True)
class Resolvers:
    """When each probe's resolver last answered (monotonic); thread-safe."""

    _answered: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note_answer(self, probe: str, at: float) -> None:
        """Note that a name was resolved for ``probe``."""
        with self._lock:
            self._answered[probe] = max(at, self._answered.get(probe, at))

    def answered(self, probe: str, since: float) -> bool:
        """Whether a name was resolved for ``probe`` at that time or later."""
        with self._lock:
            return probe in self._answered and self._answered[probe] >= since


T = TypeVar("T")

RESOLVER_SECONDS = 2 * QUERY_SECONDS - 1
"""A little less than two time-outs of a resolver, its shortest wait for a silent server (resolv.conf(5);
Windows' DNS client retries after 1, 2 and 4 s more)."""
DIAL_PATIENCE = 2.0
"""Seconds after which a dial will probably time out; a lost SYN is retransmitted after 1 s."""
PROCESS_PATIENCE = 6.0
"""The same for a process, which has to start; a successful ``ping`` takes at least 2 s."""


class Pending(Generic[T]):
    """A call under way in its own thread."""

    def __init__(self, call: Callable[[Callable[[], None]], T]) -> None:
        self.done: Future[T] = Future()
        self.began = time.monotonic()
        """When its request was sent, or until then when the call started."""
        self._sent = threading.Event()
        self._settled = threading.Event()
        threading.Thread(target=self._carry_out, args=(call,), name="beside", daemon=True).start()

    def _carry_out(self, call: Callable[[Callable[[], None]], T]) -> None:
        try:
            self.done.set_result(call(self._send))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the result
            self.done.set_exception(error)
        finally:
            self._sent.set()
            self._settled.set()

    def _send(self) -> None:
        self.began = time.monotonic()
        self._sent.set()

    def wait_sent(self) -> None:
        """Wait until its request is sent, or it is over without one."""
        self._sent.wait()

    def answered(self, seconds: float) -> bool:
        """Wait until it is over, or ``seconds`` after it was sent; return whether it is over."""
        self.wait_sent()
        return self._settled.wait(seconds)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.done.done()

    def wait(self) -> None:
        """Wait until it is over."""
        self._settled.wait()

    def result(self) -> T:
        """Wait until it is over; return its result or raise its exception."""
        return self.done.result()


def one_over(pending: Collection[Pending[Any]], seconds: float | None = None) -> None:
    """Wait until the first of them is over, or for ``seconds``."""
    concurrent.futures.wait(
        [task.done for task in pending], seconds, return_when=concurrent.futures.FIRST_COMPLETED
    )


def all_over(pending: Collection[Pending[Any]], seconds: float) -> bool:
    """Wait until all of them are over, or for ``seconds``; return whether all are."""
    done = [task.done for task in pending]
    return not concurrent.futures.wait(done, seconds).not_done


def begin(call: Callable[[Callable[[], None]], T]) -> Pending[T]:
    """Start ``call``, which calls its argument when its request is sent."""
    return Pending(call)


def results(pending: Collection[Pending[T]]) -> list[T]:
    """Wait until all are over; return their results or raise the first exception."""
    for task in pending:
        task.wait()
    return [task.result() for task in pending]


def patience(action: Action) -> float:
    """Return after how many seconds without an answer ``action`` will probably time out.

    Examinations never do, because creating objects or inspecting a node must not run twice at once.
    """
    if action.question.examined:
        return threading.TIMEOUT_MAX
    process = action.is_process or action.source.kind is VantageKind.NODE
    return PROCESS_PATIENCE if process else DIAL_PATIENCE


def queries_resolver(action: Action) -> bool:
    """Whether a resolver is involved, which repeats its query to a silent server."""
    return action.target.descriptor.by_name or action.question is Question.RESOLVE


def repeats_itself(action: Action) -> bool:
    """Whether the client retransmits by itself: a resolver, ``ping``, or a process's TCP."""
    process = action.is_process or action.source.kind is VantageKind.NODE
    return (
        queries_resolver(action)
        or action.protocol.echoed
        or (process and action.protocol.retransmitted)
    )


def one_try_tells(action: Action) -> bool:
    """Whether a single time-out means that several packets, seconds apart, were lost."""
    return queries_resolver(action) or action.protocol.echoed


def gave_up(action: Action, raw: Raw) -> bool:
    """Whether a client that retries by itself timed out: another attempt would hardly show more."""
    if not repeats_itself(action) or raw.error is not None:
        return False
    if queries_resolver(action):
        return raw.elapsed >= RESOLVER_SECONDS
    return read_raw(raw).outcome is Outcome.TIMED_OUT
