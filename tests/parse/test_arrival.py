"""A server's log tells whether a datagram arrived that nobody answered."""

from dataclasses import replace

import pytest

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.arrival import ARRIVAL, SERVER_LOG, arrived, echoed
from nettests.parse.read import read_raw

# Recorded of agnhost 2.63 (tests/fixtures/transcripts/agnhost.jsonl, kind server-log).
LOG = """\
I1121 01:07:31.501561   18863 log.go:244] Sending udp hostName response
I1121 01:07:31.501832   18863 log.go:244] Echoing hello world to UDP client 127.0.0.1:46582
I1121 01:07:31.502050   18863 log.go:244] Echoing  two spaces to UDP client 127.0.0.1:54661
I1121 01:07:48.455046   18863 log.go:244] Echoing hi to UDP client 127.0.0.1:55774
"""
READ = Raw(
    check="flow/a/b",
    purpose=ARRIVAL,
    attempt=2,
    tool=SERVER_LOG,
    client_os="windows",
    probe="probe-windows-1-1",
    channel="api",
    command=("log", "server-linux-1-1", "hostname"),
    started=1.0,
    elapsed=0.1,
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [("hi", 1), ("hello world", 1), ("hello", 0), ("world", 0), (" two spaces", 1)],
)
def test_only_the_very_text_counts(text: str, lines: int) -> None:
    """What begins or ends alike is another node's."""
    found = echoed(LOG, text)
    assert len(found.splitlines()) == lines
    assert all(line in LOG for line in found.splitlines())


def test_a_log_without_the_line_says_that_nothing_arrived() -> None:
    """That it was read and does not tell of the datagram is an answer, that it could not be read is none."""
    came = replace(READ, stdout=echoed(LOG, "hi"))
    assert [arrived([one]) for one in (came, READ)] == [True, False]
    assert arrived([replace(READ, error="HTTP 403")]) is None
    assert arrived([]) is None


def test_the_last_reading_counts_and_other_answers_do_not() -> None:
    """The echo itself is silent: only the log tells."""
    echo = replace(READ, tool="dial", attempt=1, stdout="not read")
    assert arrived([echo]) is None
    assert arrived([echo, READ, replace(READ, stdout=echoed(LOG, "hi"))]) is True


def test_it_is_read_as_an_answer_is() -> None:
    """Documents show it beside what was sent, in words."""
    assert read_raw(replace(READ, stdout=echoed(LOG, "hi"))).outcome is Outcome.REPLIED
    silent = read_raw(READ)
    assert (silent.outcome, silent.detail) == (
        Outcome.TIMED_OUT,
        "the server's log has no line of it",
    )


def test_every_echo_of_the_text_is_kept_and_the_first_is_told() -> None:
    """Each of them is a line of its own."""
    line = "I1121 01:07:48.455046   18863 log.go:244] Echoing hi to UDP client 127.0.0.1:55774"
    assert echoed(LOG + LOG, "hi") == f"{line}\n{line}"
    assert read_raw(replace(READ, stdout=f"{line}\n{LOG}")).detail == f"it arrived: {line}"
