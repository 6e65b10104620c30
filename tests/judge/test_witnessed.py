"""Two witnesses that differ fail a check, whatever documents expect; where they agree, the rest decides."""

from dataclasses import replace

import pytest

from nettests.judge import judge
from nettests.judge.advice import STEPS
from nettests.model.expectation import Expected
from nettests.model.observation import Subject, Witnessed
from nettests.model.words import Outcome, SourceSeen, Verdict
from tests.judge.cases import CLAIM, check, expects, observed

ALIKE = Witnessed(
    subject=Subject.ENCAPSULATION,
    witness="flannel's backend vxlan",
    says="VXLAN 4096",
    capture="win-1, uplink",
    shows="VXLAN 4096",
    agree=True,
)
DIFFERENT = Witnessed(
    subject=Subject.SOURCE,
    witness="the server",
    says="10.244.3.5:28002",
    capture="linux-1, eth0",
    shows="198.18.0.4:28002",
    agree=False,
)


@pytest.mark.parametrize("expected", [CLAIM, None, Expected(outcome=Outcome.CONNECTED)])
def test_a_contradiction_fails_even_what_documents_leave_open(expected: Expected | None) -> None:
    """The message names both witnesses and what each says."""
    seen = observed(Outcome.CONNECTED, witnessed=(ALIKE, DIFFERENT))
    judged = judge(check(), expects(expected), seen)
    assert judged.verdict is Verdict.FAIL
    assert str(DIFFERENT) in judged.message
    assert "the server says 10.244.3.5:28002" in judged.message
    assert "the capture on linux-1, eth0 shows 198.18.0.4:28002" in judged.message
    assert judged.next_step == STEPS["contradiction"]
    assert "witnessed" not in judged.observed


def test_a_lost_tunnel_leads_to_what_takes_its_port() -> None:
    """Whatever documents expect of a connection without an answer."""
    lost = replace(DIFFERENT, subject=Subject.TUNNEL)
    expected = Expected(outcome=Outcome.TIMED_OUT)
    judged = judge(check(), expects(expected), observed(Outcome.TIMED_OUT, witnessed=(lost,)))
    assert (judged.verdict, judged.next_step) == (Verdict.FAIL, STEPS["lost-tunnel"])
    assert "4789" in judged.next_step


def test_witnesses_that_agree_leave_the_verdict_to_the_documents() -> None:
    """What is witnessed is told; a source that is not the expected one fails as it does elsewhere."""
    seen = observed(Outcome.CONNECTED, source=SourceSeen.CLIENT_NODE, witnessed=(ALIKE,))
    passed = judge(check(), expects(CLAIM), seen)
    assert passed.verdict is Verdict.PASS
    assert "witnessed on the wire: encapsulation" in passed.observed
    kept = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_POD)
    assert judge(check(), expects(kept, claim=kept), seen).verdict is Verdict.FAIL
    limited = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_NODE)
    assert judge(check(), expects(limited, claim=kept), seen).verdict is Verdict.LIMITED


def test_what_cannot_be_trusted_is_unknown_first() -> None:
    """A contradiction in an observation that is not trusted is none."""
    seen = observed(Outcome.CONNECTED, witnessed=(DIFFERENT,), trusted=False, distrust="it broke")
    assert judge(check(), expects(CLAIM), seen).verdict is Verdict.UNKNOWN
