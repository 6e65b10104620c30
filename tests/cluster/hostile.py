"""An API server on loopback that means harm: it answers byte by byte, without end, or with lengths that it makes up.

Real sockets; what it says is the test's. It notices when its client has gone, which is what tests wait for.
"""

import base64
import hashlib
import itertools
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from socketserver import StreamRequestHandler, ThreadingTCPServer

PAUSE_SECONDS = 0.02
_WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
VERSION = b'HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n{"gitVersion": "v1.34.1"}'


@dataclass(slots=True)
class Hostile:
    """The server: where it is, what it was queried, and whether somebody hung up on it in the middle."""

    url: str = ""
    probed: list[str] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    said: int = 0
    """How often a flood was taken."""

    def is_held_up(self) -> bool:
        """Whether nobody takes any more of a flood, within a few seconds."""
        for _ in range(20):
            before = self.said
            time.sleep(0.25)
            if before and self.said == before:
                return True
        return False


@dataclass(frozen=True, slots=True)
class Wire:
    """One connection after its request."""

    server: Hostile
    send: Callable[[bytes], object]
    receive: Callable[[], bytes]
    key: str
    end: Callable[[], object] = lambda: None
    """Hang up."""

    def drip(self, text: bytes) -> None:
        """Say a text again and again, byte by byte, until nobody listens or the test is over."""
        for byte in itertools.cycle(text):
            self.send(bytes([byte]))
            if self.server.over.wait(PAUSE_SECONDS):
                return

    def flood(self, text: bytes) -> None:
        """Say a text again and again, as fast as it is taken."""
        while not self.server.over.is_set():
            self.send(text)
            self.server.said += 1

    def stay(self) -> None:
        """Keep the connection until the other side ends it, or the test does."""
        while not self.server.over.is_set() and self.receive():
            pass

    def switch(self) -> None:
        """Open a WebSocket."""
        accepted = hashlib.sha1(f"{self.key}{_WEBSOCKET}".encode()).digest()
        self.send(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + base64.b64encode(accepted) + b"\r\n\r\n"
        )


def frame(text: bytes, *, announced: int | None = None, first: int = 0x82) -> bytes:
    """Return a frame; its header may announce another length than it has."""
    length = len(text) if announced is None else announced
    return bytes([first, 127]) + length.to_bytes(8, "big") + text


@contextmanager
def hostile(speak: Callable[[str, Wire], None]) -> Iterator[Hostile]:
    """Serve ``speak(path, wire)``; the version is told as any server tells it."""
    server = Hostile()

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                while line := self.rfile.readline():
                    path = line.split()[1].decode()
                    head = b"".join(iter(self.rfile.readline, b"\r\n")).decode()
                    server.probed.append(path)
                    if path.startswith("/version"):
                        self.wfile.write(VERSION)
                        continue
                    key = re.search(r"Sec-WebSocket-Key: (\S+)", head)
                    wire = Wire(
                        server,
                        self.wfile.write,
                        lambda: self.connection.recv(65536),
                        key[1] if key else "",
                        lambda: self.connection.shutdown(socket.SHUT_RDWR),
                    )
                    speak(path, wire)
                    wire.stay()
                    break
            if not server.over.is_set():
                server.gone.set()

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        server.url = f"http://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            listening.shutdown()
            thread.join()


@contextmanager
def half_a_record(
    context: ssl.SSLContext, said: bytes, *, switches: bool = True
) -> Iterator[Hostile]:
    """Serve over TLS, once; what is said is a record of which half comes, and nothing after it.

    It comes over a WebSocket, or instead of one.
    """
    server = Hostile()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server.url = f"https://127.0.0.1:{listening.getsockname()[1]}"
        thread = threading.Thread(
            target=_say_half,
            args=(listening, context, said, server),
            kwargs={"switches": switches},
            name="half of a test",
        )
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            thread.join()


def _say_half(
    listening: socket.socket,
    context: ssl.SSLContext,
    said: bytes,
    server: Hostile,
    *,
    switches: bool,
) -> None:
    came, going = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(came, going, server_side=True)
    client, _ = listening.accept()

    def complete(step: Callable[[], object]) -> object:
        while True:
            try:
                done = step()
            except ssl.SSLWantReadError:
                client.sendall(going.read())
                came.write(client.recv(65536))
            else:
                client.sendall(going.read())
                return done

    with client, suppress(OSError):
        complete(tls.do_handshake)
        head = str(complete(lambda: tls.read(65536)))
        key = re.search(r"Sec-WebSocket-Key: ([^\\]+)", head)

        def send(data: bytes) -> object:
            return complete(lambda: tls.write(data))

        wire = Wire(server, send, lambda: client.recv(65536), key[1] if key else "")
        if switches:
            wire.switch()
        tls.write(said)
        record = going.read()
        client.sendall(record[: len(record) // 2])
        wire.stay()
        server.gone.set()
