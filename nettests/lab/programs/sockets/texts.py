"""The words of each operating system for a failed system call, and the verbs Go puts before them.

Linux texts are the C library's, lower-cased as Go prints them. Windows texts are Winsock's (Microsoft,
"Windows Sockets Error Codes"), which Go prints as they are. Pure.
"""

import errno
import os
from enum import StrEnum

from nettests.lab.topology import OS


class Call(StrEnum):
    """A socket operation, to be named in the OS's way."""

    CONNECT = "connect"
    READ = "read"
    WRITE = "write"
    BIND = "bind"


_WINDOWS_CALLS = {Call.CONNECT: "connectex", Call.READ: "wsarecv", Call.WRITE: "wsasend"}

_WINSOCK_TEXTS = {
    errno.EACCES: (
        "An attempt was made to access a socket in a way forbidden by its access permissions."
    ),
    errno.EADDRINUSE: (
        "Only one usage of each socket address (protocol/network address/port) is normally permitted."
    ),
    errno.EADDRNOTAVAIL: "The requested address is not valid in its context.",
    errno.ECONNABORTED: (
        "An established connection was aborted by the software in your host machine."
    ),
    errno.ECONNREFUSED: (
        "No connection could be made because the target machine actively refused it."
    ),
    errno.ECONNRESET: "An existing connection was forcibly closed by the remote host.",
    errno.EMSGSIZE: (
        "A message sent on a datagram socket was larger than the internal message buffer or some other network limit, "
        "or the buffer used to receive a datagram into was smaller than the datagram itself."
    ),
    errno.EHOSTUNREACH: "A socket operation was attempted to an unreachable host.",
    errno.ENETUNREACH: "A socket operation was attempted to an unreachable network.",
    errno.ETIMEDOUT: (
        "A connection attempt failed because the connected party did not properly respond after a "
        "period of time, or established connection failed because connected host has failed to respond."
    ),
}


def error_text(system: OS, error: OSError) -> str:
    """Return the system's text for ``error``: ``connection refused``, on Windows a sentence."""
    number = error.errno or errno.EINVAL
    if system is OS.WINDOWS and number in _WINSOCK_TEXTS:
        return _WINSOCK_TEXTS[number]
    text = os.strerror(number)
    return text[:1].lower() + text[1:]


def call_text(system: OS, call: Call, error: OSError) -> str:
    """Return ``connect: connection refused`` or ``connectex: No connection could be made …``."""
    verb = _WINDOWS_CALLS.get(call, call.value) if system is OS.WINDOWS else call.value
    return f"{verb}: {error_text(system, error)}"


def datagram_error(system: OS, error: OSError) -> OSError:
    """Return the error a UDP read sees: Winsock reports a closed port as a reset (WSAECONNRESET)."""
    if system is OS.WINDOWS and error.errno == errno.ECONNREFUSED:
        return OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
    return error
