"""Packets of a flow that one hop saw more often than the next, while others passed: some were lost. Pure.

A packet is known again by its sequence number and size, a datagram by its client's port, an echo by its way alone. Only what
was sent again, or never answered, was lost: a capture that missed a frame is told from a network that lost it by that.
Pure acknowledgements are sent as often as one likes, and large segments are split by network cards: neither is counted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nettests.model.words import Protocol
from nettests.tracing.hops import Hop, Stage
from nettests.tracing.mark import Marked, Way
from nettests.tracing.scene import End

WHOLE = 1400
"""Bytes of a segment that no network card splits, whatever the usual MTU."""
_REPLIES = frozenset(
    {
        Stage.ANSWERED,
        Stage.REPLY_LEFT,
        Stage.REPLY_ARRIVED,
        Stage.REPLY_TRANSLATED,
        Stage.REPLY_DELIVERED,
    }
)

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Of ``sent`` packets at one hop, ``lost`` did not come to the next one, ``hop``."""

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
    """Yield each pair of hops between which some packets were lost and others of the same kind were not."""
    seen = [hop for hop in path if hop.seen]
    silent = () if answered else _unanswered(seen)
    for before, hop in pairwise(seen):
        if (before.stage in _REPLIES) == (hop.stage in _REPLIES):
            loss = _between(before, hop, backend, frozenset(silent))
            if loss is not None:
                yield loss


def packets(hop: Hop, backend: End | None) -> int:
    """Return how many packets a hop shows, retransmissions included."""
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
    """Return the key that identifies a packet; ``None`` for packets that are not counted."""
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
    """Return the packets that had no answer: all packets of connections, and datagrams without a reply."""
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
