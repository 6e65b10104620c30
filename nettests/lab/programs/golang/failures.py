"""Go's ``net``: the exact error texts of a client, per operating system, and ``host:port`` texts to addresses.

``NetError`` carries what agnhost requires of an error besides its text. Source: Go's ``net`` package (``OpError``, ``DNSError``,
``SplitHostPort``, ``ResolveTCPAddr``), and the recorded transcript for Linux. For Windows the texts are inferred from the same source
and Winsock's messages.
"""

import errno
import ipaddress

from nettests.lab.dns import linux, windows
from nettests.lab.dns.exchange import Failure, NoAnswerError, ResolutionError, Resolved, Silence
from nettests.lab.interfaces import Machine
from nettests.lab.programs.sockets.texts import Call, call_text
from nettests.lab.topology import OS

_TRY_AGAIN = (
    "getaddrinfow: This is usually a temporary error during hostname resolution and means that the "
    "local server did not receive a response from an authoritative server."
)
_NO_DATA = "getaddrinfow: The requested name is valid, but no data of the requested type was found."
IO_TIMEOUT = "i/o timeout"


class NetError(Exception):
    """A Go ``net`` error: its text, whether ``Timeout()`` holds, whether it equals ECONNREFUSED."""

    def __init__(self, text: str, *, timeout: bool = False, refused: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.timeout = timeout
        self.refused = refused


def operation_failed(
    machine: Machine, prefix: str, call: Call, error: OSError, *, name_call: bool = True
) -> NetError:
    """Return the ``OpError`` for a failed call; ``prefix`` is ``dial tcp 10.0.0.1:80`` and the like.

    On Windows no system error equals Go's ``ECONNREFUSED`` or counts as a timeout: Go's constants
    of that name are invented there (``syscall/types_windows.go``).
    """
    if error.errno is None:
        return timed_out(prefix)
    on_linux = machine.os is OS.LINUX
    text = call_text(machine.os, call, error, machine.message_locale)
    return NetError(
        f"{prefix}: {text if name_call else text.partition(': ')[2]}",
        timeout=on_linux and error.errno == errno.ETIMEDOUT,
        refused=on_linux and error.errno == errno.ECONNREFUSED,
    )


def timed_out(prefix: str) -> NetError:
    """Return the ``OpError`` for a deadline of the program's own."""
    return NetError(f"{prefix}: {IO_TIMEOUT}", timeout=True)


def lookup_failed(machine: Machine, error: ResolutionError) -> NetError:
    """Return the ``DNSError`` for a name that did not resolve.

    Linux names the server and the cause. Windows says only ``no such host``, or quotes
    ``getaddrinfo`` when no server answered.
    """
    if machine.os is OS.WINDOWS:
        reasons = {Failure.NO_SUCH_HOST: "no such host", Failure.NO_DATA: _NO_DATA}
        reason = reasons.get(error.failure, _TRY_AGAIN)
        return NetError(f"lookup {error.name}: {reason}")
    on = f" on {error.server}" if error.server else ""
    if error.failure in (Failure.NO_SUCH_HOST, Failure.NO_DATA):
        reason = "no such host"
    elif error.cause is None:
        reason = "server misbehaving"
    else:
        reason = _exchange_reason(machine, error.cause)
    return NetError(f"lookup {error.name}{on}: {reason}")


def _exchange_reason(machine: Machine, cause: NoAnswerError) -> str:
    ends = cause.ends
    read = f"read udp {ends.local}->{ends.server}"
    if cause.silence is Silence.TIMED_OUT:
        return f"{read}: {IO_TIMEOUT}" if ends.local else f"dial udp {ends.server}: {IO_TIMEOUT}"
    if cause.error is None:
        return "cannot unmarshal DNS message"
    if not ends.local:
        return f"dial udp {ends.server}: {call_text(machine.os, Call.CONNECT, cause.error, machine.message_locale)}"
    return f"{read}: {call_text(machine.os, Call.READ, cause.error, machine.message_locale)}"


_PORTS = {"domain": 53, "http": 80, "https": 443, "ssh": 22}


def split(text: str) -> tuple[str, str]:
    """Return host and port of ``host:port``; ``NetError`` with Go's text when it is not one."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        raise NetError(f"address {text}: missing port in address")
    if host.startswith("["):
        if not host.endswith("]"):
            raise NetError(f"address {text}: missing ']' in address")
        return host[1:-1], port
    if ":" in host:
        raise NetError(f"address {text}: too many colons in address")
    return host, port


def parse_port(text: str) -> int:
    """Return a port given by number or service name; empty is 0."""
    if not text:
        return 0
    if text in _PORTS:
        return _PORTS[text]
    if text.isdecimal():
        number = int(text)
        if number <= 65535:
            return number
        raise NetError(f"address {text}: invalid port")
    raise NetError(f"lookup tcp/{text}: unknown port")


async def resolve_name(machine: Machine, name: str) -> Resolved:
    """Resolve ``name`` as the machine's OS does; ``ResolutionError`` when it does not."""
    if machine.os is OS.WINDOWS:
        return await windows.resolve(machine, name)
    return await linux.resolve(machine, name)


async def resolve_address(machine: Machine, host: str, port: str) -> tuple[str, int]:
    """Return the address Go dials for ``host`` and ``port``: the first IPv4 one, else the first.

    An empty host is the local machine. ``NetError`` when the port or the name is not valid.
    """
    number = parse_port(port)
    if not host:
        return "", number
    try:
        resolved = await resolve_name(machine, host)
    except ResolutionError as error:
        raise lookup_failed(machine, error) from error
    versions = sorted(resolved.addresses, key=lambda text: ipaddress.ip_address(text).version)
    return versions[0], number
