"""agnhost's small sub-commands: ``connect``, ``pause``, ``dns-suffix``, ``dns-server-list``, ``etc-hosts``, ``tcp-reset``, ``mounttest`` …

``connect HOST:PORT`` is one connection attempt, without output on success, with a prefixed line on failure. On Linux a refused connection
prints ``REFUSED``; on Windows, where Go compares with a constant that the system never returns, ``OTHER: …`` (TCP) or ``UNKNOWN: …``
(UDP).
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from functools import partial

from nettests.lab.interfaces import Process
from nettests.lab.mounted.files import FileError
from nettests.lab.programs.golang import web_client
from nettests.lab.programs.golang.values import Parsed, quote
from nettests.lab.programs.linux import basics
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.sockets.transport import Call, call_text
from nettests.lab.topology import OS

_BUFFER = 1024
NO_SCTP = {OS.LINUX: "protocol not supported", OS.WINDOWS: "SCTP is unsupported on windows/amd64"}


class _ConnectFailedError(Exception):
    """The line to print on standard error."""


async def connect(process: Process, options: Parsed) -> int:
    """Connect as requested by the flags; exit code 0 or 1."""
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
    except web_client.NetError as error:
        raise _ConnectFailedError(f"DNS: {error}\n") from error


async def _tcp(process: Process, target: str, limit: float) -> None:
    try:
        web_client.split(target)
    except web_client.NetError as error:
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


async def pause(process: Process, _options: Parsed) -> int:
    """Pause until SIGTERM."""
    await process.stdout(b"Paused\nSignals registered\n")
    await process.terminate.wait()
    await process.stdout(b'exiting because of signal "terminated"\n')
    return 2


async def print_suffixes(process: Process, _options: Parsed) -> int:
    """Print the suffixes, comma-separated; on Linux agnhost panics without a search list."""
    machine = process.machine
    if not machine.resolver.searches and machine.os is OS.LINUX:
        await process.stderr(b"panic: Could not find DNS search list!\n\ngoroutine 1 [running]:\n")
        return 2
    await process.stdout(f"{','.join(machine.resolver.searches)}\n".encode())
    return 0


async def print_servers(process: Process, _options: Parsed) -> int:
    """Print the DNS servers, comma-separated."""
    await process.stdout(f"{','.join(process.machine.resolver.servers)}\n".encode())
    return 0


async def print_hosts(process: Process, _options: Parsed) -> int:
    """Print the hosts file and one more newline."""
    text = basics.hosts_file(process.machine.resolver)
    await process.stdout(f"{text}\n".encode())
    return 0


_CLOSE_WITH_RESET = struct.pack("ii", 1, 0)


async def tcp_reset(process: Process, options: Parsed) -> int:
    """Reset every connection until killed."""
    loop = asyncio.get_running_loop()
    with transport.listen(process.machine.namespace, options["port"]) as listener:
        while True:
            connection, _ = await loop.sock_accept(listener)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CLOSE_WITH_RESET)
            connection.close()


_LOCALHOST = "127.0.0.1"
_WRONG_DATA = 2
_NOT_WRITTEN = 4
_NO_NUMBER = 1


async def port_forward_tester(process: Process, _options: Parsed) -> int:
    """Serve one connection; 2 if the client sent unexpected data, 4 if it disconnected early."""
    environment = process.environment
    host = environment.get("BIND_ADDRESS") or "localhost"
    try:
        port, chunks, size, interval = (
            int(environment.get(name, ""))
            for name in ("BIND_PORT", "CHUNKS", "CHUNK_SIZE", "CHUNK_INTERVAL")
        )
    except ValueError as error:
        await process.stdout(f"Error converting: {error}\n".encode())
        return _NO_NUMBER
    address = _LOCALHOST if host == "localhost" else host
    try:
        listener = transport.listen(process.machine.namespace, port, address)
    except OSError as error:
        text = call_text(process.machine.os, Call.BIND, error, process.machine.message_locale)
        await process.stdout(f"Error listening: listen tcp {address}:{port}: {text}\n".encode())
        return _NO_NUMBER
    with listener:
        connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    await process.stdout(b"Accepted client connection\n")
    with connection:
        return await _send_chunks(process, connection, (chunks, size, interval))


async def _send_chunks(
    process: Process, connection: socket.socket, answer: tuple[int, int, int]
) -> int:
    loop = asyncio.get_running_loop()
    expected = process.environment.get("EXPECTED_CLIENT_DATA", "").encode()
    if expected:
        got = await loop.sock_recv(connection, len(expected))
        if got != expected:
            words = f"Expect to read {quote(expected.decode())}, instead got {quote(got.decode())}."
            await process.stdout(f"{words} Err=<nil>\n".encode())
            return _WRONG_DATA
    chunks, size, interval = answer
    for number in range(chunks):
        try:
            await loop.sock_sendall(connection, b"x" * size)
        except OSError:
            await process.stdout(f"Expected to write {size} bytes\n".encode())
            return _NOT_WRITTEN
        if number + 1 < chunks:
            await asyncio.sleep(interval / 1000)
    await process.stdout(b"Shutting down connection\n")
    return 0


NEW_CONTENT = "mount-tester new file\n"
NEW_FILES = ("new_file_0644", "new_file_0660", "new_file_0666", "new_file_0777")
_EXT4 = 0xEF53
_LOOP_SECONDS = 2.0


async def mounttest(process: Process, options: Parsed) -> int:
    """Write, then read, like mounttest; 1 if anything failed."""
    files, good = process.machine.files, True
    fs_type = options["fs_type"]
    if fs_type and process.machine.os is OS.LINUX:  # agnhost prints it only there
        type_ = partial(_type, process, fs_type)
        good &= await _with_file(process, f"error from statfs({quote(fs_type)})", type_)
    for path in filter(None, map(options.values.get, NEW_FILES)):
        write = partial(files.write, path, NEW_CONTENT)
        written = await _with_file(process, f"error writing new file {quote(path)}", write)
        good &= written and await _read(process, path)
    if path := options["file_content"]:
        good &= await _read(process, path)
    if path := options["file_content_in_loop"]:
        good &= await _loop(process, path, options)
    return 0 if good else 1


async def _with_file(process: Process, what: str, work: Callable[[], str | None]) -> bool:
    """Do something with a file, and print its result or error; return whether it succeeded."""
    try:
        text = work()
    except FileError as error:
        await _say(process, f"{what}: {error}")
        return False
    if text is not None:
        await _say(process, text)
    return True


def _type(process: Process, path: str) -> str:
    in_memory = process.machine.files.in_memory(path)
    return f"mount type of {quote(path)}: {'tmpfs' if in_memory else _EXT4}"


async def _read(process: Process, path: str) -> bool:
    return await _with_file(
        process,
        f"error reading file content for {quote(path)}",
        lambda: f"content of file {quote(path)}: {process.machine.files.read(path)}",
    )


async def _loop(process: Process, path: str, options: Parsed) -> bool:
    """Read until the content is as expected or the time is over; return whether the last read succeeded."""
    clock = asyncio.get_running_loop().time
    began, good = clock(), True
    while clock() - began < options["retry_time"]:
        try:
            text = process.machine.files.read(path)
        except FileError as error:
            good = False
            await _say(process, f"Error reading file {path}: {error}, retrying")
        else:
            good = True
            await _say(process, f"content of file {quote(path)}: {text}")
            if options["break_on_expected_content"] and text == NEW_CONTENT:
                break
        await asyncio.sleep(_LOOP_SECONDS)
    return good


async def _say(process: Process, text: str) -> None:
    await process.stdout(f"{text}\n".encode())
