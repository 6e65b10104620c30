"""The relay for datagrams to the emulated outside, spoken to by PySocks: on loopback, without a lab."""

import asyncio
import contextlib
import socket
import threading
import tracemalloc
from collections.abc import Iterator

import pytest
import socks

from nettests.lab.outside.datagram_proxy import DatagramProxy

TOKEN = "guess-me"


class Loopback:
    """Stands for the outside client's namespace."""

    name, fd = "outside", -1

    def socket(self, family: int, kind: int, proto: int = 0) -> socket.socket:
        """Return a socket of this machine."""
        made = socket.socket(family, kind, proto)
        made.settimeout(0)
        return made


@pytest.fixture
def relay() -> Iterator[int]:
    """Run a relay in a thread of its own; return the port of its proxy."""
    listener = socket.create_server(("127.0.0.1", 0))
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", 0))
    loop = asyncio.new_event_loop()
    proxy = DatagramProxy(listener, datagrams, Loopback(), TOKEN)
    task = loop.create_task(proxy.run())

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.run_until_complete(_end_the_rest())

    serving = threading.Thread(target=run)
    serving.start()
    yield listener.getsockname()[1]
    loop.call_soon_threadsafe(task.cancel)
    serving.join(10)
    loop.close()
    datagrams.close()


async def _end_the_rest() -> None:
    """End what is held for clients that are still there."""
    held = asyncio.all_tasks() - {asyncio.current_task()}
    for one in held:
        one.cancel()
    await asyncio.gather(*held, return_exceptions=True)
    await asyncio.sleep(0)


def client(port: int, token: str = TOKEN) -> socks.socksocket:
    """Return a socket whose datagrams go through the relay."""
    sock = socks.socksocket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.set_proxy(socks.SOCKS5, "127.0.0.1", port, username="lab", password=token)
    sock.settimeout(5)
    return sock


def test_two_clients_are_kept_apart(relay: int) -> None:
    """Each has a port of its own outside, and gets what was sent back to that, with its sender's address."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server,
        client(relay) as one,
        client(relay) as other,
    ):
        server.bind(("127.0.0.1", 0))
        server.settimeout(5)
        place = server.getsockname()
        for sock, word in ((one, b"one"), (other, b"other"), (one, b"again")):
            sock.sendto(word, place)
        seen = [server.recvfrom(100) for _ in range(3)]
        ports = {word: sender[1] for word, sender in seen}
        assert ports[b"one"] == ports[b"again"] != ports[b"other"]
        for word, sender in seen:
            server.sendto(word + b"!", sender)
        assert one.recvfrom(100) == (b"one!", place)
        assert one.recvfrom(100) == (b"again!", place)
        assert other.recvfrom(100) == (b"other!", place)


def test_without_the_token_there_is_no_relay(relay: int) -> None:
    """Other users of the machine are refused."""
    with client(relay, "guessed") as sock, pytest.raises(socks.SOCKS5AuthError):
        sock.sendto(b"x", ("127.0.0.1", 9))


@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        (b"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x09", 7),  # CONNECT
        (b"\x05\x03\x00\x09", 8),  # no kind of address
    ],
)
def test_what_is_no_association_is_refused(relay: int, request_: bytes, reply: int) -> None:
    """By the numbers of RFC 1928."""
    with socket.create_connection(("127.0.0.1", relay), 5) as control:
        control.sendall(b"\x05\x01\x02")
        assert control.recv(2) == b"\x05\x02"
        control.sendall(b"\x01\x03lab\x08" + TOKEN.encode())
        assert control.recv(2) == b"\x01\x00"
        control.sendall(request_)
        assert control.recv(10)[1] == reply


def test_a_stranger_at_the_relays_port_is_dropped(relay: int) -> None:
    """A relay passes on what its clients send, from the ports that they declared, and nothing else."""
    with client(relay) as known, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(5)
        place = server.getsockname()
        known.sendto(b"known", place)
        assert server.recvfrom(100)[0] == b"known"
        header = b"\x00\x00\x00\x01\x7f\x00\x00\x01" + place[1].to_bytes(2, "big")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.sendto(header + b"stranger", socket.socket.getpeername(known))
        known.sendto(b"after", place)
        assert server.recvfrom(100)[0] == b"after"


def associate(port: int, declared: int) -> tuple[socket.socket, tuple[str, int]]:
    """Request a relay for what will come from a port; return the connection that it stands on, and where the relay is."""
    control = socket.create_connection(("127.0.0.1", port), 5)
    control.sendall(b"\x05\x01\x02" + b"\x01\x03lab\x08" + TOKEN.encode())
    control.sendall(b"\x05\x03\x00\x01\x7f\x00\x00\x01" + declared.to_bytes(2, "big"))
    reply = b""
    while len(reply) < 14:
        reply += control.recv(14 - len(reply))
    return control, ("127.0.0.1", int.from_bytes(reply[-2:], "big"))


def test_a_port_that_was_taken_over_is_not_lost_with_its_first_client(relay: int) -> None:
    """The end of a connection takes away its own relay, and not that of a later one which has the same port."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        for sock in (server, sender):
            sock.bind(("127.0.0.1", 0))
            sock.settimeout(5)
        port = server.getsockname()[1]
        first, _ = associate(relay, sender.getsockname()[1])
        second, place = associate(relay, sender.getsockname()[1])
        first.shutdown(socket.SHUT_WR)
        assert first.recv(1) == b"", "the relay has ended it"
        first.close()
        sender.sendto(
            b"\x00\x00\x00\x01\x7f\x00\x00\x01" + port.to_bytes(2, "big") + b"word", place
        )
        assert server.recvfrom(100)[0] == b"word"
        second.close()


def test_what_is_said_on_a_held_connection_is_not_kept(relay: int) -> None:
    """A client that goes on sending there costs no memory."""
    size = 16 * 1024 * 1024
    tracemalloc.start()
    try:
        control, _ = associate(relay, 9)
        before = tracemalloc.get_traced_memory()[0]
        control.sendall(bytes(size))
        held = tracemalloc.get_traced_memory()[0] - before
        assert held < size / 4
        control.close()
    finally:
        tracemalloc.stop()
