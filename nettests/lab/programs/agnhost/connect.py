"""``agnhost connect HOST:PORT``: one connection attempt, silence on success, a prefixed line on failure.

On Linux a refused connection prints ``REFUSED``; on Windows it cannot, because Go compares with a constant
the system never returns, so ``OTHER: …`` (TCP) and ``UNKNOWN: …`` (UDP) appear instead.
"""

import asyncio

from nettests.lab.interfaces import Process
from nettests.lab.programs.golang import web_client
from nettests.lab.programs.golang.values import Parsed
from nettests.lab.programs.golang.web_client import NetError
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.sockets.transport import Call
from nettests.lab.topology import OS

_BUFFER = 1024
NO_SCTP = {OS.LINUX: "protocol not supported", OS.WINDOWS: "SCTP is unsupported on windows/amd64"}


class _ConnectFailedError(Exception):
    """The line to print on standard error."""


async def run(process: Process, options: Parsed) -> int:
    """Connect as the flags say; exit code 0 or 1."""
    try:
        await _attempt(process, options)
    except _ConnectFailedError as failure:
        await process.stderr(str(failure).encode())
        return 1
    return 0


async def _attempt(process: Process, options: Parsed) -> None:
    protocol = options["protocol"]
    target = options.arguments[0]
    if protocol in ("", "tcp"):
        await _tcp(process, target, options["timeout"])
    elif protocol == "udp":
        await _udp(process, target, options)
    elif protocol == "sctp":
        await _resolve(process, target)
        raise _ConnectFailedError(f"OTHER: {NO_SCTP[process.machine.os]}\n")
    else:
        raise _ConnectFailedError(f"Unsupported protocol\n{protocol}")


async def _resolve(process: Process, target: str) -> tuple[str, int]:
    try:
        host, port = web_client.split(target)
        return await web_client.resolve_address(process.machine, host, port)
    except NetError as error:
        raise _ConnectFailedError(f"DNS: {error}\n") from error


async def _tcp(process: Process, target: str, limit: float) -> None:
    try:
        web_client.split(target)
    except NetError as error:
        raise _ConnectFailedError(f"UNKNOWN: {error}\n") from error
    host, port = await _resolve(process, target)
    try:
        async with asyncio.timeout(limit or None):
            sock = await transport.connect(process.machine, host or "127.0.0.1", port)
    except OSError as error:
        prefix = f"dial tcp {transport.join(host, port)}"
        failed = web_client.operation_failed(process.machine, prefix, Call.CONNECT, error)
        line = "TIMEOUT" if failed.timeout else "REFUSED" if failed.refused else f"OTHER: {failed}"
        raise _ConnectFailedError(f"{line}\n") from error
    sock.close()


async def _udp(process: Process, target: str, options: Parsed) -> None:
    host, port = await _resolve(process, target)
    place = transport.join(host, port)
    try:
        conversation = transport.Conversation(process.machine, host or "127.0.0.1", port)
    except OSError as error:
        failed = web_client.operation_failed(
            process.machine, f"dial udp {place}", Call.CONNECT, error
        )
        raise _ConnectFailedError(f"OTHER: {failed}\n") from error
    with conversation:
        ends = f"{conversation.local}->{conversation.remote}"
        call = Call.WRITE
        try:
            async with asyncio.timeout(options["timeout"] or None):
                await conversation.send(f"{options['udp-data']}\n".encode())
                call = Call.READ
                answer = await conversation.receive(_BUFFER)
        except OSError as error:
            prefix = f"{call} udp {ends}"
            failed = web_client.operation_failed(process.machine, prefix, call, error)
            refused = "REFUSED" if "connection refused" in failed.text else "UNKNOWN"
            kind = "TIMEOUT" if failed.timeout else refused
            raise _ConnectFailedError(f"{kind}: {failed}\n") from error
    if not answer:
        raise _ConnectFailedError(
            "OTHER: No data received from the server. "
            "Cannot guarantee the server received the request.\n"
        )
