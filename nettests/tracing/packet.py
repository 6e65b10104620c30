"""Packets, captures and scenes as values: what ``wire`` reads from a frame, where it was seen, and what was to be seen.

``capture.scene`` makes a scene from a cluster's facts and the run's objects, ``path`` from a command line. Nothing here
reads a capture.
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
    def ends(self) -> dict[str, str | int | None]:
        """Where it comes from and goes to, as documents have it."""
        return {
            "source": str(self.source),
            "source_port": self.source_port,
            "destination": str(self.destination),
            "destination_port": self.destination_port,
        }

    @property
    def tunnel(self) -> dict[str, str | int | None] | None:
        """What is wrapped around it, as documents have it; ``None`` where nothing is."""
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
    """Which way a frame went at an interface, as far as the capture tells."""

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
    """A frame as a capture holds it, before it is dissected. ``ethernet`` says whether it begins with that header.

    ``drop`` is why the node dropped it, in the words of its own tool; empty where it went on. ``edge_id`` is the number of
    an edge of pktmon's component: a packet that passes the component is logged at each of them.
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
    """A packet at an interface of a node. Clocks of nodes differ: times are compared within one node only."""

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

    What is absent from it proves something only where ``doubt`` is empty: the capture began before the flow, ended
    after it, and was read to its end. ``unread`` are lines or frames that could not be read, at most a few of them.
    """

    node: str
    sightings: tuple[Sighting, ...]
    doubt: str = ""
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Who sends or answers: an address on a node. ``on_host`` is the node itself, or a Pod on its own network."""

    address: Address
    node: str
    port: int | None = None
    on_host: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One flow as it is expected to go.

    ``requested`` is where it is sent: with ``translator``, the node whose load balancer has to translate it, the address
    of a Service or NodePort; else that of the one end in ``backends``.
    """

    protocol: Protocol
    source: End
    requested: Address
    requested_port: int | None
    backends: tuple[End, ...]
    translator: str = ""
    owners: Mapping[Address, str] = field(default_factory=dict)
    """Nodes by their addresses, and by other addresses that stand for them (source VIPs, gateways)."""
    encapsulated: bool | None = None
    """Whether Pods' packets cross between nodes inside VXLAN or GENEVE; ``None`` where facts do not tell."""
    vni: int | None = None
    source_kept: bool | None = None
    """Whether the backend has to see the source's own address; ``None`` if either is fine."""
    size: int = 0
    """Bytes of payload that one packet of the flow carries; 0 where it is small."""
    tries: int = 0
    """Number of requests, if the flow is about losses; 0 for a single request."""
    silence: float = 0.0
    """Seconds for which its connection was silent before the capture; 0 if it was not."""
    documented: str = ""
    """The documented limitation by which no answer is expected; empty if one is."""

    @property
    def translated(self) -> bool:
        """Whether a node has to translate the destination."""
        return bool(self.translator)

    def backend(self, address: Address) -> End | None:
        """Return the backend at an address."""
        return next((end for end in self.backends if end.address == address), None)
