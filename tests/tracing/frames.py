"""Sightings of one flow, as captures on two nodes would hold them: the path that tests break at one place."""

from collections.abc import Iterable
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

from nettests.model.words import Protocol
from nettests.tracing.mark import Mark
from nettests.tracing.packet import (
    Capture,
    Direction,
    Edge,
    Encapsulation,
    End,
    Packet,
    Scene,
    Sighting,
)

POD, BACKEND, VIP = ip_address("10.244.3.5"), ip_address("10.244.1.9"), ip_address("10.96.7.7")
WIN, LINUX, OTHER = (ip_address(f"172.30.0.{last}") for last in (21, 11, 12))
PORT = 28002
MARK = Mark(protocol=Protocol.TCP, port=PORT)
OWNERS = {WIN: "win-1", POD: "win-1", LINUX: "linux-1", BACKEND: "linux-1", OTHER: "linux-2"}


def scene(**changes: Any) -> Scene:
    """A Pod of win-1 requests a Service whose one backend is on linux-1."""
    usual = Scene(
        protocol=Protocol.TCP,
        source=End(address=POD, node="win-1", name="probe"),
        requested=VIP,
        requested_port=80,
        backends=(End(address=BACKEND, node="linux-1", port=18080, name="server"),),
        translator="win-1",
        owners=OWNERS,
    )
    return replace(usual, **changes)


def packet(**changes: Any) -> Packet:
    """The client's SYN to the Service."""
    usual = Packet(
        source=POD,
        destination=VIP,
        protocol=Protocol.TCP,
        source_mac="",
        destination_mac="",
        ttl=64,
        source_port=PORT,
        destination_port=80,
        syn=True,
        sequence=1000,
        length=60,
    )
    return replace(usual, **changes)


def answer(**changes: Any) -> Packet:
    """The backend's SYN+ACK."""
    usual = packet(
        source=BACKEND,
        destination=POD,
        source_port=18080,
        destination_port=PORT,
        ack=True,
        sequence=2000,
    )
    return replace(usual, **changes)


TRANSLATED = packet(destination=BACKEND, destination_port=18080)
BACK = answer(source=VIP, source_port=80)
POD_IN = ("pod", Direction.IN, Edge.POD)
POD_OUT = ("pod", Direction.OUT, Edge.POD)
WIRE_IN = ("uplink", Direction.IN, Edge.WIRE)
WIRE_OUT = ("uplink", Direction.OUT, Edge.WIRE)


def seen(node: str, where: tuple[str, Direction, Edge], one: Packet, **changes: Any) -> Sighting:
    """A packet at an interface of a node."""
    interface, direction, edge = where
    usual = Sighting(
        node=node, time=1.0, packet=one, interface=interface, direction=direction, edge=edge
    )
    return replace(usual, **changes)


CANARIES = tuple(
    seen(node, WIRE_OUT, packet(source=address, source_port=28000, sequence=5))
    for node, address in (("win-1", WIN), ("linux-1", LINUX))
) + tuple(
    seen(node, POD_OUT, packet(source_port=28001, sequence=6)) for node in ("win-1", "linux-1")
)
"""What tells which interfaces lead where; none of it is of the flow."""

PATH = (
    seen("win-1", POD_IN, packet()),
    seen("win-1", WIRE_OUT, TRANSLATED),
    seen("linux-1", WIRE_IN, TRANSLATED),
    seen("linux-1", POD_OUT, TRANSLATED),
    seen("linux-1", POD_IN, answer()),
    seen("linux-1", WIRE_OUT, answer()),
    seen("win-1", WIRE_IN, answer()),
    seen("win-1", POD_OUT, BACK),
)
"""All that is seen of a flow with nothing wrong, in its order."""


def tunnelled(one: Sighting, vni: int = 4096) -> Sighting:
    """The same, as it crosses between nodes of an overlay."""
    tunnel = Encapsulation(source=WIN, destination=LINUX, vni=vni, port=4789)
    return replace(one, packet=replace(one.packet, encapsulation=tunnel))


def captures(sightings: Iterable[Sighting]) -> tuple[Capture, ...]:
    """The two nodes' captures, each with its canaries."""
    every = (*CANARIES, *sightings)
    return tuple(
        Capture(
            node=node,
            sightings=tuple(one for one in every if one.node == node),
        )
        for node in ("win-1", "linux-1")
    )
