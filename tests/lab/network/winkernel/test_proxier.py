"""What kube-proxy's memory does on a Windows node: the same table after another one."""

from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from nettests.lab.network.thresholds import switch_features
from nettests.lab.network.winkernel import Hns, Winkernel, host_of
from nettests.lab.topology import ServicePort
from tests.lab.network.clusters import NODE_ADDRESS, WIN_A, WIN_B, WS2022, backend, profile, service

LOCAL = backend("10.244.2.5", WIN_A)
REMOTE = backend("10.244.3.5", WIN_B)
MODIFIES = (26100, 4946)
"""HNS there changes load balancers in place."""


def _after(*tables: tuple[ServicePort, ...], version: str = "v1.36.2") -> set[str]:
    return {one.kind for one in _held(*tables, version=version).balancers}


def _held(
    *tables: tuple[ServicePort, ...],
    version: str = "v1.36.2",
    release: tuple[int, int] = WS2022,
) -> Hns:
    cluster, held = profile(kubernetes=version, release=release), Hns()
    node = cluster.node(WIN_A)
    proxy = Winkernel(switch_features(node, cluster), held)
    for table in tables:
        proxy.sync(table, host_of(node, cluster))
    return held


@pytest.mark.parametrize(("version", "stay"), [("v1.30.9", False), ("v1.31.0", True)])
def test_a_node_port_stays_when_all_its_endpoints_begin_to_terminate(
    version: str, stay: bool
) -> None:
    """None is made of terminating endpoints, but from 1.31 on the one that is there is not deleted."""
    serving = service(LOCAL, ingress=("203.0.113.5",))
    leaving = service(replace(LOCAL, ready=False, terminating=True), ingress=("203.0.113.5",))
    assert _after((leaving,), version=version) == {"ClusterIP", "LoadBalancer"}
    kinds = _after((serving,), (leaving,), version=version)
    assert ("NodePort" in kinds) is stay


def test_a_service_that_changes_is_recreated() -> None:
    """With its old load balancers goes what stayed."""
    serving = service(LOCAL, ingress=("203.0.113.5",))
    gone = replace(LOCAL, ready=False, terminating=True)
    leaving = service(gone, ingress=("203.0.113.5",), affinity=True)
    assert "NodePort" not in _after((serving,), (leaving,))


def test_what_has_no_endpoints_left_is_deleted() -> None:
    """So is what is no Service any more."""
    assert _after((service(LOCAL, REMOTE),), (service(),)) == set()
    assert _after((service(LOCAL, REMOTE),), ()) == set()


def test_a_remote_endpoint_that_is_recreated_is_another_one() -> None:
    """What stayed of load balancers still refers to the one that was deleted."""
    ingress = ("203.0.113.5",)
    other = replace(backend("10.244.3.6", WIN_B), ready=False, serving=False, terminating=True)
    later = service(REMOTE, name="later", vip="10.96.7.8", node_port=None)
    leaving = service(other, ingress=ingress)
    held = _held(
        (service(REMOTE, ingress=ingress),), (leaving,), (leaving, later), release=MODIFIES
    )
    used = {one.kind: one.references for one in held.balancers if one.service != later.key}
    ((number, address),) = used["NodePort"]
    assert address == REMOTE.address
    assert held.remote[address] != number


@pytest.mark.parametrize(("optimised", "found"), [(True, True), (False, False)])
def test_an_address_that_comes_to_this_node_is_looked_for_here(
    optimised: bool, found: bool
) -> None:
    """Its remote endpoint goes first where the Service is not optimised; else it serves for the local one."""
    before = replace(service(REMOTE), keep_optimised=optimised)
    after = replace(before, endpoints=(replace(REMOTE, node=WIN_A),))
    assert bool(_held((before,), (after,)).balancers) is found


def test_what_served_for_an_endpoint_of_this_node_is_never_deleted() -> None:
    """kube-proxy gives back what it took for endpoints elsewhere alone: the node's own address stays known."""
    own = backend(NODE_ADDRESS[WIN_A], None, own=True)
    named = replace(own, node=WIN_A)
    first, then = service(own), service(named)
    changed = replace(then, client_ip_affinity=True)
    assert _held((then,)).balancers == ()
    assert _held((first,), (then,), (changed,)).balancers != ()


def test_what_hns_refuses_at_one_address_from_outside_leaves_the_others() -> None:
    """Of ClusterIP and NodePort the rest waits; an externalIP with too many backends takes no load balancer away."""
    table = replace(
        service(LOCAL, REMOTE, ingress=("203.0.113.5",), node_port=None),
        internal_traffic_local=True,
        preserve_destination=True,
        external_addresses=(IPv4Address("198.51.100.50"),),
    )
    cluster, held = profile(kubernetes="v1.36.2", release=WS2022), Hns()
    node = cluster.node(WIN_A)
    features = replace(switch_features(node, cluster), backend_limit=1)
    Winkernel(features, held).sync((table,), host_of(node, cluster))
    assert {one.kind for one in held.balancers} == {"ClusterIP", "LoadBalancer"}


def test_the_first_of_two_services_has_an_external_address_that_both_claim() -> None:
    """HNS refuses a second load balancer with the same frontend, and kube-proxy asks again only after a change."""
    shared = (IPv4Address("198.51.100.50"),)
    first = replace(service(LOCAL, node_port=None), external_addresses=shared)
    second = replace(
        service(REMOTE, node_port=None),
        service="other",
        cluster_ip=IPv4Address("10.96.9.9"),
        external_addresses=shared,
    )
    changed = replace(second, client_ip_affinity=True)

    def owners(*tables: tuple[ServicePort, ...]) -> list[str]:
        held = _held(*tables).balancers
        return [one.service for one in held if one.vip == shared[0]]

    assert owners((first, second)) == [first.key]
    assert owners((first, second), (second,)) == []
    assert owners((first, second), (second,), (changed,)) == [second.key]


def test_new_endpoints_of_one_port_renew_all_ports_of_a_service() -> None:
    """Without the optimisation the other port's load balancers are recreated, too; what had stayed of them goes."""
    gone = replace(LOCAL, ready=False, terminating=True)
    first, second = (
        replace(service(LOCAL, ingress=("203.0.113.5",)), port_name=name, node_port=port, port=port)
        for name, port in (("a", 30080), ("b", 30081))
    )
    leaving = replace(first, endpoints=(gone,))
    more = replace(second, endpoints=(LOCAL, REMOTE))

    def ports(*tables: tuple[ServicePort, ...]) -> set[int]:
        held = _held(*tables)
        return {one.external_port for one in held.balancers if one.kind == "NodePort"}

    def unkept(*table: ServicePort) -> tuple[ServicePort, ...]:
        return tuple(replace(one, keep_optimised=False) for one in table)

    assert ports((first, second), (leaving, second), (leaving, more)) == {30080, 30081}
    assert ports(unkept(leaving, second), unkept(leaving, more)) == {30081}


def test_an_endpoint_of_this_node_that_was_told_elsewhere_is_deleted_with_its_slice() -> None:
    """kube-proxy queries HNS by address and counts remote users alone: a Pod's own endpoint goes, and is missed."""
    told = service(replace(LOCAL, node=None), name="by-hand", vip="10.96.7.8", node_port=None)
    cluster, held = profile(kubernetes="v1.36.2", release=WS2022), Hns()
    node = cluster.node(WIN_A)
    host = host_of(node, cluster, pods=((LOCAL.address,),))
    host = replace(host, pod_cidr=None)
    proxy = Winkernel(switch_features(node, cluster), held)
    proxy.sync((told, service(LOCAL)), host)
    assert held.lost == set()
    proxy.sync((replace(told, endpoints=()), service(LOCAL)), host)
    assert held.lost == {str(LOCAL.address)}
    proxy.sync((service(LOCAL, affinity=True),), host)
    assert held.balancers == ()
    proxy.sync((service(LOCAL),), replace(host, endpoints={}))
    proxy.sync((service(LOCAL, affinity=True),), host)
    assert held.balancers != ()


def test_slices_that_outlive_their_service_keep_the_endpoint_that_they_name_elsewhere() -> None:
    """kube-proxy remembers slices without a Service: a Pod's own endpoint goes with the slice, not with the Service."""
    astray = replace(LOCAL, node=WIN_B)
    told = service(astray, name="by-hand", vip="10.96.7.8", node_port=None)
    orphaned = {("default", "by-hand"): (astray,)}
    cluster, held = profile(kubernetes="v1.36.2", release=WS2022), Hns()
    node = cluster.node(WIN_A)
    host = replace(host_of(node, cluster, pods=((LOCAL.address,),)), pod_cidr=None)
    proxy = Winkernel(switch_features(node, cluster), held)
    proxy.sync((told, service(LOCAL)), host)
    proxy.sync((service(LOCAL),), host, orphaned)
    assert held.lost == set()
    proxy.sync((service(LOCAL, affinity=True),), host, orphaned)
    assert {one.service for one in held.balancers} == {"default/web:tcp"}
    proxy.sync((service(LOCAL, affinity=True),), host)
    assert held.lost == {str(LOCAL.address)}


def test_a_service_that_is_deleted_with_its_slices_takes_the_endpoint_at_once() -> None:
    """So does a slice that never had a Service."""
    astray = replace(LOCAL, node=WIN_B)
    told = service(astray, name="by-hand", vip="10.96.7.8", node_port=None)
    for before, orphaned in (((told,), {}), ((), {("default", "by-hand"): (astray,)})):
        cluster, held = profile(kubernetes="v1.36.2", release=WS2022), Hns()
        node = cluster.node(WIN_A)
        host = replace(host_of(node, cluster, pods=((LOCAL.address,),)), pod_cidr=None)
        proxy = Winkernel(switch_features(node, cluster), held)
        proxy.sync(before, host, orphaned)
        proxy.sync((), host)
        assert held.lost == {str(LOCAL.address)}
