"""``agnhost serve-hostname``: answers its host name over HTTP, raw TCP or UDP (port 9376)."""

import asyncio
import socket

from nettests.lab.interfaces import Process
from nettests.lab.programs.agnhost.serving import ListenError, background, web_server
from nettests.lab.programs.golang.flags import Flag, Kind, Parsed
from nettests.lab.programs.golang.klog import Log
from nettests.lab.programs.golang.requests import Request, Response
from nettests.lab.programs.sockets import addresses, tcp, udp
from nettests.lab.programs.sockets.texts import Call, call_text

FLAGS = {
    "close": Flag(Kind.BOOL, default=False),
    "http": Flag(Kind.BOOL, default=True),
    "port": Flag(Kind.INT, 9376),
    "tcp": Flag(Kind.BOOL, default=False),
    "udp": Flag(Kind.BOOL, default=False),
}
_LINGER_SECONDS = 60
_DATAGRAM = 16


async def run(process: Process, options: Parsed) -> int:
    """Serve until SIGTERM, then wait a minute to be deleted, as the real one does."""
    log = Log(process)
    port = options.number("port")
    if options.switch("http") and (options.switch("tcp") or options.switch("udp")):
        await log.line("Can't server TCP/UDP mode and HTTP mode at the same time")
        return 1
    try:
        servers = _start(process, options, log)
    except (ListenError, OSError) as error:
        await log.line(_cannot_listen(process, error))
        return 1
    async with background(*servers):
        await log.line(f"Serving on port {port}.")
        await process.terminate.wait()
        await log.line("Shutting down after receiving signal: terminated.")
        await log.line("Awaiting pod deletion.")
        await asyncio.sleep(_LINGER_SECONDS)
    return 0


def _cannot_listen(process: Process, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"Error from net.Listen(): {call_text(process.machine.os, Call.BIND, error)}"
    return str(error)


def _start(process: Process, options: Parsed, log: Log) -> list["asyncio.Task[None]"]:
    name = process.machine.hostname.encode()
    port = options.number("port")
    space = process.machine.namespace
    servers = []
    if options.switch("tcp"):
        servers.append(asyncio.create_task(_serve_tcp(tcp.listen(space, port), name, log)))
    if options.switch("udp"):
        servers.append(asyncio.create_task(_serve_udp(udp.bind(space, port), name, log)))
    if options.switch("http"):

        async def answer(request: Request) -> Response:
            await log.line(f"HTTP request from {request.remote}")
            return Response(body=name, close=options.switch("close"))

        servers.append(asyncio.create_task(web_server(process, answer, port).serve()))
    return servers


async def _serve_tcp(listener: socket.socket, name: bytes, log: Log) -> None:
    loop = asyncio.get_running_loop()
    with listener:
        while True:
            connection, peer = await loop.sock_accept(listener)
            with connection:
                await log.line(f"TCP request from {addresses.text(peer)}")
                await loop.sock_sendall(connection, name)


async def _serve_udp(sock: socket.socket, name: bytes, log: Log) -> None:
    loop = asyncio.get_running_loop()
    with sock:
        while True:
            _, peer = await loop.sock_recvfrom(sock, _DATAGRAM)
            await log.line(f"UDP request from {addresses.text(peer)}")
            await loop.sock_sendto(sock, name, peer)
