"""A tiny API server of a test's own on loopback: it answers what the test says, and keeps what it got.

Real sockets and the real client; no Kubernetes behaviour. Answers are a function of the request.
"""

import base64
import hashlib
import io
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

_WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CLOSING = bytes([0x88, 0])
"""The frame by which a WebSocket is closed."""


PING_BYTES = 10
"""A client's ping: two bytes, its mask, and four bytes to be told apart by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What came in."""

    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What goes out; ``chunks`` are sent one by one, as a watch does. ``None`` cuts the connection.

    With ``frames`` a WebSocket is opened, they are sent, and the connection ends without a further word.
    """

    status: int = 200
    body: Any = None
    chunks: tuple[Any, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    cut: bool = False
    frames: tuple[bytes, ...] | None = None
    pongs: tuple[bytes, ...] = ()
    """One for each ping over that WebSocket, before it ends."""
    held: threading.Event | None = None
    """Until then the WebSocket stays open, and nobody answers."""


@dataclass(slots=True)
class Api:
    """The server and what it got."""

    url: str
    requests: list[Request] = field(default_factory=list)


def message(channel: int, text: bytes) -> bytes:
    """Return a frame with a message of one of an exec's channels."""
    return bytes([0x82, len(text) + 1, channel]) + text


def status(code: int, reason: str, message: str) -> Reply:
    """Return a failure as Kubernetes spells it."""
    return Reply(
        status=code,
        body={"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message},
    )  # fmt: skip


def _stay(reply: Reply, reader: io.BufferedIOBase, writer: io.BufferedIOBase) -> None:
    """Answer pings, then nobody, until the reply is held no longer."""
    for pong in reply.pongs:
        reader.read(PING_BYTES)
        writer.write(pong)
    if reply.held is not None:
        reply.held.wait(10)


@contextmanager
def serving(
    answer: Callable[[Request], Reply], context: ssl.SSLContext | None = None
) -> Iterator[Api]:
    """Serve ``answer`` on a loopback port."""

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            text = self.rfile.read(length) if length else b""
            request = Request(
                method=self.command,
                path=self.path,
                body=json.loads(text) if text else None,
                headers={key.lower(): value for key, value in self.headers.items()},
            )
            api.requests.append(request)
            reply = answer(request)
            if reply.cut:
                self.close_connection = True
                return
            if reply.frames is not None:
                self._send_frames(reply.frames)
                _stay(reply, self.rfile, self.wfile)
                return
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            for key, value in reply.headers.items():
                self.send_header(key, value)
            if reply.chunks:
                self._send_chunks(reply.chunks)
            else:
                data = reply.body if isinstance(reply.body, bytes) else _encoded(reply.body)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        def _send_chunks(self, chunks: tuple[Any, ...]) -> None:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for chunk in chunks:
                data = _encoded(chunk) + b"\n"
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

        def _send_frames(self, frames: tuple[bytes, ...]) -> None:
            key = f"{self.headers['Sec-WebSocket-Key']}{_WEBSOCKET}".encode()
            accepted = base64.b64encode(hashlib.sha1(key).digest()).decode()
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", accepted)
            self.end_headers()
            for frame in frames:
                self.wfile.write(frame)
            self.close_connection = True

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _serve  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "https" if context else "http"
    api = Api(url=f"{scheme}://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_kubeconfig(path: Path, server: str, *, token: str = "t", ca: bytes | None = None) -> Path:
    """Write a kubeconfig with one context ``test`` and return its path."""
    cluster: dict[str, Any] = {"server": server}
    if ca is not None:
        authority = path.with_suffix(".crt")
        authority.write_bytes(ca)
        cluster["certificate-authority"] = str(authority)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u"}}],
    }
    YAML().dump(config, path)
    return path


def _encoded(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()
