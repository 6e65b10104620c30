"""A process that is spoken to while it runs: what it said, how it ended, and what is lost with its stream."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.cluster.execute import PINGS_UNANSWERED, Talk, converse
from nettests.model.channel import ChannelError, ProgramMissingError
from tests.cluster.api import CLOSING, Reply, Request, message, serving, status, write_kubeconfig

ENDED = message(3, b'{"status":"Success"}') + CLOSING
MISSING = b'{"status":"Failure","message":"exec: \\"nc\\": executable file not found in $PATH"}'


def never(_said: str) -> bool:
    """Wait for more."""
    return False


@contextmanager
def talking(tmp_path: Path, *frames: bytes, reply: Reply | None = None) -> Iterator[Talk]:
    """Talk to a process of a server whose exec sends these frames."""
    probed: list[str] = []

    def answer(request: Request) -> Reply:
        if "/exec" not in request.path:
            return Reply(body={"gitVersion": "v1.34.1"})
        probed.append(request.path)
        return reply or Reply(frames=frames)

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        try:
            with closing(converse(connection, "ns", "probe-1", "c", ["cat"])) as talk:
                yield talk
            assert "stdin=true" in probed[0]
        finally:
            connection.close()


def test_what_a_process_says_is_heard(tmp_path: Path) -> None:
    """Output comes in pieces; listening ends with the word, and the exit code is known later."""
    frames = (message(1, b"be"), message(2, b"oh"), message(1, b"fore\n"), ENDED)
    with talking(tmp_path, *frames) as talk:
        assert talk.hear(lambda said: "before" in said, seconds=5)
        assert not talk.hear(lambda said: "after" in said, seconds=5)
        assert (talk.stdout, talk.stderr, talk.exit_code) == ("before\n", "oh", 0)


def test_nothing_is_said_to_a_process_that_has_ended(tmp_path: Path) -> None:
    """Its end is an answer, not a lost stream."""
    with talking(tmp_path, ENDED) as talk:
        assert not talk.hear(never, seconds=5)
        talk.say("word")
        talk.stay()
        assert talk.exit_code == 0


@pytest.mark.parametrize("ending", [b"", CLOSING], ids=["cut", "closed"])
@pytest.mark.parametrize("speaking", [True, False])
def test_a_stream_that_ends_without_an_exit_code_is_a_channel_error(
    tmp_path: Path, speaking: bool, ending: bytes
) -> None:
    """Nothing is known of the process from then on, whether somebody speaks or listens."""

    def use(talk: Talk) -> None:
        if speaking:
            talk.hear(lambda said: "out" in said, seconds=5)
            talk.say("word")
        talk.hear(never, seconds=5)

    with talking(tmp_path, message(1, b"out") + ending) as talk, pytest.raises(ChannelError):
        use(talk)


def test_a_program_that_is_missing_is_said(tmp_path: Path) -> None:
    """The runtime's words are the error."""
    said = "is missing in probe-1: "
    with (
        talking(tmp_path, message(3, MISSING) + CLOSING) as talk,
        pytest.raises(ProgramMissingError, match=said),
    ):
        talk.hear(never, seconds=5)


def test_a_stream_that_is_refused_is_a_channel_error(tmp_path: Path) -> None:
    """How the API server refused it is the error."""
    refusal = status(403, "Forbidden", "pods is forbidden")
    said = "probe-1 was not opened: Handshake status 403 Forbidden"
    with pytest.raises(ChannelError, match=said), talking(tmp_path, reply=refusal):
        pass


PONG = bytes([0x8A, 0])


def comes_true(condition: Callable[[], bool]) -> bool:
    """Whether a condition is met within a few seconds."""
    end = time.monotonic() + 5
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def test_a_stream_over_which_nobody_answers_pings_is_cut(tmp_path: Path) -> None:
    """It may be open for its sockets: what is black-holed on the way tells nobody."""
    held = threading.Event()
    reply = Reply(frames=(), held=held)
    try:
        with talking(tmp_path, reply=reply) as talk:
            for _ in range(PINGS_UNANSWERED):
                talk.stay()
            with pytest.raises(ChannelError, match="nobody answered 3 pings"):
                talk.stay()
    finally:
        held.set()


def test_a_pong_answers_for_the_pings_before_it(tmp_path: Path) -> None:
    """As long as one comes now and then the stream is believed."""
    held = threading.Event()
    times = 2 * PINGS_UNANSWERED
    reply = Reply(frames=(), pongs=(PONG,) * times, held=held)
    try:
        with talking(tmp_path, reply=reply) as talk:
            for _ in range(times):
                talk.stay()
                assert talk.unanswered == 1
                assert comes_true(lambda: talk.unanswered == 0)
    finally:
        held.set()
