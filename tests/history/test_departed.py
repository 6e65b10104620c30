"""What was red and is planned no more: no longer red now, told apart from what a run merely did not look at."""

from dataclasses import replace

import pytest

from nettests.compare.recorded import RecordedCheck
from nettests.history.history_text import headline, sections, turn_head
from nettests.history.levels import Course, State
from nettests.history.trends import ClusterHistory, ReadRun, history_of
from nettests.model.words import Verdict
from nettests.report.results import Incident
from tests.history.story import altered, night

VERDICTS = {"R": Verdict.FAIL, "g": Verdict.PASS, "u": Verdict.UNKNOWN}
OTHER = RecordedCheck(id="other/a", flow="other", verdict=Verdict.PASS)


def runs(letters: str) -> list[ReadRun]:
    """Return runs: R fail, g pass, u unknown, - without the check, o of another flow by option, x not started."""
    found = []
    for at, letter in enumerate(letters):
        own = RecordedCheck(id="f/a", flow="f", verdict=VERDICTS.get(letter, Verdict.PASS))
        checks = (OTHER,) if letter in "-o" else (own, OTHER)
        one = night(at)
        made = replace(one.run, checks=() if letter == "x" else checks, incidents=())
        argv = ("--quiet", "--flow=other") if letter == "o" else ("--quiet",)
        facts = None if letter == "x" else made.facts
        error = "no nodes" if letter == "x" else None
        made = replace(made, facts=facts)
        found.append(altered(replace(one, run=made), argv=argv, error=error))
    return found


def history(letters: str) -> ClusterHistory:
    (found,) = history_of(runs(letters)).clusters
    return found


def course(letters: str) -> Course:
    (one,) = [check for check in history(letters).checks if check.id == "f/a"]
    return one.course


@pytest.mark.parametrize(
    ("letters", "state", "since"),
    [
        ("ggRR-", State.GONE, 4),
        ("ggRR---", State.GONE, 4),
        ("ggRRo-", State.GONE, 5),
        ("ggRRx-", State.GONE, 5),
        ("ggRRu-", State.GONE, 5),
        ("gRgRgg--", State.GONE, 6),
        ("ggRRo", State.RED, None),
        ("ggRRx", State.RED, None),
        ("ggRR-R", State.RED, None),
        ("ggRR-g", State.REPAIRED, None),
        ("ggRRu", State.RED, None),
        ("gRRRRggg-", State.REPAIRED, None),
        ("gggg-", State.GOOD, None),
    ],
)
def test_what_runs_that_choose_alike_no_longer_plan_is_gone(
    letters: str, state: State, since: int | None
) -> None:
    """A run of other flows tells nothing, one that could not start neither, and what comes back is what it is."""
    found = course(letters)
    assert (found.state, found.gone_since) == (state, since)


def test_what_is_gone_is_told_apart_and_not_as_red_now() -> None:
    """The headline has it, in a section of its own, with the last time that it was red."""
    found = history("ggRR-")
    assert headline(found) == "Nothing is red now, 1 no longer planned"
    (section,) = sections(found)
    assert (section.title, [item.names for item in section.items]) == (
        "No longer planned",
        [("f/a",)],
    )
    (turn,) = found.turns
    head = turn_head(turn, found.runs)
    assert head.startswith("red first 2026-10-29")
    assert head.endswith("and not planned since 2026-10-31 02:30")
    assert not any("not judged since" in line for line in section.items[0].lines)


@pytest.mark.parametrize(
    ("checks", "state", "since"),
    [(("f/a",), State.GONE, 4), (("f/a", "other/a"), State.REPAIRED, None)],
)
def test_an_incident_goes_with_the_last_of_its_checks(
    checks: tuple[str, ...], state: State, since: int | None
) -> None:
    """As long as one of them is planned, its runs say what became of the cause."""
    cause = Incident(
        cause="win-2 is cut off", traits={"node": "win-2"}, checks=checks, next_step=""
    )
    letters = "ggRR-"
    made = [
        replace(one, run=replace(one.run, incidents=(cause,) if letter == "R" else ()))
        for one, letter in zip(runs(letters), letters, strict=True)
    ]
    (found,) = history_of(made).clusters
    (seen,) = found.incidents
    assert (seen.course.state, seen.course.gone_since) == (state, since)
