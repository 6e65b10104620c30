"""What nodes say of themselves: labels, taints, ranges, and what a release added to their status."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.node.registration import LEASE_SECONDS, lease_object, node_object, node_status
from nettests.lab.topology import OS, profiles

Json = dict[str, Any]

DEFAULT = profiles.load("win2019-l2bridge")
LINUX, WINDOWS = DEFAULT.node("linux-1"), DEFAULT.node("win-1")


def labels(**changes: Any) -> dict[str, str]:
    """Return the labels of a Windows node with these properties."""
    made: dict[str, str] = node_object(replace(WINDOWS, **changes), DEFAULT)["metadata"]["labels"]
    return made


def test_labels_tell_the_system_the_name_and_the_place() -> None:
    """The zone where the profile names one; the role of the control plane without a value."""
    assert labels()["kubernetes.io/os"] == "windows"
    assert labels()["kubernetes.io/hostname"] == "win-1"
    assert "topology.kubernetes.io/zone" not in labels(zone="")
    assert labels(zone="z1")["topology.kubernetes.io/zone"] == "z1"
    role = "node-role.kubernetes.io/control-plane"
    assert node_object(LINUX, DEFAULT)["metadata"]["labels"][role] == ""
    assert role not in labels()


@pytest.mark.parametrize(
    ("text", "taint"),
    [
        ("os=windows:NoSchedule", {"key": "os", "value": "windows", "effect": "NoSchedule"}),
        ("a.b/c:NoExecute", {"key": "a.b/c", "value": "", "effect": "NoExecute"}),
    ],
)
def test_taints_are_read_as_kubectl_writes_them(text: str, taint: Json) -> None:
    """``key=value:Effect``, the value left out or not."""
    assert node_object(replace(WINDOWS, taints=(text,)), DEFAULT)["spec"]["taints"] == [taint]
    assert "taints" not in node_object(replace(WINDOWS, taints=()), DEFAULT)["spec"]


@pytest.mark.parametrize(
    ("name", "ranges"),
    [
        ("win2019-l2bridge", ["10.244.3.0/24"]),
        ("win2022-l2bridge-dualstack", ["10.244.3.0/24", "fd00:10:244:3::/64"]),
        ("azure-l2tunnel", None),
    ],
)
def test_a_node_tells_the_ranges_of_its_pods(name: str, ranges: list[str] | None) -> None:
    """One of each family; with Azure CNI none, because Azure gives the addresses."""
    profile = profiles.load(name)
    spec = node_object(profile.node("win-1"), profile)["spec"]
    assert spec.get("podCIDRs") == ranges
    assert spec.get("podCIDR") == (ranges[0] if ranges else None)


def status(minor: int, os: OS = OS.LINUX) -> Json:
    """Return the status of a node of Kubernetes 1.``minor``."""
    profile = replace(DEFAULT, kubernetes_version=f"v1.{minor}.0")
    return node_status(LINUX if os is OS.LINUX else WINDOWS, profile)


def test_kube_proxy_s_version_is_told_up_to_1_32() -> None:
    """KEP-4004: from 1.33 on kubelets no longer claim to know it."""
    assert status(32)["nodeInfo"]["kubeProxyVersion"] == "v1.32.0"
    assert status(33)["nodeInfo"]["kubeProxyVersion"] == ""


@pytest.mark.parametrize(
    ("minor", "os", "features", "declared"),
    [
        (32, OS.LINUX, None, None),
        (33, OS.LINUX, {"supplementalGroupsPolicy": True}, None),
        (33, OS.WINDOWS, None, None),
        (36, OS.WINDOWS, None, ["ExtendWebSocketsToKubelet"]),
    ],
)
def test_features_are_told_by_the_releases_that_know_them(
    minor: int, os: OS, features: Json | None, declared: list[str] | None
) -> None:
    """Groups are a matter of Linux."""
    made = status(minor, os)
    assert (made.get("features"), made.get("declaredFeatures")) == (features, declared)


def test_a_node_has_its_addresses_then_its_name() -> None:
    """Both families where it has both."""
    profile = profiles.load("win2022-l2bridge-dualstack")
    told = node_status(profile.node("win-1"), profile)["addresses"]
    assert [each["type"] for each in told] == ["InternalIP", "InternalIP", "Hostname"]
    assert [each["address"] for each in told] == [*profile.node("win-1").addresses, "win-1"]


def test_a_new_node_is_ready_and_under_no_pressure() -> None:
    """Four conditions; Ready is the only one that is true."""
    told = {each["type"]: each["status"] for each in status(36)["conditions"]}
    assert told == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }


def test_identities_stay_from_start_to_start_but_that_of_the_boot() -> None:
    """A machine's is made of its node's name; a boot is another each time, on Linux."""
    first, second = status(36)["nodeInfo"], status(36)["nodeInfo"]
    assert first["machineID"] == second["machineID"]
    assert first["systemUUID"] == second["systemUUID"]
    assert first["bootID"] != second["bootID"]


def test_a_lease_names_its_node_and_how_long_it_holds() -> None:
    """In the namespace of node leases."""
    made = lease_object(WINDOWS)
    assert made["metadata"] == {"name": "win-1", "namespace": "kube-node-lease"}
    assert made["spec"]["holderIdentity"] == "win-1"
    assert made["spec"]["leaseDurationSeconds"] == LEASE_SECONDS == 40


@pytest.mark.parametrize(
    ("profile", "found"),
    [
        (
            "azure-overlay-23h2",
            {
                "kubernetes.azure.com/agentpool": "npwin",
                "kubernetes.azure.com/podnetwork-type": "overlay",
            },
        ),
        ("azure-l2tunnel", {}),
        ("eks-vpc-bridge", {"eks.amazonaws.com/nodegroup": "windows"}),
    ],
)
def test_clouds_label_their_nodes(profile: str, found: dict[str, str]) -> None:
    """AKS and EKS do; a cluster of one's own in Azure has no such label."""
    cluster = profiles.load(profile)
    told = node_object(cluster.node("win-1"), cluster)["metadata"]["labels"]
    assert {k: v for k, v in told.items() if "azure.com" in k or "amazonaws.com" in k} == found


def test_ovn_writes_ranges_into_annotations() -> None:
    """Nodes have no spec.podCIDR there, and each end of the hybrid overlay tells the MAC of its router."""
    cluster = profiles.load("ovn-hybrid-overlay")
    for name, key, text in (
        ("linux-1", "k8s.ovn.org/node-subnets", '{"default": ["10.244.1.0/24"]}'),
        ("win-1", "k8s.ovn.org/hybrid-overlay-node-subnet", "10.244.3.0/24"),
    ):
        node = node_object(cluster.node(name), cluster)
        assert "podCIDR" not in node["spec"]
        told = node["metadata"]["annotations"]
        assert told[key] == text
        assert "k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac" in told
