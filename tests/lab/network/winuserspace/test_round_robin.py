"""Whose turn it is among the backends that kube-proxy's userspace mode dials."""

from dataclasses import replace
from ipaddress import IPv4Address

from nettests.lab.network.winuserspace import RoundRobin
from tests.lab.network.clusters import backend, service

ONE, TWO = backend("10.244.2.3", "win-1"), backend("10.244.3.3", "win-2")
WEB = service(ONE, TWO)
KEY = WEB.key


def test_backends_take_turns() -> None:
    """One after the other, the client."""
    round_robin = RoundRobin()
    round_robin.take((WEB,))
    assert [round_robin.next(KEY, "10.244.1.3") for _ in range(4)] == [ONE, TWO, ONE, TWO]


def test_a_client_with_affinity_keeps_its_backend() -> None:
    """Another client gets the next one, and each stays where it was."""
    round_robin = RoundRobin()
    round_robin.take((replace(WEB, client_ip_affinity=True),))
    first = [round_robin.next(KEY, "10.244.1.3") for _ in range(3)]
    second = [round_robin.next(KEY, "10.244.1.4") for _ in range(3)]
    assert (set(first), set(second)) == ({ONE}, {TWO})


def test_a_kept_backend_that_is_no_good_is_left() -> None:
    """A dial that failed queries anew, and so does a client whose backend is gone."""
    round_robin = RoundRobin()
    sticky = replace(WEB, client_ip_affinity=True)
    round_robin.take((sticky,))
    assert round_robin.next(KEY, "10.244.1.3") == ONE
    assert round_robin.next(KEY, "10.244.1.3", anew=True) == TWO
    assert round_robin.next(KEY, "10.244.1.3") == TWO
    round_robin.take((replace(sticky, endpoints=(ONE,)),))
    assert round_robin.next(KEY, "10.244.1.3") == ONE


def test_affinity_ends_with_its_time_out() -> None:
    """A time-out of no seconds keeps nothing: the time-out is looked at, unlike in kernelspace mode."""
    round_robin = RoundRobin()
    round_robin.take((replace(WEB, client_ip_affinity=True, affinity_timeout=0),))
    assert [round_robin.next(KEY, "10.244.1.3") for _ in range(2)] == [ONE, TWO]


def test_services_without_backends_have_no_turn() -> None:
    """Nor has one that is gone."""
    round_robin = RoundRobin()
    round_robin.take((replace(WEB, endpoints=()),))
    assert round_robin.next(KEY, "10.244.1.3") is None
    round_robin.take((replace(WEB, cluster_ip=IPv4Address("10.96.0.9"), service="other"),))
    assert round_robin.next(KEY, "10.244.1.3") is None
