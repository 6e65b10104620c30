"""Payloads of a given size, and their abbreviation in records. Pure.

Used by ``plan`` (size), ``probes`` (request) and ``parse`` (answer). Journals and reports write
``payload.65536`` for that many characters, which follow from the number.
"""

from functools import lru_cache
from typing import assert_never

from nettests.model.words import Family

ECHO = "echo "
"""Makes agnhost's UDP server echo the rest of the datagram."""
EVERY_PATH = 1280
"""Bytes of a packet that every link must carry (RFC 8200, 5.), used if the Pods' MTU is unknown."""
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


@lru_cache(maxsize=16)
def filler(size: int) -> str:
    """Return ``size`` characters; each eight are their offset, which shows loss and shifts."""
    return "".join(f"{offset:0{_WORD}x}" for offset in range(0, size, _WORD))[:size]


def written(size: int) -> str:
    """Return the abbreviation of ``size`` characters."""
    return f"payload.{size}"


def expanded(text: str, size: int) -> str:
    """Replace the abbreviation in a request by the payload."""
    return text.replace(written(size), filler(size))


def folded(text: str, size: int) -> str:
    """Replace the payload in an answer by its abbreviation."""
    return text.replace(filler(size), written(size))
