"""Payloads of a given size: how they are made, and how they are abbreviated in records. Pure.

Used by ``plan`` (which size), ``probes`` (what is sent) and ``parse`` (what came back). Journals and reports write
``payload.65536`` instead of that many characters: they follow from the number, so nothing is lost.
"""

from typing import assert_never

from nettests.model.words import Family

ECHO = "echo "
"""What agnhost's UDP server is told to send the rest back; it is not sent back itself."""
EVERY_PATH = 1280
"""Bytes of a packet that every link has to carry (RFC 8200, 5.): what is sent where the Pods' MTU is not known."""
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
    """Return so many characters, each eight of them their own offset: what is lost, doubled or moved shows."""
    return "".join(f"{offset:0{_WORD}x}" for offset in range(0, size, _WORD))[:size]


def written(size: int) -> str:
    """Return what stands for so many characters in a journal."""
    return f"payload.{size}"


def expanded(text: str, size: int) -> str:
    """Return a request as it is sent: with the payload in the place of its name."""
    return text.replace(written(size), filler(size))


def folded(text: str, size: int) -> str:
    """Return an answer as it is written down: with the name of the payload in its place."""
    return text.replace(filler(size), written(size))
