"""agnhost's servers: ``netexec``, the resident probe with HTTP and UDP, and ``no-snat-test``, which returns a client's address.

This module starts and ends the servers; ``endpoints`` answers HTTP. With ``--http-override`` every request is answered like a new GET of
that path without a peer, so that an overridden ``/clientip`` has an empty body, exactly as in agnhost. ``no-snat-test`` returns a client's
source address (``/whoami``), also behind a NodePort, and exposes nothing else: agnhost's ``/checknosnat`` is not provided.
"""

import asyncio
import contextlib
import ipaddress
import socket
import ssl
from functools import cache, partial
from typing import Any

import trustme

from nettests.lab.interfaces import Process
from nettests.lab.programs.agnhost.endpoints import Endpoints, Exit
from nettests.lab.programs.agnhost.small_commands import NO_SCTP
from nettests.lab.programs.golang import requests
from nettests.lab.programs.golang.requests import Handler, Request, Response
from nettests.lab.programs.golang.values import Parsed, log, quote
from nettests.lab.programs.golang.web_server import WebServer
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.sockets.transport import Call, call_text
from nettests.lab.programs.terminal import racing


class ListenError(Exception):
    """A server cannot start; the text is its output before it exits with 1."""


def web_server(process: Process, handler: Handler, port: int, **options: Any) -> WebServer:
    """Return a server listening on ``port``, with Go's mux; ``ListenError`` if the port is taken."""
    try:
        listener = transport.listen(process.machine.namespace, port)
    except OSError as error:
        text = call_text(process.machine.os, Call.BIND, error, process.machine.message_locale)
        raise ListenError(f"listen tcp :{port}: {text}") from error
    return WebServer(listener, requests.behind_mux(handler), **options)


CERTIFICATE = "/localhost.crt"
KEY = "/localhost.key"


@cache
def image_context() -> ssl.SSLContext:
    """Return a server context with the image's certificate, which identifies no server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1", "::1", "localhost").configure_cert(context)
    return context


_DATAGRAM = 2048


class DatagramServer:
    """A UDP server on one port of several addresses; ``ready`` once one is bound."""

    def __init__(self, process: Process, port: int) -> None:
        self._process = process
        self._log = partial(log, process)
        self._port = port
        self._sockets: list[socket.socket] = []

    @property
    def ready(self) -> bool:
        """netexec is ready only when its UDP server runs."""
        return bool(self._sockets)

    async def listen(self, address: str) -> None:
        """Bind one address (all if empty); ``ListenError`` if the port is taken."""
        place = transport.join(address, self._port)
        try:
            self._sockets.append(
                transport.bind(self._process.machine.namespace, self._port, address)
            )
        except OSError as error:
            machine = self._process.machine
            text = call_text(machine.os, Call.BIND, error, machine.message_locale)
            raise ListenError(
                f"Error occurred: failed to create listener for UDP address {place}:"
                f"listen udp {place}: {text}"
            ) from error
        await self._log(f"Started UDP server on port {address} {self._port}")

    def start(self, leaving: Exit) -> list["asyncio.Task[None]"]:
        """Serve every bound address in its own task; an answer that cannot be sent ends the process (netexec.go)."""
        return [asyncio.create_task(self._serve(sock, leaving)) for sock in self._sockets]

    def close(self) -> None:
        """Close the sockets."""
        for sock in self._sockets:
            sock.close()

    async def _serve(self, sock: socket.socket, leaving: Exit) -> None:
        loop = asyncio.get_running_loop()
        while True:
            data, peer = await loop.sock_recvfrom(sock, _DATAGRAM)
            reply = await self._reply(data, transport.text(peer))
            if reply is not None:
                try:
                    await loop.sock_sendto(sock, reply.encode(), peer)
                except OSError as error:
                    machine, client = self._process.machine, transport.text(peer)
                    text = call_text(machine.os, Call.SEND_TO, error, machine.message_locale)
                    way = f"write udp {transport.join('::', self._port)}->{client}"
                    command = data.decode(errors="replace").strip().lower()
                    doing = "echo" if command.startswith("echo ") else f"write {command}"
                    await self._log(
                        f"Error occurred: failed to {doing} to UDP client {client}:{way}: {text}"
                    )
                    leaving.code = 1
                    leaving.wanted.set()

    async def _reply(self, data: bytes, peer: str) -> str | None:
        command = data.decode(errors="replace").strip().lower()
        if command == "hostname":
            await self._log("Sending udp hostName response")
            return self._process.machine.hostname
        if command.startswith("echo "):
            text = command.partition(" ")[2]
            await self._log(f"Echoing {text} to UDP client {peer}")
            return text
        if command == "clientip":
            await self._log(f"Sending clientip back to UDP client {peer}")
            return peer
        if command == "serverport":
            await self._log(f"Sending server port to UDP client {self._port}")
            return str(self._port)
        if command:
            await self._log(f"Unknown UDP command received from {peer}: {command}")
        return None


async def netexec(process: Process, options: Parsed) -> int:
    """Serve until ``/exit``, ``/shutdown`` or SIGTERM; return the exit code."""
    await log(process, f"Started HTTP server on port {options['http-port']}")
    try:
        return await _serve(process, options)
    except ListenError as error:
        await log(process, str(error))
        return 1


async def _serve(process: Process, options: Parsed) -> int:
    port, udp_port, sctp_port = (options[f"{name}-port"] for name in ("http", "udp", "sctp"))
    datagrams = DatagramServer(process, udp_port)
    endpoints = Endpoints(process, port, lambda: datagrams.ready)
    if sctp_port != -1:
        place = f"failed to create listener for SCTP address :{sctp_port}"
        raise ListenError(f"Error occurred: {place}:{NO_SCTP[process.machine.os]}")

    async def answer(request: Request) -> Response:
        if override := options["http-override"]:
            request = Request(method="GET", target=override, remote="")
        return await endpoints.route(request)

    async def on_plain(peer: str) -> None:
        why = "client sent an HTTP request to an HTTPS server"
        await log(process, f"http: TLS handshake error from {peer}: {why}")

    try:
        if udp_port != -1:
            for address in _listen_addresses(options["udp-listen-addresses"]):
                await datagrams.listen(address)
        web = web_server(process, answer, port, tls=_tls(options), on_plain=on_plain)
        work = [asyncio.create_task(web.serve()), *datagrams.start(endpoints.exit)]
        try:
            return await _until_exit(process, options, endpoints.exit, web)
        finally:
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
    finally:
        datagrams.close()


async def _until_exit(process: Process, options: Parsed, leaving: Exit, web: WebServer) -> int:
    """Wait for SIGTERM or a request to exit, whichever comes first."""
    async with racing(process.terminate.wait(), leaving.wanted.wait()) as (_, wish):
        if not wish.done() and options["delay-shutdown"] > 0:
            delay = options["delay-shutdown"]
            await log(process, f"Sleeping {delay} seconds before terminating...")
            await asyncio.wait({wish}, timeout=delay)
        if wish.done() and leaving.grace:
            finished = await web.drain(leaving.grace)
            outcome = "<nil>" if finished else "context deadline exceeded"
            await log(process, f"Graceful shutdown completed with: {outcome}")
        return leaving.code


def _tls(options: Parsed) -> ssl.SSLContext | None:
    """Return a TLS context for the image's certificate, the only one in the lab's image."""
    queried = options["tls-cert-file"], options["tls-private-key-file"]
    if not queried[0]:
        return None
    for path, image_path in zip(queried, (CERTIFICATE, KEY), strict=True):
        if path != image_path:
            raise ListenError(f"open {path}: no such file or directory")
    return image_context()


def _listen_addresses(text: str) -> list[str]:
    for address in text.split(",") if text else ():
        if not _is_address(address):
            raise ListenError(f"parseAddress: invalid address {address}")
    return sorted(set(text.split(",")))


_ADDRESSES = ("POD_IP", "NODE_IP")


async def no_snat_test(process: Process, options: Parsed) -> int:
    """Serve until killed; exit 1 if the environment or the port is unusable."""
    for name in _ADDRESSES:
        value, problem = process.environment.get(name), ""
        if value is None:
            problem = "was not present in the environment"
        elif not _is_address(value):
            problem = f"contained {quote(value)}, which is not an IP address"
        if problem:
            await process.stderr(f"{name} env var {problem}\n".encode())
            return 1

    async def answer(request: Request) -> Response:
        if request.path == "/whoami":
            return requests.text(request.remote)
        return requests.error("404 page not found", 404)

    try:
        await web_server(process, answer, int(options["port"])).serve()
    except (ListenError, ValueError) as error:
        await process.stderr(f"{error}\n".encode())
    return 1


def _is_address(text: str) -> bool:
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(text))
    return False
