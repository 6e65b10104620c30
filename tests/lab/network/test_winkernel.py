"""What kube-proxy's memory does on a Windows node: the same table after another one."""

from dataclasses import replace

import pytest

from nettests.lab.network.thresholds import switch_features
from nettests.lab.network.winkernel import Winkernel, host_of
from nettests.lab.topology import ServicePort
from tests.lab.network.clusters import WIN_A, WIN_B, backend, profile, service

LOCAL = backend("10.244.2.5", WIN_A)
REMOTE = backend("10.244.3.5", WIN_B)


def _after(*tables: tuple[ServicePort, ...], version: str = "v1.36.2") -> set[str]:
    cluster = profile(kubernetes=version)
    node = cluster.node(WIN_A)
    proxy = Winkernel(switch_features(node, cluster))
    held = [proxy.sync(table, host_of(node, cluster)) for table in tables][-1]
    return {one.kind for one in held}


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


def test_a_service_that_changes_is_made_anew() -> None:
    """With its old load balancers goes what stayed."""
    serving = service(LOCAL, ingress=("203.0.113.5",))
    gone = replace(LOCAL, ready=False, terminating=True)
    leaving = service(gone, ingress=("203.0.113.5",), affinity=True)
    assert "NodePort" not in _after((serving,), (leaving,))


def test_what_has_no_endpoints_left_is_deleted() -> None:
    """So is what is no Service any more."""
    assert _after((service(LOCAL, REMOTE),), (service(),)) == set()
    assert _after((service(LOCAL, REMOTE),), ()) == set()
