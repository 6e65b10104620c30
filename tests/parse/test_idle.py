"""Connections that were silent: what their clients told, and what else may have ended them."""

import json
from typing import Any

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from nettests.parse.idle import Fate, fate, opened, refused
from tests.parse.raws import raw

STOOD = "open\ntook before\nback before\n"
# As bash 5.2 says it, and as PowerShell does.
SILENT = STOOD + "took after\nnone 142\n"
SILENT_WINDOWS = STOOD.replace("\n", "\r\n") + "took after\r\nnone TimedOut\r\n"
ABORTED = STOOD + "took after\r\nnone ConnectionAborted\r\n"
READ_ERROR = "10.0.0.1: line 1: read: read error: 0: Connection reset by peer\n"
RESET = f"{STOOD}took after\n{READ_ERROR}none 1\n"
RESET_WINDOWS = STOOD + "took after\r\nnone ConnectionReset\r\n"
WRITE_ERROR = "10.0.0.1: line 1: echo: write error: Connection reset by peer\n"
RESET_EARLIER = f"{STOOD}{WRITE_ERROR}failed after\n"
RESET_EARLIER_WINDOWS = STOOD + "failed after ConnectionReset\r\n"
CLOSED = STOOD + "took after\nnone 1\n"
CLOSED_WINDOWS = STOOD + "took after\r\nnone closed\r\n"
REFUSED = "10.0.0.1: connect: Connection refused\n10.0.0.1: line 1: /dev/tcp: Connection refused\n"
REFUSED_WINDOWS = "error ConnectionRefused\r\n"


def line(said: str, **changes: Any) -> dict[str, Any]:
    """Return what is recorded of a connection."""
    usual = {"exit": None, "stderr": "", "server_exit": None, "server_stderr": ""}
    return {"client": ["bash"], "server": ["nc"], "said": said, **usual, **changes}


FRESH = line("open\ntook anew\nback anew\n")


def read(kept: Any, fresh: Any = None) -> tuple[Outcome, str]:
    """Return outcome and detail of a record."""
    record = {"seconds": 300, "kept": kept, "fresh": fresh}
    attempt = read_raw(raw("idle", stdout=json.dumps(record)))
    return attempt.outcome, attempt.detail


def test_a_connection_that_answers_after_the_silence_is_connected() -> None:
    """Both words came back."""
    said = "answered before and after 300 s of silence"
    both = STOOD + "took after\nback after\n"
    assert read(line(both)) == (Outcome.CONNECTED, said)


@pytest.mark.parametrize(
    ("said", "how"),
    [
        (SILENT, "unanswered"),
        (SILENT_WINDOWS, "unanswered"),
        (ABORTED, "unanswered"),
        (RESET, "reset"),
        (RESET_WINDOWS, "reset"),
        (RESET_EARLIER, "reset"),
        (RESET_EARLIER_WINDOWS, "reset"),
    ],
)
def test_a_connection_that_carries_nothing_any_more_is_lost(said: str, how: str) -> None:
    """Silence and a reset are told apart in the detail, beside a new connection that was answered."""
    outcome, detail = read(line(said), FRESH)
    assert outcome is Outcome.LOST
    assert detail == f"{how} after 300 s of silence, while a new connection was answered"


def test_a_reset_at_both_ends_is_lost_too() -> None:
    """The server went with the connection, as its own words show."""
    words = "cat: read error: Connection reset by peer\n"
    assert read(line(RESET, server_exit=1, server_stderr=words), FRESH)[0] is Outcome.LOST


@pytest.mark.parametrize(
    ("kept", "fresh", "why"),
    [
        (line(SILENT), None, "new connection beside the silent one was not answered"),
        (line(SILENT), line(REFUSED), "Connection refused"),
        (line(SILENT), line("open\ntook anew\nnone 142\n"), "was not answered"),
        (line(STOOD), FRESH, "nothing shows that a word was sent after the silence"),
        (line(STOOD, exit=1), FRESH, "nothing shows that a word was sent after the silence"),
        (line(STOOD + "took after\n"), FRESH, "nothing shows"),
        (line(STOOD + "took after\nnone 1"), FRESH, "nothing shows"),
        (line(CLOSED), FRESH, "ended by one of its ends"),
        (line(CLOSED_WINDOWS), FRESH, "ended by one of its ends"),
        (line(STOOD + "x: echo: write error: Broken pipe\nfailed after\n"), FRESH, "ended by one"),
        (line(STOOD + "took after\nback other\n"), FRESH, "ended by one"),
        (line(SILENT, server_exit=143), FRESH, "the server had ended"),
        (line(RESET, server_exit=137), FRESH, "server ended with 137"),
        (line(RESET, server_exit=0), FRESH, "server ended with 0"),
    ],
)
def test_what_may_have_ended_otherwise_is_no_observation(
    kept: dict[str, Any], fresh: dict[str, Any] | None, why: str
) -> None:
    """A server that ended, a word that nobody sent, a path that takes no new connection: none is forgetting."""
    outcome, detail = read(kept, fresh)
    assert outcome is Outcome.PROBE_FAILED
    assert why in detail


@pytest.mark.parametrize(
    "kept",
    [
        line(REFUSED, exit=7),
        line(REFUSED_WINDOWS, exit=7),
        line(""),
        line("open\n"),
        line("open\ntook before\nnone 142\n"),
        line("open\ntook before\nnone TimedOut\n"),
        line("", exit=127, server_exit=127, server_stderr="cat: not found"),
    ],
)
def test_a_connection_that_never_stood_is_no_observation(kept: dict[str, Any]) -> None:
    """Who starts slowly or cannot be reached at all says nothing of silence: other checks target that."""
    outcome, detail = read(kept)
    assert outcome is Outcome.PROBE_FAILED
    assert "no connection was open" in detail


@pytest.mark.parametrize(
    "stdout",
    [
        *("", "[]", "{}", "7", '"kept"', "null", '{"seconds": 300}'),
        json.dumps({"seconds": "300", "kept": line(SILENT), "fresh": None}),
        json.dumps({"seconds": 300, "kept": None, "fresh": None}),
        json.dumps({"seconds": 300, "kept": line(SILENT), "fresh": []}),
        json.dumps({"seconds": 300, "kept": line(SILENT, exit="0"), "fresh": None}),
        json.dumps({"seconds": 300, "kept": {"heard": ["before"]}, "fresh": None}),
    ],
)
def test_no_record_is_no_observation(stdout: str) -> None:
    """Nothing is read from an answer of another shape, nor does it stop whoever reads it."""
    assert read_raw(raw("idle", stdout=stdout)).outcome is Outcome.PROBE_FAILED


def test_what_became_of_a_word_is_told_once_its_line_is_whole() -> None:
    """A client that is listened to while it speaks is not believed halfway."""
    said = STOOD + "took after\nback after\n"
    for end in range(len(said)):
        assert fate(said[:end], "after") is Fate.UNTOLD
    assert fate(said, "after") is Fate.ANSWERED
    assert fate(said, "before") is Fate.ANSWERED


def test_a_refusal_is_told_from_a_connection() -> None:
    """Only who was never connected was refused."""
    assert [refused(said) for said in (REFUSED, REFUSED_WINDOWS, STOOD, "")] == [
        True,
        True,
        False,
        False,
    ]
    assert [opened(said) for said in (REFUSED, REFUSED_WINDOWS, STOOD, "ope")] == [False] * 2 + [
        True,
        False,
    ]


@pytest.mark.parametrize(
    "said",
    [
        f"{STOOD}{READ_ERROR}took after\nnone 1\n",
        f"open\ntook before\n{READ_ERROR}back before\nfailed after\n",
        f"open\ntook before\n{READ_ERROR}none 1\nfailed after\n",
    ],
    ids=["before it was taken", "with an earlier answer", "with an earlier failure"],
)
def test_a_reset_of_another_word_is_not_that_words(said: str) -> None:
    """What is told of a word begins where the word before it ended."""
    assert fate(said, "after") is Fate.OTHER


def test_a_reset_is_known_where_its_text_was_wrapped() -> None:
    """A console breaks long lines where it likes."""
    wrapped = READ_ERROR.replace("Connection reset", "Connection\nreset")
    assert fate(f"{STOOD}took after\n{wrapped}none 1\n", "after") is Fate.RESET
    assert fate(f"{STOOD}{wrapped}failed after\n", "after") is Fate.RESET


def test_what_both_ends_told_is_told() -> None:
    """How each ended, and the last of what they wrote: 120 characters of what was said, 80 of each error."""
    before = "nothing shows that a word was sent after the silence: client "
    said = "x" * 200 + STOOD.replace("\n", "\r\n")
    _, detail = read(line(said, exit=3), FRESH)
    shown = " ".join(said[-120:].split())
    assert detail == f"{before}ended with 3: {shown} ; server still there:"
    kept = line(STOOD, stderr="y" * 90, server_exit=4, server_stderr="z" * 90)
    _, detail = read(kept, FRESH)
    assert detail == (
        f"{before}still there: open took before back before {'y' * 80}; "
        f"server ended with 4: {'z' * 80}"
    )
    _, detail = read(line(SILENT), None)
    assert detail == "a new connection beside the silent one was not answered: there is none"
