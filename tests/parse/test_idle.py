"""Connections that were silent: what was heard, and what else may have ended them."""

import json
from typing import Any

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from tests.parse.raws import raw

RESET = "curl: (56) Recv failure: Connection was reset\n"
TIME_OUT = "curl: (28) Time-out\n"
REFUSED = "curl: (7) Failed to connect to 10.244.1.5 port 21000: Connection refused\n"


def line(*heard: str, **changes: Any) -> dict[str, Any]:
    """Return what is recorded of a connection."""
    usual = {"exit": None, "stderr": "", "server_exit": None, "server_stderr": ""}
    return {"client": ["curl"], "server": ["nc"], "heard": list(heard), **usual, **changes}


FRESH = line("anew")


def read(kept: dict[str, Any], fresh: dict[str, Any] | None = None) -> tuple[Outcome, str]:
    """Return outcome and detail of a record."""
    record = {"seconds": 300, "kept": kept, "fresh": fresh}
    attempt = read_raw(raw("idle", stdout=json.dumps(record)))
    return attempt.outcome, attempt.detail


def test_a_connection_that_answers_after_the_silence_is_connected() -> None:
    """Both words came back."""
    said = "answered before and after 300 s of silence"
    assert read(line("before", "after")) == (Outcome.CONNECTED, said)


@pytest.mark.parametrize(
    ("code", "stderr", "how"),
    [(28, TIME_OUT, "unanswered"), (56, RESET, "reset"), (55, "curl: (55) Send failure", "reset")],
)
def test_a_connection_that_carries_nothing_any_more_is_lost(
    code: int, stderr: str, how: str
) -> None:
    """Silence and a reset are told apart in the detail, beside a new connection that was answered."""
    outcome, detail = read(line("before", exit=code, stderr=stderr), FRESH)
    assert outcome is Outcome.LOST
    assert detail == f"{how} after 300 s of silence, while a new connection was answered"


def test_a_reset_at_both_ends_is_lost_too() -> None:
    """The server has gone with the connection, as the client's reset shows."""
    assert read(line("before", exit=56, server_exit=1), FRESH)[0] is Outcome.LOST


@pytest.mark.parametrize(
    ("kept", "fresh", "why"),
    [
        (line("before", exit=28), None, "new connection beside the silent one was not answered"),
        (line("before", exit=28), line(stderr=REFUSED), "Connection refused"),
        (line("before", exit=0), FRESH, "the client ended with code 0"),
        (line("before"), FRESH, "the client ended without an exit code"),
        (line("before", exit=28, server_exit=143), FRESH, "the server ended with code 143"),
        (line("before", exit=0, server_exit=0), FRESH, "the server ended with code 0"),
        (line(exit=7, stderr=REFUSED, server_exit=127), None, "the server ended with code 127"),
        (line(exit=1, stderr="curl: (1) Protocol"), None, "the client ended with code 1"),
        (line(exit=0), None, "the client ended with code 0"),
    ],
)
def test_what_may_have_ended_otherwise_is_no_observation(
    kept: dict[str, Any], fresh: dict[str, Any] | None, why: str
) -> None:
    """A server or client that ended, or a path that takes no new connection, never counts as forgotten."""
    outcome, detail = read(kept, fresh)
    assert outcome is Outcome.PROBE_FAILED
    assert why in detail


@pytest.mark.parametrize(
    ("kept", "outcome"),
    [
        (line(exit=7, stderr=REFUSED), Outcome.REFUSED),
        (line(exit=28, stderr=TIME_OUT), Outcome.TIMED_OUT),
        (line(), Outcome.TIMED_OUT),
    ],
)
def test_a_connection_that_never_stood_is_not_lost(kept: dict[str, Any], outcome: Outcome) -> None:
    """What was refused or silent from the beginning has its own outcome."""
    assert read(kept)[0] is outcome


def test_no_record_is_no_observation() -> None:
    """Nothing is read from an answer that is none."""
    assert read_raw(raw("idle", stdout="")).outcome is Outcome.PROBE_FAILED
