"""What a new Pod's own log tells of its first packets: when each kind of path first worked."""

import json

import pytest

from nettests.model.observation import Attempt
from nettests.model.words import Outcome
from nettests.parse import read_raw
from nettests.parse.first_packets import lacked, lateness
from tests.parse.raws import raw

AT_ONCE = "server-windows-1-2\nfirst-packets 200 0.004100\n"
TIMED_OUT = (
    "curl: (28) Connection timed out after 1001 milliseconds\n\nfirst-packets 000 1.001000\n"
)
UNREACHABLE = "curl: (7) Couldn't connect to server\n\nfirst-packets 000 0.000200\n"
SLOWLY = "server-windows-1-2\nfirst-packets 200 0.900000\n"
ENDED = {"phase": "Succeeded"}
FAILED = {"phase": "Failed"}


def attempt(pod: str, service: str, name: str, status: dict[str, str] = ENDED) -> Attempt:
    """Return what the logs of a Pod's three containers read as."""
    logs = {"pod": pod, "service": service, "name": name}
    return of({"status": status, "then": {"logs": logs}})


def of(record: object) -> Attempt:
    """Return what a record of a new Pod reads as."""
    return read_raw(raw("start", stdout=json.dumps(record), context={"then": "first"}))


def test_a_network_that_is_there_conforms() -> None:
    """Each path answered its first request at once; the times are told."""
    seen = attempt(AT_ONCE, AT_ONCE, AT_ONCE)
    assert seen.outcome is Outcome.CONFORMS
    assert "ClusterIP after 4 ms" in seen.detail


@pytest.mark.parametrize(("lost", "seconds"), [(3, 3.0), (6, 6.0)])
def test_a_network_that_comes_late_deviates_with_its_seconds(lost: int, seconds: float) -> None:
    """The first answer came after so many attempts of a second each."""
    late = TIMED_OUT * lost + AT_ONCE
    seen = attempt(late, late, late)
    told = lateness(seen.detail)
    assert seen.outcome is Outcome.DEVIATES
    assert told is not None
    assert (told.what, told.seconds) == ("nothing", seconds)


@pytest.mark.parametrize("lost", [1, 2])
def test_one_lost_packet_is_told_and_is_no_late_network(lost: int) -> None:
    """A network that is there some milliseconds after the first instruction costs a whole second."""
    seen = attempt(TIMED_OUT * lost + AT_ONCE, AT_ONCE, AT_ONCE)
    assert seen.outcome is Outcome.CONFORMS
    assert f"Pod after {lost}0" in seen.detail


def test_a_path_that_is_late_on_a_busy_node_is_no_late_network() -> None:
    """Recorded while four labs ran on two cores: requests of the other paths took 0.3 s and more meanwhile."""
    name = "curl: (28) Resolving timed out after 1134 milliseconds\n\nfirst-packets 000 1.134903\n"
    slow = "server-windows-1-2\nfirst-packets 200 0.301100\n" * 12
    seen = attempt(slow + AT_ONCE * 3, slow + AT_ONCE * 3, name * 3 + AT_ONCE)
    assert seen.outcome is Outcome.CONFORMS
    assert "Service by its name after 3.4 s, and slowly" in seen.detail
    prompt = attempt(AT_ONCE * 15, AT_ONCE * 15, name * 3 + AT_ONCE)
    assert prompt.outcome is Outcome.DEVIATES


def test_one_late_path_is_told_from_those_that_were_there() -> None:
    """Rules of Services that come late for a new Pod are no late network."""
    seen = attempt(AT_ONCE, TIMED_OUT * 3 + AT_ONCE, AT_ONCE)
    assert seen.detail.startswith("it reached no ClusterIP for its first 3.0 s: Pod after 4 ms")


def test_a_slow_first_answer_is_late_too() -> None:
    """A request that was answered after 3.2 s by itself took a packet that was sent again."""
    seen = attempt(AT_ONCE, AT_ONCE, "host\nfirst-packets 200 3.200000\n")
    told = lateness(seen.detail)
    assert told is not None
    assert told.what == "no Service by its name"


def test_a_node_that_is_slow_from_then_on_is_not_late() -> None:
    """Slowness alone is no late network: later requests of the same path take as long."""
    slow = TIMED_OUT * 3 + "host\nfirst-packets 200 0.900000\n" * 5
    seen = attempt(slow, slow, AT_ONCE)
    assert seen.outcome is Outcome.CONFORMS
    assert "and slowly" in seen.detail
    prompt = TIMED_OUT * 3 + AT_ONCE * 5
    assert attempt(prompt, prompt, AT_ONCE).outcome is Outcome.DEVIATES


@pytest.mark.parametrize(
    ("log", "seconds", "then"),
    [
        (TIMED_OUT * 13 + AT_ONCE + TIMED_OUT, 13.0, "1 of 1"),
        (TIMED_OUT * 8 + AT_ONCE + TIMED_OUT * 4 + AT_ONCE * 2, 8.0, "4 of 6"),
        (TIMED_OUT * 3 + AT_ONCE + TIMED_OUT * 4 + SLOWLY * 7, 3.0, "4 of 11"),
    ],
    ids=["at the end", "and twice more", "and slowly from then on"],
)
@pytest.mark.parametrize("everywhere", [False, True])
def test_a_path_that_fails_again_is_late_all_the_same(
    log: str, seconds: float, then: str, everywhere: bool
) -> None:
    """How long failed requests took says nothing of a busy node: answers do, of other paths, which fail no more."""
    seen = attempt(log if everywhere else AT_ONCE * 15, log, log if everywhere else AT_ONCE * 15)
    told = lateness(seen.detail)
    assert seen.outcome is Outcome.DEVIATES
    assert told is not None
    assert (told.what, told.seconds) == ("nothing" if everywhere else "no ClusterIP", seconds)
    assert f"then {then} requests failed (curl: (28)" in seen.detail


def test_a_path_that_answers_slowly_alone_is_late() -> None:
    """A busy node is slow on the other paths, too."""
    seen = attempt(AT_ONCE * 15, TIMED_OUT * 8 + SLOWLY * 7, AT_ONCE * 15)
    assert seen.outcome is Outcome.DEVIATES
    assert seen.detail.startswith("it reached no ClusterIP for its first 8.9 s")


def test_slow_answers_explain_no_silence_that_is_longer_than_they() -> None:
    """Where all paths are silent for six seconds alike, answers of 0.3 s show no busy node."""
    log = TIMED_OUT * 6 + "host\nfirst-packets 200 0.300000\n" * 9
    assert attempt(log, log, log).outcome is Outcome.DEVIATES


@pytest.mark.parametrize(("answered", "failed"), [(0, 14), (5, 9), (9, 5), (6, 3)])
def test_many_failures_after_the_first_answer_deviate(answered: int, failed: int) -> None:
    """A path that goes away again, or loses every third request, is said with how many of how many."""
    seen = attempt(AT_ONCE * 15, AT_ONCE + AT_ONCE * answered + TIMED_OUT * failed, AT_ONCE * 15)
    of = answered + failed
    assert (seen.outcome, lateness(seen.detail), lacked(seen.detail)) == (
        Outcome.DEVIATES,
        None,
        "",
    )
    assert seen.detail.startswith(
        f"{failed} of {of} requests to ClusterIP failed after a first answer:"
    )


@pytest.mark.parametrize(("answered", "failed"), [(12, 2), (11, 3)])
def test_single_failures_are_told_and_are_other_checks_matter(answered: int, failed: int) -> None:
    """``path-loss`` measures how much a path loses; here each failure is named."""
    log = AT_ONCE + TIMED_OUT * failed + AT_ONCE * answered
    seen = attempt(log, log, log)
    assert seen.outcome is Outcome.CONFORMS
    assert f"Pod after 4 ms, then {failed} of 14 requests failed" in seen.detail


def test_names_that_take_about_a_second_lose_nothing() -> None:
    """Recorded on a lab whose DNS was busy: answers took 0.5 to 1.2 s, and others were given up after 1.1 s."""
    took = (0.67, 0.66, 0.76, *[-1.1] * 5, 0.99, -1.13, 1.05, 0.41, 0.43, 0.36, 0.59)
    late = "curl: (28) Resolving timed out after 1128 milliseconds\n\nfirst-packets 000 1.1\n"
    names = "".join(late if one < 0 else f"host\nfirst-packets 200 {one}\n" for one in took)
    seen = attempt(AT_ONCE * 15, AT_ONCE * 15, names)
    assert seen.outcome is Outcome.PROBE_FAILED
    assert "may have been slow, too" in seen.detail
    quick = names.replace("200 0.", "200 0.0").replace("200 1.05", "200 0.05")
    assert attempt(AT_ONCE * 15, AT_ONCE * 15, quick).outcome is Outcome.DEVIATES


def test_failures_beside_paths_that_lose_nothing_and_are_slow_are_a_busy_nodes() -> None:
    """Recorded on a lab beside two others: names were looked up for more than a second, and each Pod answered slowly."""
    slow = "host\nfirst-packets 200 0.340000\n" * 15
    some = attempt(slow, slow, AT_ONCE + TIMED_OUT * 3 + SLOWLY + TIMED_OUT * 3 + SLOWLY * 7)
    assert some.outcome is Outcome.CONFORMS
    most = attempt(slow, slow, AT_ONCE + TIMED_OUT * 12)
    assert most.outcome is Outcome.PROBE_FAILED
    assert "its node was busy" in most.detail
    lossy = "host\nfirst-packets 200 0.340000\n" * 10 + TIMED_OUT * 5
    assert attempt(lossy, lossy, AT_ONCE + TIMED_OUT * 12).outcome is Outcome.DEVIATES


def test_a_node_that_was_busy_at_first_makes_no_path_late() -> None:
    """Recorded: slow answers of the other paths took most of the time until a name was there, and few were slow then."""
    took = (0.54, 0.28, 0.22, 0.31, 0.21, 0.2, 0.58, 0.34, *(0.2,) * 7)
    other = "".join(f"host\nfirst-packets 200 {one:.6f}\n" for one in took)
    name = TIMED_OUT * 2 + "host\nfirst-packets 200 1.104000\n" + SLOWLY * 11
    assert attempt(other, other, name).outcome is Outcome.CONFORMS
    assert attempt(AT_ONCE * 15, AT_ONCE * 15, name).outcome is Outcome.DEVIATES


@pytest.mark.parametrize("log", [TIMED_OUT * 15, UNREACHABLE * 15])
def test_what_never_worked_has_no_seconds_of_lateness(log: str) -> None:
    """A path that no attempt reached is broken, not late: it deviates, in curl's own words."""
    seen = attempt(log, AT_ONCE, AT_ONCE, FAILED)
    assert (seen.outcome, lateness(seen.detail)) == (Outcome.DEVIATES, None)
    assert "Pod never in" in seen.detail
    assert "curl: (" in seen.detail


def test_a_container_whose_log_says_nothing_proves_nothing() -> None:
    """A log that was lost, or a program that did not run, is no observation of a network."""
    assert attempt(AT_ONCE, "", AT_ONCE).outcome is Outcome.PROBE_FAILED


def test_a_pod_that_never_ran_fails_to_start() -> None:
    """Without a single attempt the Pod's own status says why."""
    state = {"terminated": {"exitCode": 128, "reason": "StartError", "message": 'exec: "curl"'}}
    status = {"phase": "Failed", "containerStatuses": [{"name": "pod", "state": state}]}
    seen = of({"status": status, "then": {"logs": {}}})
    assert seen.outcome is Outcome.FAILS_TO_START


def test_what_never_worked_on_a_busy_node_is_not_judged() -> None:
    """Where what answered did so slowly to the end, a path that never answered says nothing of the network."""
    slowly = TIMED_OUT + AT_ONCE + "first-packets 200 0.700000\n" * 5
    seen = attempt(slowly, slowly, TIMED_OUT * 15)
    assert seen.outcome is Outcome.PROBE_FAILED
    assert "its node was busy" in seen.detail
    assert attempt(AT_ONCE, slowly, TIMED_OUT * 15).outcome is Outcome.DEVIATES
    losing = (AT_ONCE + TIMED_OUT * 2) * 5
    assert attempt(losing, TIMED_OUT * 15, TIMED_OUT * 15).outcome is Outcome.DEVIATES


@pytest.mark.parametrize(
    ("detail", "what"),
    [
        ("it reached nothing for its first 6.0 s: Pod after 6.0 s", "nothing"),
        ("it reached no ClusterIP for its first 3.0 s: Pod after 4 ms", "no ClusterIP"),
        ("it reached no Service by its name: Pod after 103 ms", "no Service by its name"),
        ("from its first moment on: Pod after 4 ms", ""),
    ],
)
def test_what_was_lacked_is_read_again(detail: str, what: str) -> None:
    """Incidents group new Pods by what they reached late or never."""
    assert lacked(detail) == what


def test_a_log_that_is_missing_is_as_one_that_says_nothing() -> None:
    """Of a container without a log nothing is known; those that told are named by what is missing."""
    record = {"status": ENDED, "then": {"logs": {"pod": AT_ONCE, "service": AT_ONCE}}}
    seen = of(record)
    assert seen.outcome is Outcome.PROBE_FAILED
    assert "no log tells of the first packets to name: " in seen.detail
