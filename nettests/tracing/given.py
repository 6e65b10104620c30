"""The scene of captures that somebody else took: what their own frames tell, and the little that was said. Pure.

The first capture is of the source's node, the last of the destination's. Beside ``session.trace_scene``, which knows a
cluster's facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nettests.errors import PlanError
from nettests.model.facts import Address
from nettests.model.words import Protocol
from nettests.tracing.mark import Mark, Way, marked
from nettests.tracing.scene import End, Scene
from nettests.tracing.sighting import Capture


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the user says of the flow."""

    mark: Mark
    service: Address | None = None
    backends: tuple[Address, ...] = ()
    vni: int | None = None


def scene_of_captures(captures: Sequence[Capture], said: Said) -> Scene:
    """Return the scene of the flow; ``PlanError`` where no capture shows it."""
    first, last = captures[0].node, captures[-1].node
    requests = [
        one
        for capture in captures
        for one in marked(capture.sightings, said.mark)
        if one.way is Way.REQUEST
    ]
    if not requests:
        raise PlanError(
            "no capture has a frame of that flow",
            hint="--port is the client's port, --token what its datagrams begin with",
        )
    begin = requests[0].packet
    requested = said.service or begin.destination
    translated = said.service is not None or bool({*said.backends} - {requested})
    ends = dict.fromkeys(said.backends or _reached(requests[-1].packet.destination, requested))
    backends = tuple(End(address=one, node=last) for one in ends) or (
        () if translated else (End(address=requested, node=last),)
    )
    return Scene(
        protocol=said.mark.protocol,
        source=End(address=begin.source, node=first, port=said.mark.port),
        requested=requested,
        requested_port=begin.destination_port,
        backends=backends,
        translator=first if translated else "",
        encapsulated=True if said.vni is not None else None,
        vni=said.vni,
    )


def spanning(captures: Sequence[Capture], mark: Mark) -> tuple[Capture, ...]:
    """Return the captures, those doubted that show nothing of the flow and are not known to have gone on when it was sent.

    Clocks of nodes differ: a capture may be doubted for that, and no harm done.
    """
    shown = [one for capture in captures for one in marked(capture.sightings, mark)]
    times = [one.sighting.time for one in shown]
    return tuple(
        replace(one, doubt=f"the capture on {one.node} does not span the time of the flow")
        if times
        and not one.doubt
        and not marked(one.sightings, mark)
        and not _spans(one, min(times), max(times))
        else one
        for one in captures
    )


def _spans(capture: Capture, first: float, last: float) -> bool:
    times = [one.time for one in capture.sightings]
    return bool(times) and min(times) <= first and max(times) >= last


def _reached(destination: Address, requested: Address) -> tuple[Address, ...]:
    """Return where the flow was seen going to last, if that is another address than it was sent to."""
    return (destination,) if destination != requested else ()


def protocol_of(*, token: str | None) -> Protocol:
    """Return the protocol that a mark is of: words are of datagrams, ports of connections."""
    return Protocol.UDP if token else Protocol.TCP
