"""How exec and port-forward open their WebSocket: time, threads, TLS, proxies, credentials, and what is logged."""

import logging
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from ruamel.yaml import YAML

from nettests.cluster import Connection, execute, frames, port_forward
from nettests.cluster.converse import converse
from nettests.cluster.execute import Exec
from nettests.cluster.kubeconfig import choose
from nettests.cluster.port_forward import PortForward
from nettests.model.channel import ChannelError
from nettests.model.profile import Timing
from tests.cluster.api import CLOSING, Reply, Request, message, serving, status, write_kubeconfig
from tests.cluster.hostile import Wire, half_a_record, hostile
from tests.cluster.plugin import with_plugin
from tests.cluster.proxy import proxying

ENDED = Reply(frames=(message(1, b"out") + message(3, b'{"status":"Success"}') + CLOSING,))
LATE_SECONDS = 2.0
"""Above all that a test gives a handshake, and what closing takes."""

Connected = Callable[[Path], Connection]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up in a moment."""
    for opener in (execute, sys.modules[converse.__module__]):
        monkeypatch.setattr(opener, "HANDSHAKE_SECONDS", 0.2)
    monkeypatch.setattr(port_forward, "CONNECT_SECONDS", 0.2)


@pytest.fixture
def connected() -> Iterator[Connected]:
    """Opens connections, by kubeconfig, that a test need not close."""
    made: list[Connection] = []

    def connect(file: Path) -> Connection:
        timing = Timing(
            execute=0.1, api_tries=2, api_first_pause=0.001, api_longest_pause=0.01, channel_tries=2
        )
        made.append(Connection(choose(file, None), timing))
        return made[-1]

    yield connect
    for one in made:
        one.close()


def run(connection: Connection, seconds: float = 0.1) -> str:
    """Run a process and return what it says."""
    return (
        Exec(connection, "ns", "p", "c", threading.Semaphore()).run(["x"], timeout=seconds).stdout
    )


OPENINGS: dict[str, Callable[[Connection], object]] = {
    "exec": run,
    "conversation": lambda connection: converse(connection, "ns", "p", "c", ["x"]),
    "question": lambda connection: PortForward(connection, "ns", "p", 80).get("/", timeout=0.1),
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


def with_settings(file: Path, **settings: object) -> Path:
    """Change the cluster or the user of a kubeconfig; ``_`` stands for ``-``."""
    config = YAML(typ="safe").load(file)
    for key, value in settings.items():
        name = key.replace("_", "-")
        of = config["users"][0]["user"] if "client" in name else config["clusters"][0]["cluster"]
        of[name] = value
    YAML().dump(config, file)
    return file


@pytest.fixture
def authority() -> trustme.CA:
    """Whom a kubeconfig trusts."""
    return trustme.CA()


def tls(authority: trustme.CA, name: str = "127.0.0.1", *, asks: bool = False) -> ssl.SSLContext:
    """Return a server's side of TLS; it may ask for the client's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(context)
    return context


def test_a_stream_trusts_the_kubeconfigs_authority(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """A server whose certificate it signed is asked over TLS."""
    with serving(lambda _: ENDED, tls(authority)) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        assert run(connected(file), 5) == "out"


def test_a_stream_trusts_nobody_else(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """Another's certificate is refused, at once; a kubeconfig may say that any will do."""
    with serving(lambda _: ENDED, tls(trustme.CA())) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        with pytest.raises(ChannelError, match="certificate verify failed"):
            run(connected(file), 5)
        plain = write_kubeconfig(tmp_path / "insecure", api.url)
        with_settings(plain, insecure_skip_tls_verify=True)
        assert run(connected(plain), 5) == "out"


def test_a_stream_asks_for_the_name_that_the_kubeconfig_says(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """``tls-server-name`` is the name in the certificate of a server that is reached by address."""
    with serving(lambda _: ENDED, tls(authority, "kubernetes.example")) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        with pytest.raises(ChannelError, match=r"certificate is not valid for '127\.0\.0\.1'"):
            run(connected(file), 5)
        with_settings(file, tls_server_name="kubernetes.example")
        assert run(connected(file), 5) == "out"


def test_a_stream_shows_the_kubeconfigs_certificate(
    tmp_path: Path, connected: Connected, authority: trustme.CA
) -> None:
    """A server that asks who is there lets in whom the authority has signed."""
    mine = authority.issue_cert("user@example.org")
    mine.private_key_pem.write_to_path(tmp_path / "key")
    mine.cert_chain_pems[0].write_to_path(tmp_path / "crt")
    with serving(lambda _: ENDED, tls(authority, asks=True)) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        with pytest.raises(ChannelError):
            run(connected(file), 5)
        with_settings(
            file, client_certificate=str(tmp_path / "crt"), client_key=str(tmp_path / "key")
        )
        assert run(connected(file), 5) == "out"


@pytest.mark.parametrize("said", ["kubeconfig", "environment"])
@pytest.mark.parametrize("secure", [True, False])
def test_a_stream_goes_through_the_proxy(
    tmp_path: Path,
    connected: Connected,
    monkeypatch: pytest.MonkeyPatch,
    authority: trustme.CA,
    *,
    said: str,
    secure: bool,
) -> None:
    """Of the kubeconfig or the environment, as other requests; TLS is with the server behind it."""
    context = tls(authority, "kubernetes.invalid") if secure else None
    with serving(lambda _: ENDED, context) as api, proxying(api.url) as proxy:
        scheme, port = api.url.split(":")[0], api.url.rsplit(":")[-1]
        file = write_kubeconfig(
            tmp_path / "k",
            f"{scheme}://kubernetes.invalid:{port}",
            ca=authority.cert_pem.bytes(),
        )
        address = proxy.url.replace("//", "//me:pass@")
        if said == "kubeconfig":
            with_settings(file, proxy_url=address)
        else:
            monkeypatch.setenv(f"{scheme}_proxy", address)
        assert run(connected(file), 5) == "out"
    assert proxy.asked == [f"kubernetes.invalid:{port}"]
    assert proxy.credentials == ["Basic bWU6cGFzcw=="]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2"])
def test_a_stream_goes_past_a_proxy_that_is_not_for_it(
    tmp_path: Path, connected: Connected, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """What ``NO_PROXY`` names is reached directly; loopback always is."""
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.2/32")
    with serving(lambda _: ENDED) as api, proxying(api.url) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        url = api.url.replace("127.0.0.1", host)
        file = write_kubeconfig(tmp_path / "k", url)
        if host == "127.0.0.1":
            assert run(connected(file), 5) == "out"
        else:  # nobody listens there
            with pytest.raises(ChannelError, match="refused"):
                run(connected(file), 5)
    assert proxy.asked == []


@pytest.mark.parametrize("refuses", [407, 503])
def test_a_proxy_that_refuses_is_said_by_its_status(
    tmp_path: Path, connected: Connected, refuses: int
) -> None:
    """The proxy's address may hold a password, and is not shown."""
    with proxying("http://127.0.0.1:9", refuses=refuses) as proxy:
        file = write_kubeconfig(tmp_path / "k", "http://kubernetes.invalid:1")
        with_settings(file, proxy_url=proxy.url.replace("//", "//me:secret@"))
        with pytest.raises(ChannelError, match=f"proxy of the API server answered {refuses}"):
            run(connected(file), 5)


def test_a_proxy_that_streams_cannot_use_is_said_without_its_password(
    tmp_path: Path, connected: Connected
) -> None:
    """SOCKS leaves the other channels: requests know it, streams do not."""
    file = write_kubeconfig(tmp_path / "k", "http://kubernetes.invalid:1")
    with_settings(file, proxy_url="socks5://me:secret@127.0.0.1:1")
    with pytest.raises(ChannelError, match=r"was not opened: .*SOCKS") as raised:
        run(connected(file), 5)
    assert "secret" not in raised.value.message


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
        assert time.monotonic() - began < LATE_SECONDS
        assert len(of_ours()) == len(before) - 1
