"""The hops of a flow, and which of its frames show that it came by each. Pure.

A hop is a stage at a node. The order is that of the path which is expected; which hops there are depends on the scene
and on the backend that was chosen.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from nettests.tracing.mark import Marked, Way
from nettests.tracing.scene import End, Scene
from nettests.tracing.sighting import Direction, Edge


class Stage(Enum):
    """How far a flow came."""

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
    """One stage of the path at a node, and the frames that show it; none where the flow was not seen there."""

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
    """Return the hops of the way that leads over ``backend``, and of as much of it as is known where none was chosen."""
    return tuple(
        Hop(
            stage=stage,
            node=node,
            frames=tuple(one for one in frames if one.sighting.node == node and shows(one)),
        )
        for stage, node, shows in _expected(scene, backend)
    )


def _expected(scene: Scene, backend: End | None) -> Iterator[tuple[Stage, str, Shows]]:
    source, over = scene.source.node, scene.translator or scene.source.node
    yield Stage.SENT, source, lambda one: one.way is Way.REQUEST and _own(one, scene)
    if scene.translated:
        if over != source:
            yield Stage.ARRIVED_AT_TRANSLATOR, over, lambda one: one.way is Way.REQUEST
        yield Stage.TRANSLATED, over, lambda one: one.way is Way.REQUEST and _translated(one, scene)
    if backend is None:
        return
    crossing = over != backend.node
    if crossing:
        yield Stage.LEFT, over, lambda one: _to(one, backend) and leaves(one)
        yield Stage.ARRIVED, backend.node, lambda one: one.way is Way.REQUEST
    yield (
        Stage.DELIVERED,
        backend.node,
        lambda one: _to(one, backend) and _handed_over(one, backend),
    )
    yield Stage.ANSWERED, backend.node, lambda one: one.way is Way.REPLY and _from(one, backend)
    if crossing:
        yield Stage.REPLY_LEFT, backend.node, lambda one: one.way is Way.REPLY and leaves(one)
    if backend.node != source:
        yield Stage.REPLY_ARRIVED, source, lambda one: one.way is Way.REPLY
    if scene.translated:
        yield Stage.REPLY_TRANSLATED, source, lambda one: _translated_back(one, scene)
    yield Stage.REPLY_DELIVERED, source, lambda one: _came_back(one, scene)


def _own(one: Marked, scene: Scene) -> bool:
    """Whether the source sent it: with its address, or from its node, which has several."""
    on_host = scene.source.on_host and scene.owners.get(one.packet.source) == scene.source.node
    return on_host or one.packet.source == scene.source.address


def _translated(one: Marked, scene: Scene) -> bool:
    return one.packet.destination != scene.requested


def _to(one: Marked, backend: End) -> bool:
    return one.way is Way.REQUEST and one.packet.destination == backend.address


def _from(one: Marked, backend: End) -> bool:
    return one.packet.source == backend.address


def _translated_back(one: Marked, scene: Scene) -> bool:
    return one.way is Way.REPLY and one.packet.source == scene.requested


def _came_back(one: Marked, scene: Scene) -> bool:
    """Whether it is a reply that goes to the source and bears the address that it was sent to."""
    if one.way is not Way.REPLY or one.sighting.drop or one.packet.encapsulation is not None:
        return False
    if scene.source.on_host:
        return one.packet.source == scene.requested
    to_source = one.packet.destination == scene.source.address
    return to_source and one.packet.source == scene.requested and _towards_pod(one)


def leaves(one: Marked) -> bool:
    """Whether a frame is on its way out of its node."""
    seen = one.sighting
    if seen.drop or seen.direction is Direction.IN:
        return False
    if seen.edge is Edge.POD:
        return False
    return seen.edge is Edge.WIRE or one.packet.encapsulation is not None


def came_out(one: Marked, node: str) -> bool:
    """Whether a frame shows that its node passed the packet on: to the wire, to a Pod, or to another node."""
    return leaves(one) or one.sighting.node != node or _towards_pod(one)


def _handed_over(one: Marked, backend: End) -> bool:
    """Whether a frame reached the end itself, as far as a capture on its node can see that."""
    if one.sighting.drop or one.packet.encapsulation is not None:
        return False
    return backend.on_host or _towards_pod(one)


def _towards_pod(one: Marked) -> bool:
    return one.sighting.edge is Edge.POD and one.sighting.direction is not Direction.IN
