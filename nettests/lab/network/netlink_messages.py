"""Messages of netlink as bytes (netlink(7)): their headers and attributes, read without a library. Pure.

A library that decodes every attribute of every message takes most of a second for a thousand of them, on the thread
that all nodes share; who reads with this looks at what is wanted alone.
"""

import errno
import struct
from collections.abc import Iterator

HEADER = struct.Struct("=IHHII")
"""``nlmsghdr``: length, type, flags, sequence number, sender."""
GENERIC = struct.Struct("=BBH")
"""``nfgenmsg``, before the attributes of netfilter's messages."""
ATTRIBUTE = struct.Struct("=HH")
_TYPE = 0x3FFF
"""The type of an attribute without its flags."""


def aligned(length: int) -> int:
    """Return where the next message or attribute begins."""
    return (length + 3) & ~3


def messages(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield type and sequence number of each message, and where its body begins and ends."""
    place = 0
    while place + HEADER.size <= len(data):
        length, kind, _, number, _ = HEADER.unpack_from(data, place)
        if length < HEADER.size:
            raise OSError(errno.EBADMSG, "netlink: a message shorter than its header")
        yield kind, number, place + HEADER.size, place + length
        place += aligned(length)


def attributes(data: bytes, start: int, end: int) -> dict[int, tuple[int, int]]:
    """Return where the value of each attribute begins and ends, by type."""
    spans = {}
    while start + ATTRIBUTE.size <= end:
        length, kind = ATTRIBUTE.unpack_from(data, start)
        if length < ATTRIBUTE.size:
            break
        spans[kind & _TYPE] = (start + ATTRIBUTE.size, start + length)
        start += aligned(length)
    return spans
