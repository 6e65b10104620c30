"""What is told of a check with members, word for word: who deviates, what of, and what was seen of the others."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from nettests.judge import advice, judge, judge_members, judge_run
from nettests.judge.checks import NAMED
from nettests.model.check_id import member_id
from nettests.model.expectation import Expectation, Expected
from nettests.model.verdict import Judgement, MembersJudged
from nettests.model.words import OS, Distribution, Outcome, Verdict
from tests.judge.cases import CLAIM, check, expects, observed
from tests.judge.test_members import CHECK, LABELS, told, whole

HEAD = f"{CHECK.title} - fleet"


def judged(*others: Judgement, **of_rest: str) -> Judgement:
    """Return the judgement of the check: these members, and all others passed."""
    rest = [told(Verdict.PASS, label, **of_rest) for label in LABELS]
    by_id = {one.check: one for one in (*rest, *others)}
    return judge_members(CHECK, by_id)


def test_all_that_is_said_of_a_member_is_said_of_its_check() -> None:
    """The first that deviates gives its words; what is expected is that of most, what was observed is counted."""
    why = "expected refused, observed timed_out - fleet - twice"
    bad = replace(
        told(Verdict.FAIL, LABELS[2], expected="refused", next_step="look there"),
        message=f"{CHECK.title}: {LABELS[2]} - fleet - {why}",
        limitation="an-entry",
    )
    expected = "connected, elsewhere something else"
    assert judged(bad) == Judgement(
        check=CHECK.id,
        verdict=Verdict.FAIL,
        message=f"{HEAD} - fail for 1 of 9 pairs of nodes: {LABELS[2]} - {why}",
        expected=expected,
        observed="connected ×8, timed_out ×1",
        next_step="look there",
        limitation="an-entry",
        members=(
            MembersJudged(
                verdict=Verdict.FAIL,
                labels=(LABELS[2],),
                message=bad.message,
                expected="refused",
                observed="timed_out",
                next_step="look there",
                limitation="an-entry",
            ),
        ),
    )


def test_what_is_accepted_needs_no_step() -> None:
    """A member that is documented to deviate is nobody's work, whatever its judgement says."""
    limited = told(Verdict.LIMITED, LABELS[0], next_step="look there")
    judgement = judged(limited)
    assert (judgement.verdict, judgement.next_step) == (Verdict.LIMITED, "")
    assert judgement.members == (MembersJudged(verdict=Verdict.LIMITED, labels=LABELS[:1]),)


@pytest.mark.parametrize(("many", "more"), [(NAMED, ""), (NAMED + 1, ", … and 1 more")])
def test_no_more_are_counted_than_are_not_named(many: int, more: str) -> None:
    """Where all that deviate are named, nothing is said of others."""
    judgement = judged(*(told(Verdict.FAIL, label) for label in LABELS[:many]))
    named = ", ".join(LABELS[:NAMED])
    assert f" - fail for {many} of 9 pairs of nodes: {named}{more} - expected" in judgement.message


def test_a_member_without_a_judgement_says_that_it_was_never_run() -> None:
    """What was expected of it is the check's claim."""
    judgement = judge_members(whole(LABELS[:1]), {})
    assert judgement.message == (
        f"{HEAD} - unknown for 1 of 1 pair of nodes: {LABELS[0]} - {CHECK.title}: {LABELS[0]}: this member was never run"
    )
    assert judgement.expected == str(CHECK.claim)
    assert judgement.observed == "nothing that was judged"


def test_what_does_not_apply_is_told_with_the_first_reason() -> None:
    """Nothing is expected of members that are skipped, and nothing is observed of them."""
    reasons = {label: f"no tool on {label}" for label in LABELS[:2]}
    made = whole(LABELS[:2])
    plain = Expectation(claim=CLAIM, expected=CLAIM)
    ids = {member_id(made.id, label): reason for label, reason in reasons.items()}
    expectations: Mapping[str, Expectation] = dict.fromkeys((made.id, *ids), plain)
    (judgement,) = judge_run([made], expectations, {}, ids)
    assert judgement == Judgement(
        check=made.id,
        verdict=Verdict.SKIPPED,
        message=reasons[LABELS[0]],
        expected="",
        observed="nothing",
        members=tuple(
            MembersJudged(verdict=Verdict.SKIPPED, labels=(label,), message=reason)
            for label, reason in reasons.items()
        ),
    )


def test_affinity_between_linux_nodes_is_looked_for_in_kube_proxys_rules() -> None:
    """The step names whose rules decide on the source's node."""
    sticky = Expected(outcome=Outcome.CONNECTED, distribution=Distribution.ONE_BACKEND)
    several = Distribution.SEVERAL_BACKENDS
    seen = observed(Outcome.CONNECTED, Outcome.REPLIED, distribution=several)
    step = judge(check(os=OS.LINUX), expects(sticky), seen).next_step
    assert "the rules on the source's node (kube-proxy's), and" in step
    assert step == advice.of_distribution(check(os=OS.LINUX), seen, sticky.distribution)
