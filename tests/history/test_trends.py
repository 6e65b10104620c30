"""Thirty nights with two real changes and one flaky path: who broke when, beside which facts, and what is told of it."""

from dataclasses import replace

import pytest

from nettests.compare.changes import Explained
from nettests.compare.recorded import Member, RecordedCheck
from nettests.history.levels import Colour, State
from nettests.history.trends import CheckTrend, ClusterHistory, ReadRun, history_of
from nettests.model.words import Verdict
from nettests.report.results import Incident
from tests.compare.runs import quiet_run
from tests.history.story import (
    BEFORE,
    DSR_ON,
    LOST,
    NIGHTS,
    NOT_IN_EFFECT,
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


def trends(found: ClusterHistory, *states: State) -> dict[str, CheckTrend]:
    return {one.id: one for one in found.of(*states)}


def with_verdicts(letters: str) -> list[ReadRun]:
    """Return runs of one check: R fail, g pass, u unknown, - not planned, x a run that could not start."""
    verdicts = {"R": Verdict.FAIL, "g": Verdict.PASS, "u": Verdict.UNKNOWN, "~": Verdict.FLAKY}
    runs = []
    for at, letter in enumerate(letters):
        one = night(at)
        checks = () if letter in "-x" else (RecordedCheck(id="f/a", flow="f", verdict=verdicts[letter]),)  # fmt: skip
        facts = None if letter == "x" else one.run.facts
        run = replace(one.run, checks=checks, incidents=(), facts=facts)
        runs.append(altered(replace(one, run=run), error="no nodes" if letter == "x" else None))
    return runs


def test_the_first_bad_run_of_each_real_change_is_named() -> None:
    """The update breaks paths to the end, DSR others for six nights: each with the night on which it began."""
    found = whole()
    red, repaired = trends(found, State.RED), trends(found, State.REPAIRED)
    assert set(red) == {f"{LOST}tcp", f"{LOST}udp"}
    assert {one.course.first_bad for one in red.values()} == {PATCHED}
    assert {one.course.last_good for one in red.values()} == {PATCHED - 1}
    assert all(one.startswith(NOT_IN_EFFECT) for one in repaired)
    assert {one.course.first_bad for one in repaired.values()} == {DSR_ON}
    assert {one.course.good_since for one in repaired.values()} == {REPAIRED}


def test_the_flaky_path_is_the_only_one_and_its_first_bad_run_is_named() -> None:
    """Red on four nights of thirty, it has a rate, and no night after which it is red."""
    (flaky,) = whole().of(State.FLAKY)
    assert (flaky.id, flaky.course.first_bad) == (SWINGING, min(SWINGS))
    assert (flaky.course.red, flaky.course.judged) == (len(SWINGS), NIGHTS)
    assert flaky.course.flake_rate == round(len(SWINGS) / NIGHTS, 4)


def test_everything_else_was_never_red() -> None:
    """Each check is in exactly one state, and the good ones in all their runs."""
    found = whole()
    rest = found.of(State.GOOD)
    others = found.of(State.RED, State.FLAKY, State.REPAIRED)
    assert len(rest) + len(others) == len(found.checks) == len(night(0).run.checks)
    assert {one.course.red for one in rest} == {0}
    assert {one.course.judged for one in rest} == {NIGHTS}


def test_the_facts_between_last_good_and_first_bad_run_are_found() -> None:
    """The update and DSR each stand beside what broke with them; beside the flaky path nothing changed."""
    facts = {one.state: [str(fact) for fact in one.facts] for one in whole().turns}
    assert facts == {
        State.RED: ["windows-1 build: 17763.1339 → 17763.6532"],
        State.FLAKY: [],
        State.REPAIRED: ["windows-1 DSR: off → on"],
    }


def test_a_fact_beside_a_failure_is_no_explanation_by_itself() -> None:
    """As for two runs: DSR explains what documents expect of it, the update explains nothing."""
    said = {
        turn.state: {one.change.why.explained for one in turn.checks if one.change and one.change.why}
        for turn in whole().turns
    }  # fmt: skip
    assert said == {
        State.RED: {Explained.UNEXPLAINED},
        State.FLAKY: {Explained.UNEXPLAINED},
        State.REPAIRED: {Explained.EXPLAINED},
    }


def test_facts_are_told_at_the_run_before_which_they_changed() -> None:
    """Two nights of thirty have any."""
    found = whole()
    changed = {at: [str(one) for one in facts] for at, facts in enumerate(found.facts) if facts}
    assert changed == {
        PATCHED: ["windows-1 build: 17763.1339 → 17763.6532"],
        DSR_ON: ["windows-1 DSR: off → on"],
    }


def test_a_fact_that_changed_while_nights_were_lost_is_told_at_the_next_one() -> None:
    """A run without facts has none to compare: the run after it is compared with the one before."""
    runs = nights(range(PATCHED - 2, PATCHED + 3))
    lost = [replace(one, run=replace(one.run, facts=None, checks=(), incidents=())) for one in runs[2:3]]  # fmt: skip
    found = history([*runs[:2], *lost, *runs[3:]])
    assert [len(facts) for facts in found.facts] == [0, 0, 0, 1, 0]


@pytest.mark.parametrize("last", [PATCHED, PATCHED + 1, DSR_ON, DSR_ON + 3, REPAIRED])
def test_the_first_bad_run_is_the_same_on_every_later_night(last: int) -> None:
    """The next morning it is named, and no night after that changes its mind."""
    found = history(nights(range(last + 1)))
    assert {one.course.first_bad for one in found.of(State.RED) if one.id.startswith(LOST)} == {
        PATCHED
    }
    dsr = {one.course.first_bad for one in found.checks if one.id.startswith(NOT_IN_EFFECT)}
    assert dsr == ({DSR_ON} if last >= DSR_ON else {None})


def test_what_is_red_from_the_first_run_on_has_no_last_good_one() -> None:
    """The history begins after the change: nothing is compared, and no fact is blamed."""
    found = history(nights(range(PATCHED, PATCHED + 4)))
    (turn,) = [one for one in found.turns if one.state is State.RED]
    assert (turn.first_bad, turn.last_good, turn.facts) == (0, None, ())
    assert {one.change for one in turn.checks} == {None}


def test_checks_that_went_together_are_one_turn() -> None:
    """The most urgent first; each check that was ever red is in one turn."""
    turns = whole().turns
    assert [one.state for one in turns] == [State.RED, State.FLAKY, State.REPAIRED]
    ids = [check.id for turn in turns for check in turn.checks]
    assert len(ids) == len(set(ids)) == sum(one.course.red > 0 for one in whole().checks)


def test_newer_turns_come_first_among_those_of_a_state() -> None:
    """What broke last night is read before what broke a month ago."""
    found = history(nights(range(DSR_ON + 3)))
    assert [one.first_bad for one in found.turns if one.state is State.RED] == [DSR_ON, PATCHED]


def test_what_is_flaky_comes_in_the_order_of_how_often() -> None:
    """The path that wastes most mornings is read first."""
    runs = with_verdicts("gRggRgggg")
    for at, red in enumerate("gRgRgRggg"):
        verdict = Verdict.FAIL if red == "R" else Verdict.PASS
        more = RecordedCheck(id="f/b", flow="f", verdict=verdict)
        runs[at] = replace(runs[at], run=replace(runs[at].run, checks=(*runs[at].run.checks, more)))
    assert [turn.checks[0].id for turn in history(runs).turns] == ["f/b", "f/a"]


def test_flaky_checks_are_together_where_they_are_red_together() -> None:
    """A node that comes and goes is one entry; paths that began to swing in one night are two."""
    runs = nights(range(9))
    for at, letters in enumerate(zip("gRggRgggg", "gRggRgggg", "gRgRggggg", strict=True)):
        checks = tuple(
            RecordedCheck(
                id=f"f/{name}", flow="f", verdict=Verdict.FAIL if red == "R" else Verdict.PASS
            )
            for name, red in zip("abc", letters, strict=True)
        )
        runs[at] = replace(runs[at], run=replace(runs[at].run, checks=checks, incidents=()))
    together = [[check.id for check in turn.checks] for turn in history(runs).turns]
    assert sorted(together) == [["f/a", "f/b"], ["f/c"]]


def test_an_incident_has_a_trend_of_its_own() -> None:
    """What the two directions of a path have in common is red since the update."""
    (incident,) = next(one for one in whole().turns if one.state is State.RED).incidents
    assert set(incident.checks) == {f"{LOST}tcp", f"{LOST}udp"}
    assert incident.course.state is State.RED
    assert incident.course.first_bad == PATCHED
    assert incident.colours == (Colour.GOOD,) * PATCHED + (Colour.RED,) * (NIGHTS - PATCHED)


@pytest.mark.parametrize(("newer", "told"), [(True, ["new"]), (False, ["old"])])
def test_a_cause_of_before_is_not_the_one_of_a_later_turn(*, newer: bool, told: list[str]) -> None:
    """It explains a check that broke later, too; where another cause came with that one, it is named alone."""
    both = ("f/a", "f/b")
    old = Incident(cause="old", traits={"node": "a"}, checks=both, next_step="")
    new = Incident(cause="new", traits={"node": "b"}, checks=("f/b",), next_step="")
    runs = []
    for at, letters in enumerate(("gg", "gg", "Rg", "Rg", "RR", "RR")):
        first, second = letters[0], letters[1]
        verdicts = {"R": Verdict.FAIL, "g": Verdict.PASS}
        checks = tuple(
            RecordedCheck(id=name, flow="f", verdict=verdicts[letter])
            for name, letter in zip(both, (first, second), strict=True)
        )
        causes = (*([old] if first == "R" else []), *([new] if newer and second == "R" else []))
        one = night(at)
        runs.append(replace(one, run=replace(one.run, checks=checks, incidents=causes)))
    turns = {turn.first_bad: [one.cause for one in turn.incidents] for turn in history(runs).turns}
    assert turns == {2: ["old"], 4: told}


def test_an_incident_is_not_gone_where_its_checks_were_not_run() -> None:
    """A run of other flows says nothing of it."""
    runs = nights(range(PATCHED, PATCHED + 4))
    other = [one for one in runs[2].run.checks if not one.id.startswith(LOST)]
    runs[2] = replace(runs[2], run=replace(runs[2].run, checks=tuple(other), incidents=()))
    (incident,) = history(runs).incidents
    assert incident.colours == (Colour.RED, Colour.RED, Colour.BLIND, Colour.RED)
    assert incident.course.swings == 0


def test_an_incident_of_another_time_is_none_of_a_turn() -> None:
    """A check that broke again for another reason does not stand below the cause of the first time."""
    old = Incident(cause="the Service proxy", traits={}, checks=("f/a",), next_step="look")
    runs = [
        replace(one, run=replace(one.run, incidents=(old,) if at < 4 else ()))
        for at, one in enumerate(with_verdicts("RRRRggggRRR"))
    ]
    (turn,) = history(runs).turns
    assert (turn.first_bad, turn.incidents) == (8, ())


def test_an_incident_that_nothing_explains_is_the_trend_of_its_check() -> None:
    """It would be told twice."""
    red = night(min(SWINGS))
    (incident,) = red.run.incidents
    red = replace(red, run=replace(red.run, incidents=(replace(incident, explained=False),)))
    assert history([night(0), red]).incidents == ()


@pytest.mark.parametrize(
    ("letters", "state", "first_bad", "last_good"),
    [
        ("ggRR", State.RED, 2, 1),
        ("guuRR", State.RED, 3, 0),
        ("g-xRR", State.RED, 3, 0),
        ("--RR", State.RED, 2, None),
        ("RRuu", State.RED, 0, None),
        ("gg~gg", State.FLAKY, 2, 1),
        ("uu", State.NOT_JUDGED, None, None),
    ],
)
def test_what_was_not_judged_is_neither_good_nor_bad(
    letters: str, state: State, first_bad: int | None, last_good: int | None
) -> None:
    """Unknown, not planned, and a run that could not start leave the question to the runs around them."""
    (trend,) = history(with_verdicts(letters)).checks
    went = trend.course
    assert (went.state, went.first_bad, went.last_good) == (state, first_bad, last_good)


def test_a_check_keeps_its_place_in_the_plan_of_the_newest_run() -> None:
    """Checks that only older runs planned come last."""
    runs = nights(range(2))
    newer = replace(runs[1], run=replace(runs[1].run, checks=runs[1].run.checks[5:]))
    ids = [one.id for one in history([runs[0], newer]).checks]
    assert ids == [
        *(one.id for one in newer.run.checks),
        *(one.id for one in runs[0].run.checks[:5]),
    ]


@pytest.mark.parametrize(
    ("verdict", "members", "shown"),
    [
        (Verdict.UNKNOWN, (Verdict.FLAKY,), Verdict.FLAKY),
        (Verdict.UNKNOWN, (Verdict.FLAKY, Verdict.FAIL), Verdict.FAIL),
        (Verdict.UNKNOWN, (Verdict.UNKNOWN,), Verdict.UNKNOWN),
        (Verdict.FAIL, (Verdict.FLAKY,), Verdict.FAIL),
        (Verdict.PASS, (), Verdict.PASS),
    ],
)
def test_no_member_that_deviates_is_hidden(
    verdict: Verdict, members: tuple[Verdict, ...], shown: Verdict
) -> None:
    """A check that could not be judged as a whole is red where one of its nodes is."""
    each = {f"n{at}": Member(verdict=one) for at, one in enumerate(members)}
    check = RecordedCheck(id="f/a", flow="f", verdict=verdict, members=each)
    assert check.standing is shown


def test_a_whole_cluster_in_order_has_nothing_to_tell() -> None:
    """All checks of all flows, three nights long: no turn, no incident, no changed fact."""
    run = quiet_run(BEFORE)
    runs = [
        altered(ReadRun(name=f"r{at}", run=run), run_id=f"r{at}", started=f"2026-11-0{at}T00:00:00")
        for at in range(1, 4)
    ]
    found = history(runs)
    assert (found.turns, found.incidents) == ((), ())
    assert not any(found.facts)
    assert {one.course.state for one in found.checks} <= {State.GOOD, State.NOT_JUDGED}
