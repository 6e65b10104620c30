"""Faults on one node do what they say with real packets, leave others alone, and go without a trace."""

from ipaddress import IPv4Address

import pytest

from nettests.lab.network.alterations import Which
from nettests.lab.network.packets import Packets
from nettests.lab.topology import Driver
from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    VIP,
    WIN_A,
    WIN_B,
    WS2022,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory
from tests.lab.network.requests_of_pods import Ask

A, B, ON_LINUX = "10.244.2.3", "10.244.3.3", "10.244.1.2"
OUTSIDE = "198.51.100.10"
PORT = 21000
BOTH = pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])


def cluster(start_lab: StartLab, driver: Driver = Driver.L2BRIDGE) -> Laboratory:
    """A pod on each node: a, b and linux."""
    lab = start_lab(profile(driver, dsr=True, release=WS2022))
    for node, name in ((WIN_A, "a"), (WIN_B, "b"), (LINUX, "linux")):
        lab.attach(node, name)
    return lab


@BOTH
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_one_of_three_connections_is_lost(
    start_lab: StartLab, driver: Driver, protocol: str
) -> None:
    """A client that is struck stays without an answer; the others, and other nodes' pods, have theirs."""
    lab = cluster(start_lab, driver)
    number = lab.fault("node_faults", "lose_connections", WIN_B, 3, Packets(protocol=protocol))
    answers = lab.send_all(*[Ask(source="a", address=B, protocol=protocol)] * 9)
    assert answers.count("timed out") == 3
    assert [lab.request("b", A, protocol=protocol) for _ in range(4)] == [f"a sees {B}"] * 4
    lab.mend(number)
    assert [lab.request("a", B, protocol=protocol) for _ in range(4)] == [f"b sees {A}"] * 4


def test_connections_beyond_a_number_are_lost_until_the_first_ones_are_forgotten(
    start_lab: StartLab,
) -> None:
    """Of the node's own pods alone; those to its pods are not counted."""
    lab = cluster(start_lab)
    number = lab.fault("node_faults", "bound_connections", WIN_A, 4, 60)
    answers = [lab.request("a", B) for _ in range(5)]
    assert answers == [*[f"b sees {A}"] * 4, "timed out"]
    assert lab.request("b", A) == f"a sees {B}"
    lab.mend(number)
    assert lab.request("a", B) == f"b sees {A}"


@BOTH
@pytest.mark.parametrize(("node", "caller"), [(WIN_A, "a"), (LINUX, "linux")])
def test_a_route_is_missing(start_lab: StartLab, driver: Driver, node: str, caller: str) -> None:
    """The node's pods do not reach those of its peer, but any others."""
    lab = cluster(start_lab, driver)
    working = lab.request(caller, B)
    number = lab.fault("node_faults", "forget_route", node, WIN_B)
    assert lab.request(caller, B) == "timed out"
    other, address = ("linux", ON_LINUX) if caller == "a" else ("a", A)
    assert lab.request(caller, address).startswith(f"{other} sees")
    lab.mend(number)
    assert lab.request(caller, B) == working


@pytest.mark.parametrize(("node", "caller"), [(WIN_A, "a"), (LINUX, "linux")])
def test_packets_are_not_encapsulated(start_lab: StartLab, node: str, caller: str) -> None:
    """Nobody takes pods' packets as they are; mended, they are encapsulated again."""
    lab = cluster(start_lab, Driver.OVERLAY)
    number = lab.fault("node_faults", "send_plainly", node)
    assert lab.request(caller, B) == "timed out"
    assert lab.request("b", A if node == LINUX else ON_LINUX).endswith(f"sees {B}")
    lab.mend(number)
    assert lab.request(caller, B).startswith("b sees")


@pytest.mark.parametrize(("node", "caller", "own"), [(WIN_A, "a", A), (LINUX, "linux", ON_LINUX)])
def test_sources_are_rewritten(start_lab: StartLab, node: str, caller: str, own: str) -> None:
    """Another node's pod sees the node; a pod of the same node sees the pod."""
    lab = cluster(start_lab)
    neighbour = lab.attach(node, "neighbour")
    number = lab.fault("node_faults", "rewrite_sources", node)
    assert lab.request(caller, B) == f"b sees {NODE_ADDRESS[node]}"
    assert lab.request(caller, neighbour) == f"neighbour sees {own}"
    lab.mend(number)
    assert lab.request(caller, B) == f"b sees {own}"
    lab.fault("node_faults", "rewrite_sources", node, WIN_B)
    other, address = ("linux", ON_LINUX) if caller == "a" else ("a", A)
    assert lab.request(caller, B) == f"b sees {NODE_ADDRESS[node]}"
    assert lab.request(caller, address) == f"{other} sees {own}"


@pytest.mark.parametrize(("node", "caller"), [(WIN_A, "a"), (LINUX, "linux")])
def test_a_neighbour_entry_is_stale(start_lab: StartLab, node: str, caller: str) -> None:
    """Nothing of that node reaches its peer, until the entry is right again; what it sends to others does."""
    lab = cluster(start_lab)
    other = ("linux", ON_LINUX) if caller == "a" else ("a", A)
    number = lab.fault("node_faults", "misdirect", node, WIN_B)
    assert lab.request(caller, B) == "timed out"
    assert lab.request(caller, other[1]).startswith(f"{other[0]} sees")
    lab.mend(number)
    assert lab.request(caller, B).startswith("b sees")


def test_a_route_covers_the_first_addresses_alone(start_lab: StartLab) -> None:
    """A Pod in the rest of the peer's network is out of reach; mended, all are reached."""
    lab = cluster(start_lab)
    beyond = next(
        address
        for address in (lab.attach(WIN_B, f"b{number}") for number in range(8))
        if int(address.rpartition(".")[2]) >= 8
    )
    number = lab.fault("node_faults", "forget_route", LINUX, WIN_B, 29)
    assert lab.request("linux", B).startswith("b sees")
    assert lab.request("linux", beyond) == "timed out"
    lab.mend(number)
    assert "sees" in lab.request("linux", beyond)


@pytest.mark.parametrize(("node", "caller"), [(WIN_A, "a"), (LINUX, "linux")])
def test_a_host_reaches_no_services(start_lab: StartLab, node: str, caller: str) -> None:
    """Its Pods do, and it reaches the backend itself."""
    lab = cluster(start_lab)
    lab.program(service(backend(B, WIN_B)))
    assert lab.request(node, VIP, 80).startswith("b sees")
    lab.fault("node_faults", "silence_host", node, to_services=True)
    assert lab.request(node, VIP, 80) == "timed out"
    assert lab.request(caller, VIP, 80).startswith("b sees")
    assert lab.request(node, B).startswith("b sees")


@pytest.mark.parametrize(("node", "caller", "own"), [(WIN_A, "a", A), (LINUX, "linux", ON_LINUX)])
def test_hairpins_are_lost(start_lab: StartLab, node: str, caller: str, own: str) -> None:
    """A pod no longer reaches itself through its Service; others do, and it does again in the end."""
    lab = start_lab(profile(release=WS2022))
    for each, name in ((WIN_A, "a"), (WIN_B, "b"), (LINUX, "linux")):
        lab.attach(each, name)
    lab.program(service(backend(own, node)))
    working = lab.request(caller, VIP, 80)
    assert working.startswith(f"{caller} sees")
    number = lab.fault("node_faults", "lose_hairpins", node)
    assert lab.request(caller, VIP, 80) == "timed out"
    assert lab.request("b", VIP, 80).startswith(f"{caller} sees")
    assert lab.request(caller, own) == f"{caller} sees {own}"
    lab.mend(number)
    assert lab.request(caller, VIP, 80) == working


@pytest.mark.parametrize(("node", "caller"), [(WIN_A, "a"), (LINUX, "linux")])
def test_a_host_is_silent(start_lab: StartLab, node: str, caller: str) -> None:
    """The node itself reaches no other node's Pod, and its Pods do; mended, it does again."""
    lab = cluster(start_lab)
    before = lab.request(node, B)
    assert before.startswith("b sees")
    number = lab.fault("node_faults", "silence_host", node)
    assert lab.request(node, B) == "timed out"
    assert lab.request(caller, B).startswith("b sees")
    lab.mend(number)
    assert lab.request(node, B) == before


@pytest.mark.parametrize(("node", "caller", "own"), [(WIN_A, "a", A), (LINUX, "linux", ON_LINUX)])
def test_a_small_card_says_so(start_lab: StartLab, node: str, caller: str, own: str) -> None:
    """The sender of a packet that is too large is told by ICMP, and sends the next in parts."""
    lab = cluster(start_lab)
    number = lab.fault("node_faults", "shrink", node, 1000)
    large = Ask(source=caller, address=B, protocol="udp", size=1200)
    assert lab.send_all(large) == ["Message too long"]
    assert lab.send_all(large) == [f"b sees {own}"]
    lab.mend(number)
    assert lab.send_all(Ask(source="b", address=own, protocol="udp", size=1200)) == [
        f"{caller} sees {B}"
    ]


def test_a_pod_is_silent(start_lab: StartLab) -> None:
    """What is named does not reach it; mended, it answers."""
    lab = cluster(start_lab)
    number = lab.silence("b", Packets(protocol="tcp"))
    assert lab.request("a", B) == "timed out"
    assert lab.request("a", B, protocol="udp") == f"b sees {A}"
    lab.mend(number)
    assert lab.request("a", B) == f"b sees {A}"


NODES = pytest.mark.parametrize(("node", "caller"), [(WIN_A, "a"), (LINUX, "linux")])


@NODES
def test_a_stale_endpoint_takes_its_share(start_lab: StartLab, node: str, caller: str) -> None:
    """Some connections go to a pod that has gone, from that node alone."""
    lab = cluster(start_lab)
    lab.program(service(backend(B, WIN_B)))
    lab.alter(node, "with_stale_endpoint", Which())
    found = set(lab.send_all(*[Ask(source=caller, address=VIP, port=80)] * 30))
    assert len(found) == 2
    assert any(one.startswith("b sees") for one in found)
    other = "linux" if caller == "a" else "a"
    assert {one[:6] for one in lab.send_all(*[Ask(source=other, address=VIP, port=80)] * 30)} == {
        "b sees"
    }
    lab.alter(node, "", Which())
    assert {one[:6] for one in lab.send_all(*[Ask(source=caller, address=VIP, port=80)] * 30)} == {
        "b sees"
    }


@NODES
def test_a_wrong_port_is_closed(start_lab: StartLab, node: str, caller: str) -> None:
    """Backends are dialled where nobody listens, for the Services that are named alone."""
    lab = cluster(start_lab)
    lab.program(
        service(backend(B, WIN_B)),
        service(backend(B, WIN_B), name="other", vip="10.96.7.8", node_port=None),
    )
    working = lab.request(caller, VIP, 80)
    lab.alter(node, "with_wrong_port", Which(service="we*"))
    assert lab.request(caller, VIP, 80) == "refused"
    assert lab.request(caller, "10.96.7.8", 80) == working
    lab.alter(node, "", Which())
    assert lab.request(caller, VIP, 80) == working


@NODES
def test_one_backend_gets_all(start_lab: StartLab, node: str, caller: str) -> None:
    """Of two backends the first answers, until it is mended."""
    lab = cluster(start_lab)
    second = lab.attach(WIN_B, "second")
    lab.program(service(backend(B, WIN_B), backend(second, WIN_B)))
    many = [Ask(source=caller, address=VIP, port=80)] * 30

    def answering() -> set[str]:
        return {one.partition(" ")[0] for one in lab.send_all(*many)}

    assert answering() == {"b", "second"}
    lab.alter(node, "with_one_backend", Which())
    assert answering() == {"b"}
    lab.alter(node, "", Which())
    assert answering() == {"b", "second"}


@NODES
def test_affinity_is_lost(start_lab: StartLab, node: str, caller: str) -> None:
    """A client of a Service with affinity meets both backends."""
    lab = cluster(start_lab)
    second = lab.attach(WIN_B, "second")
    lab.program(service(backend(B, WIN_B), backend(second, WIN_B), affinity=True))
    many = [Ask(source=caller, address=VIP, port=80)] * 30
    assert len({one.partition(" ")[0] for one in lab.send_all(*many)}) == 1
    lab.alter(node, "without_affinity", Which())
    assert len({one.partition(" ")[0] for one in lab.send_all(*many)}) == 2


@NODES
def test_updates_of_endpoints_are_ignored(start_lab: StartLab, node: str, caller: str) -> None:
    """A Service goes on with the backend that it had first; mended, with the one that it has."""
    lab = cluster(start_lab)
    second = lab.attach(WIN_B, "second")
    lab.alter(node, "frozen", Which())
    lab.program(service(backend(B, WIN_B)))
    lab.program(service(backend(second, WIN_B)))
    assert lab.request(caller, VIP, 80).startswith("b sees")
    lab.alter(node, "", Which())
    assert lab.request(caller, VIP, 80).startswith("second sees")


@NODES
def test_a_stopped_proxy_knows_nothing_new(start_lab: StartLab, node: str, caller: str) -> None:
    """A Service that comes later has no rules on that node."""
    lab = cluster(start_lab)
    lab.program(service(backend(B, WIN_B)))
    lab.alter(node, "stopped", Which())
    lab.program(
        service(backend(B, WIN_B)),
        service(backend(B, WIN_B), name="new", vip="10.96.7.8", node_port=None),
    )
    assert lab.request(caller, VIP, 80).startswith("b sees")
    assert lab.request(caller, "10.96.7.8", 80) == "timed out"
    lab.alter(node, "", Which())
    assert lab.request(caller, "10.96.7.8", 80).startswith("b sees")


def test_sources_are_rewritten_although_dsr_was_requested(start_lab: StartLab) -> None:
    """A backend sees the node, and the client again in the end."""
    lab = cluster(start_lab)
    lab.program(service(backend(B, WIN_B)))
    assert lab.request("a", VIP, 80) == f"b sees {A}"
    lab.rewrite_sources(WIN_A, always=True)
    assert lab.request("a", VIP, 80) == f"b sees {NODE_ADDRESS[WIN_A]}"
    lab.rewrite_sources(WIN_A, always=False)
    assert lab.request("a", VIP, 80) == f"b sees {A}"


def test_the_clusters_own_services_are_meant_by_name_alone() -> None:
    """What stands for all Services spares the API and the DNS; a pattern may name them."""
    from nettests.lab.topology import ServicePort

    dns = ServicePort(
        namespace="kube-system",
        service="kube-dns",
        port_name="dns",
        protocol="UDP",
        cluster_ip=IPv4Address("10.96.0.10"),
        port=53,
    )
    assert not Which()(dns)
    assert Which(service="kube-*")(dns)
    assert Which(service="kube-system/kube-dns", port="dns")(dns)
    assert not Which(service="kube-dns", port="dns-tcp")(dns)


@BOTH
@pytest.mark.parametrize(("node", "caller"), [(WIN_A, "a"), (LINUX, "linux")])
def test_silent_connections_to_services_are_forgotten(
    start_lab: StartLab, driver: Driver, node: str, caller: str
) -> None:
    """Once forgotten, what goes on is lost; connections to Pods, and those that begin anew, are not."""
    lab = start_lab(profile(driver, dsr=True, release=WS2022))
    client, served = lab.attach_bare(node, caller), lab.attach_bare(WIN_B, "b")
    assert client
    lab.program(service(backend(served, WIN_B, port=PORT), port=PORT))
    number = lab.fault("node_faults", "forget_idle", node, 2)
    translated = lab.open_line(caller, "b", VIP, PORT)
    direct = lab.open_line(caller, "b", served, PORT + 1)
    assert (lab.say(translated, "before"), lab.say(direct, "before")) == ("before", "before")
    lab.forgets(f"{node}/switch" if node == WIN_A else node, PORT)
    assert lab.say(translated, "after") == "timed out"
    assert lab.say(direct, "after") == "after"
    lab.mend(number)
    again = lab.open_line(caller, "b", VIP, PORT)
    assert lab.say(again, "anew") == "anew"


@BOTH
@pytest.mark.parametrize(("node", "caller"), [(WIN_A, "a"), (LINUX, "linux")])
def test_silent_connections_to_the_outside_are_forgotten(
    start_lab: StartLab, driver: Driver, node: str, caller: str
) -> None:
    """Once forgotten, what goes on is lost; those within the cluster, and those that begin anew, are not."""
    lab = start_lab(profile(driver, dsr=True, release=WS2022))
    client, served = lab.attach_bare(node, caller), lab.attach_bare(WIN_B, "b")
    assert client
    number = lab.fault("node_faults", "forget_idle_outwards", node, 2)
    outwards = lab.open_line(caller, "outside-server", OUTSIDE, PORT)
    within = lab.open_line(caller, "b", served, PORT + 1)
    assert (lab.say(outwards, "before"), lab.say(within, "before")) == ("before", "before")
    lab.forgets(f"{node}/switch" if node == WIN_A else node, PORT)
    assert lab.say(outwards, "after") == "timed out"
    assert lab.say(within, "after") == "after"
    lab.mend(number)
    again = lab.open_line(caller, "outside-server", OUTSIDE, PORT)
    assert lab.say(again, "anew") == "anew"
