"""``curl``: one HTTP or HTTPS request, with curl's exit codes, in each system's version.

Linux image 7.88.1; Windows image 7.57.0, or 8.12.1 since agnhost 2.63 (kubernetes/kubernetes, test/images/agnhost); the
Windows node's own (7.55.1, or 7.83.1 since 20348: Windows updates it, but no document lists versions by build). Options
that probes do not use are refused as unknown. The progress meter is not printed.
"""

import asyncio
import errno
import getopt
import os
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, urlsplit

from nettests.lab.dns.exchange import ResolutionError
from nettests.lab.interfaces import Machine, Process
from nettests.lab.programs.golang.web_client import resolve_name
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.terminal import drop, err
from nettests.lab.topology import OS
from nettests.lab.web import messages

_SWITCHES = {
    "s": "silent",
    "S": "show-error",
    "i": "include",
    "I": "head",
    "f": "fail",
    "k": "insecure",
    "4": "ipv4",
}
_VALUES = {"m": "max-time", "o": "output", "w": "write-out", "X": "request", "H": "header"}
_LONG_VALUES = ("connect-timeout", "local-port")
_RANGE = re.compile(r"\[(\d+)-(\d+)\]")
_BIT_BUCKETS = ("/dev/null", "nul", "-")


class UsageError(Exception):
    """The command line is invalid; the text is curl's."""


@dataclass(slots=True, kw_only=True)
class Options:
    """The options of one curl command."""

    url: str = ""
    silent: bool = False
    show_error: bool = False
    include: bool = False
    head: bool = False
    fail: bool = False
    insecure: bool = False
    max_time: float | None = None
    connect_timeout: float | None = None
    output: bool = False
    """Whether the body is discarded."""
    write_out: str = ""
    request: str = ""
    local_port: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)


def _parse(words: Sequence[str]) -> Options:
    """Parse the arguments of ``curl``; ``UsageError`` if one is not supported."""
    short = "".join(_SWITCHES) + "".join(f"{letter}:" for letter in _VALUES)
    long = [*_SWITCHES.values(), *(f"{name}=" for name in (*_VALUES.values(), *_LONG_VALUES))]
    try:
        pairs, urls_given = getopt.gnu_getopt(list(words), short, long)
    except getopt.GetoptError as error:
        option = f"{'-' if len(error.opt) == 1 else '--'}{error.opt}"
        lacks = "requires argument" in error.msg
        why = "requires parameter" if lacks else "is unknown"
        raise UsageError(f"option {option}: {why}") from error
    if len(urls_given) > 1:
        raise UsageError(f"option {urls_given[1]}: the lab's curl takes one URL")
    if not urls_given:
        raise UsageError("no URL specified!")
    options = Options(url=urls_given[0])
    for written, value in pairs:
        name = written.lstrip("-")
        _set(options, {**_SWITCHES, **_VALUES}.get(name, name), value)
    return options


def _set(options: Options, name: str, value: str) -> None:
    match name:
        case "max-time" | "connect-timeout":
            try:
                setattr(options, name.replace("-", "_"), float(value))
            except ValueError as error:
                raise UsageError(f"option --{name}: expected a number") from error
        case "local-port":
            if not value.isdecimal():
                raise UsageError("option --local-port: expected a proper numerical parameter")
            options.local_port = int(value)
        case "output":
            if value.lower() not in _BIT_BUCKETS:
                raise UsageError(f"option -o: the lab's curl writes no file ({value})")
            options.output = value != "-"
        case "header":
            key, _, text = value.partition(":")
            options.headers.append((key.strip(), text.strip()))
        case "write-out" | "request":
            setattr(options, name.replace("-", "_"), value)
        case _ if name != "ipv4":
            setattr(options, name.replace("-", "_"), True)


def _urls(pattern: str) -> tuple[str, ...]:
    """Expand a range in a URL (``[1-15]``, curl's globbing)."""
    match = _RANGE.search(pattern)
    if match is None:
        return (pattern,)
    before, after = pattern[: match.start()], pattern[match.end() :]
    first, last = int(match[1]), int(match[2])
    return tuple(f"{before}{number}{after}" for number in range(first, last + 1))


_PORTS = {"http": 80, "https": 443}
_SAYS_MILLISECONDS = (7, 78, 0)
_SAYS_COULD_NOT, _IN_OTHER_WORDS = (7, 86, 0), (8, 12, 0)


class CurlError(Exception):
    """A transfer failed: curl's exit code and message."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


@dataclass(slots=True)
class Report:
    """Figures of a transfer, filled in while it runs."""

    status: int = 0
    received: int = 0
    connected: bool = False
    local: tuple[str, int] = ("", 0)
    remote: tuple[str, int] = ("", 0)


def write_out(template: str, report: Report, seconds: float) -> str:
    """Return the ``--write-out`` text."""
    values = {
        **dict.fromkeys(("http_code", "response_code"), f"{report.status:03d}"),
        "local_ip": report.local[0],
        "local_port": str(report.local[1]),
        "remote_ip": report.remote[0],
        "remote_port": str(report.remote[1]),
        "time_total": f"{seconds:.6f}",
    }
    text = template.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
    return re.sub(r"%\{(\w+)\}", lambda match: values.get(match[1], ""), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One transfer; ``write`` gets the body and, with ``-i``, the head."""

    machine: Machine
    options: Options
    version: tuple[int, int, int]
    write: Callable[[bytes], Awaitable[None]]
    started: float
    resolved: list[str] = field(default_factory=list)

    @property
    def milliseconds(self) -> int:
        """Time since the start."""
        return int((asyncio.get_running_loop().time() - self.started) * 1000)


async def transfer(job: Transfer, report: Report) -> None:
    """Do the transfer within ``--max-time``; ``CurlError`` if it fails."""
    url = job.options.url
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in _PORTS:
        raise CurlError(1, f'Protocol "{parts.scheme}" not supported or disabled in libcurl')
    try:
        async with asyncio.timeout(job.options.max_time):
            await _request_url(job, report, parts)
    except TimeoutError as error:
        raise _timed_out(job, report) from error


def _timed_out(job: Transfer, report: Report) -> CurlError:
    spent = job.milliseconds
    if report.connected:
        return CurlError(
            28,
            f"Operation timed out after {spent} milliseconds with {report.received} bytes received",
        )
    phase = "Connection" if job.resolved else "Resolving"
    return CurlError(28, f"{phase} timed out after {spent} milliseconds")


async def _request_url(job: Transfer, report: Report, parts: SplitResult) -> None:
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    sock = await _connect(job, host, port)
    report.connected = True
    report.local, report.remote = transport.peer(sock.getsockname()), (job.resolved[0], port)
    reader, writer = await _streams(job, sock, parts)
    try:
        await _exchange(job, report, reader, writer, _request(job, parts))
    except ConnectionError as error:
        reset = (
            "Connection was reset" if job.machine.os is OS.WINDOWS else "Connection reset by peer"
        )
        raise CurlError(56, f"Recv failure: {reset}") from error
    except messages.MalformedError as error:
        raise CurlError(1, "Received HTTP/0.9 when not allowed") from error
    finally:
        writer.close()
    if job.options.fail and report.status >= 400:
        raise CurlError(22, f"The requested URL returned error: {report.status}")


async def _connect(job: Transfer, host: str, port: int) -> socket.socket:
    """Resolve and connect, together within ``--connect-timeout``."""
    try:
        async with asyncio.timeout(job.options.connect_timeout):
            try:
                resolved = await resolve_name(job.machine, host)
            except ResolutionError as error:
                raise CurlError(6, f"Could not resolve host: {host}") from error
            job.resolved.extend(resolved.addresses)
            return await transport.connect(
                job.machine, resolved.addresses[0], port, own_port=job.options.local_port
            )
    except OSError as error:
        if error.errno == errno.EADDRINUSE and job.options.local_port:
            raise CurlError(45, f"bind failed with errno {error.errno}: Address in use") from error
        if error.errno is None:
            raise _timed_out(job, Report()) from error
        late = error.errno == errno.ETIMEDOUT and job.version >= _SAYS_MILLISECONDS
        raise CurlError(28 if late else 7, _refusal(job, host, port, error)) from error


def _refusal(job: Transfer, host: str, port: int, error: OSError) -> str:
    start = f"Failed to connect to {host} port {port}"
    if job.version >= _SAYS_MILLISECONDS:
        start += f" after {job.milliseconds} ms"
    if job.version >= _SAYS_COULD_NOT:
        not_connected = "Could not" if job.version >= _IN_OTHER_WORDS else "Couldn't"
        return f"{start}: {not_connected} connect to server"
    if job.machine.os is OS.WINDOWS:
        return f"{start}: {transport.winsock(error).get('curl') or transport.error_text(OS.WINDOWS, error, job.machine.locale)}"
    return f"{start}: {os.strerror(error.errno or errno.EINVAL)}"


async def _streams(
    job: Transfer, sock: socket.socket, parts: SplitResult
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if parts.scheme == "http":
        return await asyncio.open_connection(sock=sock)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if job.options.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        return await asyncio.open_connection(
            sock=sock, ssl=context, server_hostname=parts.hostname or ""
        )
    except ssl.SSLCertVerificationError as error:
        raise CurlError(60, f"SSL certificate problem: {error.verify_message}") from error
    except ssl.SSLError as error:
        raise CurlError(35, f"error:{error.reason or error}") from error
    except OSError as error:
        raise CurlError(35, "OpenSSL SSL_connect: Connection reset by peer") from error


def _request(job: Transfer, parts: SplitResult) -> bytes:
    options = job.options
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    agent = "curl/" + ".".join(str(number) for number in job.version)
    headers = {"Host": parts.netloc, "User-Agent": agent, "Accept": "*/*"}
    for name, value in options.headers:
        header = next((key for key in headers if key.lower() == name.lower()), name)
        headers[header] = value
    method = options.request or ("HEAD" if options.head else "GET")
    return messages.request(method, target, headers.items())


async def _exchange(
    job: Transfer,
    report: Report,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    request: bytes,
) -> None:
    options, answers = job.options, messages.Messages(reader, answers=True)
    writer.write(request)
    await writer.drain()
    try:
        head = await answers.head()
    except messages.CutOffError:
        head = None
    if head is None:
        raise CurlError(52, "Empty reply from server")
    report.status = head.status
    if options.include or options.head:
        lines = [f"HTTP/{head.version} {head.status} {head.reason}"]
        lines += [f"{name}: {value}" for name, value in head.headers]
        await job.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    if options.head:
        return
    async for part in answers.parts():
        report.received += len(part)
        if not (options.fail and report.status >= 400):
            await job.write(part)


_WINDOWS_IMAGE, _NEWER_IMAGE = (7, 57, 0), (8, 12, 1)
# registry.k8s.io/e2e-test-images/agnhost:2.63.0
_NEW_CURL = re.compile(r".*/agnhost:2\.(6[3-9]|[7-9]\d)\b.*")
_LINUX_IMAGE = (7, 88, 1)
_WINDOWS_2019 = (7, 55, 1)
_WINDOWS_LATER = (7, 83, 1)
_BUILD_2022 = 20348


def version(machine: Machine) -> tuple[int, int, int]:
    """Return the version of the first curl on the container's path."""
    if machine.os is OS.LINUX:
        return _LINUX_IMAGE
    if not machine.host_process:
        return _NEWER_IMAGE if _NEW_CURL.fullmatch(machine.image) else _WINDOWS_IMAGE
    if machine.windows.curl:
        major, minor, patch = machine.windows.curl.split(".")
        return int(major), int(minor), int(patch)
    return _WINDOWS_LATER if (machine.build or 0) >= _BUILD_2022 else _WINDOWS_2019


async def run(process: Process, words: Sequence[str]) -> int:
    """Transfer one URL, or those of a range one after the other; return the last exit code."""
    try:
        options = _parse(words)
    except UsageError as error:
        await err(process, f"curl: {error}\ncurl: try 'curl --help' for more information\n")
        return 2
    code = 0
    for url in _urls(options.url):
        code = await _run_one(process, replace(options, url=url))
    return code


async def _run_one(process: Process, options: Options) -> int:
    loop = asyncio.get_running_loop()
    job = Transfer(
        machine=process.machine,
        options=options,
        version=version(process.machine),
        write=drop if options.output else process.stdout,
        started=loop.time(),
    )
    report, failure = Report(), None
    try:
        await transfer(job, report)
    except CurlError as error:
        failure = error
    if options.write_out:
        spent = loop.time() - job.started
        await process.stdout(write_out(options.write_out, report, spent).encode())
    if failure is None:
        return 0
    if not options.silent or options.show_error:
        await err(process, f"curl: ({failure.code}) {failure.text}\n")
    return failure.code
