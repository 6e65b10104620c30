"""What of a run is accepted: what deviates, and what documents leave open; on the facts of that run."""

from dataclasses import replace

import pytest

from nettests.baseline.accepting import accepted, merged
from nettests.baseline.entries import Baseline
from nettests.compare.recorded import Seen
from nettests.model.words import Verdict
from tests.baseline.runs import (
    BROKEN,
    LAST_DAY,
    OPEN,
    baseline,
    entries,
    of_members,
    run,
    with_check,
)


def test_what_deviates_and_what_was_recorded_is_accepted() -> None:
    """Every such check has one entry, and nothing else has one."""
    found = {one.check: one.verdict for one in entries(run())}
    expected = {
        one.id: one.verdict
        for one in run().checks
        if one.verdict in {Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY, Verdict.RECORDED}
    }
    assert found == expected
    assert found[BROKEN] is Verdict.FAIL
    assert found[OPEN] is Verdict.RECORDED


def test_an_entry_says_what_was_seen_on_which_facts() -> None:
    """The outcome, the facts that every entry depends on, the run, the reason and the end."""
    (one,) = entries(run(), BROKEN)
    assert one.seen == Seen(outcome="timed_out")
    assert {str(fact): value for fact, (value,) in one.facts.items()} == {
        "Kubernetes": "1.24.17",
        "CNI plugin": "flannel",
        "target build": "17763.1339",
    }
    assert (one.run, one.reason) == (run().run.run_id, "ticket 4711")
    assert one.expires == LAST_DAY


def test_the_facts_of_the_expectation_are_among_them() -> None:
    """What documents leave open depending on DSR was recorded under DSR."""
    (one,) = entries(run(), OPEN)
    assert {str(fact): value for fact, (value,) in one.facts.items()}["source DSR"] == "on"


@pytest.mark.parametrize(
    ("patterns", "number"),
    [
        ([BROKEN], 1),
        (["pod-to-pod-ip/*"], 1),
        (["pod-to-pod-ip/*", OPEN], 2),
        (["pod-to-pod-ip"], 0),
        (["POD-TO-POD-IP/*"], 0),
        (["icmp-egress/*"], 0),
    ],
)
def test_patterns_choose_by_the_whole_id(patterns: list[str], number: int) -> None:
    """A star stands for any letters; what is as documented is never chosen."""
    assert len(entries(run(), *patterns)) == number


def test_what_is_limited_is_accepted_on_request_alone() -> None:
    """Each such check, with the outcome that was seen; beside what is accepted without it."""
    limited = {one.id for one in run().checks if one.verdict is Verdict.LIMITED}
    assert limited
    found = accepted([run()], (), reason="ticket 4711", expires=LAST_DAY, limited=True)
    held = {one.entry.check: one.entry for one in found}
    assert held.keys() == limited | {one.check for one in entries(run())}
    assert {held[one].verdict for one in limited} == {Verdict.LIMITED}
    assert all(held[one].seen.outcome for one in limited)


def test_a_flaky_check_is_held_to_no_outcome() -> None:
    """Its attempts disagreed: which came last says nothing."""
    broken = next(one for one in run().checks if one.id == BROKEN)
    flaky = with_check(run(), replace(broken, verdict=Verdict.FLAKY))
    (one,) = entries(flaky, BROKEN)
    assert (one.verdict, one.seen) == (Verdict.FLAKY, Seen())


def test_members_that_deviate_are_named() -> None:
    """Also where the check as a whole could not be judged; members that are unknown are not accepted."""
    check = of_members(Verdict.UNKNOWN, a=Verdict.FLAKY, b=Verdict.UNKNOWN)
    (one,) = entries(with_check(run(), check), "fleet/*")
    assert (one.verdict, dict(one.members)) == (Verdict.FLAKY, {"a": Verdict.FLAKY})


def test_what_could_not_be_judged_is_not_accepted() -> None:
    """Nobody knows what it would be."""
    check = of_members(Verdict.UNKNOWN, b=Verdict.UNKNOWN)
    assert entries(with_check(run(), check), "fleet/*") == ()


def test_a_run_without_facts_gives_entries_without() -> None:
    """A document may have none."""
    (one,) = entries(replace(run(), facts=None), BROKEN)
    assert one.facts == {}


def test_a_new_entry_takes_the_place_of_the_one_of_its_check() -> None:
    """Others stay as they were."""
    old = baseline(run())
    (newer,) = [replace(one, reason="ticket 4712") for one in entries(run(), BROKEN)]
    both = merged(old, [newer])
    assert len(both.entries) == len(old.entries)
    reasons = {one.check: one.reason for one in both.entries}
    assert reasons[BROKEN] == "ticket 4712"
    assert reasons[OPEN] == "ticket 4711"
    assert merged(Baseline(file="x"), [newer]).entries == (newer,)
