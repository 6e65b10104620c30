"""Tables of Services as a proxy reads them that loses what it should keep: siblings of what went, and renamed ports."""

from dataclasses import replace

from nettests.lab.network.alterations import (
    Which,
    full,
    readdressed_lost,
    removed_kept,
    renamed_lost,
    shared_lost,
    without_affinity,
    without_policies,
)
from nettests.lab.network.services import unchanged
from nettests.lab.topology import ServicePort
from tests.lab.network.clusters import WIN_A, WIN_B, backend, service

ONE, OTHER = backend("10.244.2.3", WIN_A), backend("10.244.3.3", WIN_B)
A = service(ONE, name="a", vip="10.96.7.1")
TWIN = service(replace(ONE, port=9090), name="a-twin", vip="10.96.7.2")
ELSE = service(OTHER, name="else", vip="10.96.7.3")
EMPTY = service(name="empty", vip="10.96.7.4")
EVERY = Which()


def renamed(one: ServicePort, name: str) -> ServicePort:
    """Return the port under another name."""
    return replace(one, port_name=name)


def test_what_shares_its_endpoints_with_a_service_that_went_is_lost() -> None:
    """Neither others, nor those without endpoints; it stays so until it gets other endpoints."""
    alter = shared_lost(EVERY)
    assert alter((A, TWIN, ELSE, EMPTY)) == (A, TWIN, ELSE, EMPTY)
    assert alter((A, ELSE, EMPTY)) == (ELSE, EMPTY)
    assert alter((A, TWIN, ELSE, EMPTY)) == (TWIN, ELSE, EMPTY)
    moved = replace(A, endpoints=(OTHER,))
    assert alter((moved, TWIN, ELSE, EMPTY)) == (moved, TWIN, ELSE, EMPTY)
    assert alter((A, TWIN, ELSE, EMPTY)) == (A, TWIN, ELSE, EMPTY)


def test_what_goes_without_endpoints_takes_nothing_along() -> None:
    """Services that lead nowhere share nothing."""
    alter = shared_lost(EVERY)
    alter((A, EMPTY, renamed(EMPTY, "x")))
    assert alter((A, service(name="empty-too"))) == (A, service(name="empty-too"))


def test_only_services_that_are_meant_are_lost() -> None:
    """Whichever went."""
    alter = shared_lost(Which(service="other-*"))
    alter((A, TWIN))
    assert alter((A,)) == (A,)


def test_a_port_with_another_name_is_lost_until_it_has_its_own_again() -> None:
    """Whatever endpoints it gets meanwhile; what came with that name is served."""
    alter = renamed_lost(EVERY)
    assert alter((A, ELSE)) == (A, ELSE)
    assert alter((renamed(A, "web"), ELSE)) == (ELSE,)
    assert alter((replace(renamed(A, "web"), endpoints=(OTHER,)), ELSE)) == (ELSE,)
    assert alter((A, ELSE)) == (A, ELSE)


def test_an_address_that_was_given_to_another_service_is_known_by_its_name() -> None:
    """What a former owner called its port is forgotten with it."""
    alter = renamed_lost(EVERY)
    alter((A,))
    alter(())
    assert alter((renamed(A, "web"),)) == (renamed(A, "web"),)
    assert renamed_lost(Which(service="else"))((A,)) == (A,)


def test_a_full_node_programs_no_service_that_comes_after_the_others() -> None:
    """All ports of those that it has; one that goes makes room for one that comes."""
    alter = full(2)
    second = replace(A, port_name="other", port=81)
    assert alter((A, second, ELSE)) == (A, second, ELSE)
    assert alter((TWIN, A, second, ELSE)) == (A, second, ELSE)
    assert alter((TWIN, ELSE)) == (TWIN, ELSE)
    assert alter((A, TWIN, ELSE)) == (TWIN, ELSE)


def test_rules_of_services_that_went_are_kept_until_their_address_is_anothers() -> None:
    """Only of those that are meant."""
    alter = removed_kept(Which(service="a*"))
    assert alter((A, ELSE)) == (A, ELSE)
    assert alter((ELSE,)) == (ELSE, A)
    assert alter(()) == (A,)
    again = replace(A, service="else-too")
    assert alter((again,)) == (again,)


def test_an_endpoint_whose_pod_is_another_one_at_its_address_is_lost() -> None:
    """As long as it is another one than the first; others, and Pods at other addresses, are served."""
    alter = readdressed_lost(EVERY)
    first, second = replace(ONE, pod="uid-1"), replace(ONE, pod="uid-2")
    beside = replace(OTHER, pod="uid-3")
    assert alter((service(first, beside, name="a"),)) == (service(first, beside, name="a"),)
    assert alter((service(beside, name="a"),)) == (service(beside, name="a"),)
    assert alter((service(second, beside, name="a"),)) == (service(beside, name="a"),)
    assert alter((service(second, name="b", vip="10.96.7.9"),)) == (
        service(second, name="b", vip="10.96.7.9"),
    )
    assert alter((service(first, name="a"),)) == (service(first, name="a"),)


def test_a_service_that_is_not_meant_keeps_its_endpoints_at_any_address() -> None:
    """The fault is one of some Services."""
    alter = readdressed_lost(Which(service="other-*"))
    alter((service(replace(ONE, pod="uid-1"), name="a"),))
    moved = service(replace(ONE, pod="uid-2"), name="a")
    assert alter((moved,))[0].endpoints == moved.endpoints


def test_ports_with_other_endpoints_are_those_that_a_recreation_takes_away() -> None:
    """Whatever is new, went, or led nowhere before is left as it is."""
    moved = replace(A, endpoints=(OTHER,))
    filled = replace(EMPTY, endpoints=(ONE,))
    assert unchanged((A, TWIN, EMPTY), (moved, TWIN, ELSE, filled)) == (TWIN, ELSE, filled)
    assert unchanged((A,), (replace(A, endpoints=()),)) == ()
    assert unchanged((), (A,)) == (A,)


def test_policies_and_the_time_of_affinity_are_those_of_the_fault() -> None:
    """Both policies become ``Cluster``; a Service without affinity gets none."""
    local = replace(A, external_traffic_local=True, internal_traffic_local=True)
    (changed,) = without_policies(Which())((local,))
    assert (changed.external_traffic_local, changed.internal_traffic_local) == (False, False)
    affine = replace(A, client_ip_affinity=True)
    short, plain = without_affinity(Which(), 5)((affine, A))
    assert (short.client_ip_affinity, short.affinity_timeout) == (True, 5)
    assert not plain.client_ip_affinity
