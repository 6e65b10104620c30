"""A process that hangs is run again beside itself, and only the answer of one counts."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import pytest

from nettests.bounds import Bounds, Slots, for_processes
from nettests.bounds.slots import REMEMBERED
from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.probes.rerun import CHANNEL_TRIES, PROCESS_TRIES, Rerunning

ARGV = ("hostname",)
AT_ONCE = 0.0
NEVER = 60.0
PATIENCE = 30.0
"""For what has to come; nothing waits for it that passes."""


@dataclass
class Container:
    """Runs processes that do what the test says, by the number of each."""

    behave: Callable[[int], str]
    slots: AbstractContextManager[object] = field(default_factory=nullcontext)
    begun: int = 0
    timeouts: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Do as process number so-and-so."""
        assert argv == ARGV
        with self.lock:
            number, self.begun = self.begun, self.begun + 1
            self.timeouts.append(timeout)
        return ExecAnswer(exit_code=0, stdout=self.behave(number), stderr="")


@pytest.fixture
def end() -> Iterator[threading.Event]:
    """Ends all that hangs when the test is over."""
    over = threading.Event()
    yield over
    over.set()


def hanging(end: threading.Event, numbers: Sequence[int]) -> Callable[[int], str]:
    """Return processes of which these hang until the end of the test."""

    def behave(number: int) -> str:
        if number in numbers:
            end.wait(PATIENCE)
            raise ChannelError("it did not end")
        return f"process {number}"

    return behave


def test_a_process_that_hangs_is_run_again_beside_it(end: threading.Event) -> None:
    """The second one answers while the first is still waited for, and what became of the first is told."""
    told: list[str] = []
    container = Container(hanging(end, [0]))
    probed = Rerunning(channel=container, beyond=AT_ONCE, tell=told.append)
    assert probed.run(ARGV, timeout=PATIENCE).stdout == "process 1"
    assert told == ["no end after 0 s"]


def test_the_first_process_may_still_answer() -> None:
    """It is not given up when another is begun beside it: whoever ends first answers."""
    second = threading.Event()
    container = Container(lambda number: _first_after(second, number))
    told: list[str] = []
    probed = Rerunning(channel=container, beyond=AT_ONCE, tell=told.append)
    assert probed.run(ARGV, timeout=PATIENCE).stdout == "late"
    assert told == []


def _first_after(second: threading.Event, number: int) -> str:
    if number == 0:
        second.wait(PATIENCE)
        return "late"
    second.set()
    threading.Event().wait(PATIENCE)
    return "never"


def test_a_process_that_answers_in_time_is_run_once() -> None:
    """A second one would cost the node another process for nothing."""
    container = Container(lambda number: f"process {number}")
    answer = Rerunning(channel=container, beyond=NEVER).run(ARGV, timeout=PATIENCE)
    assert (answer.stdout, container.begun) == ("process 0", 1)
    assert answer.seconds is not None


def test_where_every_process_takes_long_none_is_run_twice() -> None:
    """A node without CPU time would have less; a single late process among prompt ones hangs."""
    slots = for_processes(4, Bounds())
    for _ in range(REMEMBERED):
        slots.took(NEVER)
    ended = threading.Event()
    busy = Container(lambda number: f"{number} {ended.wait(0.2)}", slots)
    assert Rerunning(channel=busy, beyond=AT_ONCE).run(ARGV, timeout=PATIENCE).stdout == "0 False"
    assert busy.begun == 1


def test_every_process_has_what_is_left_of_the_time(end: threading.Event) -> None:
    """The whole takes no longer than one process may."""
    container = Container(hanging(end, [0]))
    Rerunning(channel=container, beyond=AT_ONCE).run(ARGV, timeout=PATIENCE)
    first, second = container.timeouts
    assert second <= first <= PATIENCE


def test_no_more_processes_than_a_node_bears_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each of them hangs, the last error is the first one's, and processes are few."""
    monkeypatch.setattr("nettests.probes.rerun.AGAIN_SECONDS", AT_ONCE)
    everybody = threading.Barrier(PROCESS_TRIES)

    def behave(number: int) -> str:
        everybody.wait(PATIENCE)
        raise ChannelError(f"process {number} did not end")

    container = Container(behave)
    with pytest.raises(ChannelError, match="process 0 did not end"):
        Rerunning(channel=container, beyond=AT_ONCE).run(ARGV, timeout=PATIENCE)
    assert container.begun == PROCESS_TRIES


def test_a_channel_that_fails_is_tried_once_more_at_once() -> None:
    """Nobody waits for a hang where the channel has said that it failed."""

    def behave(number: int) -> str:
        if number == 0:
            raise ChannelError("the stream was cut")
        return "answered"

    told: list[str] = []
    probed = Rerunning(channel=Container(behave), beyond=NEVER, tell=told.append)
    assert probed.run(ARGV, timeout=PATIENCE).stdout == "answered"
    assert told == ["the stream was cut"]


def test_a_channel_that_fails_again_says_what_it_said_first() -> None:
    """The first failure is the one that nothing here has brought about."""

    def behave(number: int) -> str:
        raise ChannelError(f"failure {number}")

    container = Container(behave)
    with pytest.raises(ChannelError, match="failure 0"):
        Rerunning(channel=container, beyond=NEVER).run(ARGV, timeout=PATIENCE)
    assert container.begun == CHANNEL_TRIES


def test_a_program_that_is_missing_is_not_looked_for_twice() -> None:
    """The image lacks it, however often it is started."""

    def behave(_number: int) -> str:
        raise ProgramMissingError("no such program")

    container = Container(behave)
    with pytest.raises(ProgramMissingError):
        Rerunning(channel=container, beyond=NEVER).run(ARGV, timeout=PATIENCE)
    assert container.begun == 1


def test_a_process_that_is_run_again_waits_for_its_turn(end: threading.Event) -> None:
    """The node's bound on processes holds for it too, and one whose turn comes too late is not started."""
    slots = Slots(at_once=1, patience=NEVER, ceiling=1)
    answered = threading.Event()

    def behave(_number: int) -> str:
        answered.wait(PATIENCE)
        return "answered"

    container = Container(behave, slots=slots)
    threading.Timer(0.2, answered.set).start()
    with slots:
        got = Rerunning(channel=container, beyond=AT_ONCE).run(ARGV, timeout=PATIENCE)
    assert (got.stdout, container.begun) == ("answered", 1)


def test_a_process_that_is_run_again_is_the_next_one() -> None:
    """Those in the queue may have to wait until hanging ones end; its answer frees the slot of one."""
    slots = Slots(at_once=1, patience=0.05, ceiling=2)
    queued, order = threading.Event(), list[str]()

    def behave(number: int) -> str:
        if number == 0:
            queued.wait(PATIENCE)
            threading.Event().wait(PATIENCE)
        order.append("again")
        return "answered"

    def other() -> None:
        with slots:
            order.append("another")

    container = Container(behave, slots=slots)
    with slots:
        blocking = threading.Thread(target=_occupy, args=(slots, queued))
        blocking.start()
        queued.wait(PATIENCE)
        waiting = threading.Thread(target=other)
        waiting.start()
        while len(slots._queue) < 1:
            threading.Event().wait(0.01)
        Rerunning(channel=container, beyond=0.2).run(ARGV, timeout=PATIENCE)
    waiting.join(PATIENCE)
    blocking.join(PATIENCE)
    assert order == ["again", "another"]


def _occupy(slots: Slots, inside: threading.Event) -> None:
    """Hold the last slot for a while."""
    with slots:
        inside.set()
        threading.Event().wait(0.5)
