"""One IP packet of a flow, as a capture shows it: the value that ``wire`` reads from a frame."""

from dataclasses import dataclass

from nettests.model.facts import Address
from nettests.model.words import Protocol

ECHO_REQUESTS = frozenset({8, 128})
"""Types of ICMP and ICMPv6."""
ECHO_REPLIES = frozenset({0, 129})
TOO_BIG = frozenset({(3, 4), (2, 0)})
"""Type and code of "fragmentation needed" (RFC 792, RFC 1191) and of ICMPv6's "packet too big" (RFC 4443)."""

PORT_UNREACHABLE = frozenset({(3, 3), (1, 4)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Encapsulation:
    """A tunnel around a packet: its ends, its network, its UDP port; VXLAN (RFC 7348) or GENEVE (RFC 8926)."""

    source: Address
    destination: Address
    vni: int
    port: int
    kind: str = "VXLAN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """The head of the packet that an ICMP error is about."""

    source: Address
    destination: Address
    source_port: int | None = None
    destination_port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One IP packet of a flow.

    Ports are ``None`` where the protocol has none, or where a fragment does not carry them;
    ``protocol`` is ``None`` for one the vocabulary does not know. ``icmp`` is type and code. ``length`` is what the
    IP header says, also where a capture cut the packet; 0 where it does not say.
    """

    source: Address
    destination: Address
    protocol: Protocol | None
    source_mac: str
    destination_mac: str
    ttl: int
    source_port: int | None = None
    destination_port: int | None = None
    syn: bool = False
    ack: bool = False
    reset: bool = False
    fin: bool = False
    sequence: int | None = None
    icmp: tuple[int, int] | None = None
    quoted: Quoted | None = None
    fragment: bool = False
    """Whether it is a part of a packet that was split, the first one included."""
    length: int = 0
    carried: int = 0
    """Bytes behind the header of TCP or UDP, by the lengths that headers state: also of what a capture cut off."""
    payload: bytes = b""
    encapsulation: Encapsulation | None = None

    @property
    def reports_too_big(self) -> bool:
        """Whether it is an ICMP error about a packet that was too large for a link."""
        return self.icmp in TOO_BIG and self.quoted is not None
