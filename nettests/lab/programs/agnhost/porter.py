"""``agnhost porter``: serves texts given in ``SERVE_[TCP_|UDP_|TLS_]PORT_n`` on those ports."""

import asyncio
import socket
from collections.abc import Coroutine, Iterator
from typing import Any

from nettests.lab.interfaces import Process
from nettests.lab.programs.agnhost import certificate
from nettests.lab.programs.agnhost.serving import background
from nettests.lab.programs.golang.flags import Flag, Kind, Parsed
from nettests.lab.programs.golang.klog import Log
from nettests.lab.programs.golang.requests import Handler, Request, Response
from nettests.lab.programs.golang.values import quote, to_json
from nettests.lab.programs.golang.web_server import WebServer
from nettests.lab.programs.sockets import tcp, udp
from nettests.lab.programs.sockets.texts import Call, call_text

FLAGS = {"json-response": Flag(Kind.BOOL, default=False)}
_ANY = "0.0.0.0"  # noqa: S104  porter binds IPv4 only, inside its pod
_DATAGRAM = 16
_PREFIXES = ("SERVE_PORT_", "SERVE_TCP_PORT_", "SERVE_UDP_PORT_", "SERVE_TLS_PORT_")


async def run(process: Process, options: Parsed) -> int:
    """Serve every port of the environment until killed."""
    work = [asyncio.create_task(one) for one in _servers(process, options)]
    async with background(*work):
        await asyncio.Event().wait()
    return 0


def _servers(process: Process, options: Parsed) -> Iterator[Coroutine[Any, Any, None]]:
    for name, value in process.environment.items():
        prefix = next((start for start in _PREFIXES if name.startswith(start)), None)
        if prefix is None:
            continue
        port = name.removeprefix(prefix)
        if "UDP" in prefix:
            yield _serve_udp(process, port, value)
        else:
            handler = _handler(value, as_json=options.switch("json-response"))
            yield _serve_web(process, port, handler, tls="TLS" in prefix)


def _handler(value: str, *, as_json: bool) -> Handler:
    async def answer(request: Request) -> Response:
        if not as_json:
            return Response(body=value.encode())
        body = to_json({"Body": value, "Method": request.method})
        return Response(body=body.encode(), headers=(("Content-Type", "application/json"),))

    return answer


async def _serve_web(process: Process, port: str, handler: Handler, *, tls: bool) -> None:
    context = certificate.image_context() if tls else None
    try:
        listener = tcp.listen(process.machine.namespace, int(port), _ANY)
    except (OSError, ValueError) as error:
        await Log(process).line(f"server on port {quote(port)} failed: {_text(process, error)}")
        return
    await WebServer(listener, handler, tls=context).serve()


async def _serve_udp(process: Process, port: str, value: str) -> None:
    log = Log(process)
    try:
        sock = udp.bind(process.machine.namespace, int(port), _ANY)
    except (OSError, ValueError) as error:
        await log.line(f"UDP: failed to listen on port {port}: {_text(process, error)}")
        return
    await log.line(f"Started UDP server on port {port}")
    await _answer_datagrams(sock, value.encode())


async def _answer_datagrams(sock: socket.socket, value: bytes) -> None:
    loop = asyncio.get_running_loop()
    with sock:
        while True:
            _, peer = await loop.sock_recvfrom(sock, _DATAGRAM)
            await loop.sock_sendto(sock, value, peer)


def _text(process: Process, error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return call_text(process.machine.os, Call.BIND, error)
    return str(error)
