"""Threads that go from step to step together: nobody goes ahead, one acts, and who leaves is waited for no more."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from nettests.errors import ClusterError
from nettests.probes.churn import InStep

NAMES = ("a", "b", "c")


def together(work: Callable[[str], object]) -> list[Future[object]]:
    """Do the work under each name at the same time, and return how each ended."""
    with ThreadPoolExecutor(len(NAMES)) as threads:
        return [threads.submit(work, name) for name in NAMES]


def test_one_acts_at_each_step_when_all_have_come() -> None:
    """Nobody sees a step that another one has not come to."""
    steps, seen = InStep(NAMES), threading.Lock()
    acts: list[int] = []
    at: dict[str, int] = dict.fromkeys(NAMES, 0)

    def work(name: str) -> None:
        for number in range(50):
            steps.come(name, lambda number=number: acts.append(number))  # type: ignore[misc]
            with seen:
                at[name] = number
                assert max(at.values()) - min(at.values()) <= 1

    for one in together(work):
        one.result(timeout=10)
    assert acts == list(range(50))


def test_who_leaves_is_waited_for_no_more() -> None:
    """The others go on when it has left, and not before."""
    steps = InStep(NAMES)
    acts: list[str] = []
    gone = threading.Event()

    def work(name: str) -> None:
        steps.come(name, lambda: acts.append("first"))
        if name == "c":
            assert not gone.wait(0.05)
            gone.set()
            assert not steps.leave(name)
            return
        steps.come(name, lambda: acts.append("second" if gone.is_set() else "too early"))

    for one in together(work):
        one.result(timeout=10)
    assert acts == ["first", "second"]
    assert [steps.leave(name) for name in ("a", "b")] == [False, True]


def test_who_never_came_may_leave_too() -> None:
    """A check that cannot be run holds up nobody."""
    steps = InStep(NAMES)
    acts: list[str] = []

    def work(name: str) -> None:
        if name == "c":
            steps.leave(name)
        else:
            steps.come(name, lambda: acts.append(name))

    for one in together(work):
        one.result(timeout=10)
    assert len(acts) == 1


def test_what_fails_for_the_one_that_acts_fails_for_all_of_them() -> None:
    """Nobody watches a change that was not made; the next step is another one."""
    steps = InStep(NAMES)

    def refuse() -> None:
        raise ClusterError("services is forbidden")

    def work(name: str) -> None:
        with pytest.raises(ClusterError, match="forbidden"):
            steps.come(name, refuse)
        steps.come(name, lambda: None)

    for one in together(work):
        one.result(timeout=10)


def test_one_alone_waits_for_nobody() -> None:
    """It is its own company."""
    acts: list[int] = []
    steps = InStep(("a",))
    for number in range(3):
        steps.come("a", lambda number=number: acts.append(number))  # type: ignore[misc]
    assert acts == [0, 1, 2]
