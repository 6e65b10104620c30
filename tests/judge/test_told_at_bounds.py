"""What a judgement makes of several expected outcomes, ports that differ and single answers."""

from dataclasses import replace

import pytest

from nettests.judge import advice
from nettests.model.expectation import Expected
from nettests.model.observation import Observation, PortSeen
from nettests.model.words import (
    OS,
    Outcome,
    Placement,
    SourceSeen,
    TargetKind,
    Verdict,
)
from tests.judge.cases import (
    CLAIM,
    control,
    expects,
    observed,
)
from tests.judge.test_told import (
    LOST,
    OK,
    ONE,
    REFUSED,
    STICKY,
    TIMED_OUT,
    next_of,
    to,
    told,
)


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        (observed(OK, LOST, late="late"), Verdict.FAIL),
        (observed(LOST, OK, late="late"), Verdict.FAIL),
        (observed(OK, source=SourceSeen.OTHER, late="late"), Verdict.FAIL),
    ],
)
def test_one_answer_is_enough_to_be_late(seen: Observation, verdict: Verdict) -> None:
    """A Service that answered at all after its deadline was late, whatever else its answers were."""
    found = told(expects(CLAIM), seen)
    assert found.verdict is verdict
    assert "late; this check got its answer only later" in found.message


def test_expected_failures_of_several_kinds_are_met_by_any_of_them() -> None:
    """Each attempt has to be one of them; one that is not makes the attempts disagree."""
    wanted = Expected(outcome=LOST, alternatives=(REFUSED,))
    assert told(expects(wanted), observed(LOST, REFUSED)).verdict is Verdict.LIMITED
    assert told(expects(wanted), observed(REFUSED)).verdict is Verdict.LIMITED
    torn = observed(LOST, Outcome.UNREACHABLE)
    assert told(expects(wanted), torn).verdict is Verdict.FLAKY
    assert told(expects(wanted), observed(OK, LOST)).verdict is Verdict.FLAKY
    exact = Expected(outcome=LOST)
    assert told(expects(exact), observed(LOST, REFUSED)).verdict is Verdict.FLAKY


def test_a_claim_among_several_outcomes_passes() -> None:
    """Where documents allow what is claimed and more, the claim is a pass and the rest is limited."""
    claim = Expected(outcome=REFUSED)
    wanted = Expected(outcome=LOST, alternatives=(REFUSED,))
    both = expects(wanted, claim=claim)
    assert told(both, observed(REFUSED)).verdict is Verdict.PASS
    assert told(both, observed(LOST)).verdict is Verdict.LIMITED
    assert told(both, observed(REFUSED, controls=())).verdict is Verdict.UNKNOWN


def test_ports_that_differ_need_one_that_answers_or_a_vantage_that_does() -> None:
    """A port that answers proves the vantage; two that fail do not."""
    dead = (control("vantage", ok=False), control("target", ok=True))
    halves = (PortSeen(port=1, outcome=OK), PortSeen(port=2, outcome=LOST))
    found = told(expects(CLAIM), observed(OK, LOST, differing_ports=halves, controls=dead))
    assert (found.verdict, found.next_step) == (Verdict.FAIL, advice.STEPS["parting"])
    both = (PortSeen(port=1, outcome=REFUSED), PortSeen(port=2, outcome=LOST))
    found = told(expects(CLAIM), observed(REFUSED, LOST, differing_ports=both, controls=dead))
    assert (found.verdict, found.next_step) == (Verdict.UNKNOWN, advice.STEPS["no-proof"])


def test_the_wire_is_between_nodes() -> None:
    """What is advised for virtual machines is not where nothing leaves the node."""
    near = replace(to(TargetKind.POD_IP, OS.WINDOWS), placement=Placement.SAME_NODE)
    assert "spoofing" not in next_of(near, LOST)


def test_who_answered_shows_that_the_vantage_works() -> None:
    """Affinity that was seen needs a target that several serve, and no vantage control."""
    seen = observed(OK, distribution=ONE, controls=(control("target", ok=True),))
    assert told(expects(STICKY, claim=STICKY), seen).verdict is Verdict.PASS
    silent = observed(LOST, controls=(control("target", ok=True),))
    assert told(expects(TIMED_OUT), silent).verdict is Verdict.UNKNOWN
