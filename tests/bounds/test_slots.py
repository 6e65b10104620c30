"""Bounds on what is under way: who may enter, in which order, and what counts no more."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from nettests.bounds import Bounds, Slots, ahead, for_processes, opened
from nettests.bounds.slots import REMEMBERED
from nettests.model.cluster_profile import Timing
from nettests.model.words import OS

LONG, SHORT = 60.0, 0.05


class Crowd:
    """Threads that enter slots one after the other and stay until they are sent away."""

    def __init__(self, slots: Slots, eventually: Callable[[Callable[[], bool]], None]) -> None:
        self.slots, self.eventually = slots, eventually
        self.entered: list[int] = []
        self._leave: list[threading.Event] = []
        self._threads: list[threading.Thread] = []

    def come(self) -> None:
        """Let one more thread queue, behind all that came before."""
        number, leave = len(self._threads), threading.Event()

        def stay() -> None:
            with self.slots:
                self.entered.append(number)
                assert leave.wait(LONG)

        thread = threading.Thread(target=stay)
        self._leave.append(leave)
        self._threads.append(thread)
        thread.start()
        self.eventually(lambda: number in self.entered or thread.ident in self.slots._queue)

    def go(self, number: int) -> None:
        """Send one away and wait until it is gone."""
        self._leave[number].set()
        self._threads[number].join(LONG)

    def end(self) -> None:
        """Send all away."""
        for leave in self._leave:
            leave.set()
        for thread in self._threads:
            thread.join(LONG)
            assert not thread.is_alive()


@contextmanager
def crowd(
    slots: Slots, eventually: Callable[[Callable[[], bool]], None], size: int
) -> Iterator[Crowd]:
    """So many come, in order."""
    found = Crowd(slots, eventually)
    try:
        for _ in range(size):
            found.come()
        yield found
    finally:
        found.end()


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Wait on a condition, for a few seconds at most."""
    pause = threading.Event()

    def wait(condition: Callable[[], bool]) -> None:
        for _ in range(2000):
            if condition():
                return
            pause.wait(0.005)
        raise AssertionError("the condition did not come true")

    return wait


def test_no_more_enter_than_fit_and_the_others_in_their_order(
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    """Two fit; who came third enters when one leaves, before who came fourth."""
    with crowd(Slots(at_once=2, patience=LONG, ceiling=9), eventually, 4) as those:
        assert sorted(those.entered) == [0, 1]
        those.go(1)
        eventually(lambda: len(those.entered) == 3)
        assert those.entered[2] == 2


def test_who_entered_long_ago_counts_no_more(
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    """A silent question makes room for the next one without having ended."""
    with crowd(Slots(at_once=1, patience=SHORT, ceiling=9), eventually, 3) as those:
        eventually(lambda: len(those.entered) == 3)
        assert those.entered == [0, 1, 2]


def test_the_ceiling_holds_however_long_they_wait(
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    """Of what only waits there is a limit, too: the fourth enters when somebody leaves."""
    with crowd(Slots(at_once=1, patience=SHORT, ceiling=3), eventually, 4) as those:
        eventually(lambda: len(those.entered) == 3)
        threading.Event().wait(2 * SHORT)
        assert those.entered == [0, 1, 2]
        those.go(0)
        eventually(lambda: 3 in those.entered)


def test_what_waits_longest_is_let_in_before_the_others(
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    """Who came last enters next, if it came ahead of the queue; the order of the others stays."""
    slots = Slots(at_once=1, patience=LONG, ceiling=9)
    with crowd(slots, eventually, 3) as those, others_wait(ahead(slots)) as entered:
        eventually(lambda: bool(slots.first))
        those.go(0)
        assert entered.wait(LONG)
        eventually(lambda: len(those.entered) == 2)
        assert those.entered == [0, 1]


def test_several_slots_share_a_room(eventually: Callable[[Callable[[], bool]], None]) -> None:
    """Where the room that all probes share is full, free slots of one of them do not help."""
    room = threading.Semaphore(1)
    mine = Slots(at_once=5, patience=LONG, ceiling=5, room=room)
    others = Slots(at_once=5, patience=LONG, ceiling=5, room=room)
    with crowd(mine, eventually, 1) as first, others_wait(others) as entered:
        assert not entered.wait(2 * SHORT)
        first.go(0)
        assert entered.wait(LONG)


@contextmanager
def others_wait(slots: AbstractContextManager[object]) -> Iterator[threading.Event]:
    """One thread tries to enter, and says when it has."""
    entered = threading.Event()

    def enter() -> None:
        with slots:
            entered.set()

    thread = threading.Thread(target=enter)
    thread.start()
    try:
        yield entered
    finally:
        thread.join(LONG)


def test_what_fails_inside_leaves(eventually: Callable[[Callable[[], bool]], None]) -> None:
    """An exception does not keep a slot."""
    slots = Slots(at_once=1, patience=LONG, ceiling=1)
    with pytest.raises(ValueError, match="broken"), slots:
        raise ValueError("broken")
    with crowd(slots, eventually, 1) as those:
        assert those.entered == [0]


def test_processes_of_a_node_have_a_ceiling() -> None:
    """On Windows processes leak and deadlock: silent ones are few, too."""
    assert for_processes(6, Bounds()).ceiling == Bounds().silent_processes * 6


def test_bounds_are_what_the_cluster_profile_sets() -> None:
    """Questions over a probe and processes on a node are the profile's; a node has those of its system."""
    bounds = Bounds.of(Timing(per_probe=3, exec_linux=5, exec_windows=2))
    assert (bounds.per_probe, bounds.processes(OS.LINUX), bounds.processes(OS.WINDOWS)) == (3, 5, 2)
    assert bounds.questions(1) == 3


def test_many_probes_share_what_is_open() -> None:
    """Each of many probes has a part of all questions, and never none."""
    bounds = Bounds()
    assert bounds.questions(32) * 32 <= bounds.questions_open < 1000 * bounds.questions(1000)


def test_what_is_not_open_yet_makes_room_up_to_a_bound(
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    """Two may begin at once; whose exec waits for the API server counts no more, until three are there."""
    slots = Slots(at_once=2, patience=LONG, ceiling=9, opening=SHORT, handshakes=3)
    with crowd(slots, eventually, 4) as those:
        eventually(lambda: len(those.entered) == 3)
        threading.Event().wait(2 * SHORT)
        assert those.entered == [0, 1, 2]
        those.go(0)
        eventually(lambda: 3 in those.entered)


def test_what_is_open_counts_again(eventually: Callable[[Callable[[], bool]], None]) -> None:
    """A process that runs takes its part of the node, however long its exec took to be opened."""
    slots = Slots(at_once=1, patience=LONG, ceiling=9, opening=SHORT, handshakes=9)
    leave, has = threading.Event(), threading.Event()

    def run() -> None:
        with slots:
            opened(slots)
            has.set()
            assert leave.wait(LONG)

    thread = threading.Thread(target=run)
    thread.start()
    assert has.wait(LONG)
    with others_wait(slots) as entered:
        assert not entered.wait(3 * SHORT)
        leave.set()
        assert entered.wait(LONG)
    thread.join(LONG)


def test_an_exec_that_is_never_opened_is_silent_like_any_other(
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    """After the patience of a process it counts no more; only the ceiling is left."""
    slots = Slots(at_once=1, patience=2 * SHORT, ceiling=3, opening=SHORT, handshakes=1)
    with crowd(slots, eventually, 3) as those:
        eventually(lambda: len(those.entered) == 3)


def test_processes_of_a_node_are_bounded_while_the_api_server_is_slow() -> None:
    """Half as many again at most are under way as may be started at once."""
    slots = for_processes(6, Bounds())
    assert (slots.at_once, slots.handshakes) == (6, 9)


def test_patience_grows_where_answers_come_late(
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    """On an overloaded probe a question of a second is not silent: no further one begins beside it until it would be."""
    now = [100.0]
    slots = Slots(at_once=1, patience=1.0, ceiling=9, forbearance=3.0, clock=lambda: now[0])
    for _ in range(REMEMBERED):
        slots.took(0.9)
    with crowd(slots, eventually, 1) as found:
        now[0] += 1.5
        assert slots._full_for() == pytest.approx(1.2)
        now[0] += 1.3
        assert slots._full_for() is None
        found.go(0)


@pytest.mark.parametrize(
    ("answers", "patience"),
    [
        ([0.9] * 8, 1.0),
        ([0.2] * 9, 1.0),
        ([9.0] * 9, 3.0),
    ],
    ids=["few", "prompt", "late"],
)
def test_patience_keeps_to_its_bounds(answers: list[float], patience: float) -> None:
    """A few answers tell nothing, prompt ones leave it as it is, and none makes it longer than forbearance."""
    slots = Slots(at_once=1, patience=1.0, ceiling=9, forbearance=3.0)
    for seconds in answers:
        slots.took(seconds)
    assert slots._patience() == patience


def test_without_forbearance_late_answers_change_nothing() -> None:
    """Processes and API requests keep their patience: what delays them is told by nobody."""
    slots = for_processes(2, Bounds())
    for _ in range(REMEMBERED):
        slots.took(9.0)
    assert slots._patience() == Bounds().process_patience


class Counted(Slots):
    """Slots that count how often somebody looked whether it is next."""

    looks = 0

    def _next(self) -> int:
        type(self).looks += 1
        return super()._next()


def test_of_many_that_wait_only_the_next_is_woken(
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    """Sixty threads wait for one slot: each that leaves makes the first of them look, and not the others."""
    slots = Counted(at_once=1, patience=LONG, ceiling=100)
    with crowd(slots, eventually, 60) as found:
        Counted.looks = 0
        for number in range(60):
            eventually(lambda here=number: here in found.entered)  # type: ignore[misc]
            found.go(number)
        assert found.entered == list(range(60))
        assert Counted.looks < 10 * 60
