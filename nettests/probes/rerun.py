"""Start a process a second time while the first one hangs, and take the first answer.

An exec can hang for its client, as is known on Windows (kubernetes/kubernetes#124700); every
command here is safe to run twice. A process hangs if it outlives its own time-outs, so the second
answer hides no retransmission by the first. No process is ended before its time limit.
"""

import concurrent.futures
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from nettests.bounds import Bounds, ahead, bearable
from nettests.model.channel import ChannelError, ExecAnswer, ExecChannel, ProgramMissingError
from nettests.model.retransmission import QUERY_SECONDS
from nettests.probes.pending import begin

HANG_SECONDS = 8.0
"""After so many seconds a process hangs: ``ping`` waits 6 s for lost echoes, ``curl`` 5 s, and both have to start."""
PAUSES_SECONDS = 2.0
"""The additional time of a ping of Windows, which pauses after a lost echo too, as ReactOS's does
(``base/applications/network/ping/ping.c``)."""
RESOLVER_HANGS_SECONDS = 3 * QUERY_SECONDS + 1
"""The same for name lookups, which query a silent server three times."""
TOOL_HANGS_SECONDS = 12.0
"""The same for tools of a node: PowerShell takes seconds to start, and more to list HNS objects."""
AGAIN_SECONDS = 3.0
"""Seconds between further processes: time to start and to answer."""
PROCESS_TRIES = Bounds().processes_per_answer
CHANNEL_TRIES = 2
"""How often an exec is tried in total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerunning:
    """An exec channel that starts a process again after ``beyond`` silent seconds; thread-safe."""

    channel: ExecChannel
    beyond: float = HANG_SECONDS
    tell: Callable[[str], None] = lambda _why: None
    """Called with the reason if the answer is not the first process's."""

    @property
    def slots(self) -> AbstractContextManager[object]:
        """The channel's slots: callers hold one for the first process; others take their own."""
        return self.channel.slots

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run ``argv`` until a process ends; the answer includes that process's seconds.

        Raises the first process's ``ChannelError`` if none ends within ``timeout`` seconds.
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
        """Start processes until one has ended without a channel error."""
        self._begin_first()
        # On an overloaded node every process takes long, and more of them would take longer.
        due = time.monotonic() + max(self.probed.beyond, bearable(self.probed.slots))
        try:
            while True:
                now = time.monotonic()
                more = len(self._all) < PROCESS_TRIES and due < self.until
                if more and now >= due:
                    self._all.append(begin(lambda _: self._in_turn()).done)
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
        failed = self._failed.get(self._all[0])
        return failed.message if failed else f"no end after {self.probed.beyond:g} s"

    def _begin_or_raise(self) -> None:
        """Retry a failed channel once; a process that timed out is not retried."""
        if len(self._failed) >= CHANNEL_TRIES or time.monotonic() >= self.until:
            raise self._failed[self._all[0]]
        # All processes have ended, so this one can use the slot that the caller still holds.
        self._begin_first()

    def _begin_first(self) -> None:
        """Start a process in the caller's slot."""
        self._all.append(begin(lambda _: self._process()).done)

    def _in_turn(self) -> ExecAnswer:
        """Run a process when a slot is free, unless another one has answered by then.

        It is next in line, because its answer frees the slots that hanging ones hold.
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
