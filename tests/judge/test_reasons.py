"""What is read again out of a reason: the Pod that went, the node that is misaddressed, the node that waited."""

from dataclasses import replace

import pytest

from nettests.judge import advice, distrust, judge, judge_members
from nettests.judge.checks import skipped
from nettests.model.check import Member
from nettests.model.expectation import Expected
from nettests.model.observation import OVERLOADED
from nettests.model.verdict import Judgement
from nettests.model.words import OS, Distribution, Outcome, TargetKind, Verdict
from tests.judge.cases import BACKENDS, CLAIM, VANTAGE_ONLY, attempt, check, expects, observed


@pytest.mark.parametrize(
    ("why", "pod"),
    [
        ("pod server-linux-1-2 no longer stands: it is being deleted", "server-linux-1-2"),
        ("pod server-linux-1-2 was started again while this was run", "server-linux-1-2"),
        ("pod server-linux-1-2 was started againstly", None),
        ("pod server-linux-1-2 stands", None),
        ("a pod server-linux-1-2 no longer stands: it is being deleted", None),
    ],
)
def test_the_pod_that_went_is_read(why: str, pod: str | None) -> None:
    """A Pod that is gone, or was started again, is named, and what to do is said of it alone."""
    assert distrust.gone_pod(why) == pod
    assert (advice.after_distrust(why) == advice.STEPS["gone"]) is (pod is not None)


API = "https://10.0.0.1:6443 (context c)"


@pytest.mark.parametrize(
    ("why", "step"),
    [
        ("attempt 1: curl.exe is missing in node-windows-1-1: no such file", "missing-program"),
        (
            "exec on win-1 was not calibrated: exec in p was not opened: [Errno 111] gone",
            "lost-api",
        ),
        (f"control channel exec: the API server {API} cannot be reached: refused", "lost-api"),
        ("hns on win-1 was not calibrated: it did not end within 40 s", "instrument"),
        (f"attempt 2: {OVERLOADED}: 9 of 10 answers were late", "overload"),
        ("node win-2 was not Ready while this was probed (kubelet stopped)", "unready"),
        ("nobody knows why", "distrust"),
    ],
)
def test_each_reason_for_distrust_has_its_step(why: str, step: str) -> None:
    """What made a result untrusted decides what to do; a reason that none knows has a general step."""
    assert advice.after_distrust(why) == advice.STEPS[step]


@pytest.mark.parametrize(
    ("why", "program"),
    [
        ("attempt 1: curl.exe is missing in node-windows-1-1: it is not there", "curl.exe"),
        (r"C:\tools\ping.exe could not be started in p: access is denied", "ping.exe"),
        ("curl.exe is missing", None),
    ],
)
def test_the_program_that_is_missing_is_read(why: str, program: str | None) -> None:
    """Its name without its folder, however the sentence begins."""
    assert distrust.missing_program(why) == program


@pytest.mark.parametrize(
    ("why", "ending"),
    [
        (
            "pod s was started again while this was run: Error, exit code 2; more",
            ": Error, exit code 2",
        ),
        ("pod s was started again while this was run", ""),
    ],
)
def test_how_a_container_ended_is_read(why: str, ending: str) -> None:
    """The reason says it up to its end, or not at all."""
    assert distrust.last_ending(why) == ending


@pytest.mark.parametrize(
    ("why", "node"),
    [
        ("s saw 172.30.0.13 from node-windows-1-1, which is no address of win-1", "win-1"),
        ("there is no IPv4 address of win-1 among fd00:172:30::15", "win-1"),
        ("there is no IPv6 address of linux-2 among 172.30.0.15", "linux-2"),
        ("which is no address of win-1 today", None),
    ],
)
def test_the_node_that_is_not_at_its_addresses_is_read(why: str, node: str | None) -> None:
    """Both sentences name the node whose status has other addresses than were seen."""
    assert distrust.misaddressed_node(why) == node


@pytest.mark.parametrize(
    ("source", "target", "node", "step"),
    [
        (OS.LINUX, OS.WINDOWS, "here", advice.STEPS["lateness-on-linux"]),
        (OS.LINUX, OS.WINDOWS, "there", advice.STEPS["lateness"]),
        (OS.WINDOWS, OS.LINUX, "here", advice.STEPS["lateness"]),
        (OS.WINDOWS, OS.LINUX, "there", advice.STEPS["lateness-on-linux"]),
        (OS.WINDOWS, None, "there", advice.STEPS["lateness"]),
    ],
)
def test_a_late_service_is_looked_for_on_the_node_that_waited(
    source: OS, target: OS | None, node: str, step: str
) -> None:
    """The system of the node that waited decides: the source's own, or else the target's."""
    of = check(os=source)
    action = replace(
        of.action,
        source=replace(of.source, node="here"),
        target=replace(of.target, os=target),
    )
    late = f"Service s did not answer probe-1 on {node} within 60 s"
    assert advice.after_lateness(replace(of, action=action), late) == step


def test_lost_affinity_has_a_step_where_only_a_limitation_wants_it() -> None:
    """One backend was expected by an entry, not by the claim, and two answered: what to do is said all the same."""
    sticky = Expected(outcome=Outcome.CONNECTED, distribution=Distribution.ONE_BACKEND)
    seen = observed(
        Outcome.CONNECTED,
        Outcome.REPLIED,
        backends=BACKENDS,
        distribution=Distribution.SEVERAL_BACKENDS,
    )
    judgement = judge(check(), expects(sticky), seen)
    assert judgement.verdict is Verdict.FAIL
    assert judgement.next_step.startswith("session affinity is lost")


def test_failures_without_words_are_told_by_their_outcomes_alone() -> None:
    """Where the last attempt has no detail, nothing is put behind what all of them brought."""
    silent = replace(attempt(Outcome.REFUSED, 2), detail="")
    seen = observed(
        Outcome.TIMED_OUT,
        Outcome.REFUSED,
        controls=VANTAGE_ONLY[:1],
        attempts=(replace(silent, number=1, outcome=Outcome.TIMED_OUT), silent),
    )
    message = judge(check(), expects(CLAIM), seen).message
    assert "no attempt met the expectation, but: timed_out, refused" in message
    assert "refused; " not in message


def test_a_member_that_does_not_apply_says_nothing_of_what_was_seen() -> None:
    """Its reason is all there is: nothing was expected and nothing was observed."""
    assert skipped("f/a", "no tool") == Judgement(
        check="f/a", verdict=Verdict.SKIPPED, message="no tool", expected="", observed=""
    )


def test_a_judgement_of_members_is_that_of_their_check() -> None:
    """It has the id of the check, not of the member that decided."""
    one = check(TargetKind.POD_IP)
    whole = replace(
        one, members=(Member(label="win-1", action=one.action, placement=one.placement),)
    )
    assert judge_members(whole, {}).check == whole.id


@pytest.mark.parametrize(
    ("why", "lost"),
    [
        (
            "control channel pod-proxy: the API server https://a (context c) cannot be reached: x",
            True,
        ),
        ("control channel exec: exec in p was not opened: [Errno 111] Connection refused", True),
        ("control channel exec: the API server https://a cannot be reached: Read timed out", False),
        ("control channel exec: exec in p was not opened: status 500", False),
        ("the API server https://a (context c) cannot be reached: x", False),
        (
            "exec on w was not calibrated: exec in p was not opened: the API server hung up before it answered",
            True,
        ),
        ("exec on w was not calibrated: exec in p did not end within 40 s", False),
    ],
)
def test_an_api_server_that_was_lost_is_told_from_a_node(why: str, *, lost: bool) -> None:
    """Who only waits for an answer may wait for a node; what never opened met no API server."""
    assert distrust.lost_api(why) is lost
