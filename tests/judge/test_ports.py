"""A target whose ports differ fails: neither claim nor limitation is met, or lifted, by one of them."""

from itertools import product
from typing import Any

import pytest

from nettests.judge import judge
from nettests.model.expectation import Expected
from nettests.model.observation import ControlResult, Observation, PortSeen
from nettests.model.words import Outcome, SourceSeen, Verdict
from tests.judge.cases import CLAIM, HOLD, VANTAGE_ONLY, check, control, expects, observed

OK, LOST, REFUSED = Outcome.CONNECTED, Outcome.TIMED_OUT, Outcome.REFUSED
HALF_LOST = (PortSeen(port=80, outcome=OK), PortSeen(port=82, outcome=LOST))
BOTH_LOST = (PortSeen(port=80, outcome=REFUSED), PortSeen(port=82, outcome=LOST))
EXPECTED = {
    "claim": CLAIM,
    "the lost half": Expected(outcome=LOST),
    "the refused half": Expected(outcome=REFUSED),
}
CONTROLS: dict[str, tuple[ControlResult, ...]] = {
    "hold": HOLD,
    "vantage only": VANTAGE_ONLY,
    "none": (),
    "vantage fails": (control("vantage", ok=False), control("target", ok=True)),
}

COMBINATIONS = list(product(EXPECTED, CONTROLS))


def seen(
    differing_ports: tuple[PortSeen, ...], controls: tuple[ControlResult, ...] = HOLD, **more: Any
) -> Observation:
    """Return an observation of ports that differ, each probed twice; the failure was the last."""
    outcomes = [one.outcome for one in differing_ports for _ in range(2)]
    return observed(*outcomes, controls=controls, differing_ports=differing_ports, **more)


@pytest.mark.parametrize(("expected", "controls"), COMBINATIONS)
def test_one_port_satisfies_nothing(expected: str, controls: str) -> None:
    """Whatever was expected, and whatever controls say: the port that answers proves the vantage."""
    found = judge(check(), expects(EXPECTED[expected]), seen(HALF_LOST, CONTROLS[controls]))
    assert found.verdict is Verdict.FAIL
    assert "observed connected at port 80, timed_out at port 82: it timed_out" in found.message


@pytest.mark.parametrize(("expected", "controls"), COMBINATIONS)
def test_ports_that_all_fail_need_their_vantage(expected: str, controls: str) -> None:
    """Where no port answers, the probe explains it as well, unless a control held."""
    found = judge(check(), expects(EXPECTED[expected]), seen(BOTH_LOST, CONTROLS[controls]))
    proven = controls in {"hold", "vantage only"}
    assert found.verdict is (Verdict.FAIL if proven else Verdict.UNKNOWN)


def test_what_is_not_trusted_or_left_open_stays_so() -> None:
    """Trust, undecided facts and documents that leave it open come first."""
    lost = seen(HALF_LOST, trusted=False, distrust="the channel failed")
    assert judge(check(), expects(CLAIM), lost).verdict is Verdict.UNKNOWN
    undecided = expects(CLAIM, undecided="the driver is unknown")
    assert judge(check(), undecided, seen(HALF_LOST)).verdict is Verdict.UNKNOWN
    assert judge(check(), expects(None), seen(HALF_LOST)).verdict is Verdict.RECORDED


def test_the_message_says_what_other_vantages_get_and_where_to_look() -> None:
    """Where nobody is answered at that port it is said; the next step looks for what the port lacks."""
    found = judge(check(), expects(CLAIM), seen(HALF_LOST, VANTAGE_ONLY))
    assert "nothing else reaches the target either" in found.message
    assert found.next_step.startswith("compare the port that fails with the one that works")


def test_the_source_that_a_port_saw_is_told() -> None:
    """The port that answers may have told whom it saw."""
    half = seen(tuple(reversed(HALF_LOST)), source=SourceSeen.CLIENT_POD)
    found = judge(check(), expects(CLAIM), half)
    assert (
        found.observed
        == "timed_out at port 82, connected at port 80, source = client-pod (10.244.3.2)"
    )
