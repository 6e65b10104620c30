"""The words of each operating system for a failed system call, and the verbs Go puts before them.

Linux texts are the C library's, lower-cased as Go prints them. Windows texts are Winsock's (Microsoft,
"Windows Sockets Error Codes"), which Go prints as they are: in English where the system has English messages, else in its
own language (golang/go, ``syscall_windows.go``, ``Errno.Error``). Pure.
"""

import errno
import os
from enum import StrEnum

from nettests.lab.programs.windows import texts
from nettests.lab.topology import OS
from nettests.lab.topology.windows_settings import ENGLISH


class Call(StrEnum):
    """A socket operation, to be named in the OS's way."""

    CONNECT = "connect"
    READ = "read"
    WRITE = "write"
    BIND = "bind"


_WINDOWS_CALLS = {Call.CONNECT: "connectex", Call.READ: "wsarecv", Call.WRITE: "wsasend"}

_WINSOCK = {
    errno.EACCES: 10013,
    errno.EADDRINUSE: 10048,
    errno.EADDRNOTAVAIL: 10049,
    errno.ECONNABORTED: 10053,
    errno.ECONNREFUSED: 10061,
    errno.ECONNRESET: 10054,
    errno.EMSGSIZE: 10040,
    errno.EHOSTUNREACH: 10065,
    errno.ENETUNREACH: 10051,
    errno.ETIMEDOUT: 10060,
}


def winsock(error: OSError) -> int:
    """Return Winsock's number of an error, 10022 (WSAEINVAL) for one that has no counterpart here."""
    return _WINSOCK.get(error.errno or 0, 10022)


def error_text(system: OS, error: OSError, locale: str = ENGLISH) -> str:
    """Return the system's text for ``error``: ``connection refused``, on Windows a sentence."""
    sentence = texts.of(locale).system(winsock(error)) if system is OS.WINDOWS else None
    if sentence is not None:
        return sentence
    text = os.strerror(error.errno or errno.EINVAL)
    return text[:1].lower() + text[1:]


def call_text(system: OS, call: Call, error: OSError, locale: str = ENGLISH) -> str:
    """Return ``connect: connection refused`` or ``connectex: No connection could be made …``."""
    verb = _WINDOWS_CALLS.get(call, call.value) if system is OS.WINDOWS else call.value
    return f"{verb}: {error_text(system, error, locale)}"


def datagram_error(system: OS, error: OSError) -> OSError:
    """Return the error a UDP read sees: Winsock reports a closed port as a reset (WSAECONNRESET)."""
    if system is OS.WINDOWS and error.errno == errno.ECONNREFUSED:
        return OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
    return error
