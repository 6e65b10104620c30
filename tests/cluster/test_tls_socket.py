"""TLS sockets that are read and written at the same time."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
import trustme

from nettests.cluster.frames import TlsSocket
from tests.cluster.opening import tls

SIZE, PIECE = 4_000_000, 10_000


@contextmanager
def connected(seconds: float = 10) -> Iterator[tuple[TlsSocket, ssl.SSLSocket]]:
    """Both ends of a TLS connection; the server's is an ordinary one."""
    authority = trustme.CA()
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(trusting)
    near, far = socket.socketpair()
    with ExitStack() as stack:
        stack.enter_context(near)
        stack.enter_context(far)
        accepted: list[ssl.SSLSocket] = []
        server = threading.Thread(
            target=lambda: accepted.append(
                tls(authority, "api.test").wrap_socket(far, server_side=True)
            )
        )
        server.start()
        client = trusting.wrap_socket(near, server_hostname="api.test")
        stack.enter_context(client)
        server.join(10)
        stack.enter_context(accepted[0])
        yield TlsSocket(client, seconds), accepted[0]


def test_what_is_read_and_written_at_once_comes_whole() -> None:
    """One thread sends megabytes while another reads what comes back of them."""
    said = bytes(range(256)) * (SIZE // 256)
    with connected() as (client, server):

        def echo() -> None:
            left = len(said)
            while left:
                came = server.recv(PIECE)
                server.sendall(came)
                left -= len(came)

        def write() -> None:
            for start in range(0, len(said), PIECE):
                client.sendall(said[start : start + PIECE])

        threads = [threading.Thread(target=one) for one in (echo, write)]
        for thread in threads:
            thread.start()
        back = bytearray()
        while len(back) < len(said):
            back += client.recv(PIECE)
        for thread in threads:
            thread.join(10)
    assert bytes(back) == said


def test_silence_ends_after_the_seconds() -> None:
    """A reader that nobody answers is told so."""
    with connected(seconds=0.05) as (client, _), pytest.raises(TimeoutError):
        client.recv(1)


def test_a_reader_that_waits_keeps_no_writer_waiting() -> None:
    """While nothing comes, what is sent goes out."""
    with connected() as (client, server):
        reader = threading.Thread(target=client.recv, args=(1,))
        reader.start()
        client.sendall(b"word")
        assert server.recv(4) == b"word"
        server.sendall(b"x")
        reader.join(10)
        assert not reader.is_alive()
