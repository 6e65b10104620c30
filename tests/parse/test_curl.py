"""``curl`` on a node: exit codes, and the texts of old and new versions on both systems."""

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from tests.parse.raws import raw

FAILED = "curl: (7) Failed to connect to 10.1.1.1 port 80"


@pytest.mark.parametrize(
    ("code", "stderr", "client_os", "outcome"),
    [
        (6, "curl: (6) Could not resolve host: nosuch.demo", "linux", Outcome.NXDOMAIN),
        (7, f"{FAILED}: Connection refused", "linux", Outcome.REFUSED),
        (7, f"{FAILED}: Connection refused", "windows", Outcome.REFUSED),
        (7, f"{FAILED} after 2043 ms: Couldn't connect to server", "windows", Outcome.REFUSED),
        (7, f"{FAILED} after 0 ms: Could not connect to server", "linux", Outcome.REFUSED),
        (7, f"{FAILED}: No route to host", "linux", Outcome.UNREACHABLE),
        (7, f"{FAILED}: Network is unreachable", "linux", Outcome.UNREACHABLE),
        (7, f"{FAILED}: Connection timed out", "linux", Outcome.TIMED_OUT),
        (7, f"{FAILED}: Timed out", "windows", Outcome.TIMED_OUT),
        (7, f"{FAILED} after 4043 ms: Timed out\r\n", "windows", Outcome.TIMED_OUT),
        (7, f"{FAILED}: Host unreachable", "windows", Outcome.UNREACHABLE),
        (7, f"{FAILED} after 31 ms: Network unreachable", "windows", Outcome.UNREACHABLE),
        (7, f"{FAILED}: Bad access", "windows", Outcome.REFUSED),
        (7, f"{FAILED}: Address already in use", "windows", Outcome.NO_PORT),
        (7, f"{FAILED}: Der Remotehost ist nicht bereit.", "windows", Outcome.PROBE_FAILED),
        (7, f"{FAILED} after 2035 ms: Could not connect to server", "windows", Outcome.REFUSED),
        (
            7,
            f"{FAILED} after 21043 ms: Could not connect to server",
            "windows",
            Outcome.PROBE_FAILED,
        ),
        (28, f"{FAILED} after 4043 ms: Timed out", "windows", Outcome.TIMED_OUT),
        (56, "curl: (56) Recv failure: Connection was aborted", "windows", Outcome.TIMED_OUT),
        (28, "curl: (28) Connection timed out after 5001 milliseconds", "linux", Outcome.TIMED_OUT),
        (28, "curl: (28) Resolving timed out after 5000 milliseconds", "linux", Outcome.TIMED_OUT),
        (28, "", "windows", Outcome.TIMED_OUT),
        (52, "curl: (52) Empty reply from server", "linux", Outcome.REFUSED),
        (56, "curl: (56) Recv failure: Connection reset by peer", "linux", Outcome.REFUSED),
        (56, "curl: (56) Recv failure: Connection was reset", "windows", Outcome.REFUSED),
        (1, "curl: (1) Received HTTP/0.9 when not allowed", "linux", Outcome.CONNECTED),
        (35, "curl: (35) error:0A00010B:SSL routines::wrong version", "linux", Outcome.CONNECTED),
        (60, "curl: (60) SSL certificate problem", "windows", Outcome.CONNECTED),
        (2, "curl: option --nosuch: is unknown", "linux", Outcome.PROBE_FAILED),
        (3, "curl: (3) URL using bad/illegal format", "linux", Outcome.PROBE_FAILED),
        (127, "curl: not found", "linux", Outcome.PROBE_FAILED),
        (None, "", "linux", Outcome.PROBE_FAILED),
    ],
)
def test_exit_codes(code: int | None, stderr: str, client_os: str, outcome: Outcome) -> None:
    """The exit code decides; where it covers several events, the text does."""
    answer = raw("curl", exit_code=code, stderr=stderr, client_os=client_os)
    assert read_raw(answer).outcome is outcome


def test_an_answer_is_read() -> None:
    """A body tells whom the server saw."""
    answer = raw("curl", exit_code=0, stdout="172.30.0.13:50123", context={"request": "clientip"})
    attempt = read_raw(answer)
    assert (attempt.outcome, attempt.server_saw) == (Outcome.CONNECTED, "172.30.0.13")


def test_an_empty_answer_is_no_success() -> None:
    """Exit code 0 without a body says nothing."""
    assert read_raw(raw("curl", exit_code=0)).outcome is Outcome.PROBE_FAILED


def test_a_lost_exit_code_is_said() -> None:
    """A body without an exit code is not believed, and the reason is told."""
    attempt = read_raw(raw("curl", exit_code=None, stdout="server-1"))
    assert attempt.outcome is Outcome.PROBE_FAILED
    assert "exit code was lost" in attempt.detail
