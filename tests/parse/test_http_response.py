"""The external vantage: what a proxy outside reports of its own attempt."""

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from tests.parse.raws import raw


@pytest.mark.parametrize(
    ("squid", "outcome"),
    [
        ("ERR_CONNECT_FAIL 111", Outcome.REFUSED),
        ("ERR_CONNECT_FAIL 104", Outcome.REFUSED),
        ("ERR_CONNECT_FAIL 110", Outcome.TIMED_OUT),
        ("ERR_CONNECT_FAIL 113", Outcome.UNREACHABLE),
        ("ERR_CONNECT_FAIL 101", Outcome.UNREACHABLE),
        ("ERR_DNS_FAIL 0", Outcome.NXDOMAIN),
        ("ERR_READ_TIMEOUT 0", Outcome.TIMED_OUT),
        ("ERR_CONNECT_FAIL 1", Outcome.PROBE_FAILED),
        ("ERR_ACCESS_DENIED 0", Outcome.PROBE_FAILED),
    ],
)
def test_a_proxys_error_is_the_observation(squid: str, outcome: Outcome) -> None:
    """The errno that squid names tells what its connection met; its refusals tell nothing."""
    answer = raw("http", status=503, stdout="<html>", stderr=f"X-Squid-Error: {squid}")
    assert read_raw(answer).outcome is outcome


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("3: Network unreachable", Outcome.UNREACHABLE),
        ("4: Host unreachable", Outcome.UNREACHABLE),
        ("5: Connection refused", Outcome.REFUSED),
        ("6: TTL expired", Outcome.TIMED_OUT),
        ("1: General SOCKS server failure", Outcome.PROBE_FAILED),
        ("2: Connection not allowed by ruleset", Outcome.PROBE_FAILED),
    ],
)
def test_a_socks_proxys_reply_is_the_observation(reply: str, outcome: Outcome) -> None:
    """The number tells what its connection met; what it says of itself tells nothing of the target."""
    assert read_raw(raw("http", stderr=f"SOCKS reply {reply}")).outcome is outcome


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("timed out: ConnectTimeoutError: (connect timeout=5)", Outcome.TIMED_OUT),
        ("NewConnectionError: [Errno 111] Connection refused", Outcome.REFUSED),
        ("NewConnectionError: [Errno 113] No route to host", Outcome.UNREACHABLE),
        ("NameResolutionError: [Errno -2] Name or service not known", Outcome.NXDOMAIN),
        ("SomethingError: new", Outcome.PROBE_FAILED),
        ("", Outcome.PROBE_FAILED),
    ],
)
def test_a_direct_requests_error_is_read(error: str, outcome: Outcome) -> None:
    """Without a proxy the error's own text tells."""
    assert read_raw(raw("http", stderr=error)).outcome is outcome


def test_an_answer_names_the_backend() -> None:
    """A body is read like any other."""
    answer = raw("http", status=200, stdout="server-linux-1-1", context={"request": "hostname"})
    assert read_raw(answer).backend == "server-linux-1-1"


@pytest.mark.parametrize("changes", [{"status": 407, "stdout": "no"}, {"status": 200}])
def test_no_answer_of_the_target(changes: dict[str, object]) -> None:
    """A proxy that requests credentials, and an empty answer, say nothing."""
    assert read_raw(raw("http", **changes)).outcome is Outcome.PROBE_FAILED


def test_an_unknown_tool_is_no_answer() -> None:
    """A tool that no parser reads makes the attempt unusable instead of raising."""
    assert read_raw(raw("telnet")).outcome is Outcome.PROBE_FAILED
