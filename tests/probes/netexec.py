"""agnhost's netexec in miniature, on loopback addresses: real sockets, answers as agnhost spells them.

``Server`` is a server pod (who serves, whom it saw, both over UDP); ``DialChannel`` is a probe whose
``/dial`` really connects, from the probe's own address; ``Node`` runs the processes of a node vantage.
Each test takes addresses of its own from 127.0.0.0/8.
"""

import http.client
import itertools
import json
import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit

from nettests.model.channel import ChannelError, ExecAnswer, HttpAnswer, ProgramMissingError
from nettests.model.windows_programs import QUESTION


class _Listening(ThreadingHTTPServer):
    request_queue_size = 128  # as agnhost's: with five the kernel drops SYNs of a train, which come again a second later


_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
# Two networks for each worker of pytest-xdist: counted from the process alone, one's addresses would run into the next's.
_numbers = itertools.count(_worker % 32 * 125_000 + os.getpid() % 250 * 250 + 2)


REFUSED = (
    "connect: connection refused",
    "connectex: No connection could be made because the target machine actively refused it.",
)
"""A refused connection in Go's words, on Linux and on Windows."""


def unprivileged(port: int) -> int:
    """Return the port that stands in for one below 1024, which only root may bind on most machines.

    A Service's port is no more than a name for its target port, so whoever dials translates it.
    """
    return port if port >= 1024 else 20_000 + port


def fresh_address() -> str:
    """Return a loopback address that no other test of this process uses."""
    number = next(_numbers)
    return f"127.{64 + number // 62500 % 64}.{number // 250 % 250}.{number % 250 + 2}"


class Server:
    """A server pod on an address of its own: 18080, 18082 and UDP 18081; or a Service's ports."""

    def __init__(
        self, name: str, address: str, ports: tuple[int, int, int] = (18080, 18082, 18081)
    ) -> None:
        self.name, self.address, self.ports = name, address, ports
        self.seen: list[tuple[str, int]] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        hostname, clientip, udp = self.ports
        self._serve_http(hostname, lambda _: self.name)
        self._serve_http(clientip, lambda client: f"{client[0]}:{client[1]}")
        self._serve_udp(udp)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _serve_http(self, port: int, text: Callable[[tuple[str, int]], str]) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                client = (self.client_address[0], self.client_address[1])
                outer.seen.append(client)
                body = text(client).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Stay silent."""

        server = _Listening((self.address, unprivileged(port)), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self._stack.callback(thread.join)
        self._stack.callback(server.server_close)
        self._stack.callback(server.shutdown)

    def _serve_udp(self, port: int) -> None:
        bound = (self.address, unprivileged(port))
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(bound)

        def serve() -> None:
            while True:
                data, client = made.recvfrom(2048)
                if data == b"stop":
                    return
                known = {b"hostname": self.name, b"clientip": f"{client[0]}:{client[1]}"}
                if data.startswith(b"echo "):
                    made.sendto(data.removeprefix(b"echo "), client)
                if data.strip().lower() in known:
                    made.sendto(known[data.strip().lower()].encode(), client)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        self._stack.callback(made.close)
        self._stack.callback(thread.join)
        self._stack.callback(made.sendto, b"stop", bound)


@dataclass(slots=True)
class DialChannel:
    """A probe: ``/dial`` connects from ``address``. ``hook`` may fail or answer before it does."""

    probe: str
    address: str
    name: str = "pod-proxy"
    timeout: float = 3
    hook: Callable[[str], HttpAnswer | None] | None = None
    probed: list[str] = field(default_factory=list)

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Answer as netexec does: 200 with JSON, or a 400 text for a name."""
        self.probed.append(path)
        if self.hook is not None and (answer := self.hook(path)) is not None:
            return answer
        query = {key: values[0] for key, values in parse_qs(urlsplit(path).query).items()}
        host, port = query["host"], int(query["port"])
        if not host.replace(".", "").isdigit():
            text = f"host and/or port param are invalid. lookup {host}: no such host\n"
            return HttpAnswer(status=400, body=text)
        dial = self._udp if query["protocol"] == "udp" else self._http
        body: dict[str, list[str]] = {}
        for _ in range(int(query.get("tries", 1))):
            try:
                body.setdefault("responses", []).append(dial(host, port, query["request"]))
            except TimeoutError:
                body.setdefault("errors", []).append(f"dial tcp {host}:{port}: i/o timeout")
            except ConnectionRefusedError:
                refused = REFUSED["windows" in self.probe]
                body.setdefault("errors", []).append(f"dial tcp {host}:{port}: {refused}")
        return HttpAnswer(status=200, body=json.dumps(body))

    def close(self) -> None:
        """Nothing is held open."""

    def _http(self, host: str, port: int, request: str) -> str:
        return fetch(host, port, request, source=self.address, timeout=self.timeout)

    def _udp(self, host: str, port: int, request: str) -> str:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            made.bind((self.address, 0))
            made.settimeout(self.timeout)
            made.connect((host, unprivileged(port)))
            made.send(request.encode())
            return made.recv(2048).decode()


def fetch(host: str, port: int, request: str, *, source: str, timeout: float) -> str:
    """GET over a new connection from a source address."""
    connection = http.client.HTTPConnection(
        host, unprivileged(port), timeout=timeout, source_address=(source, 0)
    )
    try:
        connection.request("GET", f"/{request}")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


@dataclass(slots=True)
class Processes:
    """Runs what probes run by exec: ``curl`` really fetches, ``ping`` prints as it is told."""

    address: str
    lacks: frozenset[str] = frozenset()
    """Programs that the image does not have."""
    down: bool = False
    silent: bool = False
    """Nothing answers what they probe."""
    root: str = "C:\\hpc"
    """What a node's shim puts in the place of the image's root."""
    slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(8))
    ran: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run one of the known programs."""
        self.ran.append(tuple(argv))
        if self.down:
            raise ChannelError("exec lost its exit code")
        if argv[0].removesuffix(".exe") in self.lacks:
            raise ProgramMissingError(f"no such program: {argv[0]}")
        if tuple(argv) == QUESTION:
            return ExecAnswer(exit_code=0, stdout=f"{self.root}\r\n", stderr="")
        if self.silent:
            return _nothing_came(argv)
        if argv[0] == "ping":
            return ExecAnswer(
                exit_code=0,
                stdout=f"Reply from {argv[-1]}: bytes=32 time<1ms TTL=128\r\n",
                stderr="",
            )
        url = urlsplit(argv[-1])
        try:
            text = fetch(
                str(url.hostname),
                int(url.port or 80),
                url.path[1:],
                source=self.address,
                timeout=3,
            )
        except ConnectionRefusedError:
            return ExecAnswer(
                exit_code=7, stdout="", stderr="curl: (7) Failed to connect: Connection refused"
            )
        except TimeoutError:
            return ExecAnswer(exit_code=28, stdout="", stderr="curl: (28) Connection timed out")
        return ExecAnswer(exit_code=0, stdout=text, stderr="")


def _nothing_came(argv: Sequence[str]) -> ExecAnswer:
    """Return what ``curl`` and ``ping`` say after they have waited without success."""
    if argv[0] == "ping":
        lost = (
            "Request timed out.\r\n    Packets: Sent = 1, Received = 0, Lost = 1 (100% loss),\r\n"
        )
        return ExecAnswer(exit_code=1, stdout=lost, stderr="")
    return ExecAnswer(exit_code=28, stdout="", stderr="curl: (28) Connection timed out")
