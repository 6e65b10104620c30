"""How exec and port-forward open their WebSocket: time, threads, credentials, and what is logged."""

import logging
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from nettests.cluster import Connection, frames
from nettests.cluster.execute import converse
from nettests.cluster.port_forward import PortForward
from nettests.model.channel import ChannelError
from tests.cluster.api import CLOSING, Reply, Request, message, serving, status, write_kubeconfig
from tests.cluster.hostile import Wire, half_a_record, hostile
from tests.cluster.opening import ENDED, Connected, run, tls
from tests.cluster.plugin import with_plugin

pytestmark = pytest.mark.usefixtures("quick_handshakes")

LATE_SECONDS = 2.0
"""Above all that a test gives a handshake, and what closing takes."""


def question(connection: Connection) -> object:
    """Send one request over a port-forward, and let go of the others that came with it."""
    forward = PortForward(connection, "ns", "p", 80)
    try:
        return forward.get("/", timeout=0.1)
    finally:
        forward.close()


OPENINGS: dict[str, Callable[[Connection], object]] = {
    "exec": run,
    "conversation": lambda connection: converse(connection, "ns", "p", "c", ["x"]),
    "question": question,
    "reading": lambda connection: PortForward(connection, "ns", "p", 80).read(timeout=0.1),
}


def of_ours() -> set[threading.Thread]:
    """Return the threads that no server of a test has started."""
    return {
        one
        for one in threading.enumerate()
        if "of a test" not in one.name and "process_request" not in one.name
    }


def hangs(path: str, wire: Wire) -> None:
    """Say nothing at all."""


def drips(path: str, wire: Wire) -> None:
    """Begin to answer, and do not come to an end."""
    wire.send(b"HTTP/1.1 101 Switching Protocols\r\nX: ")
    wire.drip(b"x")


@pytest.mark.parametrize("speak", [hangs, drips])
@pytest.mark.parametrize("kind", OPENINGS)
def test_handshakes_that_hang_leave_no_thread(
    tmp_path: Path, connected: Connected, kind: str, speak: Callable[[str, Wire], None]
) -> None:
    """They are given up in time, and nobody goes on waiting for their answers."""
    with hostile(speak) as server:
        connection = connected(write_kubeconfig(tmp_path / "k", server.url))
        before, began = of_ours(), time.monotonic()
        for _ in range(3):
            with pytest.raises(ChannelError, match="not opened"):
                OPENINGS[kind](connection)
        assert time.monotonic() - began < 3 * LATE_SECONDS
        assert of_ours() == before
        assert server.gone.wait(LATE_SECONDS)


@pytest.mark.parametrize("kind", OPENINGS)
def test_streams_that_break_off_leave_no_thread(
    tmp_path: Path, connected: Connected, kind: str
) -> None:
    """However a stream ends, and whether or not its process has, closing it ends its thread."""
    with serving(lambda _: Reply(frames=(message(1, b"o"),))) as api:
        connection = connected(write_kubeconfig(tmp_path / "k", api.url))
        before = of_ours()
        try:
            opened: Any = OPENINGS[kind](connection)
        except ChannelError:
            pass
        else:
            opened.close()
        assert of_ours() == before


def test_a_handshake_is_given_up_when_nobody_accepts(tmp_path: Path, connected: Connected) -> None:
    """A server that listens and takes no connection holds nobody longer than one that says nothing."""
    listening = socket_that_is_full()
    try:
        port = listening[0].getsockname()[1]
        connection = connected(write_kubeconfig(tmp_path / "k", f"http://127.0.0.1:{port}"))
        began = time.monotonic()
        with pytest.raises(ChannelError, match="timed out"):
            OPENINGS["question"](connection)
        assert time.monotonic() - began < LATE_SECONDS
    finally:
        for one in listening:
            one.close()


def socket_that_is_full() -> list[socket.socket]:
    """Return a socket that listens, and those that fill its queue."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(0)
    waiting = []
    for _ in range(4):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(listening.getsockname())
        waiting.append(one)
    time.sleep(0.1)
    return [listening, *waiting]


def test_the_subprotocols_are_offered(tmp_path: Path, connected: Connected) -> None:
    """Version 5 first; what closes a channel there is no output."""
    said = (message(1, b"out"), message(255, b"\1"), message(3, b'{"status":"Success"}') + CLOSING)
    with serving(lambda _: Reply(frames=said)) as api:
        assert run(connected(write_kubeconfig(tmp_path / "k", api.url)), 5) == "out"
        (request,) = api.requests
    offered = request.headers["sec-websocket-protocol"].replace(" ", "")
    assert offered == "v5.channel.k8s.io,v4.channel.k8s.io"
    assert request.headers["authorization"] == "Bearer t"
    assert "sec-websocket-extensions" not in request.headers


def test_a_busy_server_opens_later(
    tmp_path: Path, connected: Connected, pauses: list[float]
) -> None:
    """A 429 is followed by another handshake, after what ``Retry-After`` says."""
    replies = iter([Reply(status=429, body=b"busy", headers={"Retry-After": "0"}), ENDED])
    with serving(lambda _: next(replies)) as api:
        assert run(connected(write_kubeconfig(tmp_path / "k", api.url)), 5) == "out"
    assert pauses == [0.0]


def test_a_stream_that_meets_an_expired_token_is_opened_with_the_next(
    tmp_path: Path, connected: Connected
) -> None:
    """The handshake's 401 makes the exec plugin run again."""

    def answer(request: Request) -> Reply:
        if request.headers["authorization"] == "Bearer t2":
            return ENDED
        return status(401, "Unauthorized", "Unauthorized")

    with serving(answer) as api:
        assert run(connected(with_plugin(tmp_path, api, last=9)), 5) == "out"
        assert len(api.requests) == 2


def test_a_token_is_not_logged(
    tmp_path: Path, connected: Connected, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever has debug messages shown sees no request of the library's."""
    caplog.set_level(logging.DEBUG)
    with serving(lambda _: ENDED) as api:
        run(connected(write_kubeconfig(tmp_path / "k", api.url, token="very-secret")), 5)
    assert "very-secret" not in caplog.text


@pytest.mark.parametrize("seconds", [0.3, 10.0], ids=["the frame ends", "the process ends"])
def test_half_a_record_of_tls_holds_nobody(
    tmp_path: Path,
    connected: Connected,
    monkeypatch: pytest.MonkeyPatch,
    authority: trustme.CA,
    seconds: float,
) -> None:
    """Whoever waits for its other half is woken, by the time of a frame or by who closes the stream."""
    monkeypatch.setattr(frames, "FRAME_SECONDS", seconds)
    with half_a_record(tls(authority), message(1, b"x" * 99)) as server:
        file = write_kubeconfig(tmp_path / "k", server.url, ca=authority.cert_pem.bytes())
        connection = connected(file)
        before, began = of_ours(), time.monotonic()
        with pytest.raises(ChannelError, match="did not end"):
            run(connection, 0.6)
        assert time.monotonic() - began < LATE_SECONDS
        assert of_ours() == before
        assert server.gone.wait(LATE_SECONDS)


def test_half_a_record_of_tls_holds_no_handshake(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """A handshake is given up in time also where its answer stops in the middle of a record."""
    answer = b"HTTP/1.1 101 Switching Protocols\r\n" * 9
    with half_a_record(tls(authority), answer, switches=False) as server:
        file = write_kubeconfig(tmp_path / "k", server.url, ca=authority.cert_pem.bytes())
        connection = connected(file)
        before, began = of_ours(), time.monotonic()
        with pytest.raises(ChannelError, match="not opened"):
            run(connection)
        assert time.monotonic() - began < LATE_SECONDS
        assert of_ours() == before


def test_a_process_that_takes_nothing_holds_nobody(
    tmp_path: Path, connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said to a stream whose other end reads nothing is given up as a frame is."""
    monkeypatch.setattr(frames, "FRAME_SECONDS", 0.3)

    def speak(path: str, wire: Wire) -> None:
        wire.switch()
        wire.server.over.wait(10)

    with hostile(speak) as server:
        talk = converse(
            connected(write_kubeconfig(tmp_path / "k", server.url)), "ns", "p", "c", ["x"]
        )
        before, began = of_ours(), time.monotonic()
        with pytest.raises(ChannelError, match="was cut"):
            talk.say("x" * 50_000_000)
        talk.close()
        assert time.monotonic() - began < 3 * LATE_SECONDS
        assert len(of_ours()) == len(before) - 1
