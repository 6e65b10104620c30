"""Start a process a second time while the first one hangs, and take the answer that comes first.

Around the exec channels of a run. An exec can hang for its client, on Windows it is known to
(kubernetes/kubernetes#124700); everything run here is safe to run twice. A process that has outlived its own
time-outs hangs, so the second answer hides no packet that the first had to send again. No process is given up before
its time.
"""

import concurrent.futures
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from nettests.bounds import Bounds, ahead
from nettests.model.channel import ChannelError, ExecAnswer, ExecChannel, ProgramMissingError
from nettests.model.retransmission import QUERY_SECONDS
from nettests.probes.beside import begin

HANG_SECONDS = 8.0
"""A process that has not ended by then hangs: ``ping`` waits 6 s for three lost echoes, ``curl`` 5 s, and each has to start."""
RESOLVER_HANGS_SECONDS = 3 * QUERY_SECONDS + 1
"""The same for one that queries a resolver: it queries a silent server three times."""
TOOL_HANGS_SECONDS = 12.0
"""The same for a tool of a node: PowerShell takes seconds to start, and more to list HNS."""
AGAIN_SECONDS = 3.0
"""Between two further ones: time to start and to answer."""
PROCESS_TRIES = Bounds().processes_per_answer
CHANNEL_TRIES = 2
"""How often an exec is tried in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerunning:
    """An exec channel whose processes are run again ``beyond`` so many seconds without an answer; safe for threads."""

    channel: ExecChannel
    beyond: float = HANG_SECONDS
    tell: Callable[[str], None] = lambda _why: None
    """Called with the reason why the first process is not the one that answered."""

    @property
    def slots(self) -> AbstractContextManager[object]:
        """The channel's slots: the caller enters them for the first process; repeated ones enter them by themselves."""
        return self.channel.slots

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run ``argv`` until a process ends, and say how long that one took.

        ``ChannelError`` if none has after ``timeout`` seconds, with the failure of the first one.
        """
        return _Race(self, tuple(argv), time.monotonic() + timeout).run()


@dataclass(slots=True)
class _Race:
    """The processes that are run for one answer."""

    probed: Rerunning
    argv: tuple[str, ...]
    until: float
    _all: list[Future[ExecAnswer]] = field(default_factory=list)
    _failed: dict[Future[ExecAnswer], ChannelError] = field(default_factory=dict)
    _over: bool = False

    def run(self) -> ExecAnswer:
        """Begin processes until one has ended well."""
        self._begin_first()
        due = time.monotonic() + self.probed.beyond
        try:
            while True:
                now = time.monotonic()
                more = len(self._all) < PROCESS_TRIES and due < self.until
                if more and now >= due:
                    self._begin_further()
                    due = now + AGAIN_SECONDS
                elif (answer := self._wait(max(0.0, due - now) if more else None)) is not None:
                    return answer
        finally:
            self._over = True

    def _wait(self, seconds: float | None) -> ExecAnswer | None:
        running = [process for process in self._all if process not in self._failed]
        ended, _ = concurrent.futures.wait(
            running, seconds, return_when=concurrent.futures.FIRST_COMPLETED
        )
        for process in (process for process in running if process in ended):
            try:
                answer = process.result()
            except ProgramMissingError:
                raise
            except ChannelError as error:
                self._failed[process] = error
                continue
            if process is not self._all[0]:
                self.probed.tell(self._why())
            return answer
        if len(self._failed) == len(self._all):
            self._begin_or_raise()
        return None

    def _why(self) -> str:
        """Say what became of the first process."""
        failed = self._failed.get(self._all[0])
        return failed.message if failed else f"no end after {self.probed.beyond:g} s"

    def _begin_or_raise(self) -> None:
        """Try a failed channel once more; a process that was given up had all its time."""
        if len(self._failed) >= CHANNEL_TRIES or time.monotonic() >= self.until:
            raise self._failed[self._all[0]]
        # All have ended: the slot that the caller still holds is free for this one.
        self._begin_first()

    def _begin_first(self) -> None:
        """Begin a process in the caller's slot."""
        self._all.append(begin(lambda _: self._process()).done)

    def _begin_further(self) -> None:
        self._all.append(begin(lambda _: self._in_turn()).done)

    def _in_turn(self) -> ExecAnswer:
        """Run a process when one may be started, unless another has answered by then.

        It is next in line: its answer frees the slots that the hanging ones hold.
        """
        with ahead(self.probed.slots):
            if self._over:
                raise ChannelError("it was not started in time")
            return self._process()

    def _process(self) -> ExecAnswer:
        began = time.monotonic()
        if began >= self.until:
            raise ChannelError("it was not started in time")
        answer = self.probed.channel.run(self.argv, timeout=self.until - began)
        return replace(answer, seconds=time.monotonic() - began)
