"""The scene of captures that the user took: what their frames show, and what the command line says. Pure.

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
class StatedFlow:
    """What the user says about the flow."""

    mark: Mark
    service: Address | None = None
    backends: tuple[Address, ...] = ()
    vni: int | None = None


def scene_of_captures(captures: Sequence[Capture], stated: StatedFlow) -> Scene:
    """Return the scene of the flow; ``PlanError`` where no capture shows it."""
    first, last = captures[0].node, captures[-1].node
    requests = [
        frame
        for capture in captures
        for frame in marked(capture.sightings, stated.mark)
        if frame.way is Way.REQUEST
    ]
    if not requests:
        raise PlanError(
            "no capture has a frame of that flow",
            hint="--port is the client's port, --token what its datagrams begin with",
        )
    begin = requests[0].packet
    requested = stated.service or begin.destination
    translated = stated.service is not None or bool({*stated.backends} - {requested})
    ends = dict.fromkeys(stated.backends or _reached(requests[-1].packet.destination, requested))
    backends = tuple(End(address=address, node=last) for address in ends) or (
        () if translated else (End(address=requested, node=last),)
    )
    return Scene(
        protocol=stated.mark.protocol,
        source=End(address=begin.source, node=first, port=stated.mark.port),
        requested=requested,
        requested_port=begin.destination_port,
        backends=backends,
        translator=first if translated else "",
        encapsulated=True if stated.vni is not None else None,
        vni=stated.vni,
    )


def spanning(captures: Sequence[Capture], mark: Mark) -> tuple[Capture, ...]:
    """Return the captures; one that shows nothing of the flow and may not span its time is doubted.

    Clocks of nodes differ, so a capture may be doubted wrongly; that does no harm.
    """
    frames = [frame for capture in captures for frame in marked(capture.sightings, mark)]
    times = [frame.sighting.time for frame in frames]
    return tuple(
        replace(capture, doubt=f"the capture on {capture.node} does not span the time of the flow")
        if times
        and not capture.doubt
        and not marked(capture.sightings, mark)
        and not _spans(capture, min(times), max(times))
        else capture
        for capture in captures
    )


def _spans(capture: Capture, first: float, last: float) -> bool:
    times = [sighting.time for sighting in capture.sightings]
    return bool(times) and min(times) <= first and max(times) >= last


def _reached(destination: Address, requested: Address) -> tuple[Address, ...]:
    """Return the last destination of the flow, if it is not the one that it was sent to."""
    return (destination,) if destination != requested else ()


def protocol_of(*, token: str | None) -> Protocol:
    """Return the protocol of a mark: a token marks datagrams, a port marks connections."""
    return Protocol.UDP if token else Protocol.TCP
