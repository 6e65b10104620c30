"""The first hop that a flow did not reach is found, and named; what was not captured proves nothing."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.model.words import Protocol
from nettests.tracing.finding import Finding, Trace
from nettests.tracing.mark import Mark
from nettests.tracing.packet import Direction, Edge, End, Quoted, Scene, Sighting
from nettests.tracing.path import trace
from tests.tracing.frames import (
    BACK,
    BACKEND,
    CANARIES,
    LINUX,
    MARK,
    OTHER,
    PATH,
    POD,
    POD_IN,
    POD_OUT,
    PORT,
    TRANSLATED,
    WIN,
    WIRE_IN,
    WIRE_OUT,
    answer,
    captures,
    packet,
    scene,
    seen,
    tunnelled,
)


def found(
    sightings: tuple[Sighting, ...], of: Scene | None = None, *, answered: bool = False
) -> Trace:
    return trace(of or scene(), MARK, captures(sightings), answered=answered)


def test_a_flow_that_came_back_has_nothing_wrong() -> None:
    """Every hop was seen, and the client had its answer."""
    one = found(PATH, answered=True)
    assert one.finding is Finding.NOTHING_WRONG
    assert all(hop.seen for hop in one.hops)
    assert one.stopped is None


@pytest.mark.parametrize(
    ("reached", "finding", "node"),
    [
        (0, Finding.NEVER_LEFT_POD, "win-1"),
        (2, Finding.LOST_BETWEEN_NODES, "linux-1"),
        (3, Finding.NOT_DELIVERED, "linux-1"),
        (4, Finding.UNANSWERED, "linux-1"),
        (5, Finding.REPLY_LOST, "linux-1"),
        (6, Finding.REPLY_LOST, "win-1"),
        (7, Finding.REPLY_NOT_TRANSLATED, "win-1"),
    ],
)
def test_the_hop_behind_the_last_frame_is_the_finding(
    reached: int, finding: Finding, node: str
) -> None:
    """However far the flow came, the trace names the hop that it did not reach, and its node."""
    one = found(PATH[:reached])
    assert (one.finding, one.node) == (finding, node)


DIRECT = Mark(protocol=Protocol.TCP, port=28007)


def _to_backend(*where: tuple[str, Direction, Edge]) -> tuple[Sighting, ...]:
    """A second flow, to the backend's own address."""
    own = replace(TRANSLATED, source_port=28007, sequence=77)
    return tuple(seen("win-1", one, own) for one in where)


def test_what_a_node_swallows_is_not_translated_if_other_packets_pass() -> None:
    """Nothing of the flow leaves the node, and a packet to the backend itself does: the load balancer is missing."""
    every = captures((PATH[0], *_to_backend(POD_IN, WIRE_OUT)))
    one = trace(scene(), MARK, every, answered=False, direct=DIRECT)
    assert (one.finding, one.node) == (Finding.UNTRANSLATED, "win-1")


def test_what_leaves_as_it_was_is_not_translated() -> None:
    """A packet that is seen leaving for the Service's address needs no further proof."""
    one = found((PATH[0], seen("win-1", WIRE_OUT, packet())))
    assert (one.finding, one.node) == (Finding.UNTRANSLATED, "win-1")


def test_a_node_that_swallows_everything_is_not_blamed_for_its_load_balancer() -> None:
    """Where a packet to the backend itself does not leave either, the node loses it."""
    every = captures((PATH[0], *_to_backend(POD_IN)))
    one = trace(scene(), MARK, every, answered=False, direct=DIRECT)
    assert one.finding is Finding.LOST_IN_SOURCE_NODE


def test_what_a_node_does_inside_does_not_show() -> None:
    """Without another packet nobody knows whether what was swallowed had been translated."""
    one = found(PATH[:1])
    assert one.finding is Finding.UNSURE
    assert "do not show whether it was translated" in one.detail


@pytest.mark.parametrize("reached", [0, *range(2, 8)])
def test_silence_of_a_doubtful_capture_is_no_finding(reached: int) -> None:
    """Where a capture began late or ended early, what it does not show may have passed."""
    sure = found(PATH[:reached])
    node = sure.stopped.node if sure.stopped else ""
    every = [
        replace(each, doubt="it ended early") if each.node == node else each
        for each in captures(PATH[:reached])
    ]
    one = trace(scene(), MARK, every, answered=False)
    assert one.finding is Finding.UNSURE
    assert "it ended early" in one.detail


def test_a_node_that_was_not_captured_is_named() -> None:
    """Without a capture of the destination's node nobody knows whether the flow arrived."""
    one = trace(scene(), MARK, captures(PATH[:2])[:1], answered=False)
    assert one.finding is Finding.UNSURE
    assert "nothing was captured on linux-1" in one.detail


def test_an_interface_that_nobody_knows_proves_no_delivery() -> None:
    """A capture that does not say which interfaces lead to Pods cannot say that nothing was delivered."""
    first, second = captures(PATH[:3])
    plain = replace(
        second, sightings=tuple(one for one in second.sightings if one.interface != "pod")
    )
    one = trace(scene(), MARK, (first, plain), answered=False)
    assert one.finding is Finding.UNSURE
    assert "Pod" in one.detail


def test_a_frame_seen_late_proves_the_hops_before_it() -> None:
    """An answer from the backend shows that the request was delivered, whether or not that was seen."""
    one = found((*PATH[:3], *PATH[4:]), answered=True)
    assert one.finding is Finding.NOTHING_WRONG


def test_a_packet_that_did_not_leave_the_node_is_lost_there() -> None:
    """Translated inside the switch and never at the uplink: the source's own node lost it."""
    one = found((PATH[0], seen("win-1", POD_OUT, TRANSLATED)))
    assert (one.finding, one.node) == (Finding.LOST_IN_SOURCE_NODE, "win-1")


def test_a_backend_that_is_no_endpoint_is_dead() -> None:
    """The load balancer chose an address that the Service does not have any more."""
    stale = packet(destination=ip_address("10.244.1.99"), destination_port=18080)
    one = found((PATH[0], seen("win-1", WIRE_OUT, stale)))
    assert one.finding is Finding.DEAD_BACKEND
    assert "10.244.1.99" in one.detail


def test_a_port_at_which_nothing_serves_is_a_dead_backend() -> None:
    """The right backend at another port is none."""
    wrong = packet(destination=BACKEND, destination_port=18099)
    one = found((PATH[0], seen("win-1", WIRE_OUT, wrong)))
    assert one.finding is Finding.DEAD_BACKEND
    assert "18099" in one.detail


def test_another_network_id_is_seen_on_the_wire() -> None:
    """A packet that crosses with VNI 1 is understood by nobody, whatever else is missing."""
    one = found(
        (PATH[0], tunnelled(PATH[1], 1), tunnelled(PATH[2], 1)),
        scene(encapsulated=True, vni=4096),
    )
    assert one.finding is Finding.WRONG_VNI
    assert "VNI 1 instead of 4096" in one.detail


def test_a_network_id_that_changes_on_the_way_is_seen_without_facts() -> None:
    """Where nobody knows the right number, one that is another on arrival is wrong all the same."""
    one = found((PATH[0], tunnelled(PATH[1], 7), tunnelled(PATH[2], 9)), scene(encapsulated=True))
    assert (one.finding, one.node) == (Finding.WRONG_VNI, "linux-1")
    assert "VNI 9 instead of 7" in one.detail


def test_a_packet_without_its_tunnel_is_seen_at_the_uplink() -> None:
    """On an overlay a Pod's packet that leaves as it is comes nowhere."""
    one = found(PATH[:2], scene(encapsulated=True, vni=4096))
    assert (one.finding, one.node) == (Finding.NOT_ENCAPSULATED, "win-1")


def test_a_tunnel_with_the_right_id_is_as_expected() -> None:
    """What arrived encapsulated and was not taken out is not delivered, and nothing else is wrong with it."""
    one = found(
        (PATH[0], tunnelled(PATH[1]), tunnelled(PATH[2])), scene(encapsulated=True, vni=4096)
    )
    assert one.finding is Finding.NOT_DELIVERED


def test_a_reset_by_the_backend_is_a_refusal() -> None:
    """A backend that says no was reached: its node is named, and not the path."""
    no = answer(syn=False, reset=True)
    back = replace(no, source=BACK.source, source_port=80)
    one = found(
        (*PATH[:4], *(replace(each, packet=no) for each in PATH[4:7]), seen("win-1", POD_OUT, back))
    )
    assert (one.finding, one.node) == (Finding.REFUSED, "linux-1")


def test_a_reset_after_an_opening_is_no_refusal() -> None:
    """A connection that was opened and then reset came to its destination."""
    reset = seen("win-1", WIRE_IN, answer(syn=False, reset=True))
    assert found((*PATH, reset)).finding is not Finding.REFUSED


def test_a_drop_has_the_reason_of_the_node() -> None:
    """Where the node itself says that it dropped the packet, its words are the finding."""
    dropped = seen("linux-1", WIRE_IN, TRANSLATED, drop="INET: transport endpoint was not found")
    one = found((*PATH[:2], dropped))
    assert one.finding is Finding.DROPPED
    assert "transport endpoint" in one.detail


def test_a_router_s_word_stands_beside_the_hop() -> None:
    """An ICMP error about the flow, which is no refusal of its destination, is told with who sent it."""
    quoted = Quoted(source=POD, destination=BACKEND, source_port=PORT, destination_port=18080)
    error = packet(
        source=OTHER, destination=POD, protocol=Protocol.ICMP, icmp=(3, 1), quoted=quoted
    )
    one = found((*PATH[:2], seen("win-1", WIRE_IN, error)))
    assert (one.finding, one.node) == (Finding.LOST_BETWEEN_NODES, "linux-1")
    assert f"{OTHER} answered with ICMP 3 code 1" in one.detail


def test_a_drop_of_what_was_not_translated_says_so() -> None:
    """The switch dropped the packet as it was sent to the Service: it was not translated, and that needs no other flow."""
    drop = "UnicastNoDestination (0xE0006063)"
    one = found((PATH[0], seen("win-1", POD_IN, packet(), drop=drop)))
    assert (one.finding, one.node) == (Finding.UNTRANSLATED, "win-1")
    assert f"dropped it at pod: {drop}" in one.detail
    refused = found((PATH[0], seen("win-1", POD_IN, TRANSLATED, drop="Ipv4Guard (0xE0006000)")))
    assert (refused.finding, refused.node) == (Finding.DROPPED, "win-1")


def test_a_reply_that_leaves_for_another_node_took_another_way() -> None:
    """The reply was handed to a node that neither sent nor translated the request."""
    astray = seen("linux-1", WIRE_OUT, answer(destination=OTHER))
    one = found((*PATH[:5], astray))
    assert one.finding is Finding.REPLY_OTHER_WAY
    assert "linux-2" in one.detail


def test_a_source_that_has_to_be_kept_is_looked_at_where_it_is_delivered() -> None:
    """An answered flow is wrong, too, where the backend was shown the node instead of the Pod."""
    shown = tuple(
        replace(one, packet=replace(one.packet, source=WIN)) if one.node == "linux-1" else one
        for one in PATH
    )
    kept = found(shown, scene(source_kept=True), answered=True)
    assert (kept.finding, kept.node) == (Finding.SOURCE_REWRITTEN, "linux-1")
    assert found(shown, scene(), answered=True).finding is Finding.NOTHING_WRONG


def test_a_source_is_rewritten_where_it_first_differs() -> None:
    """What a node already sends on with its own address is not blamed on the node that delivers it."""
    masqueraded = tuple(
        replace(one, packet=replace(one.packet, source=WIN)) if one.edge is Edge.WIRE else one
        for one in PATH[:3]
    )
    one = found((*masqueraded, *PATH[3:]), scene(source_kept=True), answered=True)
    assert (one.node, one.stopped and one.stopped.node) == ("win-1", "win-1")
    assert one.detail.startswith("win-1 sent it on with source 172.30.0.21")


def test_a_packet_for_a_router_says_that_a_route_may_be_missing() -> None:
    """It left for a MAC address that the node which it has to reach never sends from."""
    canary = replace(
        CANARIES[1], packet=replace(CANARIES[1].packet, source_mac="02:00:00:00:00:11")
    )
    for mac, says in (("02:00:00:00:00:01", True), ("02:00:00:00:00:11", False), ("", False)):
        left = replace(PATH[1], packet=replace(TRANSLATED, destination_mac=mac))
        one = found((canary, PATH[0], left))
        assert one.finding is Finding.LOST_BETWEEN_NODES
        assert ("win-1 has no route to 10.244.1.9 through linux-1" in one.detail) is says


def test_a_node_that_sends_itself_is_not_treated_as_a_pod() -> None:
    """The next step looks at the node, which has no endpoint in HNS."""
    itself = End(address=WIN, node="win-1", on_host=True)
    one = found((), scene(source=itself))
    assert one.finding is Finding.NEVER_LEFT_POD
    assert "the node itself" in one.next_step
    assert "Pod" not in one.next_step


def _with_data(reached: int, size: int) -> tuple[Sighting, ...]:
    """A connection that was opened, and data of which the first ``reached`` hops are seen."""
    data = replace(TRANSLATED, syn=False, ack=True, sequence=1001, carried=size, length=size + 52)
    sent = replace(data, destination=packet().destination, destination_port=80)
    hops = (
        seen("win-1", POD_IN, sent),
        seen("win-1", WIRE_OUT, data),
        seen("linux-1", WIRE_IN, data),
        seen("linux-1", POD_OUT, data),
    )
    return (*PATH, *hops[:reached])


def test_large_packets_that_vanish_are_too_big() -> None:
    """The connection opens, its large packets do not arrive, and nobody says why."""
    one = found(_with_data(2, 1400), scene(size=4000))
    assert (one.finding, one.node) == (Finding.TOO_BIG_UNTOLD, "linux-1")
    assert "1452" in one.detail


def test_an_icmp_message_tells_that_packets_are_too_big() -> None:
    """The same, with a router's word."""
    told = packet(
        source=LINUX,
        destination=POD,
        source_port=None,
        destination_port=None,
        protocol=None,
        syn=False,
        icmp=(3, 4),
        quoted=Quoted(source=POD, destination=BACKEND, source_port=PORT, destination_port=18080),
    )
    one = found((*_with_data(1, 1400), seen("win-1", WIRE_IN, told)), scene(size=4000))
    assert one.finding is Finding.TOO_BIG_TOLD


def test_data_that_is_lost_is_followed_as_the_opening_was() -> None:
    """Where packets are lost at random, the opening may pass and the request not."""
    one = found(_with_data(2, 100))
    assert (one.finding, one.node) == (Finding.LOST_BETWEEN_NODES, "linux-1")


def test_a_client_that_fails_on_a_whole_path_is_not_explained() -> None:
    """All frames passed and the client had no answer: the captures do not say why."""
    back = tuple(
        replace(one, packet=replace(one.packet, syn=False, carried=200)) for one in PATH[4:]
    )
    assert found((*_with_data(4, 100), *back)).finding is Finding.UNSURE
    assert found(_with_data(4, 100)).finding is Finding.UNANSWERED


def test_without_a_service_nothing_has_to_be_translated() -> None:
    """A Pod's own address is delivered as it was sent."""
    direct = scene(
        requested=BACKEND,
        requested_port=18080,
        translator="",
        backends=(End(address=BACKEND, node="linux-1", port=18080),),
    )
    path = (
        seen("win-1", POD_IN, TRANSLATED),
        *PATH[1:7],
        seen("win-1", POD_OUT, answer()),
    )
    assert found(path, direct, answered=True).finding is Finding.NOTHING_WRONG
    assert found(path[:3], direct).finding is Finding.NOT_DELIVERED


def test_a_node_port_is_translated_on_its_own_node() -> None:
    """The request crosses to the node that owns the address before anybody translates it."""
    by_node = scene(requested=LINUX, requested_port=30080, translator="linux-1")
    sent = packet(destination=LINUX, destination_port=30080)
    crossing = (
        seen("win-1", POD_IN, sent),
        seen("win-1", WIRE_OUT, sent),
        seen("linux-1", WIRE_IN, sent),
    )
    left = seen("linux-1", WIRE_OUT, sent)
    assert found(crossing[:2], by_node).finding is Finding.LOST_BETWEEN_NODES
    one = found((*crossing, left), by_node)
    assert (one.finding, one.node) == (Finding.UNTRANSLATED, "linux-1")


def test_what_users_send_is_not_kept() -> None:
    """Frames of a trace have no payload, and those of other flows are not in it."""
    stranger = seen("win-1", POD_IN, packet(source_port=50000, sequence=7, payload=b"secret"))
    own = replace(PATH[0], packet=replace(PATH[0].packet, payload=b"GET /"))
    one = found((own, stranger, *PATH[1:]), answered=True)
    assert len(one.frames) == len(PATH)
    assert not any(each.packet.payload for each in one.frames)
