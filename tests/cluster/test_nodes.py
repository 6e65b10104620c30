"""Readers of Node objects, on recorded objects."""

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.cluster import nodes
from nettests.errors import ClusterError
from nettests.model.facts import Fact, Taint
from nettests.model.json_text import Object
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import OS
from tests.cluster.recorded import linux_node, windows_node

POOL = "kubernetes.azure.com/agentpool"


def test_the_recorded_linux_node_is_read_whole() -> None:
    """Every fact that a real Node object holds is found in it."""
    node = linux_node()
    assert nodes.os_of(node) is OS.LINUX
    assert nodes.kubelet_of(node).value == KubernetesVersion(1, 36, 2)
    assert nodes.runtime_of(node).value == "containerd://2.1.9+unknown"
    assert nodes.addresses_of(node) == (ipaddress.ip_address("172.30.0.11"),)
    assert nodes.pod_cidrs_of(node) == (ipaddress.ip_network("10.244.1.0/24"),)
    assert nodes.kubelet_port_of(node) == 10250
    assert nodes.ready(node)
    assert nodes.schedulable(node)
    assert nodes.taints_of(node) == ()


def test_a_zone_is_what_the_node_says() -> None:
    """A cloud's controller writes the label; elsewhere there is none, and no zone is guessed."""
    node = linux_node()
    assert "no label" in nodes.zone_of(node).origin
    node["metadata"]["labels"]["topology.kubernetes.io/zone"] = "west-1"
    assert nodes.zone_of(node).value == "west-1"


def test_classes_that_steer_are_told_from_others() -> None:
    """A class of a handler alone steers nobody; where they cannot be listed, nothing is known."""
    selector = {"scheduling": {"nodeSelector": {"a": "b"}}}
    listed: list[dict[str, Any]] = [
        {"metadata": {"name": "z"}, **selector},
        {"metadata": {"name": "plain"}, "handler": "h"},
        {"metadata": {"name": "empty"}, "scheduling": {"nodeSelector": {}}},
        {"metadata": {"name": "a"}, **selector},
    ]
    assert nodes.steering_classes(listed, "").value == ("a", "z")
    assert nodes.steering_classes([], "forbidden") == Fact(None, "forbidden")


def test_a_linux_node_has_no_windows_build() -> None:
    """The build of a Linux node is unknown, with the reason."""
    assert nodes.build_of(linux_node()).origin == "not a Windows node"


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("10.0.17763.1339", WindowsBuild(17763, 1339)),
        ("10.0.20348.2700", WindowsBuild(20348, 2700)),
        ("10.0.26100.1742", WindowsBuild(26100, 1742)),
    ],
)
def test_build_and_patch_come_from_the_kernel_version(kernel: str, expected: WindowsBuild) -> None:
    """nodeInfo.kernelVersion gives the build with its patch level."""
    fact = nodes.build_of(windows_node(kernel=kernel))
    assert fact.value == expected
    assert fact.value is not None
    assert fact.value.patch == expected.patch


def test_the_build_label_is_the_second_source() -> None:
    """Without a readable kernelVersion the label gives the build, its patch level unknown."""
    node = windows_node()
    node["status"]["nodeInfo"]["kernelVersion"] = ""
    fact = nodes.build_of(node)
    assert fact.value == WindowsBuild(17763)
    assert fact.value is not None
    assert not fact.value.patch_known
    assert "label" in fact.origin


def test_a_build_that_nothing_says_is_unknown() -> None:
    """A Windows node without kernelVersion and label has an unknown build, never a guessed one."""
    node = windows_node()
    node["status"]["nodeInfo"]["kernelVersion"] = "unknown"
    del node["metadata"]["labels"]["node.kubernetes.io/windows-build"]
    assert not nodes.build_of(node).known


@pytest.mark.parametrize(
    ("kubelet", "runtime", "expected"),
    [
        ("v1.29.4", "containerd://1.7.20", True),
        ("v1.23.0", "containerd://1.6.0", True),
        ("v1.22.9", "containerd://1.6.0", False),
        ("v1.29.4", "containerd://1.5.9", False),
        ("v1.36.2", "containerd://2.1.9+unknown", True),
        ("v1.23.17", "docker://20.10.9", False),
        ("v1.29.4", "cri-o://1.29.1", None),
        ("", "containerd://1.7.20", None),
    ],
)
def test_host_process_needs_kubelet_1_23_and_containerd_1_6(
    kubelet: str,
    runtime: str,
    expected: bool | None,
) -> None:
    """HostProcess support follows from both versions; another runtime leaves it unknown."""
    assert nodes.host_process_of(windows_node(kubelet=kubelet, runtime=runtime)).value is expected


def test_a_tainted_cordoned_unready_node_says_so() -> None:
    """Taints, the cordon and the Ready condition are read."""
    node = windows_node()
    node["spec"]["unschedulable"] = True
    node["status"]["conditions"][-1]["status"] = "Unknown"
    assert nodes.taints_of(node) == (Taint(key="os", value="windows"),)
    assert not nodes.schedulable(node)
    assert not nodes.ready(node)


def test_pods_of_a_nodes_network_are_told_from_those_of_its_host() -> None:
    """hostNetwork and HostProcess have no endpoint, and what has ended has none any more."""
    options = {"securityContext": {"windowsOptions": {"hostProcess": True}}}
    pods = [
        {"metadata": {"namespace": "a", "name": name}, "spec": spec, "status": {"phase": phase}}
        for name, spec, phase in (
            ("ordinary", {}, "Running"),
            ("waits", {"securityContext": {"windowsOptions": None}}, "Pending"),
            ("ended", {}, "Succeeded"),
            ("failed", {}, "Failed"),
            ("host", {"hostNetwork": True}, "Running"),
            ("process", options, "Running"),
        )
    ]
    assert list(nodes.of_own_network(pods)) == ["a/ordinary", "a/waits"]


def test_internal_addresses_come_first_and_once() -> None:
    """A node's addresses are ordered internal, external, without host names or repeats."""
    node = windows_node()
    node["status"]["addresses"] = [
        {"type": "ExternalIP", "address": "203.0.113.9"},
        {"type": "InternalIP", "address": "172.30.0.21"},
        {"type": "ExternalIP", "address": "172.30.0.21"},
        {"type": "Hostname", "address": "w1"},
    ]
    assert [str(address) for address in nodes.addresses_of(node)] == ["172.30.0.21", "203.0.113.9"]


def _pools(
    found: Sequence[Object], pinned: Mapping[str, Sequence[str]] | None = None
) -> dict[str, str]:
    return {
        name: f"{place.pool}/{place.member}"
        for name, place in nodes.places(found, pinned or {}).items()
    }


def test_nodes_of_one_os_are_one_node_pool_without_labels() -> None:
    """Without pool labels and with one build, each OS is one node pool, members in order of names."""
    found = [windows_node("w2"), windows_node("w1"), linux_node("n2"), linux_node("n1")]
    assert _pools(found) == {
        "w1": "windows-1/1",
        "w2": "windows-1/2",
        "n1": "linux-1/1",
        "n2": "linux-1/2",
    }


def test_builds_are_groups_where_no_label_groups() -> None:
    """Two builds without pool labels are two node pools, the older build first."""
    found = [windows_node("a", kernel="10.0.20348.1"), windows_node("z")]
    assert _pools(found) == {"z": "windows-1/1", "a": "windows-2/1"}


def test_a_pool_keeps_its_name_when_its_build_is_upgraded() -> None:
    """Pools are ordered by their labels, so that an upgrade does not swap node pools."""
    before = [
        windows_node("a", labels={POOL: "alpha"}),
        windows_node("b", labels={POOL: "beta"}, kernel="10.0.20348.1"),
    ]
    after = [
        windows_node("a", labels={POOL: "alpha"}, kernel="10.0.26100.1"),
        windows_node("b", labels={POOL: "beta"}, kernel="10.0.20348.1"),
    ]
    assert _pools(before) == _pools(after) == {"a": "windows-1/1", "b": "windows-2/1"}


def test_the_profile_pins_node_pools() -> None:
    """Pinned nodes get their node pool in the profile's order; the others take what is left."""
    found = [windows_node("a"), windows_node("b"), windows_node("c", kernel="10.0.20348.1")]
    assert _pools(found, {"windows-1": ["c", "a"]}) == {
        "c": "windows-1/1",
        "a": "windows-1/2",
        "b": "windows-2/1",
    }


@pytest.mark.parametrize(
    ("pinned", "message"),
    [
        ({"windows-1": ["nosuch"]}, "no such node exists"),
        ({"linux-1": ["w1"]}, "to node pool linux-1"),
        ({"windows-1": ["w1"], "windows-2": ["w1"]}, "to windows-1 and to windows-2"),
    ],
)
def test_a_wrong_pin_is_an_error(pinned: dict[str, list[str]], message: str) -> None:
    """A pin to a missing node, to another OS's node pool or to two node pools is refused."""
    with pytest.raises(ClusterError, match=message):
        nodes.places([windows_node("w1")], pinned)


@given(st.permutations(["a", "b", "c", "d"]))
def test_node_pools_do_not_depend_on_the_order_of_the_list(order: list[str]) -> None:
    """The API server may list nodes in any order: roles stay."""
    assert _pools([linux_node(name) for name in order]) == {
        name: f"linux-1/{member}" for member, name in enumerate("abcd", 1)
    }
