"""Packets, captures and scenes as values: frames' contents, where they were seen, what is expected.

``capture.scene`` makes a scene from a cluster's facts and the run's objects, ``path`` from a
command line. Nothing here reads a capture.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

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
    """A tunnel around a packet, VXLAN (RFC 7348) or GENEVE (RFC 8926)."""

    source: Address
    destination: Address
    vni: int
    port: int
    kind: str = "VXLAN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """The headers of the packet that an ICMP error is about."""

    source: Address
    destination: Address
    source_port: int | None = None
    destination_port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One IP packet of a flow.

    Ports are ``None`` if the protocol has none or a fragment does not carry them; ``protocol`` is
    ``None`` for unknown ones. ``icmp`` is type and code. ``length`` is the IP header's, even if the
    capture is truncated; 0 if it states none.
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
    """Whether it is a fragment, including the first one."""
    length: int = 0
    carried: int = 0
    """Payload bytes of TCP or UDP by the headers' lengths, including what a capture truncated."""
    payload: bytes = b""
    encapsulation: Encapsulation | None = None

    @property
    def ends(self) -> dict[str, str | int | None]:
        """Source and destination, as in documents."""
        return {
            "source": str(self.source),
            "source_port": self.source_port,
            "destination": str(self.destination),
            "destination_port": self.destination_port,
        }

    @property
    def tunnel(self) -> dict[str, str | int | None] | None:
        """The tunnel around it, as in documents; ``None`` without one."""
        tunnel = self.encapsulation
        if tunnel is None:
            return None
        return {
            "kind": tunnel.kind,
            "vni": tunnel.vni,
            "source": str(tunnel.source),
            "destination": str(tunnel.destination),
        }

    @property
    def reports_too_big(self) -> bool:
        """Whether it is an ICMP error about a packet that was too large for a link."""
        return self.icmp in TOO_BIG and self.quoted is not None


class Direction(Enum):
    """The direction of a frame at an interface, if the capture shows it."""

    IN = "in"
    OUT = "out"
    UNKNOWN = "unknown"


class Edge(Enum):
    """What an interface leads to."""

    POD = "Pod"
    WIRE = "wire"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """An undissected frame of a capture; ``ethernet``: it begins with an Ethernet header.

    ``drop`` is why the node dropped it, in the words of its tool; empty if it did not. ``edge_id``
    is the number of an edge of a pktmon component: a packet is logged at each edge that it passes.
    """

    time: float
    data: bytes
    interface: str = ""
    direction: Direction = Direction.UNKNOWN
    edge: Edge = Edge.UNKNOWN
    ethernet: bool = True
    drop: str = ""
    edge_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A packet at an interface of a node. Node clocks differ: compare times only within a node."""

    node: str
    time: float
    packet: Packet
    interface: str = ""
    direction: Direction = Direction.UNKNOWN
    edge: Edge = Edge.UNKNOWN
    drop: str = ""
    edge_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What was captured on one node.

    A missing packet proves something only if ``doubt`` is empty: the capture spans the flow and was
    read completely. ``unread`` holds a few lines or frames that could not be read.
    """

    node: str
    sightings: tuple[Sighting, ...]
    doubt: str = ""
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A sender or receiver: an address on a node. ``on_host``: the node, or a hostNetwork Pod."""

    address: Address
    node: str
    port: int | None = None
    on_host: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One flow as it is expected to go.

    ``requested`` is the destination: the address of a Service or NodePort if ``translator`` is set,
    the node that must translate it; otherwise that of the single end in ``backends``.
    """

    protocol: Protocol
    source: End
    requested: Address
    requested_port: int | None
    backends: tuple[End, ...]
    translator: str = ""
    owners: Mapping[Address, str] = field(default_factory=dict)
    """Nodes by address, including Pods' addresses and others that stand for nodes (source VIPs, gateways)."""
    encapsulated: bool | None = None
    """Whether Pods' packets cross between nodes inside VXLAN or GENEVE; ``None`` if unknown."""
    vni: int | None = None
    source_kept: bool | None = None
    """Whether the backend must see the source's own address; ``None`` if either is fine."""
    size: int = 0
    """Payload bytes of one packet of the flow; 0 if it is small."""
    tries: int = 0
    """Number of requests if the flow tests losses; 0 for a single request."""
    silence: float = 0.0
    """Seconds for which its connection was idle before the capture; 0 if it was not."""
    documented: str = ""
    """The documented reason why no answer is expected; empty if one is."""

    @property
    def translated(self) -> bool:
        """Whether a node must translate the destination."""
        return bool(self.translator)

    def backend(self, address: Address) -> End | None:
        """Return the backend at an address, if any."""
        return next((end for end in self.backends if end.address == address), None)
