"""Attaching to a container: what is heard of it, over real sockets, and what ends the listening."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.cluster import Connection, connect
from nettests.cluster import execute as module
from nettests.cluster.execute import attach
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from tests.cluster.api import CLOSING, Reply, Request, message, serving, status, write_kubeconfig


@contextmanager
def attached(
    tmp_path: Path, *replies: Reply, execute: float = 5
) -> Iterator[tuple[Connection, list[str]]]:
    """Return a connection to a server whose attach answers in turn, the last reply again and again, and its paths."""
    queue, paths = list(replies), []

    def answer(request: Request) -> Reply:
        if "/attach" not in request.path:
            return Reply(body={"gitVersion": "v1.34.1"})
        paths.append(request.path)
        return queue.pop(0) if len(queue) > 1 else queue[0]

    timing = replace(Timing(), execute=execute, api_first_pause=0.01, api_longest_pause=0.01)
    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None, timing=timing)
        try:
            yield connection, paths
        finally:
            connection.close()


def heard(connection: Connection) -> str:
    """Listen for ``word``."""
    return attach(connection, "ns", "p", "c", until="word")


def test_listening_ends_with_the_word(tmp_path: Path) -> None:
    """It may come in pieces, on either stream; the stream need not end for it, and nobody types."""
    frames = (message(1, b"a w"), message(2, b"ord"), message(1, b" more"))
    with attached(tmp_path, Reply(frames=frames)) as (connection, paths):
        assert heard(connection) == "a word"
    assert "/api/v1/namespaces/ns/pods/p/attach?container=c" in paths[0]
    assert "stdout=true" in paths[0]
    assert "stdin" not in paths[0]


def test_a_container_that_ends_or_is_silent_has_said_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is a failure of the channel: what it did not say is the answer."""
    with attached(tmp_path, Reply(frames=(message(1, b"bye") + CLOSING,))) as (connection, _):
        assert heard(connection) == "bye"
    monkeypatch.setattr(module, "HANDSHAKE_SECONDS", 0.5)
    silent = Reply(frames=(message(1, b"hello"),), held=threading.Event())
    with attached(tmp_path, silent, execute=0.5) as (connection, _):
        assert heard(connection) == "hello"


FAILED = b'{"status":"Failure","message":"Internal error occurred: error attaching to container: not running"}'


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (FAILED, "attach to p failed: Internal error occurred: .*: not running"),
        (b"not JSON", "attach to p ended with a status that cannot be read: 'not JSON'"),
        (b"[]", "attach to p ended with a status that cannot be read"),
    ],
)
@pytest.mark.parametrize("end", [CLOSING, b""], ids=["closed", "cut"])
def test_what_the_kubelet_says_of_the_end_is_the_channels_failure(
    tmp_path: Path, status: bytes, error: str, end: bytes
) -> None:
    """A container to which nobody could attach was not silent; what was said with success is all there is."""
    reply = Reply(frames=(message(1, b"hello"), message(3, status) + end))
    with attached(tmp_path, reply) as (connection, paths), pytest.raises(ChannelError, match=error):
        heard(connection)
    assert len(paths) == 1


def test_a_word_that_came_counts_whatever_the_status_says(tmp_path: Path) -> None:
    """The stream's end says nothing against it; nor does a status of success against what was not said."""
    reply = Reply(frames=(message(3, FAILED), message(1, b"word") + CLOSING))
    with attached(tmp_path, reply) as (connection, _):
        assert heard(connection) == "word"
    ended = message(1, b"bye") + message(3, b'{"metadata":{},"status":"Success"}') + CLOSING
    with attached(tmp_path, Reply(frames=(ended,))) as (connection, _):
        assert heard(connection) == "bye"


def test_a_stream_that_is_cut_is_opened_again(tmp_path: Path) -> None:
    """Listening does no harm twice; cut again and again it is the channel's failure."""
    cut = Reply(frames=(message(1, b"w"),))
    whole = Reply(frames=(message(1, b"word"),))
    with attached(tmp_path, cut, cut, whole) as (connection, paths):
        assert heard(connection) == "word"
        assert len(paths) == 3
    with (
        attached(tmp_path, cut) as (connection, paths),
        pytest.raises(ChannelError, match="attach to p was cut"),
    ):
        heard(connection)
    assert len(paths) == Timing().channel_tries


def test_what_opening_took_is_not_taken_for_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow API server leaves the container as much time to say something as a fast one."""

    class Late:
        """A stream of a container that says its word in time."""

        def receive(self, seconds: float) -> tuple[int, bytes]:
            if seconds <= 0.1:
                raise TimeoutError
            return 1, b"word"

        def close(self) -> None:
            pass

    def opened(*_: object, **__: object) -> Late:
        time.sleep(0.2)
        return Late()

    monkeypatch.setattr(module, "HANDSHAKE_SECONDS", 0.0)
    monkeypatch.setattr(module, "open_stream", opened)
    with attached(tmp_path, Reply(), execute=0.2) as (connection, _):
        assert heard(connection) == "word"


def test_a_refusal_is_the_channels(tmp_path: Path) -> None:
    """In the API server's words."""
    refusal = status(403, "Forbidden", 'pods "p" is forbidden: may not create pods/attach')
    with (
        attached(tmp_path, refusal) as (connection, _),
        pytest.raises(ChannelError, match="may not create pods/attach"),
    ):
        heard(connection)
