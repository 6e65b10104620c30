"""Flannel's files on the lab's Windows nodes: as docker's days had them, as containerd's have; every rule takes them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.installers import flannel
from nettests.lab.node.cni_files import FLANNEL_FILE, installed
from nettests.lab.topology import Driver, NodeSpec, Plugin, Profile
from tests.lab.network.clusters import NODE_ADDRESS, WIN_A, profile
from tests.rules.made import found

DOCKER, CONTAINERD = "docker://20.10.9", "containerd://1.7.20"
DRIVERS = [Driver.L2BRIDGE, Driver.OVERLAY]


def node(cluster: Profile, runtime: str = CONTAINERD) -> NodeSpec:
    """Return a Windows node with this container runtime."""
    return replace(cluster.node(WIN_A), runtime=runtime)


def values(delegate: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the policies that a plugin is handed."""
    return [one["Value"] for one in delegate.get("AdditionalArgs") or delegate["policies"]]


@pytest.mark.parametrize("runtime", [DOCKER, CONTAINERD])
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("rule", ["policy-form", "cni-exceptions", "cni-routes", "cni-ipam"])
def test_every_rule_takes_what_is_written(driver: Driver, runtime: str, rule: str) -> None:
    """The schema that the runtime's plugins speak, the exceptions and routes that documents request."""
    cluster = profile(driver)
    spec = node(cluster, runtime)
    text = installed(spec, cluster).files[FLANNEL_FILE]
    pods = json.dumps({"items": []})
    facts = {
        "runtime": runtime,
        "plugin": "flannel",
        "driver": driver.value,
        "pod-cidrs": str(cluster.cluster_cidr),
        "service-cidrs": str(cluster.service_cidr),
        "node-pod-cidrs": str(spec.pod_cidr),
        "management-address": f"{spec.address}/32",
        "management-addresses": f"{spec.address}/32",
    }
    said = found(rule, {"cni-configuration": text, "node-pods": pods}, **facts)
    assert said.conforms, said.detail


@pytest.mark.parametrize(
    ("driver", "plugin", "kinds"),
    [
        (Driver.L2BRIDGE, "sdnbridge", ["OutBoundNAT", "SDNROUTE", "SDNROUTE"]),
        (Driver.OVERLAY, "sdnoverlay", ["OutBoundNAT", "SDNROUTE", "ProviderAddress"]),
    ],
)
def test_containerds_plugins_take_policies_with_settings(
    driver: Driver, plugin: str, kinds: list[str]
) -> None:
    """Microsoft's plugins have one schema: no apiVersion tells it; the node is the provider of an overlay."""
    cluster = profile(driver)
    delegate = flannel.configuration(node(cluster), cluster)["delegate"]
    assert delegate["type"] == plugin
    assert "apiVersion" not in delegate
    assert [one["Type"] for one in values(delegate)] == kinds
    assert all(set(one) == {"Type", "Settings"} for one in values(delegate))
    bridge = delegate["optionalFlags"].get("forceBridgeGateway", False)
    assert bridge is (driver is Driver.L2BRIDGE)
    providers = [one["Settings"].get("ProviderAddress") for one in values(delegate)]
    assert (NODE_ADDRESS[WIN_A] in providers) is (driver is Driver.OVERLAY)


@pytest.mark.parametrize("driver", DRIVERS)
def test_dockers_plugins_take_the_first_schema(driver: Driver) -> None:
    """win-bridge and win-overlay, whose policies lie open."""
    cluster = profile(driver)
    delegate = flannel.configuration(node(cluster, DOCKER), cluster)["delegate"]
    assert delegate["type"] == ("win-overlay" if driver is Driver.OVERLAY else "win-bridge")
    assert all("Settings" not in one for one in values(delegate))
    assert values(delegate)[0]["ExceptionList"] == flannel.exceptions(cluster)


def test_what_no_plugin_takes_can_be_written() -> None:
    """The mechanism ``settings-policies`` off: the first schema in the files of containerd's plugins."""
    cluster = profile(mechanisms=(("settings-policies", 0),))
    text = json.dumps(flannel.configuration(node(cluster), cluster))
    said = found("policy-form", {"cni-configuration": text}, runtime=CONTAINERD)
    assert not said.conforms
    assert "sdnbridge with ROUTE without Settings" in said.detail


@pytest.mark.parametrize("loopback_dsr", [True, False])
def test_the_config_map_tells_loopback_dsr(loopback_dsr: bool) -> None:
    """Discovery reads it there; the start script fills in the rest."""
    cluster = profile(dsr=True, loopback_dsr=loopback_dsr)
    delegate = flannel.template(cluster)["delegate"]
    assert delegate["optionalFlags"]["loopbackDSR"] is loopback_dsr
    assert values(delegate)[0]["Settings"] == {"Exceptions": []}


@pytest.mark.parametrize(
    ("runtime", "programs"),
    [(DOCKER, {"win-bridge", "win-overlay", "host-local"}), (CONTAINERD, {"host-local"})],
)
def test_the_daemon_brings_the_plugins_of_the_runtime(runtime: str, programs: set[str]) -> None:
    """Microsoft's print no versions, and nobody queries them."""
    cluster = profile()
    there = installed(node(cluster, runtime), cluster).programs
    assert {path.rsplit("\\", 1)[-1].removesuffix(".exe") for path in there} == programs


def test_azure_writes_for_itself() -> None:
    """Its list has the first schema's spelling, with containerd too."""
    cluster = profile()
    azure = replace(cluster, cni=replace(cluster.cni, plugin=Plugin.AZURE))
    assert FLANNEL_FILE not in installed(node(azure), azure).files
