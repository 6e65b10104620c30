"""Seconds of stages add up to what a clock says."""

from nettests.session.stage_clock import StageClock


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


def test_nothing_runs_after_the_end() -> None:
    """Ending twice, or what never began, is no error."""
    stages = StageClock(Clock())
    stages.end()
    stages.end()
    assert stages.seconds() == {}
