"""A packet at one place of one node, and the capture that it is from. Values."""

from dataclasses import dataclass
from enum import Enum

from nettests.tracing.packet import Packet


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
