"""The hops of a flow, and which of its frames show that it passed each. Pure.

A hop is a stage at a node. Hops are in the order of the expected path, and depend on the scene and
the chosen backend. A packet is identified by its sequence number and size, a datagram by its
client's port, an echo by its direction. Only what was retransmitted or never answered counts as
lost, which tells a capture that missed a frame from a network that lost it. Pure acknowledgements
and large segments, which network cards split, are not counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from nettests.model.words import Protocol
from nettests.tracing.mark import Marked, Way
from nettests.tracing.packet import Direction, Edge, End, Scene


class Stage(Enum):
    """How far a flow got."""

    SENT = "sent"
    ARRIVED_AT_TRANSLATOR = "arrived at the node that translates"
    TRANSLATED = "translated"
    LEFT = "left the node"
    ARRIVED = "arrived at the node"
    DELIVERED = "delivered"
    ANSWERED = "answered"
    REPLY_LEFT = "reply left the node"
    REPLY_ARRIVED = "reply arrived at the node"
    REPLY_TRANSLATED = "reply translated back"
    REPLY_DELIVERED = "reply delivered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One stage of the path at a node, and the frames that show it (none: not seen there)."""

    stage: Stage
    node: str
    frames: tuple[Marked, ...] = ()

    @property
    def seen(self) -> bool:
        """Whether any frame shows it."""
        return bool(self.frames)

    @property
    def first(self) -> Marked | None:
        """The first frame that shows it."""
        return self.frames[0] if self.frames else None


Shows = Callable[[Marked], bool]


def hops(scene: Scene, backend: End | None, frames: tuple[Marked, ...]) -> tuple[Hop, ...]:
    """Return the hops to ``backend`` and back; without a backend, those up to the translation."""
    return tuple(
        Hop(
            stage=stage,
            node=node,
            frames=tuple(frame for frame in frames if frame.sighting.node == node and shows(frame)),
        )
        for stage, node, shows in _expected(scene, backend)
    )


def _expected(scene: Scene, backend: End | None) -> Iterator[tuple[Stage, str, Shows]]:
    source, over = scene.source.node, scene.translator or scene.source.node
    yield Stage.SENT, source, lambda frame: frame.way is Way.REQUEST and _from_source(frame, scene)
    if scene.translated:
        if over != source:
            yield Stage.ARRIVED_AT_TRANSLATOR, over, lambda frame: frame.way is Way.REQUEST
        yield (
            Stage.TRANSLATED,
            over,
            lambda frame: frame.way is Way.REQUEST and frame.packet.destination != scene.requested,
        )
    if backend is None:
        return
    crossing = over != backend.node
    if crossing:
        yield Stage.LEFT, over, lambda frame: _to(frame, backend) and leaves(frame)
        yield Stage.ARRIVED, backend.node, lambda frame: frame.way is Way.REQUEST
    yield (
        Stage.DELIVERED,
        backend.node,
        lambda frame: _to(frame, backend) and _handed_over(frame, backend),
    )
    yield (
        Stage.ANSWERED,
        backend.node,
        lambda frame: frame.way is Way.REPLY and frame.packet.source == backend.address,
    )
    if crossing:
        yield Stage.REPLY_LEFT, backend.node, lambda frame: frame.way is Way.REPLY and leaves(frame)
    if backend.node != source:
        yield Stage.REPLY_ARRIVED, source, lambda frame: frame.way is Way.REPLY
    if scene.translated:
        yield (
            Stage.REPLY_TRANSLATED,
            source,
            lambda frame: frame.way is Way.REPLY and frame.packet.source == scene.requested,
        )
    yield Stage.REPLY_DELIVERED, source, lambda frame: _reply_reaches_source(frame, scene)


def _from_source(frame: Marked, scene: Scene) -> bool:
    """Whether the source sent it: by its address, or on the host network by any of its node's."""
    on_host = scene.source.on_host and scene.owners.get(frame.packet.source) == scene.source.node
    return on_host or frame.packet.source == scene.source.address


def _to(frame: Marked, backend: End) -> bool:
    return frame.way is Way.REQUEST and frame.packet.destination == backend.address


def _reply_reaches_source(frame: Marked, scene: Scene) -> bool:
    """Whether a reply reaches the source, from the address that was requested."""
    if frame.way is not Way.REPLY or frame.sighting.drop or frame.packet.encapsulation is not None:
        return False
    if scene.source.on_host:
        return frame.packet.source == scene.requested
    to_source = frame.packet.destination == scene.source.address
    return to_source and frame.packet.source == scene.requested and _towards_pod(frame)


def leaves(frame: Marked) -> bool:
    """Whether a frame is leaving its node."""
    seen = frame.sighting
    if seen.drop or seen.direction is Direction.IN:
        return False
    if seen.edge is Edge.POD:
        return False
    return seen.edge is Edge.WIRE or frame.packet.encapsulation is not None


def passed_on(frame: Marked, node: str) -> bool:
    """Whether a frame shows that the node passed it on: to the wire, a Pod or another node."""
    return leaves(frame) or frame.sighting.node != node or _towards_pod(frame)


def _handed_over(frame: Marked, backend: End) -> bool:
    """Whether a frame reached the backend, as far as a capture on its node shows."""
    if frame.sighting.drop or frame.packet.encapsulation is not None:
        return False
    return backend.on_host or _towards_pod(frame)


def _towards_pod(frame: Marked) -> bool:
    return frame.sighting.edge is Edge.POD and frame.sighting.direction is not Direction.IN


WHOLE = 1400
"""The largest segment, in bytes, that no network card splits at usual MTUs."""
_REPLIES = frozenset(
    {
        *(Stage.ANSWERED, Stage.REPLY_LEFT, Stage.REPLY_ARRIVED),
        *(Stage.REPLY_TRANSLATED, Stage.REPLY_DELIVERED),
    }
)

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """``lost`` of the ``sent`` packets at hop ``before`` did not reach ``hop``."""

    before: Hop
    hop: Hop
    sent: int
    lost: int

    def __str__(self) -> str:
        return (
            f"{self.lost} of {self.sent} packets that were seen on {self.before.node} ({self.before.stage.value}) "
            f"were not seen on {self.hop.node} ({self.hop.stage.value})"
        )


def losses(path: Sequence[Hop], backend: End | None, *, answered: bool) -> Iterator[Loss]:
    """Yield each loss between two hops: some packets lost while others of the same kind passed."""
    seen = [hop for hop in path if hop.seen]
    silent = () if answered else _unanswered(seen)
    for before, hop in pairwise(seen):
        if (before.stage in _REPLIES) == (hop.stage in _REPLIES):
            loss = _between(before, hop, backend, frozenset(silent))
            if loss is not None:
                yield loss


def packets(hop: Hop, backend: End | None) -> int:
    """Return how many packets a hop shows, including retransmissions."""
    return sum(_times(hop, backend, hop).values())


def _between(before: Hop, hop: Hop, backend: End | None, silent: frozenset[Key]) -> Loss | None:
    first, then = _times(before, backend, hop), _times(hop, backend, hop)
    if any(key[1] == "datagram" and key not in first for key in then):
        return None
    lost = Counter[Key]()
    for key, times in first.items():
        missing = times - then.get(key, 0)
        if missing > 0 and (times > 1 or key in silent):
            lost[_kind(key)] += missing
    passed = Counter(_kind(key) for key in then)
    counted = sum(count for kind, count in lost.items() if passed[kind])
    if not counted:
        return None
    return Loss(before=before, hop=hop, sent=sum(first.values()), lost=counted)


def _times(hop: Hop, backend: End | None, towards: Hop) -> dict[Key, int]:
    """Return how often each packet was seen, at the interface that saw it most often."""
    counts: Counter[tuple[Key, Key]] = Counter()
    for frame in hop.frames:
        key = _key(frame)
        if key is None or not frame.sighting.interface or frame.sighting.drop:
            continue
        if _elsewhere(frame, hop, backend, towards):
            continue
        seen = frame.sighting
        plain = frame.packet.encapsulation is None
        place = (seen.interface, seen.edge_id, seen.direction, plain)
        counts[key, place] += 1
    times: dict[Key, int] = {}
    for (key, _), count in counts.items():
        times[key] = max(times.get(key, 0), count)
    return times


def _elsewhere(frame: Marked, hop: Hop, backend: End | None, towards: Hop) -> bool:
    """Whether a translated request goes to another backend than that of the later hops."""
    if backend is None or hop.stage is not Stage.TRANSLATED or towards is hop:
        return False
    return frame.packet.destination != backend.address


def _key(frame: Marked) -> Key | None:
    """Return the key that identifies a packet; ``None`` if it is not counted."""
    packet = frame.packet
    if frame.way is Way.ERROR or packet.fragment or packet.carried > WHOLE:
        return None
    match packet.protocol:
        case Protocol.TCP:
            if packet.reset or not (packet.syn or packet.fin or packet.carried):
                return None
            kind = "data" if packet.carried else "flags"
            return (frame.way, kind, packet.sequence, packet.carried, packet.syn, packet.fin)
        case Protocol.UDP:
            client = packet.source_port if frame.way is Way.REQUEST else packet.destination_port
            return (frame.way, "datagram", client)
        case Protocol.ICMP:
            return (frame.way, "echo", 0)
        case None:
            return None


def _kind(key: Key) -> Key:
    return key[:2]


def _unanswered(path: Sequence[Hop]) -> set[Key]:
    """Return the packets without an answer: all of connections, and datagrams without a reply."""
    last = path[-1] if path else None
    replied = {
        key[2]
        for hop in path
        if hop.stage is Stage.REPLY_DELIVERED or (hop is last and hop.stage in _REPLIES)
        for frame in hop.frames
        if (key := _key(frame)) is not None and key[1] == "datagram"
    }
    keys = {key for hop in path for frame in hop.frames if (key := _key(frame)) is not None}
    return {key for key in keys if key[1] != "datagram" or key[2] not in replied}
