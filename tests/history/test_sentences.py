"""What people read of a history: one headline, and for each turn since when, beside which facts, and why."""

from dataclasses import replace

import pytest

from nettests.history.history_text import (
    course_line,
    headline,
    percent,
    sections,
    span_line,
    warnings,
)
from nettests.history.levels import Course, State
from nettests.history.trends import ClusterHistory, ReadRun, history_of
from tests.history.story import (
    DSR_ON,
    LOST,
    NIGHTS,
    PATCHED,
    REPAIRED,
    SWINGING,
    SWINGS,
    altered,
    night,
    nights,
    whole,
)


def history(runs: list[ReadRun]) -> ClusterHistory:
    (found,) = history_of(runs).clusters
    return found


def date(number: int) -> str:
    return night(number).run.run.started[:10]


def lines(title: str, found: ClusterHistory | None = None) -> list[str]:
    """Return all lines of the one item of a section."""
    (section,) = [one for one in sections(found or whole()) if one.title == title]
    (item,) = section.items
    return [item.head, *item.lines]


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        (range(NIGHTS), "2 checks are red now, 1 flaky, 6 repaired"),
        (range(min(SWINGS)), "Nothing is red now"),
        (range(min(SWINGS) + 1), "1 check is red now"),
        (range(min(SWINGS) + 2), "Nothing is red now, 1 repaired"),
        (range(PATCHED), "Nothing is red now, 1 flaky"),
        (range(DSR_ON, DSR_ON + 2), "8 checks are red now"),
        (
            range(max(SWINGS & set(range(PATCHED))) + 1),
            "No check stays red, 1 flaky (1 red in the latest run)",
        ),
    ],
)
def test_the_headline_answers_in_one_sentence(numbers: range, told: str) -> None:
    """What is red now comes first, then what is flaky and what was repaired."""
    assert headline(history(nights(numbers))) == told


def test_the_runs_are_told_in_a_line() -> None:
    """Which cluster, how many runs, from when to when."""
    assert span_line(whole()) == (
        f"api.staging.test:6443: 30 runs, {date(0)} 02:30 to {date(NIGHTS - 1)} 02:30 UTC"
    )
    assert span_line(history(nights([0]))).endswith(f": 1 run, {date(0)} 02:30 UTC")


def test_sections_come_in_the_order_of_urgency() -> None:
    """Empty ones are left out."""
    assert [one.title for one in sections(whole())] == ["Red now", "Flaky", "Repaired"]
    assert sections(history(nights(range(3)))) == ()
    assert [one.title for one in sections(history(nights([PATCHED])))] == ["Red now"]


def test_what_is_red_is_told_with_its_two_runs_and_the_facts_between_them() -> None:
    """Since when, which incident, last good and first bad run, what changed, and whether that explains it."""
    head, count, incident, runs, facts, why = lines("Red now")
    assert head == f"red since {date(PATCHED)} 02:30"
    assert count == "red in 21 of 30 judged runs"
    assert incident.startswith("incident: ")
    assert incident.endswith("(2 checks; red in 21 of 30 judged runs)")
    good, bad = night(PATCHED - 1).name, night(PATCHED).name
    assert runs == (
        f"last good run {good} ({date(PATCHED - 1)} 02:30), first bad run {bad} ({date(PATCHED)} 02:30)"
    )
    assert facts == "changed in between: windows-1 build: 17763.1339 → 17763.6532"
    assert why == "unexplained: the expectation did not change"


def test_what_was_repaired_says_since_when_and_after_how_long() -> None:
    """And by which fact the documents explain that it broke."""
    told = lines("Repaired")
    assert told[0] == f"good since {date(REPAIRED)} 02:30, after {REPAIRED - DSR_ON} runs"
    assert told[-1] == (
        "explained: the expectation changed, and the cluster did not (source DSR: off → on)"
    )


def test_what_is_flaky_has_a_rate_and_its_last_red_run() -> None:
    """No fact changed with it, and that is said."""
    told = lines("Flaky")
    assert told[0] == f"red now and then, first {date(min(SWINGS))} 02:30"
    assert told[1] == (
        f"red in 4 of 30 judged runs, flake rate 13 %, last red {date(max(SWINGS))} 02:30"
    )
    assert "changed in between: no fact that is recorded" in told


def test_what_was_red_before_the_first_run_may_be_older() -> None:
    """Nothing is said of facts that cannot be compared."""
    told = lines("Red now", history(nights(range(PATCHED, PATCHED + 3))))
    assert told[0] == f"red since {date(PATCHED)} 02:30 or longer"
    assert any("no good run before it" in one for one in told)
    assert not any("changed in between" in one for one in told)


def test_runs_between_that_judged_nothing_are_counted() -> None:
    """The change may lie on either side of them."""
    runs = nights(range(PATCHED - 3, PATCHED + 3))
    empty = [replace(one, run=replace(one.run, checks=(), incidents=())) for one in runs[1:3]]
    (line,) = [one for one in lines("Red now", history([runs[0], *empty, *runs[3:]])) if "last good run" in one]  # fmt: skip
    assert line.endswith(", 2 runs between them not judged")


@pytest.mark.parametrize(
    ("went", "told"),
    [
        (Course(state=State.RED, red=1, judged=1, last_red=2, last_judged=2), "red in 1 of 1 judged run"),
        (
            Course(state=State.RED, red=2, judged=3, swings=1, last_red=1, last_judged=2),
            "red in 2 of 3 judged runs, flake rate 33 %, good in the latest run",
        ),
        (
            Course(state=State.RED, red=2, judged=2, last_red=1, last_judged=1),
            f"red in 2 of 2 judged runs, not judged since {date(1)} 02:30",
        ),
        (Course(state=State.GOOD, judged=3, last_judged=2), "red in 0 of 3 judged runs"),
        (Course(state=State.NOT_JUDGED), "red in 0 of 0 judged runs"),
    ],
)  # fmt: skip
def test_a_course_is_told_in_a_line(went: Course, told: str) -> None:
    """What the newest runs say is added where the state does not say it."""
    assert course_line(went, nights(range(3))) == told


@pytest.mark.parametrize(("share", "told"), [(0.1333, "13 %"), (0.0041, "0.4 %"), (1.0, "100 %")])
def test_small_shares_have_a_digit_more(share: float, told: str) -> None:
    """One night of a year is not none."""
    assert percent(share) == told


def test_warnings_say_why_a_history_says_little() -> None:
    """One run alone, and runs that could not start or broke off."""
    assert list(warnings(whole())) == []
    (one,) = warnings(history(nights([0])))
    assert one.startswith("there is only one run")
    broken = altered(night(1), complete=False)
    (told,) = warnings(history([night(0), broken]))
    assert told.startswith(f"1 run could not start or broke off ({broken.name})")


def test_every_check_that_was_ever_red_is_in_a_section() -> None:
    """People find what the document lists."""
    named = {name for section in sections(whole()) for item in section.items for name in item.names}
    assert named == {one.id for one in whole().checks if one.course.red}
    assert {SWINGING, f"{LOST}tcp"} <= named
