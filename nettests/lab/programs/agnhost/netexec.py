"""``agnhost netexec``: the resident probe; an HTTP server and a UDP server for network tests.

Starts and ends the servers; ``endpoints`` answers HTTP, ``datagrams`` answers UDP. With
``--http-override`` every request is answered as a new GET of that path: that request has no peer, so an
overridden ``/clientip`` answers an empty body, exactly as in agnhost. A peer's address is served safely
by ``no-snat-test`` instead.
"""

import asyncio
import ipaddress
import ssl

from nettests.lab.interfaces import Process
from nettests.lab.programs.agnhost import certificate
from nettests.lab.programs.agnhost.datagrams import DatagramServer
from nettests.lab.programs.agnhost.endpoints import Endpoints, Exit
from nettests.lab.programs.agnhost.serving import ListenError, background
from nettests.lab.programs.golang import requests
from nettests.lab.programs.golang.flags import Flag, Kind, Parsed
from nettests.lab.programs.golang.klog import Log
from nettests.lab.programs.golang.requests import Handler, Request, Response
from nettests.lab.programs.golang.web_server import WebServer
from nettests.lab.programs.sockets import tcp
from nettests.lab.programs.sockets.texts import Call, call_text
from nettests.lab.topology import OS

FLAGS = {
    "delay-shutdown": Flag(Kind.INT, 0),
    "http-override": Flag(Kind.STRING, ""),
    "http-port": Flag(Kind.INT, 8080),
    "sctp-port": Flag(Kind.INT, -1),
    "tls-cert-file": Flag(Kind.STRING, ""),
    "tls-private-key-file": Flag(Kind.STRING, ""),
    "udp-listen-addresses": Flag(Kind.STRING, ""),
    "udp-port": Flag(Kind.INT, 8081),
}


class _FatalError(Exception):
    """What ``log.Fatal`` prints before exit code 1."""


async def run(process: Process, options: Parsed) -> int:
    """Serve until ``/exit``, ``/shutdown`` or SIGTERM; return the exit code."""
    log = Log(process)
    await log.line(f"Started HTTP server on port {options.number('http-port')}")
    try:
        return await _serve(process, options, log)
    except (_FatalError, ListenError) as error:
        await log.line(str(error))
        return 1


async def _serve(process: Process, options: Parsed, log: Log) -> int:
    datagrams = DatagramServer(process, log, options.number("udp-port"))
    endpoints = Endpoints(process, log, options.number("http-port"), lambda: datagrams.ready)
    if options.number("sctp-port") != -1:
        raise _FatalError(_no_sctp(process, options.number("sctp-port")))
    try:
        if options.number("udp-port") != -1:
            for address in _listen_addresses(options.text("udp-listen-addresses")):
                await datagrams.listen(address)
        web = _web_server(process, options, endpoints, log)
        work = [asyncio.create_task(web.serve()), *datagrams.start()]
        async with background(*work):
            return await _until_exit(process, options, endpoints.exit, web, log)
    finally:
        datagrams.close()


async def _until_exit(
    process: Process, options: Parsed, leaving: Exit, web: WebServer, log: Log
) -> int:
    """Wait for SIGTERM or a request to exit, whichever comes first."""
    signal = asyncio.ensure_future(process.terminate.wait())
    wish = asyncio.ensure_future(leaving.wanted.wait())
    async with background(signal, wish):  # type: ignore[arg-type]
        await asyncio.wait({signal, wish}, return_when=asyncio.FIRST_COMPLETED)
        if not wish.done() and options.number("delay-shutdown") > 0:
            delay = options.number("delay-shutdown")
            await log.line(f"Sleeping {delay} seconds before terminating...")
            await asyncio.wait({wish}, timeout=delay)
        if wish.done() and leaving.grace:
            finished = await web.drain(leaving.grace)
            outcome = "<nil>" if finished else "context deadline exceeded"
            await log.line(f"Graceful shutdown completed with: {outcome}")
        return leaving.code


def _web_server(process: Process, options: Parsed, endpoints: Endpoints, log: Log) -> WebServer:
    port = options.number("http-port")
    tls = _tls(options)
    try:
        listener = tcp.listen(process.machine.namespace, port)
    except OSError as error:
        text = call_text(process.machine.os, Call.BIND, error, process.machine.message_locale)
        raise _FatalError(f"listen tcp :{port}: {text}") from error

    async def on_plain(peer: str) -> None:
        await log.line(
            f"http: TLS handshake error from {peer}: client sent an HTTP request to an HTTPS server"
        )

    handler = _overridden(endpoints, options.text("http-override"))
    return WebServer(listener, handler, tls=tls, on_plain=on_plain)


def _overridden(endpoints: Endpoints, override: str) -> Handler:
    if not override:
        return endpoints.answer

    async def answer(request: Request) -> Response:
        if (clean := requests.cleaned(request)) is not None:  # the mux before the handler
            return requests.redirect(request, clean, 307)
        return await endpoints.route(Request(method="GET", target=override, remote=""))

    return answer


def _tls(options: Parsed) -> ssl.SSLContext | None:
    """Return a TLS context for the image's own certificate; no other file exists in the lab's image."""
    queried = options.text("tls-cert-file"), options.text("tls-private-key-file")
    if not queried[0]:
        return None
    for path, image_path in zip(queried, (certificate.CERTIFICATE, certificate.KEY), strict=True):
        if path != image_path:
            raise _FatalError(f"open {path}: no such file or directory")
    return certificate.image_context()


def _listen_addresses(text: str) -> list[str]:
    if not text:
        return [""]
    for address in text.split(","):
        try:
            ipaddress.ip_address(address)
        except ValueError as error:
            raise _FatalError(f"parseAddress: invalid address {address}") from error
    return sorted(set(text.split(",")))


def _no_sctp(process: Process, port: int) -> str:
    reasons = {
        OS.LINUX: "protocol not supported",
        OS.WINDOWS: "SCTP is unsupported on windows/amd64",
    }
    return (
        f"Error occurred: failed to create listener for SCTP address :{port}:"
        + reasons[process.machine.os]
    )
