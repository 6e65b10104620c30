"""What is read of Pods that end, are restarted, show files or connect: the cases that documents speak of beside starting."""

import json

import pytest

from nettests.model.check import Case
from nettests.model.json_text import Object
from nettests.model.words import Outcome
from nettests.parse import read_raw, start
from nettests.plan import load, pods
from nettests.resources import suites_path
from tests.parse.raws import raw
from tests.parse.test_start import READY, REJECTED, SANDBOX, UNSCHEDULABLE, attempt


def ended(code: int, message: str = "", reason: str = "") -> Object:
    """Return the status of a Pod whose container ended by itself."""
    end = {"exitCode": code, "reason": reason or ("Error" if code else "Completed")}
    state = {"terminated": {**end, **({"message": message} if message else {})}}
    phase = "Failed" if code else "Succeeded"
    return {"phase": phase, "containerStatuses": [{"name": "first", "state": state}]}


@pytest.mark.parametrize(
    ("how", "says", "status", "outcome", "said"),
    [
        ("exit-code", "7", ended(7), Outcome.CONFORMS, "ended with exit code 7"),
        ("exit-code", "7", ended(0), Outcome.DEVIATES, "exit code 0 instead of 7"),
        ("message", "said", ended(0, "it said so"), Outcome.CONFORMS, "the message 'it said so'"),
        ("message", "said", ended(0), Outcome.DEVIATES, "without a message instead of 'said'"),
        ("message", "said", ended(1), Outcome.DEVIATES, "exit code 1, without a message"),
        ("message", "said", ended(0, "else"), Outcome.PROBE_FAILED, "'else' instead of 'said'"),
        ("exit-code", "7", ended(128, reason="StartError"), Outcome.PROBE_FAILED, "StartError"),
        ("exit-code", "7", REJECTED, Outcome.PROBE_FAILED, "did not end by itself: unknown"),
        ("message", "said", READY, Outcome.PROBE_FAILED, "did not end in time"),
        ("exit-code", "7", UNSCHEDULABLE, Outcome.PROBE_FAILED, "not its own"),
    ],
)
def test_a_status_tells_how_a_container_ended(
    how: str, says: str, status: Object, outcome: Outcome, said: str
) -> None:
    """Its code, or its message; one that did not end by itself says nothing, and neither does another text."""
    found = attempt({"status": status}, then=how, says=says)
    assert (found.outcome, said in found.detail) == (outcome, True), found.detail


RESTARTED: Object = {
    "phase": "Running",
    "containerStatuses": [{"name": "first", "restartCount": 1, "state": {"waiting": {}}}],
}
RUNNING: Object = {
    **READY,
    "containerStatuses": [{"name": "first", "restartCount": 0, "state": {"running": {}}}],
}
UNHEALTHY = {"type": "Warning", "reason": "Unhealthy", "message": "Liveness probe failed: 1"}


@pytest.mark.parametrize(
    ("status", "events", "outcome", "said"),
    [
        (RESTARTED, [UNHEALTHY], Outcome.CONFORMS, "was restarted"),
        (RESTARTED, [], Outcome.PROBE_FAILED, "no event was found"),
        (RESTARTED, [SANDBOX], Outcome.PROBE_FAILED, "but not for 'Liveness probe failed'"),
        (RUNNING, [], Outcome.DEVIATES, "was never restarted"),
        (UNSCHEDULABLE, [], Outcome.PROBE_FAILED, "not its own"),
    ],
    ids=["for its probe", "events cannot be read", "for something else", "not at all", "nowhere"],
)
def test_a_restart_counts_for_the_reason_of_the_case(
    status: Object, events: list[Object], outcome: Outcome, said: str
) -> None:
    """A container that went on running deviates; one that never ran, or whose restart has no reason, says nothing."""
    record = {"status": status, "events": events}
    found = attempt(record, then="restarts", says="Liveness probe failed")
    assert (found.outcome, said in found.detail) == (outcome, True), found.detail


@pytest.mark.parametrize(
    ("output", "says", "outcome"),
    [
        ('content of file "/a": text', "text", Outcome.CONFORMS),
        ('content of file "/a": other', "text", Outcome.DEVIATES),
        ('error reading file content for "/a": no such file', "text", Outcome.DEVIATES),
        ('error reading file content for "/a": permission denied', "permission denied", Outcome.CONFORMS),
        ('content of file "/a": text', "permission denied", Outcome.DEVIATES),
        ('error reading file content for "/a": no such file', "permission denied", Outcome.PROBE_FAILED),
        ('content of file "/a": [redacted]', 'content of file "/a"', Outcome.CONFORMS),
        ('content of file "/a": \n', 'content of file "/a"', Outcome.DEVIATES),
        ("", "tmpfs", Outcome.PROBE_FAILED),
        ('error writing new file "/a": open /a: read-only file system', "read-only file system", Outcome.CONFORMS),
        ('error writing new file "/a": open /a: no such file', "read-only file system", Outcome.PROBE_FAILED),
        ('content of file "/a": mount-tester new file', "read-only file system", Outcome.DEVIATES),
    ],
)  # fmt: skip
def test_mounttest_says_what_it_met_of_a_file(output: str, says: str, outcome: Outcome) -> None:
    """Also where it ends with 1: only another error than the wanted one is not understood."""
    code = 1 if "error" in output else 0
    then = {"exit_code": code, "stdout": output, "stderr": ""}
    command = ("create", "{}", "exec", "/agnhost", "mounttest", "--file_content=/a")
    text = json.dumps({"status": READY, "then": then})
    context = {"then": "exec", "says": says}
    found = read_raw(raw("start", stdout=text, client_os="linux", context=context, command=command))
    assert found.outcome is outcome, found.detail


ABOUT_FILES = {
    f"{flow.name} {one.label} {one.os}": one
    for flow in load([suites_path()]).flows
    for one in flow.cases
    if one.then is not None and "mounttest" in one.then.words
}


@pytest.mark.parametrize("one", ABOUT_FILES.values(), ids=ABOUT_FILES)
def test_no_case_about_files_passes_without_its_volume(one: Case) -> None:
    """An empty file conforms nowhere, and neither does a folder that is not there, on either system."""
    assert one.then is not None
    path = one.then.words[-1].partition("=")[2]
    said = (
        f'content of file "{path}": \n',
        f'mount type of "{path}": 61267\n',
        f'error reading file content for "{path}": open {path}: no such file or directory\n',
        f'error writing new file "{path}": open {path}: no such file or directory\n',
        f'error writing new file "{path}": open {path}: The system cannot find the path specified.\n',
    )
    for output in said:
        then = {"exit_code": 1, "stdout": output, "stderr": ""}
        text = json.dumps({"status": READY, "then": then})
        context = {"then": one.then.how, "says": one.then.says}
        command = ("create", "{}", one.then.how, *one.then.words)
        found = read_raw(raw("start", stdout=text, context=context, command=command))
        assert found.outcome is not Outcome.CONFORMS, found.detail


@pytest.mark.parametrize(
    ("how", "status", "come"),
    [
        ("", READY, True),
        ("", RESTARTED, False),
        ("restarts", RESTARTED, True),
        ("restarts", READY, False),
        ("exit-code", ended(7), True),
        ("message", READY, False),
        ("first", ended(1), True),
    ],
)
def test_what_is_waited_for_is_what_the_case_looks_at(
    how: str, status: Object, *, come: bool
) -> None:
    """Readiness, an end, or a restart."""
    case = pods.after("x", pods.pod(), how) if how else pods.starts("x", pods.pod())
    assert start.conclusive({"status": status}, case, "first") is come


@pytest.mark.parametrize(
    ("code", "stderr", "outcome"),
    [
        (0, "", Outcome.CONNECTED),
        (1, "TIMEOUT", Outcome.TIMED_OUT),
        (1, "REFUSED", Outcome.REFUSED),
        (1, "", Outcome.PROBE_FAILED),
    ],
)
def test_a_connection_of_the_pod_s_own_says_how_it_ended(
    code: int, stderr: str, outcome: Outcome
) -> None:
    """As agnhost connect says it."""
    then = {"exit_code": code, "stdout": "", "stderr": stderr}
    command = ("create", "{}", "until-denied", "/agnhost", "connect", "--timeout=3s", "10.0.0.1:1")
    text = json.dumps({"status": READY, "then": then})
    context = {"then": "until-denied", "says": ""}
    found = read_raw(raw("start", stdout=text, client_os="linux", context=context, command=command))
    assert found.outcome is outcome, found.detail


def test_a_silent_api_server_is_no_text_that_is_not_understood() -> None:
    """What the pod proxy did not answer in time leaves the check unknown, and nothing to send to the project."""
    silent = (
        "pod proxy to start-1: the API server https://10.0.0.1:6443 (context c) cannot be reached: "
        "ReadTimeoutError: Read timed out. (read timeout=10.0)"
    )
    found = attempt({"status": READY, "then": {"error": silent}}, then="pod-proxy", says="x")
    assert (found.outcome, found.unread) == (Outcome.PROBE_FAILED, "")
    assert "pod-proxy: pod proxy to start-1: the API server" in found.detail
