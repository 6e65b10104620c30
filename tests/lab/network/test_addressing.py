"""Addresses and MACs of nodes and pods."""

from ipaddress import IPv4Address, IPv4Network
from itertools import pairwise

import pytest

from nettests.lab.network import addressing
from nettests.lab.network.addressing import (
    AddressPool,
    PodAddressesExhaustedError,
    PodAddressTakenError,
)
from nettests.lab.topology import OS, Driver, Ipam
from tests.lab.network.clusters import LINUX, WIN_A, profile


@pytest.mark.parametrize(
    ("driver", "node", "gateway", "first", "vip"),
    [
        (Driver.L2BRIDGE, LINUX, "10.244.1.1", "10.244.1.2", None),
        (Driver.L2BRIDGE, WIN_A, "10.244.2.2", "10.244.2.3", None),
        (Driver.OVERLAY, LINUX, "10.244.1.1", "10.244.1.2", None),
        (Driver.OVERLAY, WIN_A, "10.244.2.1", "10.244.2.3", "10.244.2.2"),
    ],
)
def test_plan(driver: Driver, node: str, gateway: str, first: str, vip: str | None) -> None:
    """Gateway, first pod and source VIP follow Flannel's plan for the system and driver."""
    cluster = profile(driver)
    spec = cluster.node(node)
    assert str(addressing.pod_gateway(spec, cluster.cni)) == gateway
    assert str(addressing.pod_addresses(spec).take()) == first
    found = addressing.source_vip(spec, cluster.cni)
    assert (found and str(found)) == vip


def test_macs_look_like_the_systems_own() -> None:
    """Windows MACs carry Hyper-V's prefix, Linux ones that of the CNI plugins; both are stable."""
    address = IPv4Address("10.244.2.5")
    assert addressing.mac(OS.WINDOWS, address) == "00:15:5d:f4:02:05"
    assert addressing.mac(OS.LINUX, address) == "0a:58:0a:f4:02:05"


def test_addresses_are_reused_as_late_as_possible() -> None:
    """A freed address comes round again only after all others."""
    pool = AddressPool(IPv4Network("10.0.0.0/29"), first=2)
    first = pool.take()
    pool.give_back(first)
    assert [str(pool.take()) for _ in range(5)] == [
        "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6", "10.0.0.2",
    ]  # fmt: skip


def test_windows_own_addresses_come_in_no_order() -> None:
    """Each is given once before any comes round again, and neighbours in time are none in the range."""
    spec = profile().node(WIN_A)
    pool = addressing.pod_addresses(spec, Ipam.HNS)
    given = [pool.take() for _ in range(252)]
    assert sorted(given) == [spec.pod_cidr[offset] for offset in range(3, 255)]
    assert all(abs(int(one) - int(other)) > 1 for one, other in pairwise(given))


def test_an_exhausted_pool_says_what_to_do() -> None:
    """The error names the CIDR and how many addresses it had."""
    pool = AddressPool(IPv4Network("10.0.0.0/29"), first=2)
    for _ in range(5):
        pool.take()
    with pytest.raises(PodAddressesExhaustedError, match=r"all 5 pod addresses of 10\.0\.0\.0/29"):
        pool.take()


def test_a_wanted_address_is_given_while_it_is_free_and_of_the_node() -> None:
    """Whoever comes without a wish goes on where others left off; one that is in use, or of no pod, is refused."""
    pool = AddressPool(IPv4Network("10.0.0.0/29"), first=2)
    first = pool.take()
    with pytest.raises(PodAddressTakenError, match=r"10\.0\.0\.2 is no free pod address"):
        pool.take(first)
    pool.give_back(first)
    assert pool.take(first) == first
    assert str(pool.take()) == "10.0.0.3"
    for other in ("10.0.0.1", "10.0.0.7", "10.0.1.2"):
        with pytest.raises(PodAddressTakenError):
            pool.take(IPv4Address(other))
