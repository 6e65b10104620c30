"""Payloads of a given size: how they are made, and how they are abbreviated in records. Pure.

Used by ``plan`` (which size), ``probes`` (what is sent) and ``parse`` (what came back). Journals and reports write
``payload.65536`` instead of that many characters: they follow from the number, so nothing is lost.
"""

from typing import assert_never

from nettests.model.words import Family

ECHO = "echo "
"""The command that makes agnhost's UDP server send the rest back; it is not sent back itself."""
EVERY_PATH = 1280
"""Bytes of a packet that every link has to carry (RFC 8200, 5.): used if the Pods' MTU is unknown."""
SIXTY_FOUR_KIB = 2**16
ONE_MIB = 2**19 - 1024
"""Twice that is 1 MiB less 2 KiB: Go's HTTP client names the first address in ``Referer`` when it follows a redirect,
and Go's HTTP server reads heads of 1 MiB (net/http, ``DefaultMaxHeaderBytes``)."""
_WORD = 8


def udp_headers(family: Family) -> int:
    """Return the bytes of IP and UDP before a datagram's payload."""
    match family:
        case Family.IPV4:
            return 28
        case Family.IPV6:
            return 48
        case _:
            assert_never(family)


def filler(size: int) -> str:
    """Return ``size`` characters; every eight of them are their own offset, so that losses, duplicates and shifts show."""
    return "".join(f"{offset:0{_WORD}x}" for offset in range(0, size, _WORD))[:size]


def written(size: int) -> str:
    """Return the abbreviation of ``size`` characters in a journal."""
    return f"payload.{size}"


def expanded(text: str, size: int) -> str:
    """Return a request as it is sent: with the payload instead of its abbreviation."""
    return text.replace(written(size), filler(size))


def folded(text: str, size: int) -> str:
    """Return an answer as it is recorded: with the abbreviation instead of the payload."""
    return text.replace(filler(size), written(size))
