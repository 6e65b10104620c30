"""An HTTP proxy on loopback that tunnels everything to one server, whatever it is requested."""

import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit


@dataclass(slots=True)
class Proxy:
    """Where it is, and what it was queried."""

    url: str = ""
    probed: list[str] = field(default_factory=list)
    """The authorities of the tunnels that were wanted."""
    credentials: list[str] = field(default_factory=list)


@contextmanager
def proxying(
    to: str, context: ssl.SSLContext | None = None, *, refuses: int | None = None
) -> Iterator[Proxy]:
    """Serve a proxy whose tunnels lead ``to`` a server, or that refuses them."""
    proxy = Proxy()
    target = urlsplit(to)

    class Handler(StreamRequestHandler):
        rbufsize = 0

        def handle(self) -> None:
            line = self.rfile.readline().decode()
            head = b"".join(iter(self.rfile.readline, b"\r\n")).decode()
            proxy.probed.append(line.split()[1])
            proxy.credentials += re.findall(r"(?i)^proxy-authorization: (.+?)\r$", head, re.M)
            if refuses is not None:
                self.wfile.write(f"HTTP/1.1 {refuses} No\r\nContent-Length: 0\r\n\r\n".encode())
                return
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            with socket.create_connection((target.hostname, target.port)) as behind:
                back = threading.Thread(target=_copy, args=(behind, self.connection))
                back.start()
                _copy(self.connection, behind)
                back.join()

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        if context is not None:
            listening.socket = context.wrap_socket(listening.socket, server_side=True)
        scheme = "https" if context else "http"
        proxy.url = f"{scheme}://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield proxy
        finally:
            listening.shutdown()
            thread.join()


def _copy(one: socket.socket, other: socket.socket) -> None:
    """Pass on what comes, and its end."""
    with suppress(OSError):
        while came := one.recv(65536):
            other.sendall(came)
        other.shutdown(socket.SHUT_WR)
