"""The frames of a flow are known again, whatever was done to them on the way."""

from dataclasses import replace
from ipaddress import ip_address

from nettests.model.words import Protocol
from nettests.tracing.mark import Mark, Way, belonging, marked, proven
from nettests.tracing.packet import Capture, Direction, Edge, Packet, Quoted, Sighting
from tests.tracing.frames import BACKEND, MARK, POD, PORT, VIP, answer, packet


def at(*packets: Packet) -> tuple[Sighting, ...]:
    return tuple(Sighting(node="n", time=0.0, packet=one) for one in packets)


def ways(mark: Mark, *packets: Packet) -> list[Way | None]:
    belongs = {one.packet: one.way for one in marked(at(*packets), mark)}
    return [belongs.get(replace(one, payload=b"")) for one in packets]


def test_a_source_port_is_known_both_ways() -> None:
    """The client's port is the source of requests and the destination of replies."""
    other = packet(source_port=5, sequence=9)
    assert ways(MARK, packet(), answer(), other) == [Way.REQUEST, Way.REPLY, None]


def test_a_rewritten_port_is_known_by_the_sequence_number() -> None:
    """A translator that takes another source port leaves the connection's first sequence number."""
    rewritten = packet(source_port=61000)
    back = answer(destination_port=61000)
    assert ways(MARK, packet(), rewritten, back) == [Way.REQUEST, Way.REQUEST, Way.REPLY]
    assert ways(MARK, rewritten, back) == [None, None]


def test_a_word_marks_datagrams_and_their_port_marks_the_replies() -> None:
    """Datagrams begin with the word; the reply, which may repeat it, goes to the port that they came from."""
    mark = Mark(protocol=Protocol.UDP, token=b"echo nt1")
    one = packet(
        protocol=Protocol.UDP, syn=False, sequence=None, source_port=4000, payload=b"echo nt1"
    )
    back = replace(
        one,
        source=BACKEND,
        destination=POD,
        source_port=81,
        destination_port=4000,
        payload=b"nt1",
    )
    other = replace(one, source_port=4001, payload=b"hello")
    assert ways(mark, one, back, other) == [Way.REQUEST, Way.REPLY, None]


def test_a_query_is_known_by_its_name_and_its_answer_by_the_port() -> None:
    """The name stands behind the header of the message, in the answer too, whose flag says that it is one."""
    mark = Mark(protocol=Protocol.UDP, token=b"nettests28002", query=True)
    name = b"\x0dnettests28002\x07default\x00"
    query = packet(
        protocol=Protocol.UDP,
        syn=False,
        sequence=None,
        source_port=4000,
        destination_port=53,
        payload=b"\x12\x34\x01\x00" + name,
    )
    translated = replace(query, source_port=61000, destination=BACKEND)
    back = replace(
        query,
        source=BACKEND,
        destination=POD,
        source_port=53,
        destination_port=4000,
        payload=b"\x12\x34\x81\x83" + name,
    )
    other = replace(query, source_port=4001, payload=b"\x12\x35\x01\x00\x0dnettests28003")
    cut = replace(query, source_port=4002, payload=b"")
    found = ways(mark, query, translated, back, other, cut)
    assert found == [Way.REQUEST, Way.REQUEST, Way.REPLY, None, None]


def test_a_size_marks_echoes() -> None:
    """Requests and replies of that many bytes, also where the capture cut them; others are not of the flow."""
    mark = Mark(protocol=Protocol.ICMP, size=733)
    request = packet(
        protocol=Protocol.ICMP,
        syn=False,
        source_port=None,
        destination_port=None,
        icmp=(8, 0),
        length=761,
    )
    reply = replace(request, source=VIP, destination=POD, icmp=(0, 0))
    smaller = replace(request, length=84)
    assert ways(mark, request, reply, smaller) == [Way.REQUEST, Way.REPLY, None]
    six = replace(request, source=ip_address("fd00::1"), icmp=(128, 0), length=781)
    assert ways(mark, six) == [Way.REQUEST]


def test_an_error_belongs_to_the_packet_that_it_quotes() -> None:
    """ICMP errors are known by the ports in the head that they quote."""
    quoted = Quoted(source=POD, destination=VIP, source_port=PORT, destination_port=80)
    error = packet(protocol=Protocol.ICMP, source_port=None, icmp=(3, 4), quoted=quoted)
    other = replace(error, quoted=replace(quoted, source_port=7))
    assert ways(MARK, packet(), error, other) == [Way.REQUEST, Way.ERROR, None]


def test_frames_can_be_chosen_by_what_others_show() -> None:
    """What was learnt of a capture tells of each of its packets whether it is of the flow."""
    belongs = belonging(at(packet(), packet(source_port=61000)), MARK)
    assert belongs(answer(destination_port=61000))
    assert not belongs(answer(destination_port=61001))


def _capture(*sightings: Sighting, doubt: str = "") -> Capture:
    return Capture(node="n", sightings=sightings, doubt=doubt)


def _sent(port: int, interface: str = "eth0", edge: Edge = Edge.UNKNOWN) -> Sighting:
    return Sighting(
        node="n",
        time=0.0,
        packet=packet(source_port=port, sequence=port),
        interface=interface,
        direction=Direction.OUT,
        edge=edge,
    )


def test_a_capture_is_whole_that_shows_both_canaries() -> None:
    """What was sent before and after the flow has to be there."""
    whole = proven(_capture(_sent(1), _sent(2)), before=1, after=2)
    assert not whole.doubt
    assert "before" in proven(_capture(_sent(2)), before=1, after=2).doubt
    assert "after" in proven(_capture(_sent(1)), before=1, after=2).doubt
    assert "before and after" in proven(_capture(), before=1, after=2).doubt


def test_an_older_doubt_is_not_forgotten() -> None:
    """A capture that was cut stays doubtful, whatever it shows."""
    assert proven(_capture(_sent(1), _sent(2), doubt="cut"), before=1, after=2).doubt == "cut"


def test_canaries_tell_the_wire_from_pods() -> None:
    """The interface by which a canary left leads out of the node; all others lead to Pods, except loopback."""
    pod, loopback = _sent(9, "veth1"), _sent(9, "lo")
    seen = proven(_capture(_sent(1), _sent(2), pod, loopback), before=1, after=2).sightings
    assert [one.edge for one in seen] == [Edge.WIRE, Edge.WIRE, Edge.POD, Edge.UNKNOWN]
    stated = proven(_capture(_sent(1, edge=Edge.POD), pod), before=1, after=2).sightings
    assert [one.edge for one in stated] == [Edge.POD, Edge.UNKNOWN]
