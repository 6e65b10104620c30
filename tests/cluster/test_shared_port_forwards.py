"""Questions that share the WebSocket of a port-forward: each has its own answer, and what ails one is not the others' end."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from nettests.cluster import Connection, port_forward
from nettests.cluster.kubeconfig import choose
from nettests.cluster.lanes import CHANNELS
from nettests.cluster.port_forward import LANES, MOST_LANES, PortForward
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from tests.cluster.api import message, write_kubeconfig
from tests.cluster.hostile import Hostile, Wire, hostile

PORT = bytes([80, 0])
SECONDS = 10
Answer = Callable[[int, str], bytes | None]
"""What is said to a path over the stream of that number, counted from one; ``None`` says nothing."""


def whole(body: str, more: str = "") -> bytes:
    return f"HTTP/1.1 200 OK\r\n{more}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def requests(wire: Wire) -> Iterator[tuple[int, str]]:
    """Yield the channel and the path of each request, of the mpath frames of a client."""
    held = b""
    while came := wire.receive():
        held += came
        while len(held) > 8:
            short = held[1] & 0x7F
            size, at = (int.from_bytes(held[2:4], "big"), 4) if short == 126 else (short, 2)
            mask, end = held[at : at + 4], at + 4 + size
            if len(held) < end:
                break
            said = bytes(byte ^ mask[i % 4] for i, byte in enumerate(held[at + 4 : end]))
            opcode, held = held[0] & 0x0F, held[end:]
            if opcode == 2 and (found := re.match(rb"GET (\S+) ", said[1:])):
                yield said[0], found[1].decode()


@contextmanager
def forwarding(
    tmp_path: Path, answer: Answer, served: int = LANES
) -> Iterator[tuple[Hostile, PortForward]]:
    """Serve port-forwards of which the first ports are ``served``, and open a channel to them."""
    numbers = iter(range(1, 1000))

    def speak(path: str, wire: Wire) -> None:
        wire.switch()
        stream = next(numbers)
        for lane in range(min(served, path.count("ports=80"))):
            wire.send(message(lane * CHANNELS, PORT) + message(lane * CHANNELS + 1, PORT))
        with ThreadPoolExecutor(LANES) as pool:
            for channel, wanted in requests(wire):
                pool.submit(said, wire, channel, stream, wanted)

    def said(wire: Wire, channel: int, stream: int, path: str) -> None:
        if words := answer(stream, path):
            failed = message(channel + 1, b"wincat ended") if path == "/failing" else b""
            wire.send(message(channel, words) + failed)

    with hostile(speak) as server:
        timing = Timing(api_tries=2, api_first_pause=0.001, channel_tries=2)
        connection = Connection(choose(write_kubeconfig(tmp_path / "k", server.url), None), timing)
        channel = PortForward(connection, "ns", "probe", 80)
        try:
            yield server, channel
        finally:
            channel.close()
            connection.close()


def named(server: Hostile) -> list[int]:
    """Return how many ports each handshake named."""
    return [path.count("ports=80") for path in server.probed]


def test_one_question_after_another_needs_one_connection(tmp_path: Path) -> None:
    """On a Windows node each may be a process of its own: none is opened that is not used."""
    with forwarding(tmp_path, lambda _, path: whole(path)) as (server, channel):
        assert [channel.get(f"/{n}", timeout=5).body for n in range(3)] == ["/0", "/1", "/2"]
        assert named(server) == [1]


def test_questions_at_the_same_time_share_handshakes_and_have_their_own_answers(
    tmp_path: Path,
) -> None:
    """All of them are under way at once, over the first connection and those of one more handshake."""
    many = LANES + 1
    together = threading.Barrier(many)

    def answer(_: int, path: str) -> bytes:
        if path != "/first":
            together.wait(SECONDS)
        return whole(path)

    with forwarding(tmp_path, answer) as (server, channel), ThreadPoolExecutor(many) as pool:
        assert channel.get("/first", timeout=5).body == "/first"
        paths = [f"/{number}" for number in range(many)]
        assert [
            one.body for one in pool.map(lambda path: channel.get(path, timeout=SECONDS), paths)
        ] == paths
        assert named(server) == [1, LANES]


def test_a_question_whose_stream_was_given_up_for_anothers_answer_is_sent_again(
    tmp_path: Path,
) -> None:
    """An answer that breaks off half-way ends the stream; who shared it has an answer over another one."""
    busy, waiting = threading.Event(), threading.Event()

    def answer(stream: int, path: str) -> bytes | None:
        if path == "/half":
            assert waiting.wait(SECONDS)
            return b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal"
        if stream == 1:
            busy.set()
            return None
        if stream == 2:
            waiting.set()
            return None
        return whole(path)

    with forwarding(tmp_path, answer) as (server, channel), ThreadPoolExecutor(3) as pool:
        pool.submit(channel.get, "/busy", timeout=2)
        assert busy.wait(SECONDS)
        half = pool.submit(channel.get, "/half", timeout=1)
        shared = pool.submit(channel.get, "/shared", timeout=SECONDS)
        with pytest.raises(ChannelError, match="port-forward to probe"):
            half.result()
        assert shared.result().body == "/shared"
        assert named(server) == [1, LANES, MOST_LANES]


def test_a_server_that_closes_after_its_answer_closes_no_other_connection(tmp_path: Path) -> None:
    """``Connection: close`` is said of one connection: whoever waits over the same stream has its answer there."""
    busy, waiting, closed = threading.Event(), threading.Event(), threading.Event()

    def answer(stream: int, path: str) -> bytes | None:
        if path == "/busy":
            busy.set()
            return None
        if path == "/waiting":
            waiting.set()
            assert closed.wait(SECONDS)
            return whole(f"over {stream}")
        return whole(path, "Connection: close\r\n")

    with forwarding(tmp_path, answer) as (server, channel), ThreadPoolExecutor(2) as pool:
        pool.submit(channel.get, "/busy", timeout=1)
        assert busy.wait(SECONDS)
        patient = pool.submit(channel.get, "/waiting", timeout=SECONDS)
        assert waiting.wait(SECONDS)
        assert channel.get("/closing", timeout=5).body == "/closing"
        closed.set()
        assert patient.result().body == "over 2"
        assert named(server) == [1, LANES]


def test_where_only_the_first_port_is_served_each_question_has_a_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not announced carries no question, and is named no more."""
    monkeypatch.setattr(port_forward, "CONNECT_SECONDS", 0.5)
    came, ended = threading.Semaphore(0), threading.Event()

    def answer(_: int, path: str) -> bytes:
        came.release()
        assert ended.wait(SECONDS)
        return whole(path)

    with forwarding(tmp_path, answer, served=1) as (server, channel), ThreadPoolExecutor(3) as pool:
        waiting = []
        for path in ("/a", "/b", "/c"):
            waiting.append(pool.submit(channel.get, path, timeout=SECONDS))
            assert came.acquire(timeout=SECONDS)
        ended.set()
        assert [one.result().body for one in waiting] == ["/a", "/b", "/c"]
        assert named(server) == [1, LANES, 1]


def test_what_is_no_http_ends_its_question(tmp_path: Path) -> None:
    """Whoever brought it itself is not sent again: that would bring the same, for ever."""
    with forwarding(tmp_path, lambda _, path: b"220 no HTTP here\r\n") as (server, channel):
        for count in (1, 2):
            with pytest.raises(ChannelError, match="220 no HTTP here"):
                channel.get("/a", timeout=5)
            assert len(server.probed) == count


def test_an_idle_connection_that_failed_ends_alone(tmp_path: Path) -> None:
    """A process that forwards may end by itself: who waits over the same stream has its answer there."""
    first, waiting, ended = threading.Event(), threading.Event(), threading.Event()

    def answer(stream: int, path: str) -> bytes | None:
        if path == "/waiting":
            waiting.set()
            assert ended.wait(SECONDS)
            return whole(f"over {stream}")
        if stream == 1:
            first.set()
            return None
        return whole(path)

    with forwarding(tmp_path, answer) as (server, channel), ThreadPoolExecutor(2) as pool:
        pool.submit(channel.get, "/busy", timeout=1)
        assert first.wait(SECONDS)
        patient = pool.submit(channel.get, "/waiting", timeout=SECONDS)
        assert waiting.wait(SECONDS)
        for path in ("/failing", "/next"):
            assert channel.get(path, timeout=5).body == path
            time.sleep(0.1)  # what came behind the answer is there
        ended.set()
        assert patient.result().body == "over 2"
        assert named(server) == [1, LANES]
