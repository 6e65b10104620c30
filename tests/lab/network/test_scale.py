"""Work per pod and per change does not grow with what is there already. Counted, not timed."""

from dataclasses import replace
from ipaddress import IPv4Network
from itertools import pairwise

import pytest

from nettests.lab.topology import Driver, Profile
from tests.lab.network.clusters import LINUX, VIP, WIN_A, WIN_B, WS2022, backend, profile, service
from tests.lab.network.conftest import StartLab
from tests.lab.network.requests_of_pods import Ask

PODS = 200


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
def test_a_node_costs_the_same_in_a_large_cluster(start_lab: StartLab, driver: Driver) -> None:
    """What each node has of all others goes in few messages: nine more nodes cost three times what three do."""
    costs = [start_lab(_of(profile(driver), count)).work_done() for count in (3, 6, 12)]
    more = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(costs)]
    assert more[1] == (2 * more[0][0], 2 * more[0][1])


def _of(small: Profile, count: int) -> Profile:
    """Return the cluster with more nodes that are like its second."""
    like = small.nodes[1]
    more = [
        replace(
            like,
            name=f"win-{number}",
            address=like.address + number,
            pod_cidr=IPv4Network(f"10.244.{100 + number}.0/24"),
        )
        for number in range(2, count - 1)
    ]
    return replace(small, nodes=(*small.nodes, *more))


def test_pods_of_another_node_are_reached_in_a_large_cluster(start_lab: StartLab) -> None:
    """Entries that went in one message are in force, the last as the first."""
    lab = start_lab(_of(profile(Driver.OVERLAY), 40))
    first, last = WIN_A, "win-38"
    lab.attach(first, "first")
    address = lab.attach(last, "last")
    assert lab.request("first", address).split()[0] == "last"


def test_two_hundred_pods_cost_the_same_each(start_lab: StartLab) -> None:
    """Each pod takes a constant number of netlink messages and no nft run, the last like the second.

    With a Windows node's first pod its NodePorts begin to be forwarded, which is one nft run.
    """
    lab = start_lab(profile())
    costs: dict[str, list[tuple[int, int]]] = {WIN_A: [], LINUX: []}
    for number in range(PODS):
        node = (WIN_A, LINUX)[number % 2]
        before = lab.work_done()
        lab.attach_bare(node, f"pod-{number}")
        after = lab.work_done()
        costs[node].append((after[0] - before[0], after[1] - before[1]))
    for first, *further in costs.values():
        assert first[1] <= 1
        assert len(set(further)) == 1
        messages, nft_runs = further[0]
        assert first[0] == messages
        assert 0 < messages <= 20
        assert nft_runs == 0


def test_a_change_is_one_transaction_and_none_when_nothing_changed(start_lab: StartLab) -> None:
    """One more Service among fifty is one nft run per node; the same table again is none."""
    lab = start_lab(profile())
    server = backend(lab.attach(WIN_B, "server"), WIN_B)
    table = [service(server, name=f"s-{n}", vip=f"10.96.8.{n}", node_port=None) for n in range(50)]
    lab.program(*table)
    before = lab.work_done()
    lab.program(*table)
    assert lab.work_done() == before
    lab.program(*table, service(server))
    assert lab.work_done()[1] - before[1] == 3


def test_services_of_hundreds_of_nodes_fit_through_an_unprivileged_socket(
    start_lab: StartLab,
) -> None:
    """Four hundred ports with a NodePort each come at once, and go at once; each is served, and then none."""
    lab = start_lab(profile(release=WS2022))
    lab.attach(WIN_A, "client")
    lab.attach(LINUX, "linux")
    server = backend(lab.attach(WIN_B, "server"), WIN_B)
    vips = [f"10.96.{8 + n // 200}.{1 + n % 200}" for n in range(400)]
    table = [
        service(server, name=f"svc-{n}", vip=vip, node_port=30000 + n) for n, vip in enumerate(vips)
    ]
    lab.program(*table)
    some = [
        Ask(source=source, address=vip, port=80)
        for source in ("client", "linux")
        for vip in (vips[0], vips[211], vips[-1])
    ]
    assert {answer.split()[0] for answer in lab.send_all(*some)} == {"server"}
    lab.program()
    assert not any(answer.startswith("server") for answer in lab.send_all(*some))


def test_a_thousand_backends_fit_through_an_unprivileged_socket(start_lab: StartLab) -> None:
    """A table too large for one netlink message buffer is programmed in parts, and then works."""
    lab = start_lab(profile(release=WS2022))
    lab.attach(WIN_A, "client")
    lab.attach(LINUX, "linux")
    fillers = [backend(f"10.244.{1 + n // 200}.{20 + n % 200}", LINUX) for n in range(20)]
    table = [
        service(*fillers, name=f"s-{n}", vip=f"10.96.8.{n}", node_port=31000 + n) for n in range(50)
    ]
    lab.program(*table, service(backend(lab.attach(WIN_B, "server"), WIN_B)))
    requests_sent = [Ask(source=source, address=VIP, port=80) for source in ("client", "linux")]
    assert [answer.split()[0] for answer in lab.send_all(*requests_sent)] == ["server", "server"]
