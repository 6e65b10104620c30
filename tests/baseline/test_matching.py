"""What of a run a baseline covers: exactly what was accepted, on the facts on which it was, until its last day."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nettests.baseline.accepting import accepted
from nettests.baseline.entries import Baseline, Entry, read_baseline, render_baseline
from nettests.baseline.matching import BaselineComparison, Fit, compared, counted, fittings
from nettests.compare.recorded import RecordedCheck, RecordedRun
from nettests.errors import ManifestError
from nettests.judge.exit_status import of_run
from nettests.model.words import Outcome, Verdict
from tests.baseline.runs import (
    BROKEN,
    LAST_DAY,
    OPEN,
    OTHER,
    TODAY,
    baseline,
    entries,
    of_members,
    run,
    with_check,
)

HELD = baseline(run())
MORE = "pod-to-pod-ip/linux-1/windows-1/other-node/"
"""TCP as accepted, and UDP."""


def told(of: RecordedRun, held: Baseline = HELD) -> BaselineComparison:
    return compared(of, held, TODAY)


def fit(of: RecordedRun, check: str = BROKEN, held: Baseline = HELD) -> tuple[Fit, str]:
    """Return what the entry of a check says of a run, and why."""
    (found,) = [one for one in fittings(of, held, TODAY) if one.entry.check == check]
    return found.fit, found.why


def code(of: RecordedRun, held: Baseline = HELD) -> int:
    """Return how ``--fail-on new`` ends a run."""
    verdicts = {one.id: one.verdict for one in of.checks}
    members = {one.verdict for check in of.checks for one in check.members.values()}
    kept, rest = counted(told(of, held), verdicts, {*verdicts.values(), *members})
    return of_run(0, kept, {}, others_failed=False, members=rest)


def test_the_run_that_was_accepted_is_covered() -> None:
    """Nothing of it is new, and it ends as if all were as documented."""
    found = told(run())
    assert (found.known, found.new, found.otherwise, found.expired) == ((BROKEN,), (), (), ())
    assert {one.fit for one in fittings(run(), HELD, TODAY)} == {Fit.HOLDS}
    assert code(run()) == 0
    assert code(run(), Baseline(file="x")) == 1


def test_another_failure_is_new() -> None:
    """One more check of the same path, with the same outcome: nobody accepted it."""
    found = told(run(broken=MORE))
    assert found.known == (BROKEN,)
    assert found.new == (f"{MORE}udp",)
    assert code(run(broken=MORE)) == 1


def test_another_outcome_of_the_same_check_is_new() -> None:
    """Refused is not timed out."""
    other = run(outcome=Outcome.REFUSED)
    assert told(other).new == (BROKEN,)
    assert fit(other) == (Fit.OTHERWISE, "outcome: timed_out → refused")
    assert code(other) == 1


def test_the_same_failure_on_other_facts_is_new() -> None:
    """It was accepted for one build: after an update somebody looks again."""
    updated = run(facts=OTHER)
    assert told(updated).new == (BROKEN,)
    assert fit(updated) == (Fit.OTHER_FACTS, "target build: 17763.1339 → 17763.6532")


def test_a_repaired_check_makes_its_entry_stale_and_no_run_red() -> None:
    """What passes needs no excuse."""
    good = run(broken="")
    assert fit(good) == (Fit.OTHERWISE, "fail → pass")
    assert (told(good).new, told(good).otherwise) == ((), ())
    assert code(good) == 0


def test_an_entry_holds_until_its_last_day_and_is_red_from_the_next_on() -> None:
    """Nothing stays excused for ever, also where nobody looks at the check any more."""
    assert compared(run(), HELD, LAST_DAY).new == ()
    late = compared(run(), HELD, LAST_DAY + timedelta(days=1))
    assert late.new == (BROKEN,)
    assert {one.check for one in late.expired} == {one.check for one in HELD.entries}
    gone = compared(replace(run(), checks=()), HELD, LAST_DAY + timedelta(days=1))
    assert gone.red
    assert not compared(replace(run(), checks=()), HELD, LAST_DAY).red


def test_what_was_recorded_is_held_to_its_outcome() -> None:
    """Documents leave it open, and the site does not: another outcome on the same facts ends the run with 1."""
    other = run(broken=OPEN, outcome=Outcome.UNREACHABLE)
    assert told(other, baseline(run(), OPEN)).otherwise == (OPEN,)
    assert code(other, baseline(run(), OPEN)) == 1
    assert code(other, Baseline(file="x")) == 0


@pytest.mark.parametrize(("before", "now"), [("client-pod", "client-node"), (None, "other")])
def test_what_was_recorded_is_held_to_the_source_that_was_seen(
    before: str | None, now: str
) -> None:
    """The documents leave it open together with the outcome, and ``diff`` compares it."""
    check = next(one for one in run().checks if one.id == OPEN)
    first, later = (
        with_check(run(), replace(check, observed=replace(check.observed, source_seen=seen)))
        for seen in (before, now)
    )
    held = baseline(first, OPEN)
    assert told(first, held).otherwise == ()
    assert told(later, held).otherwise == (OPEN,)
    assert fit(later, OPEN, held)[1] == f"source_seen: {before or 'none'} → {now}"


@pytest.mark.parametrize(
    ("now", "outcome", "code_now"),
    [
        (Verdict.LIMITED, "timed_out", 0),
        (Verdict.LIMITED, "unreachable", 1),
        (Verdict.PASS, "replied", 0),
        (Verdict.FAIL, "refused", 1),
    ],
)
def test_what_is_limited_is_held_to_its_outcome(now: Verdict, outcome: str, code_now: int) -> None:
    """Its documents allow several, and the site one; what a newer manifest judges is free again, and a failure is new."""
    check = next(one for one in run().checks if one.verdict is Verdict.LIMITED)
    seen = replace(check.observed, outcome="timed_out")
    first = with_check(run(), replace(check, observed=seen))
    then = accepted([first], [check.id], reason="ticket 4711", expires=LAST_DAY, limited=True)
    held = Baseline(file="b.yaml", entries=(*HELD.entries, *(one.entry for one in then)))
    assert read_baseline(render_baseline(held), "b.yaml").entries[-1].check
    later = replace(check, verdict=now, observed=replace(seen, outcome=outcome))
    assert code(with_check(run(), later), held) == code_now


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.LIMITED, Verdict.KNOWN_BUG])
def test_what_was_recorded_and_is_documented_now_is_stale_and_not_red(verdict: Verdict) -> None:
    """A newer manifest judges it: what a site added to the documents is no longer needed."""
    check = next(one for one in run().checks if one.id == OPEN)
    judged = with_check(run(), replace(check, verdict=verdict))
    held = baseline(run(), OPEN)
    assert fit(judged, OPEN, held) == (Fit.OTHERWISE, f"recorded → {verdict.value}")
    assert told(judged, held).otherwise == ()


def test_a_run_that_could_not_start_says_nothing_of_any_entry() -> None:
    """It planned nothing: no entry is gone for that."""
    lost = replace(run(), checks=(), run=replace(run().run, error="no route to host"))
    assert fit(lost) == (Fit.NOT_JUDGED, "the run could not start: no route to host")


def test_what_was_recorded_is_free_again_on_other_facts() -> None:
    """What it may depend on changed: it is stale, and nothing is red."""
    other = run(facts=OTHER, broken=OPEN, outcome=Outcome.UNREACHABLE)
    held = baseline(run(), OPEN)
    assert fit(other, OPEN, held)[0] is Fit.OTHER_FACTS
    assert code(other, held) == 0


def test_what_was_recorded_and_fails_now_is_new() -> None:
    """It is counted once, as what it is."""
    check = next(one for one in run().checks if one.id == OPEN)
    found = told(with_check(run(), replace(check, verdict=Verdict.FAIL)))
    assert found.new == (OPEN,)
    assert found.otherwise == ()


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.SKIPPED])
def test_what_was_not_judged_is_neither_new_nor_stale(verdict: Verdict) -> None:
    """An unknown check keeps its own exit code: it is not excused."""
    check = next(one for one in run().checks if one.id == BROKEN)
    unseen = replace(check, verdict=verdict, message="no probe", members={})
    blind = with_check(run(), unseen)
    assert fit(blind) == (Fit.NOT_JUDGED, f"{verdict.value}: no probe")
    assert code(blind) == (6 if verdict is Verdict.UNKNOWN else 0)


def test_a_check_that_was_not_planned_makes_its_entry_stale() -> None:
    """It is gone, or another selection ran."""
    assert fit(replace(run(), checks=())) == (Fit.GONE, "the run did not plan it")


def test_a_run_without_facts_holds_to_none() -> None:
    """What cannot be compared is not taken for the same."""
    assert fit(replace(run(), facts=None))[0] is Fit.OTHER_FACTS


@pytest.mark.parametrize(
    ("members", "new"),
    [
        ({"a": Verdict.FAIL, "b": Verdict.FAIL}, False),
        ({"a": Verdict.FAIL}, False),
        ({"a": Verdict.FAIL, "c": Verdict.FAIL}, True),
        ({"a": Verdict.FAIL, "b": Verdict.FLAKY}, True),
        ({"a": Verdict.FAIL, "c": Verdict.UNKNOWN}, False),
    ],
)
def test_one_more_node_is_new_and_one_less_is_covered(
    members: dict[str, Verdict], *, new: bool
) -> None:
    """A check of the sweep is held to the nodes that deviated when it was accepted, and to how."""
    first = with_check(run(), of_members(Verdict.FAIL, a=Verdict.FAIL, b=Verdict.FAIL))
    now = with_check(run(), of_members(Verdict.FAIL, **members))
    held = baseline(first)
    assert (told(now, held).new == ("fleet/a",)) is new


def test_a_member_that_could_not_be_judged_still_ends_a_run_with_6() -> None:
    """Beside members that are known to deviate."""
    check = of_members(Verdict.UNKNOWN, a=Verdict.FLAKY, b=Verdict.UNKNOWN)
    of = with_check(run(), check)
    assert code(of, baseline(of)) == 6


def test_known_bugs_and_tests_that_are_no_checks_count_as_ever() -> None:
    """A baseline covers checks alone."""
    kept, rest = counted(told(run()), {BROKEN: Verdict.FAIL, "x": Verdict.KNOWN_BUG}, set())
    assert of_run(0, kept, {}, others_failed=False, members=rest) == 8
    assert of_run(1, kept, {}, others_failed=True, members=rest) == 1


def test_the_lines_name_what_is_red() -> None:
    """The sum first, then each check, and of many how many more."""
    late = LAST_DAY + timedelta(days=1)
    (one,) = entries(run(), BROKEN)
    found = compared(run(broken=MORE), Baseline(file="b.yaml", entries=(one,)), late)
    assert list(found.lines()) == [
        "baseline b.yaml: 0 known failures, 2 new, 0 not as accepted, 1 expired",
        f"new: {MORE}tcp",
        f"new: {MORE}udp",
        f"expired: {BROKEN} was accepted until 2026-12-31: ticket 4711",
    ]
    many = replace(found, new=tuple(f"f/{number}" for number in range(25)))
    assert "… and 5 more" in list(many.lines())


OUTAGE = of_members(
    Verdict.FAIL, **{"win-1 → win-2": Verdict.FAIL, "linux-1 → win-1": Verdict.FAIL}
)
ELSEWHERE = of_members(
    Verdict.FAIL, **{"win-1 → win-2": Verdict.FAIL, "win-10 → win-3": Verdict.FAIL}
)


@pytest.mark.parametrize(
    ("entry", "check", "known"),
    [
        ({"node": "win-1"}, OUTAGE, True),
        ({"node": "win-1"}, ELSEWHERE, False),
        ({"node": "win-2"}, OUTAGE, False),
        ({"flow": "fle*"}, ELSEWHERE, True),
        ({"flow": "dns-*"}, ELSEWHERE, False),
        ({"flow": "fle*", "expires": TODAY - timedelta(days=1)}, ELSEWHERE, False),
    ],
)
def test_one_entry_accepts_a_nodes_outage_or_a_flow(
    entry: dict[str, Any], check: RecordedCheck, known: bool
) -> None:
    """Whatever deviates at the node alone, or in the flow: what deviates elsewhere, or later, is new."""
    of = with_check(run(broken=""), check)
    held = Baseline(file="b", entries=(Entry(**{"reason": "x", "expires": LAST_DAY, **entry}),))
    assert (told(of, held).known == (check.id,)) is known
    assert code(of, held) == (0 if known else 1)
    assert read_baseline(render_baseline(held), "b") == held
    (found,) = fittings(run(broken=""), held, TODAY)
    assert found.fit in {Fit.OTHERWISE, Fit.EXPIRED}


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("node: a, flow: b", "an entry has one of check, node, flow"),
        ("run: r", "an entry has one of check, node, flow"),
        ("check: a", "a check has the verdict"),
        ("node: a, verdict: fail", "a node or a flow has none"),
    ],
)
def test_an_entry_is_about_one_thing(keys: str, says: str) -> None:
    """A check with its verdict, or a node, or a flow."""
    text = render_baseline(Baseline(file="b")).replace(
        "[]", f"[{{{keys}, reason: x, expires: '2099-12-31'}}]"
    )
    with pytest.raises(ManifestError, match=says):
        read_baseline(text, "b")
