"""A server and a capture tell of the same connection: where they agree, where they differ, and what proves nothing."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.model.json_text import Object
from nettests.model.observation import Raw, Subject, Witnessed
from nettests.model.words import Outcome
from nettests.parse.read import read_raw
from nettests.parse.witness import WITNESS, witnessed_in
from tests.parse.raws import raw

POD, NODE, BACKEND, OTHER = "10.244.3.5", "172.30.0.21", "10.244.1.9", "172.30.0.12"
POD_MAC, NODE_MAC = "00:15:5d:00:00:05", "00:15:5d:aa:00:21"


def frame(node: str, edge: str, direction: str, **changes: Any) -> Object:
    """A packet of the request, behind the translation of its destination."""
    usual = {
        "node": node,
        "interface": "uplink" if edge == "wire" else "port",
        "edge": edge,
        "direction": direction,
        "way": "request",
        "source": POD,
        "source_port": 28002,
        "destination": BACKEND,
        "destination_port": 18082,
        "source_mac": POD_MAC if edge == "Pod" else NODE_MAC,
        "destination_mac": "",
        "tunnel": None,
    }
    return {**usual, **changes}


def back(node: str, edge: str, direction: str, **changes: Any) -> Object:
    """A packet of the reply."""
    ends = {"source": BACKEND, "source_port": 18082, "destination": POD, "destination_port": 28002}
    return frame(node, edge, direction, way="reply", **{**ends, **changes})


def path() -> list[Object]:
    """All that is seen where nothing is wrong."""
    return [
        frame("win-1", "Pod", "in", destination="10.96.7.7"),
        frame("win-1", "wire", "out"),
        frame("linux-1", "wire", "in"),
        frame("linux-1", "Pod", "out"),
        back("linux-1", "Pod", "in"),
        back("linux-1", "wire", "out"),
        back("win-1", "wire", "in"),
        back("win-1", "Pod", "out", source="10.96.7.7"),
    ]


def record(**changes: Any) -> Object:
    """A Pod of win-1 was answered by one of linux-1, through a Service, on l2bridge."""
    usual = {
        "request": "clientip",
        "exit_code": 0,
        "stdout": f"{POD}:28002",
        "stderr": "",
        "source_node": "win-1",
        "backend_node": "linux-1",
        "backend": BACKEND,
        "outside": False,
        "nodes": {"win-1": [NODE, POD], "linux-1": ["172.30.0.11", BACKEND]},
        "encapsulation": "plain",
        "told_by": "flannel's backend host-gw (test)",
        "vni": None,
        "driver": "l2bridge",
        "doubts": [],
        "frames": path(),
    }
    return {**usual, **changes}


def of(one: Object) -> Raw:
    return raw(WITNESS, stdout=json.dumps(one))


def compared(one: Object) -> dict[Subject, Witnessed]:
    return {each.subject: each for each in witnessed_in([of(one)])}


def tunnelled(one: Object, vni: int = 4096, **changes: Any) -> Object:
    """The same frame as it crosses an overlay."""
    ends = {"request": (NODE, "172.30.0.11"), "reply": ("172.30.0.11", NODE)}[one["way"]]
    tunnel = {"kind": "VXLAN", "vni": vni, "source": ends[0], "destination": ends[1]}
    return {**one, "tunnel": {**tunnel, **changes}}


def overlay(*frames: Object) -> Object:
    crossing = frames or tuple(tunnelled(one) if one["edge"] == "wire" else one for one in path())
    return record(
        encapsulation="vxlan", vni=4096, driver="overlay", frames=list(crossing), told_by="net-conf"
    )


def test_what_both_tell_alike_is_no_finding() -> None:
    """The server's answer counts, and every subject has both witnesses."""
    one = read_raw(of(record()))
    assert (one.outcome, one.server_saw, one.source_port) == (Outcome.CONNECTED, POD, 28002)
    found = compared(record())
    assert found.keys() == {Subject.SOURCE, Subject.REPLY, Subject.ENCAPSULATION, Subject.MAC}
    assert all(each.agree for each in found.values())
    assert f"source address: {POD}:28002, as the server says" in one.detail


@pytest.mark.parametrize("number", [1, 2, 3])
def test_another_source_on_the_way_is_told_with_its_place(number: int) -> None:
    """Wherever it is from the uplink on: the server was shown something else."""
    frames = path()
    frames[number]["source"] = NODE
    told = compared(record(frames=frames))[Subject.SOURCE]
    assert not told.agree
    place = f"{frames[number]['node']}, {frames[number]['interface']}"
    assert str(told) == (
        f"source address: the server says {POD}:28002, the capture on {place} shows {NODE}:28002"
    )


def test_another_port_is_another_source() -> None:
    """A translator on the way shows by the port alone, where it keeps the address."""
    frames = path()
    frames[3]["source_port"] = 40001
    assert not compared(record(frames=frames))[Subject.SOURCE].agree


def test_what_the_pod_sent_before_its_node_translated_it_is_no_contradiction() -> None:
    """Without DSR the source is rewritten in the node: what counts is how it leaves, and what comes back goes there."""
    frames = path()
    for number in (1, 2, 3):
        frames[number] |= {"source": NODE, "source_port": 50000}
    for number in (4, 5, 6):
        frames[number] |= {"destination": NODE, "destination_port": 50000}
    found = compared(record(stdout=f"{NODE}:50000", frames=frames))
    assert found[Subject.SOURCE].agree
    assert found[Subject.REPLY].agree


def test_a_reply_that_goes_to_somebody_else_is_told() -> None:
    """With DSR the server saw the Pod, and answers it directly."""
    frames = path()
    frames[5]["destination"] = OTHER
    told = compared(record(frames=frames))[Subject.REPLY]
    assert not told.agree
    assert told.shows == f"{OTHER}:28002"


@pytest.mark.parametrize(
    ("crossing", "shows"),
    [
        (tunnelled(path()[1], vni=4097), "VXLAN 4097 to 172.30.0.11"),
        (tunnelled(path()[1], kind="GENEVE"), "GENEVE 4096 to 172.30.0.11"),
        (tunnelled(path()[1], destination=OTHER), f"VXLAN 4096 to {OTHER}"),
        (path()[1], f"{POD}:28002 → {BACKEND}:18082 without encapsulation"),
        (tunnelled(path()[5], destination=OTHER), f"VXLAN 4096 to {OTHER}"),
    ],
    ids=["VNI", "kind", "node", "none", "of the reply"],
)
def test_a_tunnel_that_is_not_the_configured_one_is_told(crossing: Object, shows: str) -> None:
    """Kind, network id and the node that it leads to are compared, of both directions."""
    rest = [tunnelled(one) if one["edge"] == "wire" else one for one in path()[2:]]
    told = compared(overlay(path()[0], crossing, *rest))[Subject.ENCAPSULATION]
    assert not told.agree
    assert (told.witness, told.says, told.shows) == (
        "net-conf",
        "VXLAN 4096 between the nodes of both ends",
        shows,
    )


def test_the_configured_tunnel_agrees() -> None:
    """And no MAC address is claimed of an overlay."""
    found = compared(overlay())
    assert found[Subject.ENCAPSULATION].agree
    assert Subject.MAC not in found


def test_a_tunnel_where_none_is_configured_is_told() -> None:
    """host-gw lets packets cross as they are."""
    frames = path()
    frames[1] = tunnelled(frames[1])
    assert not compared(record(frames=frames))[Subject.ENCAPSULATION].agree


def test_of_other_plugins_no_encapsulation_is_claimed() -> None:
    """What facts do not tell has one witness only, and is not compared."""
    assert Subject.ENCAPSULATION not in compared(record(encapsulation=""))


def test_a_pods_own_mac_address_on_the_wire_is_told() -> None:
    """l2bridge rewrites it; only frames with Ethernet headers tell."""
    frames = path()
    frames[1]["source_mac"] = POD_MAC
    told = compared(record(frames=frames))[Subject.MAC]
    assert not told.agree
    assert POD_MAC in told.shows
    for one in frames:
        one["source_mac"] = ""
    assert Subject.MAC not in compared(record(frames=frames))


def outside(saw: str, left: str) -> Object:
    frames = [frame("win-1", "Pod", "in"), frame("win-1", "wire", "out", source=left)]
    return record(outside=True, backend_node="outside", stdout=f"{saw}:28002", frames=frames)


@pytest.mark.parametrize(("saw", "left", "agree"), [(NODE, NODE, True), (NODE, POD, False)])
def test_outbound_nat_is_seen_where_it_happens(saw: str, left: str, agree: bool) -> None:
    """The server outside saw the node; if the Pod's packets left with their own address, something else translated them."""
    told = compared(outside(saw, left))[Subject.NAT]
    assert told.agree is agree
    assert told.witness == "the server outside"


def test_ipv6_is_compared_as_servers_write_it() -> None:
    """In brackets, in their shortest form."""
    frames = path()
    for one in frames:
        one["source"] = "fd00:1::5" if one["way"] == "request" else one["source"]
        one["destination"] = "fd00:1::5" if one["way"] == "reply" else one["destination"]
    found = compared(record(stdout="[fd00:1::5]:28002", frames=frames))
    assert found[Subject.SOURCE].agree
    assert found[Subject.REPLY].agree


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"doubts": ["the capture on win-1 does not show"]},
            "proves nothing: the capture on win-1",
        ),
        ({"frames": []}, "no frame shows the source"),
        ({"stdout": "no address", "encapsulation": "plain"}, "no frame shows the source"),
        ({"frames": path()[5:7]}, "no frame shows the source"),
    ],
    ids=["a capture that is not whole", "no frame", "the server does not tell", "replies alone"],
)
def test_what_was_not_captured_whole_cannot_be_trusted(changes: Object, why: str) -> None:
    """An answer alone is no second witness."""
    one = read_raw(of(record(**changes)))
    assert one.outcome is Outcome.PROBE_FAILED
    assert why in one.detail
    assert witnessed_in([of(record(**changes))]) == ()


def test_a_connection_without_an_answer_is_what_curl_says() -> None:
    """Whatever was captured: there is nothing to compare it with."""
    silent = record(exit_code=28, stdout="", stderr="curl: (28) Connection timed out", doubts=["x"])
    assert read_raw(of(silent)).outcome is Outcome.TIMED_OUT
    assert witnessed_in([of(silent)]) == ()


def test_a_channel_that_failed_is_no_answer() -> None:
    """Nothing was probed, and nothing is told."""
    broken = replace(of(record()), error="the stream was closed")
    assert read_raw(broken).outcome is Outcome.PROBE_FAILED


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.sampled_from(sorted(record())), _JSON)
def test_a_record_of_another_shape_ends_in_an_answer(key: str, value: Any) -> None:
    """Whatever stands in a journal: it is read, or it cannot be read; nothing is raised."""
    hostile = of(record(**{key: value}))
    assert read_raw(hostile).number == 1
    assert isinstance(witnessed_in([hostile]), tuple)


@given(st.integers(0, 7), st.sampled_from(sorted(path()[0])), _JSON)
def test_a_frame_of_another_shape_ends_in_an_answer(number: int, key: str, value: Any) -> None:
    """Nor does it matter where in the record it is."""
    frames = path()
    frames[number][key] = value
    hostile = of(record(frames=frames))
    assert read_raw(hostile).number == 1
    assert isinstance(witnessed_in([hostile]), tuple)
