"""A check with members is as good as its worst member, and names those that deviate."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from nettests.judge import judge_members, judge_run
from nettests.judge.checks import NAMED, skipped
from nettests.model.check import Check, Member
from nettests.model.check_id import member_id, member_of, parent_of
from nettests.model.expectation import Expectation
from nettests.model.observation import Attempt, ControlResult, Observation
from nettests.model.verdict import Judgement
from nettests.model.words import Outcome, Placement, TargetKind, Verdict
from tests.judge.cases import CLAIM, HOLD, LIMITATION, check

LABELS = tuple(f"win-{number} → linux-2" for number in range(1, 10))


def whole(labels: tuple[str, ...] = LABELS) -> Check:
    """Return a check of so many members."""
    one = replace(check(TargetKind.POD_IP), id="fleet/windows/linux/tcp", flow="fleet")
    member = Member(label="", action=one.action, placement=Placement.OTHER_NODE)
    return replace(one, members=tuple(replace(member, label=label) for label in labels))


CHECK = whole()


def told(verdict: Verdict, label: str, **more: str) -> Judgement:
    """Return what was judged of a member."""
    observed = "connected" if verdict is Verdict.PASS else "timed_out"
    message = (
        f"{CHECK.title}: {label} - fleet - expected connected, observed {observed}: i/o timeout"
    )
    values: dict[str, Any] = {"message": message, "expected": "connected", "observed": observed}
    return Judgement(check=member_id(CHECK.id, label), verdict=verdict, **(values | more))


def of(**verdicts: Verdict) -> Judgement:
    """Return the verdict of the check; members that are not named passed."""
    by_label = {f"win-{name.removeprefix('win')} → linux-2": one for name, one in verdicts.items()}
    each = [told(by_label.get(label, Verdict.PASS), label) for label in LABELS]
    return judge_members(CHECK, {one.check: one for one in each})


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({}, Verdict.PASS),
        ({"win3": Verdict.FAIL}, Verdict.FAIL),
        ({"win3": Verdict.UNKNOWN}, Verdict.UNKNOWN),
        ({"win3": Verdict.FLAKY, "win4": Verdict.UNKNOWN}, Verdict.UNKNOWN),
        ({"win3": Verdict.UNKNOWN, "win4": Verdict.LIFTED}, Verdict.LIFTED),
        ({"win3": Verdict.LIFTED, "win4": Verdict.FAIL}, Verdict.FAIL),
        ({"win3": Verdict.LIMITED}, Verdict.LIMITED),
        ({"win3": Verdict.RECORDED}, Verdict.RECORDED),
        ({"win3": Verdict.SKIPPED}, Verdict.PASS),
    ],
)
def test_the_worst_member_decides(verdicts: Mapping[str, Verdict], expected: Verdict) -> None:
    """One that deviates fails the check, and one that could not be judged is no pass, however many others passed."""
    assert of(**verdicts).verdict is expected


def test_an_unknown_member_hides_no_flaky_one() -> None:
    """The check is unknown, and says what its members deviate in; accepted ones deviate in nothing."""
    judgement = of(win3=Verdict.FLAKY, win4=Verdict.UNKNOWN)
    assert judgement.shown == {Verdict.UNKNOWN, Verdict.FLAKY}
    assert judgement.deviation is Verdict.FLAKY
    assert of(win3=Verdict.UNKNOWN, win4=Verdict.KNOWN_BUG).deviation is None


def test_the_message_counts_and_names_the_members_that_deviate() -> None:
    """How many of how many, which, and what the first of them showed."""
    judgement = of(win3=Verdict.FAIL, win7=Verdict.FAIL)
    assert judgement.message == (
        f"{CHECK.title} - fleet - fail for 2 of 9 pairs of nodes: win-3 → linux-2, win-7 → linux-2 - "
        "expected connected, observed timed_out: i/o timeout"
    )
    assert judgement.observed == "connected ×7, timed_out ×2"


def test_of_many_members_some_are_named() -> None:
    """A sentence can still be read where everything is broken; the documents have all."""
    every = {f"win{number}": Verdict.FAIL for number in range(1, 10)}
    judgement = of(**every)
    assert f"{LABELS[NAMED - 1]}, … and {len(LABELS) - NAMED} more" in judgement.message
    assert sum(len(one.labels) for one in judgement.members) == 9


def test_a_pass_names_nobody() -> None:
    """What all members showed is said once."""
    judgement = of()
    assert judgement.members == ()
    assert judgement.message.endswith("expected connected, observed connected")
    assert judgement.next_step == ""


def test_the_next_step_is_that_of_the_first_that_deviates() -> None:
    """What to do about the worst is what to do first."""
    each = [told(Verdict.PASS, one) for one in LABELS[1:]]
    bad = told(Verdict.FAIL, LABELS[0], next_step="look at its route")
    judgement = judge_members(CHECK, {one.check: one for one in (bad, *each)})
    assert judgement.next_step == "look at its route"


def test_documented_members_are_told_together_and_without_words() -> None:
    """Hundreds of members under one limitation are one group: their verdict and its entry say all."""
    by_label = {label: replace(told(Verdict.LIMITED, label), limitation="x") for label in LABELS}
    judgement = judge_members(CHECK, {one.check: one for one in by_label.values()})
    (group,) = judgement.members
    assert (group.labels, group.limitation, group.message) == (LABELS, "x", "")
    assert judgement.limitation == "x"


def test_a_member_that_was_never_judged_is_unknown() -> None:
    """A run that broke off leaves no member behind in silence."""
    each = [told(Verdict.PASS, label) for label in LABELS[1:]]
    judgement = judge_members(CHECK, {one.check: one for one in each})
    assert judgement.verdict is Verdict.UNKNOWN
    assert judgement.members[0].labels == LABELS[:1]


def test_a_check_none_of_whose_members_applies_is_skipped() -> None:
    """The reason is that of its members."""
    each = [skipped(member_id(CHECK.id, label), "no tool") for label in LABELS]
    judgement = judge_members(CHECK, {one.check: one for one in each})
    assert (judgement.verdict, judgement.message) == (Verdict.SKIPPED, "no tool")


def test_addresses_do_not_tell_what_was_observed_apart() -> None:
    """Every member sees another source address, and all of them the same thing."""
    each = [
        told(Verdict.PASS, label, observed=f"connected, source = client-pod (10.244.{at}.7)")
        for at, label in enumerate(LABELS)
    ]
    judgement = judge_members(CHECK, {one.check: one for one in each})
    assert judgement.observed == "connected, source = client-pod"


def seen(member: str, outcome: Outcome, controls: tuple[ControlResult, ...] = HOLD) -> Observation:
    """Return what was observed of a member."""
    attempt = Attempt(
        number=1, outcome=outcome, elapsed=0.01, channel="port-forward", detail="", started=0.0
    )
    return Observation(
        check=member, outcome=outcome, agreed=True, attempts=(attempt,), controls=controls
    )


def test_members_are_judged_by_what_is_expected_of_their_own_nodes() -> None:
    """Of two builds one is documented not to reach it: that it is silent is limited there, and a failure elsewhere."""
    made = whole(LABELS[:3])
    quiet = Expectation(
        claim=CLAIM, expected=replace(CLAIM, outcome=Outcome.TIMED_OUT), limitation=LIMITATION
    )
    first, second, third = (member_id(made.id, label) for label in LABELS[:3])
    plain = Expectation(claim=CLAIM, expected=CLAIM)
    expectations = {made.id: plain, first: quiet, second: plain, third: plain}

    def verdict(*outcomes: Outcome) -> Judgement:
        observed = {
            one: seen(one, got) for one, got in zip((first, second, third), outcomes, strict=True)
        }
        (judgement,) = judge_run([made], expectations, observed)
        return judgement

    limited = verdict(Outcome.TIMED_OUT, Outcome.CONNECTED, Outcome.CONNECTED)
    assert (limited.verdict, limited.members[0].labels) == (Verdict.LIMITED, LABELS[:1])
    failed = verdict(Outcome.TIMED_OUT, Outcome.TIMED_OUT, Outcome.CONNECTED)
    assert failed.verdict is Verdict.FAIL
    assert [one.labels for one in failed.members if one.verdict is Verdict.FAIL] == [LABELS[1:2]]
    lifted = verdict(Outcome.CONNECTED, Outcome.CONNECTED, Outcome.CONNECTED)
    assert lifted.verdict is Verdict.LIFTED


def test_silence_without_controls_makes_the_check_unknown() -> None:
    """A member's negative result counts beside its positive controls alone, as any check's does."""
    made = whole(LABELS[:2])
    plain = Expectation(claim=CLAIM, expected=CLAIM)
    first, second = (member_id(made.id, label) for label in LABELS[:2])
    dead = tuple(replace(one, ok=False) for one in HOLD)
    observed = {
        first: seen(first, Outcome.TIMED_OUT, dead),
        second: seen(second, Outcome.CONNECTED),
    }
    (judgement,) = judge_run([made], dict.fromkeys((made.id, first, second), plain), observed)
    assert judgement.verdict is Verdict.UNKNOWN


def test_a_member_is_named_apart_from_its_check() -> None:
    """Its id leads back to the check, and to its label."""
    name = member_id("dns-via-service/windows-1/udp/nslookup", "win-3")
    assert (parent_of(name), member_of(name)) == ("dns-via-service/windows-1/udp/nslookup", "win-3")
    assert (parent_of("a/b/tcp"), member_of("a/b/tcp")) == ("a/b/tcp", "")
