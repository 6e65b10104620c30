"""Where some packets of a flow were lost and others passed the trace says so, and never calls the whole path broken or sound."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.model.words import Protocol
from nettests.tracing.finding import Finding, Trace
from nettests.tracing.mark import Mark
from nettests.tracing.packet import Scene, Sighting
from nettests.tracing.path import trace
from tests.tracing.frames import (
    BACKEND,
    MARK,
    PATH,
    POD,
    POD_IN,
    POD_OUT,
    PORT,
    WIRE_IN,
    WIRE_OUT,
    answer,
    captures,
    packet,
    scene,
    seen,
)

DIRECT = scene(translator="", requested=BACKEND, requested_port=18080)
ARRIVES, LOST = 4, 2
"""Of the places of a request, how many see one that arrives, and one that is lost between the nodes."""


def request(size: int, places: int = ARRIVES, **changes: Any) -> tuple[Sighting, ...]:
    """Data of the client, seen at so many places of its way."""
    one = packet(
        destination=BACKEND,
        destination_port=18080,
        syn=False,
        ack=True,
        sequence=size,
        carried=size,
        **changes,
    )
    ways = (("win-1", POD_IN), ("win-1", WIRE_OUT), ("linux-1", WIRE_IN), ("linux-1", POD_OUT))
    return tuple(seen(node, where, one) for node, where in ways[:places])


def reply(size: int, places: int = ARRIVES, **changes: Any) -> tuple[Sighting, ...]:
    """The server's data on its way back."""
    one = answer(syn=False, sequence=size, carried=size, **changes)
    ways = (("linux-1", POD_IN), ("linux-1", WIRE_OUT), ("win-1", WIRE_IN), ("win-1", POD_OUT))
    return tuple(seen(node, where, one) for node, where in ways[:places])


def found(
    *parts: tuple[Sighting, ...], of: Scene = DIRECT, answered: bool = True, mark: Mark = MARK
) -> Trace:
    sightings = tuple(one for part in parts for one in part)
    return trace(of, mark, captures(sightings), answered=answered)


def test_what_was_sent_again_and_came_once_was_lost_once() -> None:
    """An answered connection of which one packet was lost between the nodes is not sound."""
    one = found(request(100), request(200, LOST), request(200), reply(50))
    assert (one.finding, one.node) == (Finding.LOSES_SOME, "linux-1")
    assert one.detail.startswith("1 of 3 packets that were seen on win-1 (left the node)")


def test_what_was_sent_again_and_came_twice_was_not_lost() -> None:
    """A retransmission alone proves no loss: the answer may have been slow."""
    one = found(request(100), request(200), request(200), reply(50))
    assert one.finding is Finding.NOTHING_WRONG


def test_a_packet_at_two_edges_of_a_component_is_one() -> None:
    """pktmon logs it at each edge that it passes; the other node's tool shows it once, and nothing was lost."""
    parts = (request(100), reply(50))
    twice = [
        replace(one, edge_id=number)
        for part in parts
        for one in part
        for number in (("1", "2") if one.node == "win-1" else ("",))
    ]
    assert trace(DIRECT, MARK, captures(twice), answered=True).finding is Finding.NOTHING_WRONG


def test_a_frame_that_one_capture_missed_is_no_loss() -> None:
    """What was never sent again came: the connection was answered."""
    one = found(request(100), request(200, LOST), reply(50))
    assert one.finding is Finding.NOTHING_WRONG


def test_losses_on_the_way_back_are_named_there() -> None:
    """A reply that was sent twice and came once was lost between the nodes, on its way back."""
    one = found(request(100), reply(50, LOST), reply(50), reply(60))
    assert (one.finding, one.node) == (Finding.LOSES_SOME, "win-1")
    assert "reply arrived" in one.detail


def test_a_dead_way_is_not_called_a_lossy_one() -> None:
    """Where nothing of a kind passed, the hop is broken, not now and then."""
    one = found(request(100), reply(50, LOST), reply(50, LOST), answered=False)
    assert (one.finding, one.node) == (Finding.REPLY_LOST, "win-1")


def test_a_flow_that_was_given_up_among_losses_is_lossy() -> None:
    """Three requests of which one arrived, and its reply was lost: the way loses some, and the trace says that."""
    parts = (request(100, LOST), request(100, LOST), request(100), reply(50, LOST))
    one = found(*parts, answered=False)
    assert (one.finding, one.node) == (Finding.LOSES_SOME, "linux-1")


def test_a_doubtful_capture_proves_no_loss() -> None:
    """Where a capture is not whole, what it lacks may have come."""
    sightings = (*request(100), *request(200, LOST), *request(200), *reply(50))
    every = [
        replace(one, doubt="it ended early") if one.node == "linux-1" else one
        for one in captures(sightings)
    ]
    assert trace(DIRECT, MARK, every, answered=True).finding is Finding.NOTHING_WRONG


TOKEN = Mark(protocol=Protocol.UDP, token=b"nettests")
DATAGRAMS = replace(DIRECT, protocol=Protocol.UDP, tries=3)


def datagram(port: int, places: int = ARRIVES, *, answered: bool = True) -> tuple[Sighting, ...]:
    """One of a train, and its answer."""
    sent: dict[str, Any] = {"protocol": Protocol.UDP, "source_port": port, "payload": b"nettests"}
    back: dict[str, Any] = {"protocol": Protocol.UDP, "destination_port": port}
    there = request(8, places, **sent)
    return (*there, *reply(8, **back)) if places == ARRIVES and answered else there


def test_datagrams_are_counted_by_their_ports() -> None:
    """A datagram without an answer, which did not arrive, was lost."""
    one = found(
        datagram(1), datagram(2, LOST), datagram(3), of=DATAGRAMS, mark=TOKEN, answered=False
    )
    assert (one.finding, one.node) == (Finding.LOSES_SOME, "linux-1")
    assert one.detail.startswith("1 of 3 packets")


def test_a_train_without_a_loss_proves_how_little_it_can() -> None:
    """None of six was lost: nothing is wrong now, and the trace says which loss would not have shown."""
    one = found(datagram(1), datagram(2), datagram(3), of=DATAGRAMS, mark=TOKEN)
    assert one.finding is Finding.NOTHING_WRONG
    assert "none of 6 packets was lost: a loss of less than 50 %" in one.detail


def test_a_train_of_which_nothing_was_captured_proves_nothing() -> None:
    """An answered train without a frame is no sound path."""
    one = found(of=DATAGRAMS, mark=TOKEN)
    assert one.finding is Finding.UNSURE
    assert "none of 0 packets was lost: a loss of less than 100 %" in one.detail


def test_a_train_that_is_lost_whole_stops_at_its_hop() -> None:
    """Where no datagram of a train arrives the hop is broken."""
    one = found(datagram(1, LOST), datagram(2, LOST), of=DATAGRAMS, mark=TOKEN, answered=False)
    assert (one.finding, one.node) == (Finding.LOST_BETWEEN_NODES, "linux-1")


SERVED = Mark(protocol=Protocol.TCP, served=18080)
SILENT = replace(DIRECT, silence=300.0)


def silent(*parts: tuple[Sighting, ...], anew: bool, of: Scene = SILENT) -> Trace:
    sightings = tuple(one for part in parts for one in part)
    return trace(of, SERVED, captures(sightings), answered=False, anew=anew)


def test_a_connection_that_was_silent_is_forgotten_where_it_stops() -> None:
    """It stood, a new one is answered, and its own packets came no further: that hop forgot it."""
    one = silent(request(6, LOST), request(6, LOST), anew=True)
    assert (one.finding, one.node) == (Finding.FORGOTTEN, "linux-1")
    assert "300 s of silence" in one.detail


def test_what_the_node_itself_says_of_a_forgotten_flow_is_told() -> None:
    """A drop with its reason stands in the detail."""
    dropped = seen("linux-1", WIRE_IN, request(6)[2].packet, drop="InvalidPacket (0xE0006058)")
    one = silent(request(6, 3), (dropped,), anew=True)
    assert (one.finding, one.node) == (Finding.FORGOTTEN, "linux-1")
    assert "dropped it at uplink: InvalidPacket (0xE0006058)" in one.detail


def test_a_reset_after_silence_is_a_forgotten_connection_too() -> None:
    """Whoever answers with a reset no longer knows the connection: nobody refused to open it."""
    one = silent(request(6), reply(0, reset=True), anew=True)
    assert one.finding is Finding.FORGOTTEN
    assert "reset" in one.detail


@pytest.mark.parametrize(
    ("parts", "anew", "why"),
    [
        ((request(6, LOST),), False, "the path itself may be broken"),
        ((), True, "captures do not show where"),
    ],
    ids=["a path that is broken", "nothing captured"],
)
def test_silence_is_blamed_only_if_a_new_connection_passes(
    parts: tuple[tuple[Sighting, ...], ...], anew: bool, why: str
) -> None:
    """Where a new connection is not answered either, or no frame shows where, the trace is unsure and says why."""
    one = silent(*parts, anew=anew)
    assert (one.finding, one.node) == (Finding.UNSURE, "")
    assert why in one.detail


def test_a_server_that_is_the_trace_s_own_marks_both_ways() -> None:
    """An unknown client's port is no hindrance: requests go to the server's port, replies come from it."""
    one = trace(SILENT, SERVED, captures((*request(6), *reply(6))), answered=True)
    assert one.finding is Finding.NOTHING_WRONG
    assert {frame.packet.source_port for frame in one.frames} == {PORT, 18080}
    assert {str(frame.packet.source) for frame in one.frames} == {str(POD), str(BACKEND)}


def test_a_healthy_path_shows_no_loss_of_its_own() -> None:
    """The usual frames of a Service's connection, each seen once, are all there."""
    assert found(PATH, of=scene()).finding is Finding.NOTHING_WRONG
