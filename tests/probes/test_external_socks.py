"""The external vantage behind a SOCKS5 proxy (RFC 1928), on loopback."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from nettests.model.channel import ChannelError
from nettests.model.words import Outcome
from nettests.parse import read_raw
from nettests.probes.external import External, Fetched
from tests.parse.raws import raw

URL = "http://172.30.0.13:30080/hostname"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nserver-1"
WITHOUT, WITH_PASSWORD, NONE_FITS = 0, 2, 255
"""Ways to prove who one is (RFC 1928, section 3)."""


@dataclass
class Socks:
    """A proxy for one connection: what it replies, what the target behind it sends, what it was probed."""

    reply: int = 0
    answer: bytes = ANSWER
    way: int = WITHOUT
    port: int = 0
    probed: list[bytes] = field(default_factory=list)

    def serve(self, listening: socket.socket) -> None:
        """Greet, perhaps take a password, take the destination, reply, and pass one exchange on."""
        client, _ = listening.accept()
        with client, client.makefile("rb") as said:
            offered = said.read(said.read(2)[1])
            client.sendall(bytes([5, self.way]))
            if self.way == NONE_FITS or self.way not in offered:
                return
            if self.way == WITH_PASSWORD:
                name = said.read(said.read(2)[1])
                self.probed.append(name + b":" + said.read(said.read(1)[0]))
                client.sendall(b"\x01\x00")
            self.probed.append(said.read(10))
            client.sendall(bytes([5, self.reply, 0, 1]) + bytes(6))
            if self.reply == 0:
                self.probed.append(said.readline())
                client.sendall(self.answer)


@contextmanager
def proxy(socks: Socks) -> Iterator[Socks]:
    """Let it stand on loopback, and see that it came to its end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        socks.port = listening.getsockname()[1]
        serving = threading.Thread(target=socks.serve, args=(listening,), daemon=True)
        serving.start()
        yield socks
        serving.join(5)
        assert not serving.is_alive()


def fetch(socks: Socks, who: str = "") -> Fetched:
    """Fetch a NodePort through it."""
    with proxy(socks) as up:
        return External(proxy=f"socks5://{who}127.0.0.1:{up.port}").fetch(URL, timeout=2, margin=2)


def test_the_targets_answer_comes_through() -> None:
    """The proxy is requested the NodePort's address and port, and the body is the target's."""
    socks = Socks()
    assert fetch(socks) == Fetched(status=200, body="server-1")
    port = (30080).to_bytes(2, "big")
    assert socks.probed[0] == bytes([5, 1, 0, 1, 172, 30, 0, 13]) + port
    assert socks.probed[1] == b"GET /hostname HTTP/1.1\r\n"


def test_its_credentials_are_used() -> None:
    """A name and a password in the address prove who probes (RFC 1929)."""
    socks = Socks(way=WITH_PASSWORD)
    assert fetch(socks, "lab:secret@").status == 200
    assert socks.probed[0] == b"lab:secret"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (3, Outcome.UNREACHABLE),
        (4, Outcome.UNREACHABLE),
        (5, Outcome.REFUSED),
        (6, Outcome.TIMED_OUT),
    ],
)
def test_a_failed_connection_behind_it_is_an_observation(reply: int, outcome: Outcome) -> None:
    """What the proxy met on its way to the target was seen outside, and is read so."""
    found = fetch(Socks(reply=reply))
    assert found.status is None
    assert read_raw(raw("http", stderr=found.error)).outcome is outcome


@pytest.mark.parametrize("reply", [1, 2, 7])
def test_what_it_says_of_itself_is_no_observation(reply: int) -> None:
    """A general failure or a rule of the proxy's own leaves the target unknown."""
    found = fetch(Socks(reply=reply))
    assert read_raw(raw("http", stderr=found.error)).outcome is Outcome.PROBE_FAILED


def test_a_status_is_the_targets_own() -> None:
    """502 through a SOCKS proxy was said by the target: the proxy only passes bytes on."""
    answer = ANSWER.replace(b"200 OK", b"502 Bad Gateway")
    assert fetch(Socks(answer=answer)).status == 502


def test_a_proxy_that_takes_no_client_is_a_channel_error() -> None:
    """Refused credentials are no word about the target, and are not spelled."""
    with pytest.raises(ChannelError) as raised:
        fetch(Socks(way=NONE_FITS), "lab:secret@")
    assert "secret" not in str(raised.value)


def test_an_unreachable_proxy_is_a_channel_error() -> None:
    """A refusal by the proxy's own machine is not taken for the target's."""
    with pytest.raises(ChannelError, match="Connection refused") as raised:
        External(proxy="socks5h://lab:secret@127.0.0.1:1").fetch(URL, timeout=1, margin=1)
    assert "secret" not in str(raised.value)
