"""One line is enough to act on."""

from dataclasses import replace

import pytest

from nettests.judge import judge, judge_run
from nettests.model.expectation import Expectation, Expected
from nettests.model.observation import Observation
from nettests.model.verdict import Judgement
from nettests.model.words import OS, Distribution, Outcome, SourceSeen, TargetKind, Verdict
from tests.judge.cases import CLAIM, HOLD, VANTAGE_ONLY, check, control, expects, observed

TIMED_OUT = Expected(outcome=Outcome.TIMED_OUT)
SUBJECT = (
    "windows-1 node → windows-1 service-clusterip on another node, TCP - node-to-service-clusterip"
)


def told(expectation: Expectation, observation: Observation) -> Judgement:
    """Return the judgement of the default check."""
    return judge(check(), expectation, observation)


def test_a_failure_says_what_was_expected_and_observed() -> None:
    """The message has subject, flow, expectation, observation and the tool's own text."""
    found = told(expects(CLAIM), observed(Outcome.REFUSED, Outcome.REFUSED))
    expected = f"{SUBJECT} - expected connected, observed refused: it refused"
    assert found.message == expected
    assert (found.expected, found.observed) == ("connected", "refused")
    assert "EndpointSlices" in found.next_step


def test_a_dead_target_changes_the_message_only() -> None:
    """A failed target control says that nobody reaches it, and where to look first."""
    found = told(expects(CLAIM), observed(Outcome.TIMED_OUT, controls=VANTAGE_ONLY))
    assert found.verdict is Verdict.FAIL
    assert "nothing else reaches the target either" in found.message
    assert found.next_step.startswith("look at the target first")


@pytest.mark.parametrize(
    ("claim", "seen", "hint"),
    [
        (Outcome.FAILS_TO_START, Outcome.STARTED, "kubelet and runtime"),
        (Outcome.REJECTED, Outcome.ACCEPTED, "feature gates"),
        (Outcome.STARTED, Outcome.FAILS_TO_START, "reason and events"),
    ],
)
def test_what_was_let_through_or_kept_away_has_a_hint_of_its_own(
    claim: Outcome, seen: Outcome, hint: str
) -> None:
    """Addresses are of no help where a Pod or an object is in question."""
    shown = observed(seen, controls=(control("path", ok=True),))
    assert hint in told(expects(Expected(outcome=claim)), shown).next_step


def test_a_lifted_limitation_says_what_to_update() -> None:
    """The message names the limitation, the next step its file and line."""
    found = told(expects(TIMED_OUT), observed(Outcome.CONNECTED))
    assert "limitation node-svc-vip-docs no longer shows; update the manifest" in found.message
    assert found.next_step.startswith("update limitations/base/services.yaml:7")
    assert found.limitation == "node-svc-vip-docs"


def test_a_limited_check_names_its_source() -> None:
    """The document and section that predicted it stand in the message."""
    found = told(expects(TIMED_OUT), observed(Outcome.TIMED_OUT))
    assert found.verdict is Verdict.LIMITED
    expected = (
        "as documented by node-svc-vip-docs (Windows debugging tips §Network troubleshooting)"
    )
    assert expected in found.message


def test_a_recorded_check_says_who_leaves_it_open() -> None:
    """What the documents leave open is recorded, with the entry that says so."""
    found = told(expects(None), observed(Outcome.REFUSED))
    assert found.verdict is Verdict.RECORDED
    assert "observed refused: left open by node-svc-vip-docs" in found.message


def test_what_no_entry_leaves_open_is_recorded_too() -> None:
    """A claim of nothing exact is recorded without an entry."""
    found = told(expects(None, limited=False), observed(Outcome.REFUSED))
    assert found.verdict is Verdict.RECORDED
    assert "observed refused: the documents leave it open" in found.message


def test_a_probe_that_failed_is_told_in_its_own_words() -> None:
    """Where nobody said why an answer is not trusted, the answer itself does."""
    found = told(expects(CLAIM), observed(Outcome.PROBE_FAILED))
    assert found.verdict is Verdict.UNKNOWN
    assert "cannot be judged: it probe_failed" in found.message


def test_unknown_says_what_is_not_trusted() -> None:
    """The reason of distrust, the unknown fact or the failed control is in the message."""
    untrusted = observed(Outcome.CONNECTED, trusted=False, distrust="the channel broke")
    assert "cannot be judged: the channel broke" in told(expects(CLAIM), untrusted).message
    open_fact = expects(None, undecided="the driver of win-1 is unknown")
    found = told(open_fact, observed(Outcome.CONNECTED))
    assert found.expected == "undecided: the driver of win-1 is unknown"
    assert "the driver of win-1 is unknown" in found.message
    assert "cluster profile" in found.next_step
    unproven = told(expects(TIMED_OUT), observed(Outcome.TIMED_OUT, controls=VANTAGE_ONLY))
    assert "the target control failed as well (timed out)" in unproven.message


def test_disagreement_shows_the_attempts_in_order() -> None:
    """Repetitions are counted, the order is kept."""
    outcomes = (Outcome.TIMED_OUT, *(Outcome.CONNECTED,) * 3)
    found = told(expects(CLAIM), observed(*outcomes))
    assert found.verdict is Verdict.FLAKY
    assert found.observed == "timed_out then connected ×3"


def test_addresses_and_backends_are_told() -> None:
    """What the server saw stands behind its name."""
    observation = observed(Outcome.CONNECTED, source=SourceSeen.CLIENT_POD)
    assert told(expects(CLAIM), observation).observed == (
        "connected, source = client-pod (10.244.3.2)"
    )
    spread = observed(
        Outcome.CONNECTED,
        distribution=Distribution.SEVERAL_BACKENDS,
        backends=("server-1", "server-2"),
    )
    assert told(expects(CLAIM), spread).observed == (
        "connected, several-backends (server-1, server-2)"
    )


def test_the_reason_of_a_failure_is_no_silence_that_is_left_out() -> None:
    """What an overloaded probe explains is seen among the attempts, and is not why the check failed."""
    seen = observed(Outcome.REFUSED, Outcome.TIMED_OUT, agreed=True, outcome=Outcome.REFUSED)
    first, silent = seen.attempts
    left_out = replace(seen, attempts=(first, replace(silent, overloaded=True)))
    found = told(expects(CLAIM), left_out)
    assert found.verdict is Verdict.FAIL
    assert found.message.endswith(first.detail)


@pytest.mark.parametrize(
    ("kind", "os", "word"),
    [
        (TargetKind.SERVICE_CLUSTERIP, OS.WINDOWS, "HNS"),
        (TargetKind.SERVICE_CLUSTERIP, OS.LINUX, "kube-proxy"),
        (TargetKind.EXTERNAL_IP, OS.WINDOWS, "OutBoundNAT"),
        (TargetKind.POD_IP, OS.WINDOWS, "the tunnel where the network plugin makes one"),
    ],
)
def test_the_next_step_after_a_timeout_fits_the_path(kind: TargetKind, os: OS, word: str) -> None:
    """Where to look depends on the target and on the source's system."""
    found = judge(check(kind, os), expects(CLAIM), observed(Outcome.TIMED_OUT))
    assert word in found.next_step


def test_messages_are_one_line() -> None:
    """Tools print several lines; a message has one."""
    torn = observed(Outcome.TIMED_OUT, trusted=False, distrust="first\nsecond")
    assert "\n" not in told(expects(CLAIM), torn).message


def test_a_run_is_judged_offline() -> None:
    """Observations read back from a journal are judged again; a missing one is unknown."""
    one = check()
    expectations = {one.id: expects(CLAIM)}
    again = judge_run([one], expectations, {one.id: observed(Outcome.CONNECTED, controls=HOLD)})
    assert [found.verdict for found in again] == [Verdict.PASS]
    assert judge_run([one], expectations, {})[0].verdict is Verdict.UNKNOWN
    assert judge(one, expectations[one.id], None).verdict is Verdict.UNKNOWN


def test_a_setting_that_deviates_is_said_in_one_word_less() -> None:
    """Where a documented rule was to be found, the message says that it was not, and what was there instead."""
    claim = expects(Expected(outcome=Outcome.CONFORMS))
    assert " - not as documented: it deviates" in told(claim, observed(Outcome.DEVIATES)).message
    refused = told(claim, observed(Outcome.REFUSED, controls=(control("path", ok=True),))).message
    assert " - expected the documented result, observed refused: it refused" in refused
