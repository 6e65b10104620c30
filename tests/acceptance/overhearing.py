"""All that an API server says to a client, overheard: bytes pass between plain TCP on loopback and the server's TLS.

For tests that claim something about what was read. Nothing is understood or changed on the way.
"""

import selectors
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import urlsplit

from kubernetes import config
from ruamel.yaml import YAML

PIECE = 1 << 16


@dataclass(slots=True)
class Overheard:
    """Where the server can be reached so, and what it said over each connection."""

    kubeconfig: str
    said: list[bytearray] = field(default_factory=list)

    def says(self, text: str) -> bool:
        """Whether the server said a text, the client for what."""
        return any(text.encode() in one for one in tuple(self.said))


@contextmanager
def overheard(kubeconfig: str, folder: Path) -> Iterator[Overheard]:
    """Stand between the cluster of a kubeconfig and whoever uses the one that is written to ``folder``."""
    with config.new_client_from_config(kubeconfig) as api:
        trust = ssl.create_default_context(cafile=str(api.configuration.ssl_ca_cert))
        # Tickets of 1.3 come after the handshake: a socket that is ready for them alone has nothing to receive.
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        server = urlsplit(api.configuration.host)
    found = Overheard(str(folder / "overheard-kubeconfig"))

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            said = bytearray()
            found.said.append(said)
            address = (server.hostname, server.port)
            with (
                socket.create_connection(address) as plain,
                trust.wrap_socket(plain, server_hostname=server.hostname) as there,
                suppress(OSError),
            ):
                _pass(self.request, there, said)

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        port = listening.server_address[1]
        _write(kubeconfig, found.kubeconfig, f"http://127.0.0.1:{port}")
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield found
        finally:
            listening.shutdown()
            thread.join()


def _pass(client: socket.socket, server: ssl.SSLSocket, said: bytearray) -> None:
    """Pass bytes both ways until one side ends."""
    with selectors.DefaultSelector() as ready:
        ready.register(client, selectors.EVENT_READ)
        ready.register(server, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                came = key.fileobj.recv(PIECE)  # type: ignore[union-attr]
                while key.fileobj is server and (more := server.pending()):
                    came += server.recv(more)
                if not came:
                    return
                if key.fileobj is server:
                    said += came
                    client.sendall(came)
                else:
                    server.sendall(came)


def _write(source: str, target: str, server: str) -> None:
    yaml = YAML(typ="safe")
    stated: dict[str, Any] = yaml.load(Path(source).read_text())
    for one in stated["clusters"]:
        one["cluster"] = {"server": server}
    with Path(target).open("w") as file:
        yaml.dump(stated, file)
