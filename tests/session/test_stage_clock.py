"""Seconds of stages add up to what a clock says."""

import threading

from nettests.session.run_state import StageClock


class Clock:
    """A clock that a test winds."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_stages_follow_one_another() -> None:
    """Each ends where the next one begins, and they keep their order."""
    clock = Clock()
    stages = StageClock(clock)
    for stage, seconds in (("discover", 1.5), ("deploy", 3.0), ("observe", 20.25)):
        stages.begin(stage)
        clock.now += seconds
    stages.end()
    clock.now += 50
    assert stages.seconds() == {"discover": 1.5, "deploy": 3.0, "observe": 20.25}
    assert list(stages.seconds()) == ["discover", "deploy", "observe"]


def test_a_stage_goes_on_when_it_is_begun_again() -> None:
    """A clean-up in two parts is one stage."""
    clock = Clock()
    stages = StageClock(clock)
    for stage in ("clean up", "diagnose", "clean up"):
        stages.begin(stage)
        clock.now += 1
    assert stages.seconds() == {"clean up": 2.0, "diagnose": 1.0}


def test_a_stage_that_begins_while_another_thread_ends_one_is_counted() -> None:
    """A run that is interrupted ends its stage while its own thread goes on to the next one."""
    clock, ending, begun = Clock(), threading.Event(), threading.Event()

    def slowly() -> float:
        if threading.current_thread() is ender:
            ending.set()
            begun.wait(0.2)  # until the other thread came in between, if it can
        return clock()

    stages = StageClock(slowly)
    ender = threading.Thread(target=stages.end)
    stages.begin("observe")
    clock.now += 10
    ender.start()
    assert ending.wait(10)
    stages.begin("diagnose")
    begun.set()
    ender.join()
    clock.now += 5
    assert stages.seconds() == {"observe": 10.0, "diagnose": 5.0}


def test_nothing_runs_after_the_end() -> None:
    """Ending twice, or what never began, is no error."""
    stages = StageClock(Clock())
    stages.end()
    stages.end()
    assert stages.seconds() == {}
