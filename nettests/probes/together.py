"""Commands that wait for one Pod at the same time become one process: a shell runs them in a row.

Between ``sending`` and a Pod's exec channel, where a question is a process and each process a
request. Some rows stop at the first failing command, whose result counts: the others run alone, and
commands to that kind of target take other ways from then on. Rows of commands that fail promptly
(lookups, refusing targets) go on; once one is silent, its row is not waited for, and its kind runs
alone from then on, so that time-outs overlap. Pings and lookups of Linux run beside each other. A
process without its commands' marks shows nothing.
"""

import re
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from nettests.bounds import Bounds, Slots, for_batches
from nettests.model.calibration import begins, ended
from nettests.model.channel import ChannelError, ExecAnswer, ExecChannel
from nettests.model.retransmission import PROMPT_SECONDS, QUERY_SECONDS
from nettests.model.windows_programs import node_argv
from nettests.model.words import OS
from nettests.probes.known_questions import by_shell
from nettests.probes.pending import begin
from nettests.probes.rerun import HANG_SECONDS, Rerunning

MOST = 8
"""The most commands of one process: if the first is silent, the others wait for it."""
MOST_GOING_ON = 4
"""The same for a row that continues after failures, in which every command runs."""
GATHERING_SECONDS = 0.2
"""How long a row that is not full waits for further commands: checks of a Service become due together."""
NOT_RUN = 126
"""A shell's exit code of a program that it cannot run; 127 is one that it does not find."""
EACH_SECONDS = 2.0
"""Additional time limit of a process for each further command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A command's result in a row, when it began, and how many commands its process ran."""

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
    """Runs one sort of commands of one Pod; thread-safe."""

    channel: ExecChannel
    os: OS
    seconds: float
    """Time limit of a process, in addition to that of its commands."""
    hangs: float = HANG_SECONDS
    """Seconds after which a single command hangs."""
    goes_on: bool = False
    """Whether a row continues after a failing command."""
    beside: bool = False
    """Whether all commands of a process start at once (Linux); for pings and lookups."""
    gathering: float = GATHERING_SECONDS
    refusing: set[str] = field(default_factory=set)
    """Kinds of targets that failed promptly."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[_Waiting] = field(default_factory=list)
    _full: threading.Event = field(default_factory=threading.Event)
    _alone: set[str] = field(default_factory=set)
    _turns: Slots = field(default_factory=lambda: for_batches(Bounds()))

    def run(self, words: Sequence[str], kind: str, on_sent: Callable[[], None]) -> Done | None:
        """Return the result of a command to a ``kind`` of target; ``None`` if it must run alone."""
        mine = _Waiting(words, kind, on_sent)
        with self._lock:
            if kind in self._alone:
                return None
            self._waiting.append(mine)
            mine.leads = len(self._waiting) == 1
            if len(self._waiting) >= self._most:
                self._full.set()
        # After a silent command, all others would be late, each waiting for the one before.
        if not mine.leads and not mine.settled.wait(QUERY_SECONDS if self.goes_on else None):
            with self._lock:
                if mine in self._waiting and not mine.leads:
                    self._waiting.remove(mine)
                    return None
            mine.settled.wait()
        if mine.leads:
            self._lead()
        return mine.done

    @property
    def _most(self) -> int:
        return MOST_GOING_ON if self.goes_on else MOST

    def _lead(self) -> None:
        """On this Pod's turn, gather commands, the caller's first, and run them."""
        batch: list[_Waiting] = []
        with self._turns:
            self._full.wait(self.gathering)
            row = begin(lambda sent: self._run_row(batch, sent))
            row.wait_sent()
            bounded = self.goes_on and len(batch) > 1
            patience = QUERY_SECONDS + EACH_SECONDS * (len(batch) - 1)
            if not row.answered(patience if bounded else threading.TIMEOUT_MAX):
                with self._lock:
                    self._alone.update(each.kind for each in batch)
                for each in batch:
                    each.settled.set()

    def _run_row(self, batch: list[_Waiting], sent: Callable[[], None]) -> None:
        """Run what waits by now, and fill ``batch`` with it."""
        with self.channel.slots:
            with self._lock:
                batch += self._waiting[: self._most]
                del self._waiting[: self._most]
                if len(self._waiting) < self._most:
                    self._full.clear()
                if self._waiting:
                    self._waiting[0].leads = True
                    self._waiting[0].settled.set()
                alone = {each.kind for each in batch} & self._alone
            sent()
            try:
                if not alone:
                    self._carry_out(batch)
            finally:
                for each in batch:
                    each.settled.set()

    def _carry_out(self, batch: Sequence[_Waiting]) -> None:
        for each in batch:
            each.on_sent()
        began, more = time.monotonic(), 0 if self.beside else EACH_SECONDS * (len(batch) - 1)
        hangs = self.hangs + more
        processes = Rerunning(channel=self.channel, beyond=hangs)
        words = self._words(batch) if len(batch) > 1 else batch[0].words
        try:
            got = processes.run(words, timeout=self.seconds + hangs)
        except ChannelError:
            return
        read = _each_beside if self.beside else _each_of
        answers = [(0.0, got)] if len(batch) == 1 else list(read(got, len(batch)))
        for each, (since, answer) in zip(batch, answers, strict=False):
            # If several outputs arrived at once, the time of each is unknown.
            if since is None:
                continue
            each.done = Done(answer=answer, began=began + since, commands=len(batch))
            slow = (answer.seconds or 0) >= QUERY_SECONDS
            if self.beside:
                continue
            with self._lock:
                if slow if self.goes_on else answer.exit_code:
                    self._alone.add(each.kind)
                if answer.exit_code and not slow:
                    self.refusing.add(each.kind)

    def _words(self, batch: Sequence[_Waiting]) -> Sequence[str]:
        """Return the shell's argv; connections run only after the one before has succeeded."""
        numbered = enumerate(each.words for each in batch)
        match self.os:
            case OS.WINDOWS if self.goes_on:
                lines = (
                    f"echo {begins(number)} 1>&2&{' '.join(words)}&echo {ended(number, '!errorlevel!')}"
                    for number, words in numbered
                )
                return by_shell(self.os, *lines)
            case OS.WINDOWS:
                parts = (
                    f"{' '.join(words)}&& echo {ended(number, '0')}" for number, words in numbered
                )
                return node_argv("cmd.exe", "/d", "/c", "&& ".join(parts))
            case OS.LINUX if self.beside:
                # A shell's echo writes its words at once: outputs do not mix.
                parts = (
                    f'(o=$({shlex.join(words)} 2>&1); echo "{begins(number)}$o{ended(number, "$?")}")&'
                    for number, words in numbered
                )
                return by_shell(self.os, "".join(parts) + "wait")
            case OS.LINUX if self.goes_on:
                lines = (
                    f"echo '{begins(number)}' >&2; {shlex.join(words)}; echo \"{ended(number, '$?')}\""
                    for number, words in numbered
                )
                return by_shell(self.os, *lines)
            case OS.LINUX:
                parts = (
                    f"{shlex.join(words)} && echo '{ended(number, '0')}'"
                    for number, words in numbered
                )
                return by_shell(self.os, " && ".join(parts))
            case _:
                assert_never(self.os)


# sample: server-windows-1-2~0.0~⏎server-windows-1-1~1.0~
_ENDED = r"~{number}\.(-?\d+)~[ \r]*\n?"
# sample: ~0~ ⏎*** ns.cluster.local can't find nosuch: Non-existent domain⏎~1~ ⏎
_BEGINS = re.compile(r"~\d+~[ \r]*\n?")


def _each_beside(got: ExecAnswer, commands: int) -> Iterator[tuple[float | None, ExecAnswer]]:
    """Yield the result of each command that started with the process; ``None`` for one that did not run."""
    for number in range(commands):
        # sample: ~1~PING 10.244.2.8 (10.244.2.8): 56 data bytes⏎…⏎~1.0~⏎
        mark = re.search(rf"~{number}~(.*?){_ENDED.format(number=number)}", got.stdout, re.DOTALL)
        code = int(mark[2]) if mark else NOT_RUN
        until = got.seconds_until(mark.end(2) + 1) if mark else None
        yield (
            None if until is None or code >= NOT_RUN else 0.0,
            ExecAnswer(exit_code=code, stdout=mark[1] if mark else "", stderr="", seconds=until),
        )


def _each_of(got: ExecAnswer, commands: int) -> Iterator[tuple[float | None, ExecAnswer]]:
    """Yield start and result of each command up to a failed one; ``None``: its time is unknown."""
    sections: list[tuple[str, int | None, float]] = []
    rest = got.stdout
    for number in range(commands):
        mark = re.search(_ENDED.format(number=number), rest)
        length = len(got.stdout) - len(rest)
        until = got.seconds_until(length + mark.end(1) + 1) if mark else got.seconds
        output, rest = (rest[: mark.start()], rest[mark.end() :]) if mark else (rest, "")
        if until is None or not (mark or got.exit_code):
            break
        sections.append((output, int(mark[1]) if mark else got.exit_code, until))
        if not mark:
            break
    errors = _BEGINS.split(got.stderr)[1:]
    ends = [until for _, _, until in sections]
    for number, (output, code, until) in enumerate(sections):
        since = max((end for end in ends if end < until), default=0.0)
        certain = until - since <= PROMPT_SECONDS or ends.count(until) == 1
        error = errors[number] if number < len(errors) else got.stderr if code else ""
        yield (
            since if certain else None,
            ExecAnswer(exit_code=code or 0, stdout=output, stderr=error, seconds=until - since),
        )
