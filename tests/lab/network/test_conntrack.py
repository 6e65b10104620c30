"""Which flows a change of the Service table ends."""

from ipaddress import IPv4Address

from nettests.lab.network.conntrack import (
    added_frontends,
    present_backends,
    removed_udp_flows,
)
from nettests.lab.network.services import Frontend
from tests.lab.network.clusters import LINUX, NODE_PORT, VIP, WIN_A, backend, service

NODE = IPv4Address("172.30.0.11")
ONE, TWO = backend("10.244.1.2", LINUX), backend("10.244.2.3", WIN_A)


def test_a_removed_backend_ends_its_flows_by_both_addresses() -> None:
    """Flows dialled by ClusterIP and by NodePort end, those to the backend that stays do not."""
    old = (service(ONE, TWO, protocol="UDP"),)
    new = (service(TWO, protocol="UDP"),)
    assert removed_udp_flows(old, new, NODE) == {
        (Frontend(protocol="UDP", address=IPv4Address(VIP), port=80), ONE.address),
        (Frontend(protocol="UDP", address=NODE, port=NODE_PORT), ONE.address),
    }


def test_tcp_flows_end_by_themselves() -> None:
    """Only UDP is looked at: a TCP client notices."""
    assert not removed_udp_flows((service(ONE),), (), NODE)


def test_added_backends_end_nothing() -> None:
    """Growing a Service leaves every flow where it is."""
    old = (service(ONE, protocol="UDP"),)
    assert not removed_udp_flows(old, (service(ONE, TWO, protocol="UDP"),), NODE)


def test_a_service_that_gains_rules_ends_flows_that_began_without() -> None:
    """ClusterIP and NodePort are new to the node once there is a backend, not before and not again."""
    empty, served = (service(),), (service(ONE),)
    both = {
        Frontend(protocol="TCP", address=IPv4Address(VIP), port=80),
        Frontend(protocol="TCP", address=NODE, port=NODE_PORT),
    }
    assert added_frontends((), served, NODE) == both
    assert added_frontends(empty, served, NODE) == both
    assert not added_frontends((), empty, NODE)
    assert not added_frontends(served, (service(ONE, TWO),), NODE)


def test_what_lost_a_backend_ends_connections_that_it_did_not_answer() -> None:
    """Both addresses of a Service that is new or lost a backend; one that grew, lost its last one or goes on ends none."""
    both = {
        Frontend(protocol="TCP", address=IPv4Address(VIP), port=80): frozenset({TWO.address}),
        Frontend(protocol="TCP", address=NODE, port=NODE_PORT): frozenset({TWO.address}),
    }
    one, two = (service(ONE),), (service(TWO),)
    assert present_backends(one, two, NODE) == both
    assert present_backends((service(ONE, TWO),), two, NODE) == both
    assert present_backends((), two, NODE) == both
    assert present_backends(one, (service(),), NODE) == {}
    assert present_backends(one, (service(ONE, TWO),), NODE) == {}
    assert present_backends(one, (), NODE) == {}
    udp = (service(ONE, protocol="UDP"),), (service(TWO, protocol="UDP"),)
    assert present_backends(*udp, NODE) == {}
