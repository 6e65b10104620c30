"""The mark of a flow, and the frames that have it despite translation and encapsulation.

Source ports usually survive translation; if not, TCP sequence numbers do, and so does a word in the
payload. Replies are recognised by the same, seen from the other end. Frames of other flows are
dropped here. Canaries before and after the flow prove that a capture is complete (``proven``):
without them, a missing frame could also mean that it began late, ended early or filtered too much.
They cross the nodes' own network, so that on Linux they show which interface leads out.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from nettests.model.words import Protocol
from nettests.tracing.packet import (
    ECHO_REPLIES,
    ECHO_REQUESTS,
    Capture,
    Direction,
    Edge,
    Packet,
    Sighting,
)

ECHO_HEADER = 8
_FLAGS, _QR = 2, 0x80
IPV4_HEADER, IPV6_HEADER = 20, 40


class Way(Enum):
    """The direction of a frame within the flow."""

    REQUEST = "request"
    REPLY = "reply"
    ERROR = "error"
    """An ICMP error that quotes the flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What identifies the flow: a source port, a payload word, or the size of its echo requests."""

    protocol: Protocol
    port: int | None = None
    token: bytes = b""
    query: bool = False
    """Whether the word is in the name of a DNS query."""
    served: int | None = None
    """The port of a server that only this trace uses, if its client's port is not known."""
    size: int | None = None
    """Payload size, in bytes, of only this trace's echo requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A frame of the flow, and its direction."""

    way: Way
    sighting: Sighting

    @property
    def packet(self) -> Packet:
        """The packet of the frame."""
        return self.sighting.packet


def marked(sightings: Iterable[Sighting], mark: Mark) -> tuple[Marked, ...]:
    """Return the frames of the flow, without payload, in the given order."""
    given = tuple(sightings)
    identity = _Identity.of(given, mark)
    return tuple(
        Marked(way=way, sighting=replace(sighting, packet=replace(sighting.packet, payload=b"")))
        for sighting in given
        if (way := identity.way(sighting.packet)) is not None
    )


def belonging(sightings: Iterable[Sighting], mark: Mark) -> Callable[[Packet], bool]:
    """Return a predicate for packets of the marked flow."""
    identity = _Identity.of(tuple(sightings), mark)
    return lambda packet: identity.way(packet) is not None


@dataclass(frozen=True, slots=True)
class _Identity:
    """The client's ports and the initial sequence numbers of its connections."""

    mark: Mark
    ports: frozenset[int]
    openings: frozenset[int]

    @classmethod
    def of(cls, sightings: Iterable[Sighting], mark: Mark) -> "_Identity":
        client_packets = [
            sighting.packet for sighting in sightings if _bears(sighting.packet, mark)
        ]
        openings = frozenset(
            packet.sequence
            for packet in client_packets
            if packet.syn and not packet.ack and packet.sequence is not None
        )
        ports = {mark.port} | {packet.source_port for packet in client_packets}
        # If the source port was rewritten, the same SYN comes from another port.
        ports |= {
            sighting.packet.source_port
            for sighting in sightings
            if sighting.packet.syn
            and not sighting.packet.ack
            and sighting.packet.sequence in openings
        }
        return cls(mark, frozenset(port for port in ports if port is not None), openings)

    def way(self, packet: Packet) -> Way | None:
        """Return the direction of a frame of the flow, ``None`` for other frames."""
        served = self.mark.served
        if packet.quoted is not None:
            quoted = {packet.quoted.source_port, packet.quoted.destination_port}
            ports = self.ports if served is None else {served}
            return Way.ERROR if quoted & ports else None
        if packet.protocol is not self.mark.protocol:
            return None
        if self.mark.protocol is Protocol.ICMP:
            return self._echo(packet)
        if served is not None:
            if packet.destination_port == served:
                return Way.REQUEST
            return Way.REPLY if packet.source_port == served else None
        if packet.source_port in self.ports:
            return Way.REQUEST
        return Way.REPLY if packet.destination_port in self.ports else None

    def _echo(self, packet: Packet) -> Way | None:
        if packet.icmp is None or packet.length - _headers(packet) != self.mark.size:
            return None
        if packet.icmp[0] in ECHO_REQUESTS:
            return Way.REQUEST
        return Way.REPLY if packet.icmp[0] in ECHO_REPLIES else None


def _headers(packet: Packet) -> int:
    """Return the size of an echo's headers, because a capture may have truncated the payload."""
    return ECHO_HEADER + (IPV4_HEADER if packet.source.version == 4 else IPV6_HEADER)


def _bears(packet: Packet, mark: Mark) -> bool:
    """Whether the client sent it: from the marked port, or with the word and not as an answer."""
    if packet.protocol is not mark.protocol or packet.quoted is not None:
        return False
    if mark.port is not None and packet.source_port == mark.port:
        return True
    if not mark.token or mark.port is not None:
        return False
    if mark.query:
        return mark.token in packet.payload and not _answers_query(packet)
    return packet.payload.startswith(mark.token)


def _answers_query(packet: Packet) -> bool:
    """Whether a DNS message is an answer, which repeats its question (RFC 1035, 4.1.1: QR)."""
    return len(packet.payload) <= _FLAGS or bool(packet.payload[_FLAGS] & _QR)


def proven(capture: Capture, *, before: int, after: int) -> Capture:
    """Return the capture, with a doubt if a canary (recognised by source port) is missing."""
    sent = {before: "before", after: "after"}
    missing = [
        word
        for port, word in sent.items()
        if not any(sighting.packet.source_port == port for sighting in capture.sightings)
    ]
    doubt = capture.doubt
    if missing and not doubt:
        doubt = (
            f"the capture on {capture.node} does not show what the node sent itself "
            f"{' and '.join(missing)} the flow"
        )
    return replace(capture, doubt=doubt, sightings=_placed(capture.sightings, sent))


def _placed(sightings: Sequence[Sighting], ports: Collection[int]) -> tuple[Sighting, ...]:
    """Derive what interfaces lead to from the canaries, if the capture's tool does not show it."""
    out = {
        sighting.interface
        for sighting in sightings
        if sighting.packet.source_port in ports
        and sighting.direction is Direction.OUT
        and sighting.edge is Edge.UNKNOWN
        and sighting.interface not in {"", "lo"}
    }
    if not out:
        return tuple(sightings)
    return tuple(
        replace(sighting, edge=Edge.WIRE if sighting.interface in out else Edge.POD)
        if sighting.edge is Edge.UNKNOWN and sighting.interface not in {"", "lo"}
        else sighting
        for sighting in sightings
    )
