"""Topology hints in the lab: which backends a proxy keeps that follows them."""

from dataclasses import replace

import pytest

from nettests.lab.network.services import within_zone
from nettests.lab.topology import ServicePort
from tests.lab.controllers.whole_table import service_table
from tests.lab.network.clusters import WIN_A, WIN_B, backend, load_balancers, profile, service

NEAR = replace(backend("10.244.2.5", WIN_A), zones=("a", "b"))
FAR = replace(backend("10.244.3.5", WIN_B), zones=("elsewhere",))
ASKING = replace(service(NEAR, FAR), topology_aware=True)


@pytest.mark.parametrize(
    ("port", "zone", "kept"),
    [
        (ASKING, "a", 1),
        (ASKING, "c", 2),
        (ASKING, "", 2),
        (replace(ASKING, topology_aware=False), "a", 2),
        (replace(ASKING, endpoints=(NEAR, replace(FAR, zones=()))), "a", 2),
        (replace(ASKING, internal_traffic_local=True), "a", 2),
    ],
    ids=["own zone", "nobody's zone", "no zone", "not requested", "one without hints", "local"],
)
def test_backends_of_the_own_zone_are_kept(port: ServicePort, zone: str, kept: int) -> None:
    """Hints count where all backends have some, and one is for the node's zone."""
    (found,) = within_zone((port,), zone)
    assert len(found.backends) == kept


def test_kernelspace_ignores_hints_unless_it_is_switched() -> None:
    """As winkernel does, whose endpoints tell none."""
    usual = profile()
    node = replace(usual.node(WIN_A), zone="a")
    switched = replace(usual, mechanisms=(("topology-hints", 1),))
    before, after = (load_balancers((ASKING,), node, one)[0].backends for one in (usual, switched))
    assert (len(before), len(after)) == (2, 1)


def test_hints_are_read_from_slices() -> None:
    """The Service's annotation says that they count, each endpoint for which zones."""
    endpoints = [{"addresses": ["10.244.2.5"], "hints": {"forZones": [{"name": "a"}]}}]
    item = {
        "metadata": {"namespace": "n", "labels": {"kubernetes.io/service-name": "s"}},
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": [{"name": "", "port": 80, "protocol": "TCP"}],
    }
    requested = {"service.kubernetes.io/topology-mode": "Auto"}
    subject = {
        "metadata": {"namespace": "n", "name": "s", "annotations": requested},
        "spec": {"clusterIP": "10.96.0.9", "ports": [{"port": 80}]},
    }
    (port,) = service_table([subject], [item], profile())
    assert port.topology_aware
    assert port.backends[0].zones == ("a",)
