"""What execs and port-forwards make of a stream that ends before all was said."""

import threading
from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.cluster.execute import Exec
from nettests.cluster.port_forward import PortForward
from nettests.judge.distrust import lost_api
from nettests.model.channel import ChannelError, ExecAnswer
from nettests.model.cluster_profile import Timing
from tests.cluster.api import CLOSING, Reply, Request, message, serving, write_kubeconfig

PORT = bytes([80, 0])
ENDED = message(1, b"out") + message(3, b'{"status":"Success"}') + CLOSING


def run(tmp_path: Path, *streams: tuple[bytes, ...]) -> ExecAnswer:
    """Run a process in a pod of a server whose execs send these frames, one exec after the other."""
    left = list(streams)

    def answer(request: Request) -> Reply:
        if "/exec" not in request.path:
            return Reply(body={"gitVersion": "v1.34.1"})
        return Reply(frames=left.pop(0))

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        try:
            execute = Exec(connection, "ns", "probe-1", "c", threading.Semaphore())
            return execute.run(["hostname"], timeout=5)
        finally:
            connection.close()


@pytest.mark.parametrize("lost", [(), (message(1, b"o"),)])
def test_an_exec_whose_stream_ends_without_a_word_is_run_again(
    tmp_path: Path, lost: tuple[bytes, ...]
) -> None:
    """A connection that was closed before the exit code came says nothing, and is no answer."""
    answer = run(tmp_path, lost, lost, (ENDED,))
    assert (answer.exit_code, answer.stdout) == (0, "out")


def test_an_exec_whose_streams_all_end_is_a_channel_error(
    tmp_path: Path,
) -> None:
    """After ``channelTries`` nothing is known of what ran, and that is said."""
    with pytest.raises(ChannelError, match="exec in probe-1 was cut"):
        run(tmp_path, *[()] * 9)


OPENED = message(0, PORT) + message(1, PORT)
"""How a forwarding begins: the port, on its channels for data and for errors."""


def said(tmp_path: Path, frames: bytes) -> str:
    """Return what a Pod's server says by itself over a forwarding that brings these frames."""

    def answer(request: Request) -> Reply:
        if "/portforward" not in request.path:
            return Reply(body={"gitVersion": "v1.34.1"})
        return Reply(frames=(frames,))

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        try:
            return PortForward(connection, "ns", "probe-1", 80).read(timeout=5)
        finally:
            connection.close()


@pytest.mark.parametrize(("words", "read"), [(message(0, b"xxxx"), "xxxx"), (b"", "")])
def test_what_a_server_says_until_it_closes_is_its_answer(
    tmp_path: Path, words: bytes, read: str
) -> None:
    """Nothing is an answer too, if the stream was closed in order."""
    assert said(tmp_path, OPENED + words + CLOSING) == read


def test_a_forwarding_that_is_lost_is_no_silence(tmp_path: Path) -> None:
    """A stream that broke off before a word was said tells nothing of the server."""
    with pytest.raises(ChannelError, match="was lost before anything was sent"):
        said(tmp_path, OPENED)


def test_what_was_refused_is_said(tmp_path: Path) -> None:
    """The error channel's words are the error, however the stream ended."""
    refused = message(1, b"connection refused")
    for ending in (CLOSING, b""):
        with pytest.raises(ChannelError, match="connection refused"):
            said(tmp_path, OPENED + refused + ending)


@pytest.mark.parametrize("kind", ["exec", "portforward"])
def test_a_stream_says_who_opens_it(tmp_path: Path, kind: str) -> None:
    """Exec and port-forward have the User-Agent of every other request, for whoever reads an audit log."""

    def answer(request: Request) -> Reply:
        if kind not in request.path:
            return Reply(body={"gitVersion": "v1.34.1"})
        return Reply(frames=(ENDED if kind == "exec" else OPENED + CLOSING,))

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        try:
            if kind == "exec":
                Exec(connection, "ns", "p", "c", threading.Semaphore()).run(["hostname"], timeout=5)
            else:
                PortForward(connection, "ns", "p", 80).read(timeout=5)
        finally:
            connection.close()
        agents = {request.headers.get("user-agent") for request in api.requests}
    assert agents == {"nettests"}


def test_an_api_server_that_hangs_up_is_named(tmp_path: Path) -> None:
    """Before it answered, no node was asked: the reason names the API server, not the library's parser."""
    version = Reply(body={"gitVersion": "v1.34.1"})
    with serving(lambda request: version if "/version" in request.path else Reply(cut=True)) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        connection.timing = Timing(api_tries=1, channel_tries=1)
        execute = Exec(connection, "ns", "probe-1", "c", threading.Semaphore())
        with pytest.raises(ChannelError, match="was not opened: the API server hung up") as caught:
            execute.run(["hostname"], timeout=5)
        assert lost_api(f"control channel exec: {caught.value.message}")
        connection.close()
