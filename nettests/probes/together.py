"""Commands that wait for one Pod at the same time become one process: its shell runs them in a row.

Between ``sending`` and the exec channel of a node's own vantage, where a question is a process and each process a request.
The shell stops at the first command that fails, and that result counts; the others of its batch are run alone, and so is
all that reaches targets of that kind from then on, or all of a resolver that got no answer in time. A process without the
marks of its commands shows nothing at all.
"""

import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from nettests.bounds import Bounds, Slots, for_batches
from nettests.model.calibration import ended
from nettests.model.channel import ChannelError, ExecAnswer, ExecChannel
from nettests.model.retransmission import PROMPT_SECONDS, QUERY_SECONDS
from nettests.model.windows_programs import node_argv
from nettests.model.words import OS
from nettests.probes.rerun import HANG_SECONDS, RESOLVER_HANGS_SECONDS, Rerunning

MOST = 8
"""Commands of one process: of silent ones the first is waited for, and the others have their turn then."""
EACH_SECONDS = 2.0
"""So much longer may a process take for each further command."""
RESOLVER = "nslookup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command in a row answered, when it began, and how many ran in its process."""

    answer: ExecAnswer
    began: float
    commands: int


@dataclass(slots=True, eq=False)
class _Waiting:
    """A command that waits: for its result, to lead the next batch, or to be run alone."""

    words: Sequence[str]
    kind: str
    on_sent: Callable[[], None]
    settled: threading.Event = field(default_factory=threading.Event)
    leads: bool = False
    done: Done | None = None


@dataclass(slots=True)
class Together:
    """Runs the commands of one Pod; safe for threads."""

    channel: ExecChannel
    os: OS
    seconds: float
    """How long a process may take, beside its commands."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[_Waiting] = field(default_factory=list)
    _alone: set[str] = field(default_factory=set)
    _turns: Slots = field(default_factory=lambda: for_batches(Bounds()))

    def run(self, words: Sequence[str], kind: str, on_sent: Callable[[], None]) -> Done | None:
        """Return the result of a command that reaches a ``kind`` of target; ``None`` if it is to be run alone."""
        mine = _Waiting(words, kind, on_sent)
        with self._lock:
            if {kind, words[0]} & self._alone:
                return None
            self._waiting.append(mine)
            mine.leads = len(self._waiting) == 1
        if not mine.leads:
            mine.settled.wait()
        if mine.leads:
            self._lead()
        return mine.done

    def _lead(self) -> None:
        """Take those that wait once it is this Pod's turn, the first of which is the caller's, and run them."""
        with self._turns, self.channel.slots:
            with self._lock:
                batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                if self._waiting:
                    self._waiting[0].leads = True
                    self._waiting[0].settled.set()
            try:
                self._carry_out(batch)
            finally:
                for each in batch:
                    each.settled.set()

    def _carry_out(self, batch: Sequence[_Waiting]) -> None:
        for each in batch:
            each.on_sent()
        began, more = time.monotonic(), EACH_SECONDS * (len(batch) - 1)
        resolves = any(each.words[0] == RESOLVER for each in batch)
        hangs = (RESOLVER_HANGS_SECONDS if resolves else HANG_SECONDS) + more
        processes = Rerunning(channel=self.channel, beyond=hangs)
        words = self._words(batch) if len(batch) > 1 else batch[0].words
        try:
            got = processes.run(words, timeout=self.seconds + hangs)
        except ChannelError:
            return
        answers = [(0.0, got)] if len(batch) == 1 else list(_each_of(got, len(batch)))
        for each, (since, answer) in zip(batch, answers, strict=False):
            # Of several whose output came at the same moment nothing tells which took long.
            if since is None:
                continue
            each.done = Done(answer=answer, began=began + since, commands=len(batch))
            late = each.words[0] == RESOLVER and (answer.seconds or 0) >= QUERY_SECONDS
            if answer.exit_code or late:
                with self._lock:
                    self._alone.add(RESOLVER if late else each.kind)

    def _words(self, batch: Sequence[_Waiting]) -> Sequence[str]:
        """Return the words of the shell: each command only after the one before it has succeeded."""
        match self.os:
            case OS.WINDOWS:
                parts = (
                    f"{' '.join(each.words)}&& echo {ended(number, '0')}"
                    for number, each in enumerate(batch)
                )
                return node_argv("cmd.exe", "/d", "/c", "&& ".join(parts))
            case OS.LINUX:
                parts = (
                    f"{shlex.join(each.words)} && echo '{ended(number, '0')}'"
                    for number, each in enumerate(batch)
                )
                return ("sh", "-c", " && ".join(parts))
            case _:
                assert_never(self.os)


def _each_of(got: ExecAnswer, commands: int) -> Iterator[tuple[float | None, ExecAnswer]]:
    """Yield when each command began, and its result, up to one that failed; ``None`` if how long it took is not known."""
    sections: list[tuple[str, float]] = []
    rest = got.stdout
    for number in range(commands):
        # sample: server-windows-1-2~0.0~⏎server-windows-1-1~1.0~
        output, mark, rest = rest.partition(ended(number, "0"))
        until = got.seconds_until(len(got.stdout) - len(rest)) if mark else got.seconds
        if until is None or not (mark or got.exit_code):
            break
        sections.append((output, until))
        if not mark:
            break
        rest = rest.lstrip(" \r").removeprefix("\n")
    ends = [until for _, until in sections]
    for number, (output, until) in enumerate(sections):
        since = max((end for end in ends if end < until), default=0.0)
        certain = until - since <= PROMPT_SECONDS or ends.count(until) == 1
        failed = number == len(sections) - 1 and bool(got.exit_code)
        yield (
            since if certain else None,
            ExecAnswer(
                exit_code=got.exit_code if failed else 0,
                stdout=output,
                stderr=got.stderr if failed else "",
                seconds=until - since,
            ),
        )
