"""Packets that a node sends before and after the flow, to prove that its capture saw all of it. Pure.

Without them, silence in a capture would say the same as a capture that began late, ended early or filtered too much.
They go from one captured node to another by the nodes' own network, so that on Linux they show which interface leads out.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from nettests.tracing.sighting import Capture, Direction, Edge, Sighting


def proven(capture: Capture, *, before: int, after: int) -> Capture:
    """Return the capture, doubted if a canary is missing; canaries are known by their source ports."""
    sent = {before: "before", after: "after"}
    missing = [
        word
        for port, word in sent.items()
        if not any(sighting.packet.source_port == port for sighting in capture.sightings)
    ]
    doubt = capture.doubt
    if missing and not doubt:
        doubt = (
            f"the capture on {capture.node} does not show what the node sent itself "
            f"{' and '.join(missing)} the flow"
        )
    return replace(capture, doubt=doubt, sightings=_placed(capture.sightings, sent))


def _placed(sightings: Sequence[Sighting], ports: Collection[int]) -> tuple[Sighting, ...]:
    """Say what interfaces lead to, if the capture's own tool did not."""
    out = {
        sighting.interface
        for sighting in sightings
        if sighting.packet.source_port in ports
        and sighting.direction is Direction.OUT
        and sighting.edge is Edge.UNKNOWN
        and sighting.interface not in {"", "lo"}
    }
    if not out:
        return tuple(sightings)
    return tuple(
        replace(sighting, edge=Edge.WIRE if sighting.interface in out else Edge.POD)
        if sighting.edge is Edge.UNKNOWN and sighting.interface not in {"", "lo"}
        else sighting
        for sighting in sightings
    )
