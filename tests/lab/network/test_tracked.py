"""What connection tracking remembers, read from the kernel's own table."""

import socket
from ipaddress import ip_address

from nettests.lab.network.conntrack import Direction, Flow
from nettests.lab.topology.profiles import load
from tests.lab.network.clusters import LINUX, VIP, WIN_A, backend, profile, service
from tests.lab.network.conftest import StartLab


def address(text: str) -> bytes:
    """Return an address as the table holds it."""
    return ip_address(text).packed


def test_a_translated_flow_is_remembered_in_both_directions(start_lab: StartLab) -> None:
    """The client dialled the Service; answers come from the backend, which sees another address."""
    lab = start_lab(profile())
    client, server = lab.attach(LINUX, "client"), lab.attach(WIN_A, "server")
    lab.program(service(backend(server, WIN_A)))
    assert lab.request("client", VIP, 80, source_port=45555).startswith("server sees")
    (flow,) = [one for one in lab.remembered(LINUX) if one.original.source_port == 45555]
    assert flow.original == Direction(
        source=address(client),
        destination=address(VIP),
        protocol=socket.IPPROTO_TCP,
        source_port=45555,
        destination_port=80,
    )
    assert (flow.reply.source, flow.reply.source_port) == (address(server), 8080)


def test_flows_of_the_other_ip_version_are_told_apart(start_lab: StartLab) -> None:
    """An IPv6 flow is listed among those of version 6 alone."""
    lab = start_lab(load("win2022-l2bridge-dualstack"))
    here, there = lab.nodes()[:2]
    first, second = lab.attach_dual(here, "client")[1], lab.attach_dual(there, "server")[1]
    assert first
    assert second
    lab.program()
    assert lab.request("client", second) == f"server sees {first}"

    def requested(flow: Flow) -> bool:
        return flow.original.destination == address(second)

    assert any(map(requested, lab.remembered(here, 6)))
    assert not any(map(requested, lab.remembered(here, 4)))


def test_a_table_of_many_messages_is_read_to_its_end(start_lab: StartLab) -> None:
    """Some thousand flows come in many pieces; none is missing and none comes twice."""
    lab = start_lab(profile())
    lab.attach_bare(LINUX, "client")
    lab.program(service())
    ports = range(2000, 5000)
    lab.send("client", "203.0.113.9", ports)
    seen = [
        flow.original.destination_port
        for flow in lab.remembered(LINUX)
        if flow.original.destination == address("203.0.113.9")
    ]
    assert sorted(seen) == list(ports)


def test_flows_to_other_destinations_are_passed_over(start_lab: StartLab) -> None:
    """Of both IP versions only those that were begun to an address in question are read."""
    lab = start_lab(load("win2022-l2bridge-dualstack"))
    here, there = lab.nodes()[:2]
    lab.attach_bare(here, "client")
    lab.program()
    lab.send("client", "203.0.113.9", range(2000, 2003))
    lab.send("client", "203.0.113.10", range(2000, 2002))
    wanted = address("203.0.113.10")
    listed = lab.remembered(here, 4, wanted)
    assert [flow.original.destination for flow in listed] == [wanted] * 2
    assert listed == [flow for flow in lab.remembered(here) if flow.original.destination == wanted]
    second = lab.attach_dual(there, "server")[1]
    assert lab.attach_dual(here, "dual")[1]
    assert second
    lab.request("dual", second)
    begun = {flow.original.destination for flow in lab.remembered(here, 6, address(second))}
    assert begun == {address(second)}
    assert lab.remembered(here, 6, address("2001:db8::1")) == []
