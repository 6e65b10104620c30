"""Control channels: what an answer of the probe is, and what an error of the channel."""

import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.cluster.channels import Climbing, ExecCurl, PodProxy, curl_answer, open_channels
from nettests.cluster.execute import answer_of
from nettests.model.channel import (
    ChannelError,
    ExecAnswer,
    HttpAnswer,
    ProgramMissingError,
)
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig

FAILURE = {
    "status": "Failure",
    "reason": "NonZeroExitCode",
    "message": "command terminated with non-zero exit code",
    "details": {"causes": [{"reason": "ExitCode", "message": "7"}]},
}


@pytest.mark.parametrize(
    ("status_object", "expected"), [({"metadata": {}, "status": "Success"}, 0), (FAILURE, 7)]
)
def test_exec_keeps_streams_and_exit_code_apart(
    status_object: dict[str, object], expected: int
) -> None:
    """The Status on channel 3 gives the exit code; stdout and stderr stay two texts."""
    answer = answer_of(
        "p", "x", stdout=b"out\n", stderr=b"err\n", status=json.dumps(status_object).encode()
    )
    assert answer == ExecAnswer(exit_code=expected, stdout="out\n", stderr="err\n")


@pytest.mark.parametrize("lost", [b"", b"{", b"not json"])
def test_a_lost_exit_code_is_a_channel_error(lost: bytes) -> None:
    """Output without a Status proves nothing: the exec is not trusted."""
    with pytest.raises(ChannelError, match="lost its exit code"):
        answer_of("p", "x", stdout=b"0% loss", stderr=b"", status=lost)


@pytest.mark.parametrize(
    "message",
    [
        'failed to exec in container: exec: "ping": executable file not found in $PATH: unknown',
        "hcs::System::CreateProcess x: The system cannot find the file specified.: unknown",
    ],
)
def test_a_missing_program_is_told_apart(message: str) -> None:
    """What a runtime says when the program is not there, on Linux and on Windows."""
    with pytest.raises(ProgramMissingError):
        answer_of("p", "x", stdout=b"", stderr=b"", status=json.dumps({"status": "Failure", "message": message}).encode())  # fmt: skip


@pytest.mark.parametrize(("shown", "code"), [("4294967295", -1), ("3221225781", -1073741515), ("9009", 9009)])  # fmt: skip
def test_exit_codes_have_a_sign(shown: str, code: int) -> None:
    """exec shows 32 bits without a sign, and a Pod's status with one: both are the same code."""
    status_object = {**FAILURE, "details": {"causes": [{"reason": "ExitCode", "message": shown}]}}
    body = json.dumps(status_object).encode()
    assert answer_of("p", "x", stdout=b"", stderr=b"", status=body).exit_code == code


def test_another_failure_to_start_is_a_channel_error() -> None:
    """A runtime that fails for its own reasons says nothing about the image."""
    body = json.dumps({"status": "Failure", "message": "container is not running"}).encode()
    with pytest.raises(ChannelError, match="container is not running") as raised:
        answer_of("p", "x", stdout=b"", stderr=b"", status=body)
    assert not isinstance(raised.value, ProgramMissingError)


def proxy(tmp_path: Path, url: str) -> PodProxy:
    """Return a pod proxy channel to a server."""
    return PodProxy(connect(write_kubeconfig(tmp_path / "k", url), None), "ns", "probe-a", 8080)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b'{"responses":["server-a"]}', content_type="text/plain; charset=utf-8"),
        Reply(status=400, body=b"host and/or port param are invalid.", content_type="text/plain"),
    ],
)
def test_the_pod_proxy_passes_the_probes_answer(tmp_path: Path, reply: Reply) -> None:
    """Whatever status the probe answers with, it is an answer of the probe."""
    with serving(lambda request: versioned(request) or reply) as api:
        answer = proxy(tmp_path, api.url).get("/dial?host=10.0.0.1&port=80", timeout=2)
        assert answer == HttpAnswer(status=reply.status, body=reply.body.decode())
        assert api.requests[-1].path == (
            "/api/v1/namespaces/ns/pods/probe-a:8080/proxy/dial?host=10.0.0.1&port=80"
        )


@pytest.mark.parametrize(
    "reply",
    [
        status(503, "ServiceUnavailable", "error trying to reach service: dial tcp: refused"),
        status(404, "NotFound", 'pods "probe-a" not found'),
        status(403, "Forbidden", "pods/proxy is forbidden"),
        Reply(cut=True),
        Reply(status=502, body=b"Bad Gateway", content_type="text/plain"),
    ],
)
def test_the_api_servers_own_answer_is_a_channel_error(tmp_path: Path, reply: Reply) -> None:
    """A Status, a gateway error or a cut connection is never read as an observation."""
    with serving(lambda request: versioned(request) or reply) as api:
        channel = proxy(tmp_path, api.url)
        with pytest.raises(ChannelError, match="pod proxy to probe-a"):
            channel.get("/dial", timeout=2)


def versioned(request: Request) -> Reply | None:
    """Answer /version only."""
    return Reply(body={"gitVersion": "v1.29.4"}) if request.path == "/version" else None


class Curl:
    """An exec channel that is a program of the test's own."""

    def __init__(self, answer: ExecAnswer) -> None:
        self.answer = answer
        self.slots = threading.Semaphore(1)
        self.ran: list[tuple[str, ...]] = []

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Keep the argv and answer."""
        self.ran.append(tuple(argv))
        return self.answer


def test_curl_in_the_pod_carries_http() -> None:
    """The exec channel runs curl as argv and reads status and body from what it prints."""
    head = "HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\n"
    curl = Curl(ExecAnswer(exit_code=0, stdout=head + "bad\n\nend", stderr=""))
    answer = ExecCurl(curl, 8080, "probe-a").get("/dial?host=a&port=1", timeout=20)
    assert answer == HttpAnswer(status=400, body="bad\n\nend")
    assert curl.ran[0][-1] == "http://127.0.0.1:8080/dial?host=a&port=1"


def test_curl_that_fails_is_a_channel_error() -> None:
    """curl did not reach the probe beside it: nothing is known of the network."""
    curl = Curl(ExecAnswer(exit_code=7, stdout="", stderr="curl: (7) Failed to connect"))
    with pytest.raises(ChannelError, match=r"ended with 7: curl: \(7\)"):
        ExecCurl(curl, 8080, "probe-a").get("/hostname", timeout=5)


@pytest.mark.parametrize("text", ["", "no head", "HTTP/1.1 200 OK\r\nunfinished"])
def test_text_that_is_no_http_answer_is_a_channel_error(text: str) -> None:
    """Half an answer is none."""
    with pytest.raises(ChannelError):
        curl_answer(text)


class Channel:
    """A channel that answers ``/hostname`` as it is told."""

    def __init__(self, name: str, *answers: HttpAnswer | ChannelError) -> None:
        self.name = name
        self.answers = list(answers)

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Answer the next; the last one stays."""
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ChannelError):
            raise answer
        return answer

    def close(self) -> None:
        """Nothing is open."""


RIGHT = HttpAnswer(status=200, body="probe-a\n")
WRONG = HttpAnswer(status=200, body="somebody-else")


def test_the_first_working_channel_is_chosen() -> None:
    """The self-check decides; the refused ones are noted, the others are fallbacks."""
    down = Channel("pod-proxy", ChannelError("no route"))
    forward, execute = Channel("port-forward", RIGHT), Channel("exec", RIGHT)
    opened, notes = open_channels([down, forward, execute], "probe-a", deadline=time.monotonic())
    assert [channel.name for channel in opened] == ["port-forward", "exec", "pod-proxy"]
    assert notes == ("pod-proxy: no route",)


def test_a_channel_that_came_too_early_is_checked_again() -> None:
    """The server begins to listen between two candidates: the better one is not lost for it."""
    early = Channel("port-forward", ChannelError("connection refused"), RIGHT)
    opened, notes = open_channels(
        [early, Channel("exec", RIGHT)], "probe-a", deadline=time.monotonic()
    )
    assert [channel.name for channel in opened] == ["port-forward", "exec"]
    assert notes == ()


def test_a_better_channel_is_taken_once_it_works() -> None:
    """What was down at first is checked again after a while, and carries what is tested from then on."""
    down = ChannelError("no route")
    forward = Channel("port-forward", down, down, RIGHT)
    opened, _ = open_channels(
        [forward, Channel("exec", RIGHT)], "probe-a", deadline=time.monotonic()
    )
    (chosen, *_) = opened
    assert isinstance(chosen, Climbing)
    chosen.get("/hostname", timeout=1)
    assert chosen.name == "exec"
    chosen.again = chosen._due = 0  # the time has come
    assert chosen.get("/hostname", timeout=1) == RIGHT
    assert chosen.name == "port-forward"


def test_a_channel_to_the_wrong_pod_is_refused() -> None:
    """The self-check requests the host name: another pod's answer is no answer."""
    wrong, right = Channel("pod-proxy", WRONG), Channel("exec", RIGHT)
    opened, notes = open_channels([wrong, right], "probe-a", deadline=time.monotonic())
    assert opened[0].name == "exec"
    assert "'somebody-else' instead of 'probe-a'" in notes[0]


def test_a_probe_that_starts_late_is_waited_for() -> None:
    """A Ready pod whose server does not listen yet gets its channel a moment later."""
    late = Channel("pod-proxy", ChannelError("connection refused"), RIGHT)
    opened, _ = open_channels([late], "probe-a", deadline=time.monotonic() + 5)
    assert opened == (late,)


def test_no_channel_is_an_error_with_every_reason() -> None:
    """When nothing works until the deadline, the error says what each channel said."""
    channels = [Channel("pod-proxy", ChannelError("503")), Channel("exec", ChannelError("hangs"))]
    with pytest.raises(ChannelError, match=r"pod-proxy: 503; exec: hangs"):
        open_channels(channels, "probe-a", deadline=time.monotonic() - 1)
