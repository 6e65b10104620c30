"""The external vantage point over UDP: directly, and through a SOCKS5 relay (RFC 1928, section 7), on loopback."""

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

URL = "udp://172.30.0.13:30081/hostname"
HEADER = bytes([0, 0, 0, 1, 172, 30, 0, 13]) + (30081).to_bytes(2, "big")
"""Before each payload: nothing reserved, no fragment, IPv4, address and port."""


@dataclass
class Relay:
    """A proxy for one association: how it greets, what it replies, what comes back through its relay."""

    greeting: bytes = b"\x05\x00"
    proof: bytes = b"\x01\x00"
    reply: int = 0
    host: str = "127.0.0.1"
    answer: bytes | None = HEADER + b"server-1"
    port: int = 0
    proved: bytes = b""
    declared: bytes = b""
    sent: list[bytes] = field(default_factory=list)

    def serve(self, listening: socket.socket, datagrams: socket.socket) -> None:
        """Greet, perhaps take a password, take the request, reply, and answer one datagram."""
        client, _ = listening.accept()
        with client, client.makefile("rb") as said:
            said.read(said.read(2)[1])
            client.sendall(self.greeting)
            if self.greeting[1:] == b"\x02":
                name = said.read(said.read(2)[1])
                self.proved = name + b":" + said.read(said.read(1)[0])
                client.sendall(self.proof)
            if not (request := said.read(10)):
                return
            self.declared = request
            place = socket.inet_aton(self.host) + datagrams.getsockname()[1].to_bytes(2, "big")
            client.sendall(bytes([5, self.reply, 0, 1]) + place)
            if self.reply:
                return
            data, sender = datagrams.recvfrom(1000)
            self.sent.append(data)
            if self.answer is not None:
                datagrams.sendto(self.answer, sender)
            said.read()


@contextmanager
def standing(relay: Relay) -> Iterator[Relay]:
    """Let it stand on loopback, and see that it came to its end."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(("127.0.0.1", 0))
        relay.port = listening.getsockname()[1]
        serving = threading.Thread(target=relay.serve, args=(listening, datagrams), daemon=True)
        serving.start()
        yield relay
        serving.join(5)
        assert not serving.is_alive()


def send(relay: Relay, who: str = "", timeout: float = 2) -> Fetched:
    """Send one datagram through it."""
    with standing(relay) as up:
        address = f"socks5://{who}127.0.0.1:{up.port}"
        return External(proxy="http://127.0.0.1:9", udp_proxy=address).send(URL, timeout=timeout)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_targets_answer_comes_through(host: str) -> None:
    """The relay gets the target's address and the request; one that names no address is where its proxy is."""
    relay = Relay(host=host)
    assert send(relay) == Fetched(status=None, body="server-1")
    assert relay.sent == [HEADER + b"hostname"]
    assert relay.declared[:8] == bytes([5, 3, 0, 1, 127, 0, 0, 1])


def test_its_credentials_are_used() -> None:
    """A name and a password in the address prove who sends (RFC 1929)."""
    relay = Relay(greeting=b"\x05\x02")
    assert send(relay, "lab:se%20cret@").body == "server-1"
    assert relay.proved == b"lab:se cret"


def test_silence_behind_the_relay_is_what_was_observed() -> None:
    """No answer in time is no failure of the proxy."""
    came = send(Relay(answer=None), timeout=0.2)
    assert came == Fetched(status=None, body="", error="timed out")
    read = read_raw(raw("datagram", stderr=came.error))
    assert read.outcome is Outcome.TIMED_OUT


@pytest.mark.parametrize(
    ("relay", "who", "said"),
    [
        (Relay(reply=7), "", "SOCKS reply 7: it relays no datagrams"),
        (Relay(greeting=b"\x05\xff"), "", "it wants a name and a password"),
        (
            Relay(greeting=b"\x05\xff"),
            "lab:x@",
            "it wants another proof of identity than a password",
        ),
        (Relay(greeting=b"\x05\x02", proof=b"\x01\x01"), "lab:x@", "it refuses its credentials"),
        (Relay(greeting=b"HT"), "", "it does not speak SOCKS5"),
        (Relay(answer=b"\0\0\0"), "", "what is no whole datagram"),
        (Relay(answer=b"\0\0\1" + HEADER[3:]), "", "what is no whole datagram"),
    ],
)
def test_what_the_proxy_does_not_do_is_the_channels_failure(
    relay: Relay, who: str, said: str
) -> None:
    """Nothing is known of the network behind it, and its own reason is told, without its address."""
    with pytest.raises(ChannelError, match=said) as raised:
        send(relay, who)
    assert "127.0.0.1" not in raised.value.message


def test_a_proxy_that_is_not_there_or_carries_tcp_alone_is_the_channels_failure() -> None:
    """Neither is an observation of the target."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    gone = External(proxy="http://127.0.0.1:9", udp_proxy=f"socks5://127.0.0.1:{port}")
    with pytest.raises(ChannelError, match="Connection refused"):
        gone.send(URL, timeout=1)
    with pytest.raises(ChannelError, match="carries no UDP"):
        External(proxy="http://127.0.0.1:9").send(URL, timeout=1)


def test_directly_a_refusal_is_told_by_icmp() -> None:
    """A closed port on this machine's way is ``refused``; an answer is what came back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        server.settimeout(5)

        def answer() -> None:
            data, sender = server.recvfrom(100)
            server.sendto(b"10.0.0.1:" + data[-4:], sender)

        answering = threading.Thread(target=answer)
        answering.start()
        came = External(proxy=None).send(f"udp://127.0.0.1:{port}/ask/1234", timeout=5)
        answering.join()
    assert came.body == "10.0.0.1:1234"
    refused = External(proxy=None).send(f"udp://127.0.0.1:{port}/hostname", timeout=5)
    assert read_raw(raw("datagram", stderr=refused.error)).outcome is Outcome.REFUSED


def test_an_answer_tells_who_gave_it() -> None:
    """What came back over UDP is a reply; nothing at all is understood by nobody."""
    found = read_raw(raw("datagram", stdout="server-1", context={"request": "hostname"}))
    assert (found.outcome, found.backend) == (Outcome.REPLIED, "server-1")
    seen = read_raw(raw("datagram", stdout="198.51.100.20:4711", context={"request": "clientip"}))
    assert (seen.server_saw, seen.source_port) == ("198.51.100.20", 4711)
    assert read_raw(raw("datagram")).outcome is Outcome.PROBE_FAILED
