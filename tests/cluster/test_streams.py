"""What an exec makes of a stream that ends before its exit code came."""

import threading
from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.cluster.execute import Exec
from nettests.model.channel import ChannelError, ExecAnswer
from tests.cluster.api import CLOSING, Reply, Request, message, serving, write_kubeconfig

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
