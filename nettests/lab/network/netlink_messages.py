"""Read and write netlink messages (netlink(7)) as bytes, without a library; only ``send`` does I/O.

A library that decodes every attribute takes most of a second for a thousand messages, on the thread
that all nodes share; readers of this module decode only the attributes that they need.
"""

import errno
import os
import socket
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nettests.lab.topology import Address, Network

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
    """Yield type and sequence number of each message, and start and end of its body."""
    place = 0
    while place + HEADER.size <= len(data):
        length, kind, _, number, _ = HEADER.unpack_from(data, place)
        if length < HEADER.size:
            raise OSError(errno.EBADMSG, "netlink: a message shorter than its header")
        yield kind, number, place + HEADER.size, place + length
        place += aligned(length)


def attributes(data: bytes, start: int, end: int) -> dict[int, tuple[int, int]]:
    """Return start and end of each attribute's value, by type."""
    spans = {}
    while start + ATTRIBUTE.size <= end:
        length, kind = ATTRIBUTE.unpack_from(data, start)
        if length < ATTRIBUTE.size:
            break
        spans[kind & _TYPE] = (start + ATTRIBUTE.size, start + length)
        start += aligned(length)
    return spans


_NEW_ROUTE, _NEW_NEIGHBOUR = 24, 28
_REQUEST, _ACK, _REPLACE, _EXCLUSIVE, _CREATE = 0x1, 0x4, 0x100, 0x200, 0x400
_ERROR = 2
_NEIGHBOUR = struct.Struct("=B3xiHBB")
"""``ndmsg``: family, interface, state, flags, type."""
_ROUTE = struct.Struct("=BBBBBBBBI")
"""``rtmsg``: family, lengths of destination and source, TOS, table, protocol, scope, type, flags."""
_NUMBER = struct.Struct("=I")
_NDA_DST, _NDA_LLADDR = 1, 2
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_TABLE = 1, 4, 5, 15
_PERMANENT, _NOARP, _SELF = 0x80, 0x40, 0x02
_STATIC, _UNICAST, _ONLINK = 4, 1, 4
_FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
_BRIDGE_FAMILY = 7
"""``AF_BRIDGE``: forwarding entries, of VXLAN devices too."""
_BYTES_AT_ONCE = 32_768
"""Well below what a socket may send by default (``net.core.wmem_default``, 212,992)."""
_ANSWER_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Entry:
    """One message without its header: type, flags and body."""

    kind: int
    flags: int
    body: bytes


def neighbour(index: int, address: Address, mac: str) -> Entry:
    """Return the entry that sets the permanent MAC of a neighbour."""
    head = _NEIGHBOUR.pack(_FAMILIES[address.version], index, _PERMANENT, 0, 0)
    body = head + _attribute(_NDA_DST, address.packed) + _attribute(_NDA_LLADDR, _octets(mac))
    return Entry(_NEW_NEIGHBOUR, _CREATE | _REPLACE, body)


def forwarding_entry(index: int, mac: str, peer: Address) -> Entry:
    """Return the entry of a VXLAN device that maps a MAC to its outer address."""
    head = _NEIGHBOUR.pack(_BRIDGE_FAMILY, index, _PERMANENT | _NOARP, _SELF, 0)
    body = head + _attribute(_NDA_DST, peer.packed) + _attribute(_NDA_LLADDR, _octets(mac))
    return Entry(_NEW_NEIGHBOUR, _CREATE | _EXCLUSIVE, body)


def route(index: int, destination: Network, via: Address, table: int) -> Entry:
    """Return the route to ``destination`` through a neighbour, which need not be on a connected network."""
    family = _FAMILIES[destination.version]
    head = _ROUTE.pack(family, destination.prefixlen, 0, 0, table, _STATIC, 0, _UNICAST, _ONLINK)
    body = (
        head
        + _attribute(_RTA_DST, destination.network_address.packed)
        + _attribute(_RTA_OIF, _NUMBER.pack(index))
        + _attribute(_RTA_GATEWAY, via.packed)
        + _attribute(_RTA_TABLE, _NUMBER.pack(table))
    )
    return Entry(_NEW_ROUTE, _CREATE | _EXCLUSIVE, body)


def packed(entries: Sequence[Entry]) -> Iterable[tuple[bytes, int]]:
    """Yield messages in buffers small enough for a socket, each with the number of its last message.

    The kernel acknowledges only the last message of each buffer.
    """
    buffer = bytearray()
    for number, entry in enumerate(entries, start=1):
        length = HEADER.size + len(entry.body)
        last = number == len(entries) or len(buffer) + length >= _BYTES_AT_ONCE
        flags = _REQUEST | entry.flags | (_ACK if last else 0)
        buffer += HEADER.pack(length, entry.kind, flags, number, 0)
        buffer += entry.body
        if last:
            yield bytes(buffer), number
            buffer = bytearray()


def send(entries: Sequence[Entry]) -> None:
    """Add entries in the calling thread's namespace; ``OSError`` for the first that is refused."""
    if not entries:
        return
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as link:
        link.bind((0, 0))
        for buffer, last in packed(entries):
            link.send(buffer)
            answered = 0
            while answered != last:
                for answered, code in answers(link.recv(_ANSWER_BYTES)):
                    if code:
                        reason = f"netlink entry {answered}: {os.strerror(code)}"
                        raise OSError(code, reason)


def answers(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the sequence number of each message that the kernel answers, and its errno, 0 for none."""
    for kind, number, start, _ in messages(data):
        if kind == _ERROR:
            (code,) = struct.unpack_from("=i", data, start)
            yield number, -code


def _attribute(kind: int, value: bytes) -> bytes:
    length = ATTRIBUTE.size + len(value)
    return ATTRIBUTE.pack(length, kind) + value + bytes(aligned(length) - length)


def _octets(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))
