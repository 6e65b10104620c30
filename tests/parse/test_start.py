"""What is read of a Pod that was to start: that it did, why not, and what came of it then."""

import json

import pytest

from nettests.model.json_text import Object
from nettests.model.observation import Attempt
from nettests.model.words import Outcome
from nettests.parse import read_raw, start
from tests.parse.raws import raw

READY: Object = {
    "phase": "Running",
    "podIP": "10.244.3.5",
    "podIPs": [{"ip": "10.244.3.5"}],
    "conditions": [{"type": "Ready", "status": "True"}],
}
REJECTED: Object = {
    "phase": "Failed",
    "reason": "PodOSNotSupported",
    "message": "Pod was rejected: Failed to admit pod as the OS field doesn't match node OS",
}
UNSCHEDULABLE: Object = {
    "phase": "Pending",
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.",
        }
    ],
}


def waiting(reason: str, message: str = "") -> Object:
    """Return the status of a Pod whose container waits."""
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [{"name": "first", "state": state}]}


NO_PLATFORM = waiting("ErrImagePull", "no match for platform in manifest: not found")
NON_ROOT = waiting(
    "CreateContainerConfigError", "container has runAsNonRoot and image will run as root"
)
WRONG_BUILD: Object = {
    "phase": "Failed",
    "containerStatuses": [
        {
            "name": "base",
            "state": {
                "terminated": {
                    "exitCode": 128,
                    "reason": "StartError",
                    "message": "hcs::CreateComputeSystem: The container operating system does not "
                    "match the host operating system.: unknown",
                }
            },
        }
    ],
}
UNREADY: Object = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "False"}],
    "containerStatuses": [{"name": "first", "ready": False, "state": {"running": {}}}],
}
SANDBOX = {
    "type": "Warning",
    "reason": "FailedCreatePodSandBox",
    "message": "Failed to create pod sandbox: no HNS network",
}


def attempt(record: Object, client_os: str = "windows", **context: str) -> Attempt:
    """Return what a record reads as."""
    text = json.dumps(record)
    return read_raw(raw("start", stdout=text, client_os=client_os, context=context))


@pytest.mark.parametrize("status", [READY, {"phase": "Succeeded"}], ids=["ready", "ended well"])
def test_ready_or_ended_with_success_is_started(status: Object) -> None:
    """A Pod that serves and one that did its work have both started."""
    assert attempt({"status": status}).outcome is Outcome.STARTED


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (REJECTED, "PodOSNotSupported: Pod was rejected"),
        (NON_ROOT, "first: CreateContainerConfigError: container has runAsNonRoot"),
        (WRONG_BUILD, "base: StartError, exit code 128: hcs::CreateComputeSystem"),
        (UNREADY, "first: runs, but is not Ready"),
    ],
    ids=["rejected", "config", "build", "unready"],
)
def test_a_reason_of_its_own_is_a_failure_to_start(status: Object, said: str) -> None:
    """The kubelet's and the runtime's reasons are the Pod's own, and the detail tells them."""
    read = attempt({"status": status})
    assert read.outcome is Outcome.FAILS_TO_START
    assert said in read.detail


@pytest.mark.parametrize(
    "status",
    [UNSCHEDULABLE, NO_PLATFORM, waiting("ImagePullBackOff"), waiting("ContainerCreating"), {}],
    ids=["unschedulable", "pull", "back-off", "creating", "nothing"],
)
def test_a_reason_of_the_surroundings_says_nothing(status: Object) -> None:
    """No node, no image and no reason at all leave the question open."""
    assert attempt({"status": status}).outcome is Outcome.PROBE_FAILED


def test_a_sandbox_that_fails_is_told_by_events() -> None:
    """A Pod that waits for its network fails to start for the reason of its event."""
    read = attempt({"status": waiting("ContainerCreating"), "events": [SANDBOX]})
    assert read.outcome is Outcome.FAILS_TO_START
    assert "no HNS network" in read.detail


@pytest.mark.parametrize(
    ("status", "reasons", "outcome"),
    [
        (NO_PLATFORM, "no match for platform\nhost operating system", Outcome.FAILS_TO_START),
        (WRONG_BUILD, "no match for platform\nhost operating system", Outcome.FAILS_TO_START),
        (REJECTED, "PodOSNotSupported", Outcome.FAILS_TO_START),
        (NON_ROOT, "PodOSNotSupported", Outcome.PROBE_FAILED),
        (UNSCHEDULABLE, "PodOSNotSupported", Outcome.PROBE_FAILED),
        (READY, "PodOSNotSupported", Outcome.STARTED),
    ],
)
def test_a_case_may_request_its_reasons(status: Object, reasons: str, outcome: Outcome) -> None:
    """A failure for another reason than the case requests is no answer."""
    assert attempt({"status": status}, reasons=reasons).outcome is outcome


@pytest.mark.parametrize(
    ("address", "outcome"),
    [("172.30.0.13", Outcome.CONFORMS), ("10.244.3.5", Outcome.DEVIATES), ("", Outcome.PROBE_FAILED)],
)  # fmt: skip
def test_the_address_is_compared_with_the_nodes(address: str, outcome: Outcome) -> None:
    """The node's address conforms, another one deviates, none says nothing."""
    record = {"status": {**READY, "podIP": address}}
    context = {"then": "address", "says": "node", "client-node": "fd00::13,172.30.0.13"}
    assert attempt(record, **context).outcome is outcome


@pytest.mark.parametrize(
    ("then", "outcome"),
    [
        ({"exit_code": 0, "stdout": "User Manager\\ContainerUser\r\n"}, Outcome.CONFORMS),
        ({"exit_code": 0, "stdout": "user manager\\containeradministrator"}, Outcome.DEVIATES),
        ({"exit_code": 1, "stdout": "containeruser"}, Outcome.PROBE_FAILED),
        ({"status": 404, "stdout": "containeruser"}, Outcome.DEVIATES),
        ({"error": "exec in start-1 was cut: reset"}, Outcome.PROBE_FAILED),
        (
            {"error": "port-forward to start-1: dial tcp 10.244.3.5:80: connectex: No connection "
             "could be made because the target machine actively refused it."},
            Outcome.REFUSED,
        ),
    ],
)  # fmt: skip
def test_what_is_done_afterwards_conforms_or_deviates(then: Object, outcome: Outcome) -> None:
    """Output holds what it should; a channel's failure counts only where its text is known."""
    record = {"status": READY, "then": then}
    assert attempt(record, then="exec", says="containeruser").outcome is outcome


@pytest.mark.parametrize(
    ("code", "said", "outcome"),
    [
        (6, "curl: (6) Could not resolve host: alias.example", Outcome.NXDOMAIN),
        (7, "curl: (7) Failed to connect to alias.example port 80: Connection refused", Outcome.REFUSED),
        (28, "curl: (28) Connection timed out after 5001 milliseconds", Outcome.TIMED_OUT),
        (2, "curl: (2) Failed initialization", Outcome.PROBE_FAILED),
    ],
)  # fmt: skip
def test_what_curl_met_in_a_pod_is_told_apart(code: int, said: str, outcome: Outcome) -> None:
    """A name that is not known is no server that is not there: an entry for the one excuses no other."""
    then = {"exit_code": code, "stdout": "", "stderr": said}
    answer = raw(
        "start",
        stdout=json.dumps({"status": READY, "then": then}),
        command=("create", "{}", "exec", "curl", "-sS", "http://alias.example/hostname"),
        context={"then": "exec", "says": "witness"},
    )
    assert read_raw(answer).outcome is outcome


def test_an_address_says_nothing_beside_a_node_without_addresses() -> None:
    """Every address differs from none: that is no sign of a Pod network."""
    record = {"status": {**READY, "podIP": "10.244.3.5"}}
    context = {"then": "address", "says": "node", "client-node": ""}
    assert attempt(record, **context).outcome is Outcome.PROBE_FAILED


@pytest.mark.parametrize(
    ("then", "outcome"),
    [
        ({"before": "10.244.3.5", "after": "10.244.3.5", "restarts": 1}, Outcome.CONFORMS),
        ({"before": "10.244.3.5", "after": "10.244.3.6", "restarts": 1}, Outcome.DEVIATES),
        ({"before": "10.244.3.5", "after": "10.244.3.5", "restarts": 0}, Outcome.PROBE_FAILED),
        ({"before": None, "after": "10.244.3.5", "restarts": 1}, Outcome.PROBE_FAILED),
    ],
)
def test_a_restart_keeps_the_address(then: Object, outcome: Outcome) -> None:
    """Addresses are compared once the container was really restarted."""
    assert attempt({"status": READY, "then": then}, then="restart").outcome is outcome


@pytest.mark.parametrize(
    ("seconds", "gone", "outcome"),
    [
        (3.2, True, Outcome.CONFORMS),
        (0.4, True, Outcome.DEVIATES),
        (30.5, True, Outcome.DEVIATES),
        (60.0, False, Outcome.DEVIATES),
    ],
    ids=["its time", "killed at once", "killed at the end", "there for ever"],
)
def test_an_end_takes_the_servers_time(seconds: float, gone: bool, outcome: Outcome) -> None:
    """Less means that nobody probed the server to end, the whole grace that it was killed."""
    then = {"seconds": seconds, "gone": gone, "grace": 30}
    assert attempt({"status": READY, "then": then}, then="end", says="3").outcome is outcome


def renewed(**fields: object) -> Object:
    """Return what was seen of the Pod that came in another one's place."""
    said = "Name:\tset-0.sets.n.svc.cluster.local\nAddress: 10.244.3.5\n"
    lookup = {"asked": "set-0.sets.n.svc.cluster.local", "stdout": said, "stderr": ""}
    seen = {"address": "10.244.3.5", "hostname": "set-0", "lookup": lookup}
    return {"name": "set-0", "uids": ["a", "b"], **seen, **fields}


UNKNOWN_NAME = {
    "asked": "set-0.x",
    "stdout": "** server can't find set-0.x: NXDOMAIN",
    "stderr": "",
}
SILENT = {**UNKNOWN_NAME, "stdout": ";; connection timed out; no servers could be reached"}


@pytest.mark.parametrize(
    ("then", "outcome"),
    [
        (renewed(), Outcome.CONFORMS),
        (renewed(hostname="SET-0"), Outcome.CONFORMS),
        (renewed(hostname="other"), Outcome.DEVIATES),
        (renewed(hostname=""), Outcome.PROBE_FAILED),
        (renewed(address="10.244.3.9"), Outcome.DEVIATES),
        (renewed(lookup=UNKNOWN_NAME), Outcome.DEVIATES),
        (renewed(lookup=SILENT), Outcome.TIMED_OUT),
        (renewed(lookup={**SILENT, "stdout": "Segmentation fault"}), Outcome.PROBE_FAILED),
        (renewed(uids=["a", "a"]), Outcome.PROBE_FAILED),
        (renewed(stays="not Ready"), Outcome.PROBE_FAILED),
    ],
)
def test_a_pod_that_is_recreated_keeps_its_name(then: Object, outcome: Outcome) -> None:
    """As host name and in DNS; where no other Pod came, or nslookup said nothing, nothing is known."""
    assert attempt({"status": READY, "then": then}, then="renew").outcome is outcome


def test_restarts_are_counted_by_container() -> None:
    """The container that was ended is the one that counts."""
    listed = [{"name": "first", "restartCount": 2}, {"name": "second", "restartCount": 0}]
    found = {"status": {"containerStatuses": listed}}
    assert [start.restarts(found, name) for name in ("first", "second", "none")] == [2, 0, 0]


@pytest.mark.parametrize("text", ["", "[]", "{}", "null"])
def test_what_is_no_record_says_nothing(text: str) -> None:
    """A broken record is never guessed at."""
    assert read_raw(raw("start", stdout=text)).outcome is Outcome.PROBE_FAILED


@pytest.mark.parametrize(
    ("status", "reasons", "settled"),
    [
        (READY, (), True),
        (REJECTED, (), True),
        (NON_ROOT, (), False),
        (NON_ROOT, ("runAsNonRoot",), True),
        (NO_PLATFORM, ("no match for platform",), True),
        (UNREADY, (), False),
    ],
)
def test_waiting_ends_with_an_answer(
    status: Object, reasons: tuple[str, ...], settled: bool
) -> None:
    """Started, failed, or failing in the way that the case requests."""
    assert start.settled({"status": status}, reasons) is settled


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted: "),
        (
            {"initContainerStatuses": [{"name": "i", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]},
            "init container i: CrashLoopBackOff: ",
        ),
        (
            {"containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": "m"}}}]},
            "c: Error, exit code 1: m",
        ),
        (
            {"containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 0, "reason": "Odd"}}}]},
            "c: Odd, exit code 0",
        ),
        (
            {"reason": "Evicted", "message": "m", "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "A"}}}]},
            "Evicted: m; c: A: ",
        ),
        ({"containerStatuses": [{"name": "c", "state": {"running": {}}}]}, "c: runs, but is not Ready"),
    ],
)  # fmt: skip
def test_a_pods_own_words_are_told(status: Object, said: str) -> None:
    """Of the Pod first, then of what prepares it, then of its containers, each with its code and message."""
    read = attempt({"status": status})
    assert (read.outcome, read.detail) == (Outcome.FAILS_TO_START, " ".join(said.split()))


@pytest.mark.parametrize(
    "status",
    [
        {"containerStatuses": [{"name": "c", "ready": True, "state": {"running": {}}}]},
        {"initContainerStatuses": [{"name": "i", "state": {"running": {}}}]},
        {"containerStatuses": [{"name": "c", "state": {"terminated": {"reason": "Completed"}}}]},
        {"containerStatuses": [{"name": "c"}]},
        {"conditions": [{"type": "PodScheduled", "status": "True"}]},
        {"conditions": [{"type": "Initialized", "status": "False", "reason": "R"}]},
    ],
)
def test_what_goes_its_way_is_no_reason(status: Object) -> None:
    """A container that is Ready, one that prepares, one that is done, and a Pod that has its node."""
    read = attempt({"status": {"phase": "Pending", **status}})
    assert (read.outcome, read.detail) == (
        Outcome.PROBE_FAILED,
        "it did not start for a reason that is not its own: phase Pending, no reason given",
    )


def test_a_pod_without_a_node_is_told_with_its_condition() -> None:
    """The scheduler's reason and message, as far as it gave any."""
    own = "it did not start for a reason that is not its own: "
    told = UNSCHEDULABLE["conditions"][0]["message"]
    assert attempt({"status": UNSCHEDULABLE}).detail == f"{own}Unschedulable: {told}"
    bare = {"conditions": [{"type": "PodScheduled", "status": "False"}]}
    read = attempt({"status": bare})
    assert (read.outcome, read.detail) == (Outcome.FAILS_TO_START, ":")


def test_a_pod_without_a_status_is_neither_started_nor_settled() -> None:
    """It was made a moment ago; none of its containers was restarted."""
    assert not start.started({})
    assert not start.settled({}, ("runAsNonRoot",))
    assert start.restarts({}, "first") == 0


@pytest.mark.parametrize(
    ("pod", "over"),
    [
        ({"status": {"phase": "Succeeded"}}, True),
        ({"status": {"phase": "Failed"}}, True),
        ({"status": {"phase": "Running"}}, False),
        ({"status": {}}, False),
        ({}, False),
    ],
)
def test_a_pod_has_ended_by_its_phase(pod: Object, *, over: bool) -> None:
    """Well or not: its containers run no more; of a Pod without a status nothing is known."""
    assert start.ended(pod) is over


@pytest.mark.parametrize(("before", "told"), [("10.244.3.5", "10.244.3.5"), (None, "none yet")])
def test_a_container_that_was_not_restarted_is_told_with_its_address(
    before: str | None, told: str
) -> None:
    """Who reads it sees whether the Pod had an address at all."""
    then = {"before": before, "restarts": 0}
    assert attempt({"status": READY, "then": then}, then="restart").detail == (
        f"its container was not restarted in time; the Pod's address is {told}"
    )


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("A=1\r\nSVC_OWN_SERVICE_HOST=10.96.0.1\r\nB=2\r\n", Outcome.CONFORMS),
        ("svc_own_service_host=10.96.0.1\n", Outcome.CONFORMS),
        ("SVC_OWN_SERVICE_HOST=10.96.0.12\n", Outcome.DEVIATES),
        ("MY_SVC_OWN_SERVICE_HOST=10.96.0.1\n", Outcome.DEVIATES),
        ("KUBERNETES_SERVICE_HOST=10.96.0.1\n", Outcome.DEVIATES),
    ],
)
def test_a_line_that_holds_the_text_is_not_the_line(output: str, outcome: Outcome) -> None:
    """Another Service's variable, or an address that only begins alike, is no proof."""
    context = {"then": "exec", "says": "SVC_OWN_SERVICE_HOST=10.96.0.1", "whole-line": "yes"}
    record = {"status": READY, "then": {"exit_code": 0, "stdout": output}}
    assert attempt(record, **context).outcome is outcome
