"""OVN-Kubernetes as discovery reads it: its hybrid overlay, which reaches Windows nodes, and the ranges of nodes."""

import json
from typing import Any

import pytest

from nettests.cluster import cni, hybrid_overlay, nodes
from nettests.model.cluster_profile import StatedFacts
from nettests.model.facts import CniFacts
from nettests.model.words import OS
from tests.cluster.recorded import config_map, daemon_set, linux_node, plugin_objects

HYBRID = "[hybridoverlay]\nenabled=true\n"
MAC = {"k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac": "0A-58-0A-84-01-03"}


def conf(text: str) -> dict[str, Any]:
    """Return OpenShift's ConfigMap with the daemon's configuration."""
    return {
        "openshift-ovn-kubernetes/ovnkube-config": config_map(
            "ovnkube-config", **{"ovnkube.conf": text}
        )
    }


def facts(maps: dict[str, Any]) -> CniFacts:
    """Return the plugin's facts."""
    objects = plugin_objects(daemon_set("ovnkube-node"), config_maps=maps)
    return cni.facts_of(objects, StatedFacts())


@pytest.mark.parametrize(
    ("text", "backend", "driver", "vni", "port"),
    [
        (HYBRID, "hybrid-overlay", "overlay", 4097, 4789),
        (
            f'[default]\nmtu="1400"\n{HYBRID}hybrid-overlay-vxlan-port="9898"\n',
            "hybrid-overlay",
            "overlay",
            4097,
            9898,
        ),
        ("[hybridoverlay]\nenabled=false\n", "geneve", None, None, None),
        ("[default]\nmtu=1400\n", "geneve", None, None, None),
        (f"{HYBRID}hybrid-overlay-vxlan-port=many\n", "hybrid-overlay", "overlay", 4097, None),
        ("no sections", None, None, None, None),
    ],
)
def test_its_configuration_tells_backend_network_id_and_port(
    text: str, backend: str | None, driver: str | None, vni: int | None, port: int | None
) -> None:
    """The network id is the project's constant; the port is VXLAN's own unless the configuration names another."""
    found = facts(conf(text))
    assert (found.backend.value, found.vni.value, found.vxlan_port.value) == (backend, vni, port)
    assert cni.driver_of(OS.WINDOWS, {}, found, StatedFacts()).value == driver
    assert all(fact.origin for fact in (found.backend, found.vni, found.vxlan_port))


def test_without_its_configuration_the_node_s_annotation_tells_the_driver() -> None:
    """Who may not read the ConfigMap knows the type of network all the same."""
    found = facts({})
    assert not found.backend.known
    assert "ovnkube.conf" in found.backend.origin
    assert cni.driver_of(OS.WINDOWS, MAC, found, StatedFacts()).value == "overlay"


@pytest.mark.parametrize(
    ("annotations", "ranges"),
    [
        ({hybrid_overlay.SUBNET: "10.132.1.0/24"}, ["10.132.1.0/24"]),
        (
            {hybrid_overlay.LINUX_SUBNETS: json.dumps({"default": ["10.128.2.0/23"]})},
            ["10.128.2.0/23"],
        ),
        ({hybrid_overlay.LINUX_SUBNETS: '{"default":"10.128.2.0/23"}'}, ["10.128.2.0/23"]),
        ({hybrid_overlay.LINUX_SUBNETS: "{"}, []),
        ({hybrid_overlay.SUBNET: "all of them"}, []),
        ({}, []),
    ],
)
def test_a_node_s_range_is_an_annotation(annotations: dict[str, str], ranges: list[str]) -> None:
    """Nodes have no spec.podCIDR there; one that has keeps it."""
    node = linux_node()
    node["metadata"]["annotations"] = annotations
    node["spec"] = {}
    assert [str(one) for one in nodes.pod_cidrs_of(node)] == ranges
    node["spec"] = {"podCIDR": "10.244.9.0/24"}
    assert [str(one) for one in nodes.pod_cidrs_of(node)] == ["10.244.9.0/24"]
