"""Which results need positive controls, and what is said where they fail or are missing."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.judge import judge
from nettests.model.expectation import Expected
from nettests.model.facts import ExistingService
from nettests.model.observation import NOT_RUN, ControlResult
from nettests.model.words import Outcome, SourceSeen, VantageKind, Verdict
from tests.judge.cases import CLAIM, check, control, expects, observed

CONFORMS = Expected(outcome=Outcome.CONFORMS)
DEVIATES = Expected(outcome=Outcome.DEVIATES)


@pytest.mark.parametrize(
    ("expected", "verdict"), [(DEVIATES, Verdict.LIMITED), (CONFORMS, Verdict.FAIL)]
)
def test_what_was_read_word_for_word_needs_none(expected: Expected, verdict: Verdict) -> None:
    """A setting that deviates is limited where that is documented, and fails elsewhere."""
    seen = observed(Outcome.DEVIATES, controls=())
    assert judge(check(), expects(expected, claim=CONFORMS), seen).verdict is verdict


def test_an_answer_that_is_not_as_claimed_needs_none() -> None:
    """A wrong source address was told by the target itself: it fails whatever the controls."""
    claim = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_POD)
    seen = observed(Outcome.CONNECTED, source=SourceSeen.CLIENT_NODE, controls=())
    assert judge(check(), expects(claim, claim=claim), seen).verdict is Verdict.FAIL


def test_silence_is_no_part_that_went_unseen() -> None:
    """Where nothing answers, a claim about the source address fails: nobody could have told it."""
    claim = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_POD)
    found = judge(check(), expects(claim, claim=claim), observed(Outcome.TIMED_OUT))
    assert found.verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("controls", "says"),
    [
        ((), "not proven: this cluster allows no vantage control"),
        ((control("target", ok=True),), "this cluster allows no vantage control"),
        (
            (control("vantage", ok=False),),
            "not proven: the vantage control failed as well (timed out)",
        ),
        ((control("path", ok=False),), "not proven: the path control failed as well (timed out)"),
    ],
)
def test_a_vantage_that_reaches_nothing_is_said(
    controls: tuple[ControlResult, ...], says: str
) -> None:
    """Which control failed or was missing stands in the message of the unknown check."""
    found = judge(check(), expects(CLAIM), observed(Outcome.TIMED_OUT, controls=controls))
    assert found.verdict is Verdict.UNKNOWN
    assert says in found.message


@pytest.mark.parametrize(
    ("detail", "verdict"),
    [
        ("timed_out: Request timed out.", Verdict.FAIL),
        ("probe_failed: control channel exec: cut", Verdict.UNKNOWN),
        (NOT_RUN, Verdict.UNKNOWN),
    ],
)
def test_a_vantage_that_reaches_nothing_fails_where_the_target_answers_others(
    detail: str, verdict: Verdict
) -> None:
    """What a node sends of one protocol may all be lost; a control that met no network shows nothing of that."""
    silent = ControlResult(proves="vantage", ok=False, detail=detail)
    seen = observed(Outcome.TIMED_OUT, controls=(silent, control("target", ok=True)))
    found = judge(check(), expects(CLAIM), seen)
    assert found.verdict is verdict
    if verdict is Verdict.FAIL:
        assert f"the source reaches nothing else either ({detail})" in found.message


def test_a_vantage_outside_that_reaches_nothing_shows_nothing() -> None:
    """It is not calibrated, and a firewall may keep it from every node."""
    silent = ControlResult(proves="vantage", ok=False, detail="timed_out: it took too long")
    seen = observed(Outcome.TIMED_OUT, controls=(silent, control("target", ok=True)))
    plain = check()
    source = replace(plain.source, kind=VantageKind.EXTERNAL)
    outside = replace(plain, action=replace(plain.action, source=source))
    assert judge(outside, expects(CLAIM), seen).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("failing", "said"), [("target", True), ("vantage", False)], ids=["target", "vantage"]
)
def test_only_the_targets_own_control_speaks_of_it(failing: str, *, said: bool) -> None:
    """That no other vantage reaches the target either is said when its own control failed."""
    controls = (control(failing, ok=False), control("vantage", ok=True))
    found = judge(check(), expects(CLAIM), observed(Outcome.TIMED_OUT, controls=controls))
    assert found.verdict is Verdict.FAIL
    assert ("nothing else reaches the target either (timed out)" in found.message) is said


@pytest.mark.parametrize(
    ("own", "reached", "verdict"),
    [
        (True, False, Verdict.FAIL),
        (False, True, Verdict.FAIL),
        (False, False, Verdict.RECORDED),
    ],
)
def test_a_service_of_others_counts_only_where_another_node_reaches_it(
    verdict: Verdict, *, own: bool, reached: bool
) -> None:
    """Its owner decides which clients may connect; every client may connect to the cluster's own Services."""
    service = ExistingService(name="shop/web", address=ip_address("10.96.7.7"), port=80, own=own)
    dialled = check()
    action = replace(dialled.action, target=replace(dialled.target, existing=service))
    controls = (control("target", ok=reached), control("vantage", ok=True))
    found = judge(
        replace(dialled, action=action),
        expects(CLAIM),
        observed(Outcome.TIMED_OUT, controls=controls),
    )
    assert found.verdict is verdict


@pytest.mark.parametrize(
    ("detail", "blamed"),
    [
        ("timed_out: Get http://10.244.2.5:80: i/o timeout", True),
        ("probe_failed: control channel port-forward: port-forward to p: it was lost", False),
        ("it was not run", False),
    ],
)
def test_a_control_that_met_no_network_says_nothing_of_the_target(
    detail: str, *, blamed: bool
) -> None:
    """That another vantage does not reach the target is claimed only where it tried."""
    controls = (
        control("vantage", ok=True),
        ControlResult(proves="target", ok=False, detail=detail),
    )
    found = judge(check(), expects(CLAIM), observed(Outcome.TIMED_OUT, controls=controls))
    assert found.verdict is Verdict.FAIL
    assert ("nothing else reaches" in found.message) is blamed
    assert ("look at the target first" in found.next_step) is blamed
