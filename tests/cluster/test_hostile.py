"""Answers that never end and frames of any length are given up with a plain error, and their connections closed."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from nettests.cluster import Connection, connection, frames, port_forward
from nettests.cluster.channels import PodProxy
from nettests.cluster.execute import Exec, converse
from nettests.cluster.failures import SilentError, SlowError
from nettests.cluster.kubeconfig import choose
from nettests.cluster.port_forward import PortForward
from nettests.errors import ClusterError
from nettests.model import limits
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from nettests.probes.external import External
from tests.cluster.api import message, write_kubeconfig
from tests.cluster.hostile import Hostile, Wire, frame, hostile

Opened = Callable[[str], Connection]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
PORT = bytes([80, 0])
OPENED = message(0, PORT) + message(1, PORT)
HUGE = 1 << 40
CONTINUED, MORE = 0x02, 0x00
"""First bytes of a binary frame that is continued, and of one that continues it and is continued."""
GONE_SECONDS = 10
OPENING = 0.2
"""Seconds that a slow API server takes to open a stream."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a test can reach."""
    for name in ("ANSWER_BYTES", "WATCH_LINE_BYTES", "EXEC_BYTES", "BODY_BYTES"):
        monkeypatch.setattr(limits, name, 100_000)
    monkeypatch.setattr(limits, "HEAD_BYTES", 20_000)
    monkeypatch.setattr(frames, "FRAME_SECONDS", 0.3)
    monkeypatch.setattr(connection, "WATCH_END_SECONDS", 0.1)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens connections that a test need not close."""
    made: list[Connection] = []

    def open_to(url: str) -> Connection:
        timing = Timing(api_answer=0.3, api_tries=2, api_first_pause=0.001, channel_tries=2)
        made.append(Connection(choose(write_kubeconfig(tmp_path / "k", url), None), timing))
        return made[-1]

    yield open_to
    for one in made:
        one.close()


def hung_up_on(server: Hostile) -> bool:
    """Whether the client has closed its connection, however much there was to say."""
    return server.gone.wait(GONE_SECONDS)


@pytest.mark.parametrize("head", [HEAD, HEAD[:30], b""], ids=["body", "head", "first line"])
def test_an_answer_that_drips_ends_by_its_deadline(opened: Opened, head: bytes) -> None:
    """Bytes keep coming and no read is silent for long: the request is given up as a whole, and not sent again."""

    def speak(path: str, wire: Wire) -> None:
        wire.send(head)
        wire.drip(b" " if head == HEAD else b"H")

    with hostile(speak) as server:
        with pytest.raises(SlowError, match="began to answer GET /api/v1/pods and did not end"):
            opened(server.url).get("/api/v1/pods")
        assert hung_up_on(server)
    assert server.probed == ["/api/v1/pods"]


def test_a_server_that_says_nothing_is_silent(opened: Opened) -> None:
    """No byte of an answer is another thing than one that does not end: it may be requested again."""
    with hostile(lambda *_: None) as server, pytest.raises(SilentError):
        opened(server.url).get("/api/v1/pods")
    assert server.probed == ["/api/v1/pods"] * 2


@pytest.mark.parametrize("said", [b"\n", b"x"], ids=["empty lines", "an event"])
def test_a_watch_that_nobody_ends_is_ended(opened: Opened, said: bytes) -> None:
    """A server that drips into a watch beyond the time it was requested holds nobody."""

    def speak(path: str, wire: Wire) -> None:
        wire.send(HEAD)
        wire.drip(said)

    with hostile(speak) as server:
        with pytest.raises(ClusterError, match="watching /api/v1/pods and did not end"):
            list(opened(server.url).watch("/api/v1/pods", seconds=0.1))
        assert hung_up_on(server)


def test_a_backend_that_drips_through_the_pod_proxy_is_a_channel_error(opened: Opened) -> None:
    """What a probe says slowly makes its check unknown, and the run goes on."""

    def speak(path: str, wire: Wire) -> None:
        wire.send(HEAD)
        wire.drip(b" ")

    with hostile(speak) as server:
        proxy = PodProxy(opened(server.url), "ns", "probe", 80)
        proxy.connection.timing = Timing(api_connect=0.1)
        with pytest.raises(ChannelError, match="did not end"):
            proxy.get("/hostname", timeout=0.2)
        assert hung_up_on(server)


@pytest.mark.parametrize("through_proxy", [True, False])
def test_what_drips_outside_ends_by_its_deadline(*, through_proxy: bool) -> None:
    """The external vantage point reads no longer than its attempt may take."""

    def speak(path: str, wire: Wire) -> None:
        wire.send(HEAD)
        wire.drip(b" ")

    with hostile(speak) as server:
        if through_proxy:
            with pytest.raises(ChannelError, match="external proxy"):
                External(proxy=server.url).fetch("http://127.0.0.2:9/x", timeout=0.2, margin=0.1)
        else:
            fetched = External(proxy=None).fetch(f"{server.url}/x", timeout=0.3, margin=1)
            assert fetched.status is None
        assert hung_up_on(server)


def forwarded(*said: bytes, drip: bytes = b"", flood: bytes = b"") -> Callable[[str, Wire], None]:
    """Return a server of port-forwards that says this, whatever it is queried."""

    def speak(path: str, wire: Wire) -> None:
        wire.switch()
        wire.send(OPENED)
        wire.receive()
        for one in said:
            wire.send(one)
        if drip:
            wire.drip(drip)
        if flood:
            wire.flood(flood)

    return speak


@pytest.mark.parametrize(
    "speak",
    [
        forwarded(frame(b"\0", announced=HUGE)),
        forwarded(frame(b"\0", announced=(1 << 64) - 1)),
        forwarded(frame(b"\0", announced=HUGE), flood=b"x" * 4096),
        forwarded(frame(b"\0x", first=CONTINUED), flood=frame(b"x" * 4096, first=MORE)),
        forwarded(frame(b"x" * 99, first=0x89, announced=HUGE)),
    ],
    ids=["announced", "largest", "sent", "continued", "ping"],
)
def test_a_frame_of_any_length_ends_its_port_forward(
    opened: Opened, speak: Callable[[str, Wire], None]
) -> None:
    """What a header announces, or continuations add up to, is looked at before it is read."""
    with hostile(speak) as server:
        channel = PortForward(opened(server.url), "ns", "probe", 80)
        with pytest.raises(ChannelError, match="stream brought more than 120000 bytes"):
            channel.get("/hostname", timeout=5)
        assert hung_up_on(server)


def test_words_that_nobody_requested_end_an_idle_port_forward(opened: Opened) -> None:
    """Between two questions a server may not fill the memory either, nor answer the next one."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    with hostile(forwarded(message(0, answer), flood=message(0, b"x" * 100))) as server:
        channel = PortForward(opened(server.url), "ns", "probe", 80)
        assert channel.get("/hostname", timeout=5).body == "hi"
        assert server.is_held_up()
        assert channel.get("/hostname", timeout=5).body == "hi"
        assert hung_up_on(server)
        channel.close()
    assert len(server.probed) == 2


def test_an_answers_time_begins_when_the_port_forward_is_open(opened: Opened) -> None:
    """What the API server takes to open it says nothing about the probe."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    def speak(path: str, wire: Wire) -> None:
        threading.Event().wait(OPENING)
        forwarded(message(0, answer))(path, wire)

    with hostile(speak) as server:
        channel = PortForward(opened(server.url), "ns", "probe", 80)
        began = time.monotonic()
        seconds = channel.get("/hostname", timeout=5).seconds
        assert seconds is not None
        assert seconds <= time.monotonic() - began - OPENING
        channel.close()


@pytest.mark.parametrize("last", [bytes([0x88, 0]), b""], ids=["closed", "cut"])
def test_a_port_forward_that_ended_while_idle_is_replaced(opened: Opened, last: bytes) -> None:
    """Whether it was closed or broke off: the next question is reached over another one."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    ended = threading.Event()

    def speak(path: str, wire: Wire) -> None:
        forwarded(message(0, answer), last)(path, wire)
        if not last:
            wire.end()
        ended.set()

    with hostile(speak) as server:
        channel = PortForward(opened(server.url), "ns", "probe", 80)
        for _ in range(2):
            assert channel.get("/hostname", timeout=5).body == "hi"
            assert ended.wait(GONE_SECONDS)
        channel.close()
    assert len(server.probed) == 2


def test_an_answer_that_comes_after_the_end_leaves_no_port_forward_open(opened: Opened) -> None:
    """A run that is interrupted closes its channels while questions are still under way."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    probed, closed = threading.Event(), threading.Event()

    def speak(path: str, wire: Wire) -> None:
        probed.set()
        assert closed.wait(GONE_SECONDS)
        forwarded(message(0, answer))(path, wire)

    with hostile(speak) as server, ThreadPoolExecutor(1) as pool:
        channel = PortForward(opened(server.url), "ns", "probe", 80)
        probing = pool.submit(channel.get, "/hostname", timeout=5)
        assert probed.wait(GONE_SECONDS)
        channel.close()
        closed.set()
        assert probing.result().body == "hi"
        assert hung_up_on(server)
        with pytest.raises(ChannelError, match="was closed"):
            channel.get("/hostname", timeout=5)


def test_a_body_without_a_length_is_not_cut_unseen(opened: Opened) -> None:
    """Where nothing more is read of a stream, what came of a body until then is no answer."""
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    with hostile(forwarded(message(0, head), frame(b"\0", announced=HUGE))) as server:
        channel = PortForward(opened(server.url), "ns", "probe", 80)
        with pytest.raises(ChannelError, match="stream brought more than"):
            channel.get("/hostname", timeout=5)


@pytest.mark.parametrize("read", [False, True], ids=["answer", "words"])
def test_an_answer_that_drips_through_a_port_forward_ends(opened: Opened, *, read: bool) -> None:
    """Frame by frame a byte, for ever: its reader waits no longer than it wanted, and hangs up."""
    said = () if read else (message(0, b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"),)

    def speak(path: str, wire: Wire) -> None:
        wire.switch()
        wire.send(OPENED)
        for one in said:
            wire.send(one)
        while not wire.server.over.wait(0.02):
            wire.send(message(0, b"x"))

    with hostile(speak) as server:
        channel = PortForward(opened(server.url), "ns", "probe", 80)
        call = channel.read if read else partial(channel.get, "/hostname")
        with pytest.raises(ChannelError, match=r"deadline|timed out"):
            call(timeout=0.3)
        assert hung_up_on(server)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (frame(b"\1", announced=HUGE), "brought more than 100000 bytes"),
        (frame(b"\1x", first=0xF2), "cannot be read: reserved bits"),
        (frame(b"\1x", first=0x87), "cannot be read: invalid opcode"),
    ],
    ids=["huge", "reserved", "opcode"],
)
def test_a_frame_that_is_none_ends_its_exec_for_good(opened: Opened, said: bytes, why: str) -> None:
    """A stream that was given up for what it brought is not opened again: it would bring the same."""

    def speak(path: str, wire: Wire) -> None:
        wire.switch()
        wire.send(said)

    with hostile(speak) as server:
        execute = Exec(opened(server.url), "ns", "probe", "c", threading.Semaphore())
        with pytest.raises(ChannelError, match=why):
            execute.run(["x"], timeout=5)
        assert hung_up_on(server)
    assert len(server.probed) == 1


@pytest.mark.parametrize("first", [0x82, 0x89], ids=["message", "ping"])
def test_frames_that_say_nothing_end_their_exec(opened: Opened, first: int) -> None:
    """Of empty ones there may not be any number either."""

    def speak(path: str, wire: Wire) -> None:
        wire.switch()
        wire.flood(bytes([first, 0]) * 100)

    with hostile(speak) as server:
        execute = Exec(opened(server.url), "ns", "probe", "c", threading.Semaphore())
        with pytest.raises(ChannelError, match=r"brought more than|was cut"):
            execute.run(["x"], timeout=GONE_SECONDS)
        assert hung_up_on(server)


def dripping(path: str, wire: Wire) -> None:
    """Begin a frame, and do not come to its end."""
    wire.switch()
    wire.send(frame(b"", announced=50_000))
    wire.drip(b"\1x")


def test_a_frame_that_drips_ends_its_exec(opened: Opened) -> None:
    """A frame that has begun has to end, whatever the process may take."""
    with hostile(dripping) as server:
        execute = Exec(opened(server.url), "ns", "probe", "c", threading.Semaphore())
        with pytest.raises(ChannelError, match="began a frame and did not end it within"):
            execute.run(["x"], timeout=GONE_SECONDS)
        assert hung_up_on(server)


def test_a_frame_that_drips_ends_a_conversation(opened: Opened) -> None:
    """Who listens to a process for a while is not kept by half a frame."""
    with hostile(dripping) as server:
        talk = converse(opened(server.url), "ns", "probe", "c", ["x"])
        with pytest.raises(ChannelError, match="began a frame and did not end it within"):
            talk.hear(lambda _: False, seconds=GONE_SECONDS)
        talk.close()
        assert hung_up_on(server)


@pytest.mark.parametrize(
    ("said", "drips", "why"),
    [
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 999999999999\r\n\r\n", False, "20000 bytes|body too large"),
        (b"HTTP/1.1 101 Switching Protocols\r\nX: ", False, "20000 bytes|too long"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 99999\r\n\r\n", True, "timed out"),
        (b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.2:9/\r\nContent-Length: 0\r\n\r\n", None, "Handshake status 302 Found"),
    ],
    ids=["body", "head", "drips", "elsewhere"],
)  # fmt: skip
def test_the_answer_to_a_handshake_is_bounded(
    opened: Opened,
    monkeypatch: pytest.MonkeyPatch,
    said: bytes,
    *,
    drips: bool | None,
    why: str,
) -> None:
    """A refusal of any length, one that drips, and one that sends us elsewhere are given up."""
    if drips:
        monkeypatch.setattr(port_forward, "CONNECT_SECONDS", 0.2)

    def speak(path: str, wire: Wire) -> None:
        wire.send(said)
        if drips:
            wire.drip(b"x")
        elif drips is False:
            wire.flood(b"x" * 4096)

    with hostile(speak) as server:
        channel = PortForward(opened(server.url), "ns", "probe", 80)
        with pytest.raises(ChannelError, match=f"was not opened: .*({why})"):
            channel.get("/hostname", timeout=5)
        assert hung_up_on(server)


def test_a_stream_may_be_silent_between_frames(opened: Opened) -> None:
    """The time that a frame has does not run before its first byte."""

    def speak(path: str, wire: Wire) -> None:
        wire.switch()
        wire.server.over.wait(2 * frames.FRAME_SECONDS)
        wire.send(message(1, b"out") + message(3, b'{"status":"Success"}') + bytes([0x88, 0]))

    with hostile(speak) as server:
        execute = Exec(opened(server.url), "ns", "probe", "c", threading.Semaphore())
        assert execute.run(["x"], timeout=5).stdout == "out"
