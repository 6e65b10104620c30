"""The hops of a flow, and which of its frames show that it passed each. Pure.

A hop is a stage at a node. Hops are in the order of the expected path; which hops there are depends on the scene and
on the chosen backend.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from nettests.tracing.mark import Marked, Way
from nettests.tracing.scene import End, Scene
from nettests.tracing.sighting import Direction, Edge


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
    """One stage of the path at a node, and the frames that show it; none if the flow was not seen there."""

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
    """Return the hops of the path to ``backend`` and back; without a backend, those up to the translation."""
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
            lambda frame: frame.way is Way.REQUEST and _translated(frame, scene),
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
        yield Stage.REPLY_TRANSLATED, source, lambda frame: _translated_back(frame, scene)
    yield Stage.REPLY_DELIVERED, source, lambda frame: _reply_reaches_source(frame, scene)


def _from_source(frame: Marked, scene: Scene) -> bool:
    """Whether the source sent the frame: with its address, or on the host network with any of its node's."""
    on_host = scene.source.on_host and scene.owners.get(frame.packet.source) == scene.source.node
    return on_host or frame.packet.source == scene.source.address


def _translated(frame: Marked, scene: Scene) -> bool:
    return frame.packet.destination != scene.requested


def _to(frame: Marked, backend: End) -> bool:
    return frame.way is Way.REQUEST and frame.packet.destination == backend.address


def _translated_back(frame: Marked, scene: Scene) -> bool:
    return frame.way is Way.REPLY and frame.packet.source == scene.requested


def _reply_reaches_source(frame: Marked, scene: Scene) -> bool:
    """Whether a reply reaches the source with the address that the request was sent to."""
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
    """Whether a frame shows that its node passed the packet on: to the wire, to a Pod, or to another node."""
    return leaves(frame) or frame.sighting.node != node or _towards_pod(frame)


def _handed_over(frame: Marked, backend: End) -> bool:
    """Whether a frame reached the backend itself, as far as a capture on its node shows it."""
    if frame.sighting.drop or frame.packet.encapsulation is not None:
        return False
    return backend.on_host or _towards_pod(frame)


def _towards_pod(frame: Marked) -> bool:
    return frame.sighting.edge is Edge.POD and frame.sighting.direction is not Direction.IN
