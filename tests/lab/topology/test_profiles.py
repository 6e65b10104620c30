"""Lab profiles: those that come with the lab, and what is said about broken ones."""

import re
from pathlib import Path

import pytest

from nettests.lab.errors import ProfileError
from nettests.lab.installers import system_objects
from nettests.lab.network.thresholds import WINDOWS
from nettests.lab.topology import OS, Driver, profiles

VALID = """\
apiVersion: nettests.dev/v1alpha1
kind: LabProfile
name: small
summary: one node
kubernetesVersion: v1.33.5
cni: {plugin: flannel, backend: host-gw, driver: l2bridge}
nodes:
  - name: a
    os: linux
    controlPlane: true
"""

NAMES = [
    "antrea-geneve",
    "antrea-transparent",
    "azure-l2tunnel",
    "azure-overlay-23h2",
    "calico-bgp-l2bridge",
    "calico-overlay-dsr",
    "eks-vpc-bridge",
    "fleet",
    "hns-ipam-l2bridge",
    "linux",
    "mixed-builds",
    "ovn-hybrid-overlay",
    "userspace-l2bridge",
    "win2019-l2bridge",
    "win2019-overlay",
    "win2022-l2bridge-dsr",
    "win2022-l2bridge-dualstack",
    "win2022-overlay-dsr",
    "win2022-overlay-services",
]


def test_these_profiles_exist() -> None:
    """The names that documents and tests use."""
    assert [profile.name for profile in profiles.available()] == NAMES
    assert profiles.DEFAULT in NAMES


@pytest.mark.parametrize(
    ("words", "there"),
    [
        ("", {"kube-proxy", "kube-proxy-windows"}),
        ("pod", {"kube-proxy", "kube-proxy-windows"}),
        ("windows-service", {"kube-proxy"}),
        ("service", set()),
    ],
)
def test_kube_proxy_may_be_a_service_of_its_hosts(words: str, there: set[str]) -> None:
    """Then there is no DaemonSet of it, on Linux no ConfigMap either; unless told otherwise there are both."""
    windows = "  - {name: b, os: windows, build: 20348, patch: 3207}\n"
    text = f"{VALID}{windows}" + (f"kubeProxy: {{runsAs: {words}}}\n" if words else "")
    profile = profiles.read(text, "small.yaml")
    made = [item for _, item in system_objects.objects(profile)]
    names = {item["metadata"]["name"] for item in made if item["kind"] == "DaemonSet"}
    assert {name for name in names if name.startswith("kube-proxy")} == there
    maps = {item["metadata"]["name"] for item in made if item["kind"] == "ConfigMap"}
    assert ("kube-proxy" in maps) is ("kube-proxy" in there)
    assert profile.kube_proxy.runs_no_pod(OS.LINUX) is ("kube-proxy" not in there)
    assert profile.kube_proxy.runs_no_pod(OS.WINDOWS) is ("kube-proxy-windows" not in there)


@pytest.mark.parametrize("name", NAMES)
def test_host_process_works_in_every_profile(name: str) -> None:
    """HostProcess needs Kubernetes 1.23 (beta) and containerd 1.6 (KEP-1981)."""
    profile = profiles.load(name)
    assert int(profile.kubernetes_version.split(".")[1]) >= 23
    for node in profile.nodes:
        major, minor, _ = node.runtime.removeprefix("containerd://").split(".")
        assert (int(major), int(minor)) >= (1, 6)


@pytest.mark.parametrize("name", NAMES)
def test_addresses_do_not_overlap(name: str) -> None:
    """Every node has an address and a pod range of its own, inside the profile's networks."""
    profile = profiles.load(name)
    assert len({node.address for node in profile.nodes}) == len(profile.nodes)
    assert len({node.pod_cidr for node in profile.nodes}) == len(profile.nodes)
    for node in profile.nodes:
        assert node.address in profile.node_network
        assert node.pod_cidr[0] in profile.cluster_cidr
        assert node.pod_cidr[-1] in profile.cluster_cidr


def test_windows_2019_is_older_than_the_update_that_changed_host_rules() -> None:
    """Local NodePort and node → ClusterIP are documented as failing below 17763.1432."""
    for name in ("win2019-l2bridge", "win2019-overlay"):
        profile = profiles.load(name)
        windows = [node for node in profile.nodes if node.os is OS.WINDOWS]
        assert len(windows) == len(profile.nodes) - len(windows) == 2
        assert all((17763, 379) <= node.windows_release < WINDOWS["host-rules"] for node in windows)
        assert not profile.kube_proxy.dsr


def test_windows_2022_runs_with_dsr_on_a_build_that_can() -> None:
    """DSR is on, loopback DSR as the CNI sets it, on a build later than the fixes of l2bridge."""
    profile = profiles.load("win2022-l2bridge-dsr")
    windows = [node for node in profile.nodes if node.os is OS.WINDOWS]
    assert all(node.windows_release > max(WINDOWS["dsr"], (20348, 2762)) for node in windows)
    assert profile.kube_proxy.dsr
    assert profile.cni.loopback_dsr


def test_overlay_uses_what_flannel_demands_on_windows() -> None:
    """VNI 4096 or above and UDP port 4789 (flannel, vxlan_windows.go)."""
    cni = profiles.load("win2019-overlay").cni
    assert (cni.backend, cni.driver, cni.vni, cni.vxlan_port) == (
        "vxlan",
        Driver.OVERLAY,
        4096,
        4789,
    )


def test_a_fleet_has_two_windows_pools_of_four_nodes() -> None:
    """Each pool has second and later nodes, and there are four Linux nodes."""
    nodes = profiles.load("fleet").nodes
    assert sum(node.os is OS.LINUX for node in nodes) == 4
    builds = [node.build for node in nodes if node.os is OS.WINDOWS]
    assert [builds.count(build) for build in dict.fromkeys(builds)] == [4, 4]


def test_a_lab_may_have_as_many_nodes_as_its_network_has_addresses() -> None:
    """240 nodes have addresses and pod ranges of their own, inside their networks; one more is refused."""
    node = "  - {{name: n{}, os: linux}}\n"
    text = VALID + "".join(node.format(number) for number in range(2, 241))
    found = profiles.read(text, "large.yaml").nodes
    assert len({one.address for one in found}) == len({one.pod_cidr for one in found}) == 240
    assert found[-1].address in profiles.read(text, "large.yaml").node_network
    assert str(found[-1].address) == "172.30.0.250"
    with pytest.raises(ProfileError, match="nodes"):
        profiles.read(text + node.format(241), "large.yaml")


def test_windows_nodes_are_tainted() -> None:
    """A Linux pod without tolerations must not land on a Windows node."""
    for node in profiles.load("win2019-l2bridge").nodes:
        assert node.taints == (("os=windows:NoSchedule",) if node.os is OS.WINDOWS else ())


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("os: linux", "os: linus"), 9, "'linus' is not one of"),
        (("controlPlane", "controlplane"), 10, 'unknown key "nodes.0.controlplane"'),
        (("controlPlane: true", "taints: [x]"), 10, "does not match"),
        (("v1.33.5", "v1.33"), 5, "does not match"),
        (("    controlPlane: true\n", ""), 7, "exactly one Linux node must have controlPlane"),
        (("backend: host-gw", "backend: vxlan, vni: 1"), 6, "less than the minimum of 4096"),
        (("name: small", "name: [small"), 4, "not valid YAML"),
        (("kind: LabProfile\n", ""), 1, "'kind' is a required property"),
    ],
    ids=["value", "key", "taint", "version", "control-plane", "vni", "yaml", "missing"],
)
def test_a_broken_profile_is_explained(change: tuple[str, str], line: int, message: str) -> None:
    """The error names file, line and what is wrong."""
    with pytest.raises(ProfileError) as error:
        profiles.read(VALID.replace(*change), "file.yaml")
    assert str(error.value).startswith(f"file.yaml:{line}: ")
    assert message in str(error.value)


def test_a_misspelt_key_gets_the_nearest_one() -> None:
    """The hint spells the key that was meant."""
    with pytest.raises(ProfileError, match=re.escape('Did you mean "controlPlane"?')):
        profiles.read(VALID.replace("controlPlane", "controlplane"), "file.yaml")


def test_the_driver_must_fit_the_backend_where_windows_nodes_are() -> None:
    """Flannel makes l2bridge networks for host-gw and overlay networks for vxlan."""
    windows = "  - {name: w, os: windows, build: 17763, patch: 1339}\n"
    with pytest.raises(ProfileError, match="flannel does not make overlay networks of host-gw"):
        profiles.read(VALID.replace("l2bridge", "overlay") + windows, "file.yaml")


@pytest.mark.parametrize(
    ("version", "cni", "mode", "message"),
    [
        ("v1.33.5", "flannel, backend: host-gw, driver: l2bridge", "none", "antrea plugin"),
        ("v1.33.5", "antrea, backend: vxlan, driver: transparent", "kernelspace", "antrea plugin"),
        ("v1.33.5", "azure, backend: vnet, driver: overlay", "kernelspace", "overlay networks"),
        (
            "v1.33.5",
            "flannel, backend: host-gw, driver: l2bridge, ipam: hns",
            "kernelspace",
            "manages addresses itself",
        ),
        ("v1.26.0", "flannel, backend: host-gw, driver: l2bridge", "userspace", "after 1.25"),
    ],
)
def test_kube_proxys_mode_must_fit_plugin_and_version(
    version: str, cni: str, mode: str, message: str
) -> None:
    """Only Antrea runs without kube-proxy, and userspace mode went with 1.26."""
    text = (
        VALID.replace("v1.33.5", version)
        .replace("flannel, backend: host-gw, driver: l2bridge", cni)
        .replace("nodes:", f"kubeProxy: {{mode: {mode}}}\nnodes:")
    )
    with pytest.raises(ProfileError, match=message):
        profiles.read(text + "  - {name: w, os: windows, build: 17763, patch: 1339}\n", "file.yaml")


@pytest.mark.parametrize("name", ["azure-l2tunnel", "eks-vpc-bridge"])
def test_clouds_pods_have_addresses_of_the_nodes_network(name: str) -> None:
    """With Azure CNI and Amazon's the pods' ranges lie in the network that the nodes are on."""
    profile = profiles.load(name)
    assert profile.cluster_cidr == profile.node_network
    assert all(node.pod_cidr[-1] in profile.node_network for node in profile.nodes)
    assert not any(
        node.address in other.pod_cidr for node in profile.nodes for other in profile.nodes
    )


def test_a_windows_node_needs_build_and_patch() -> None:
    """Mechanisms depend on both; there is no default."""
    with pytest.raises(ProfileError, match="'patch' is a required property"):
        profiles.read(VALID + "  - {name: w, os: windows, build: 17763}\n", "file.yaml")


def test_two_nodes_of_one_name() -> None:
    """Names are the keys of everything later."""
    with pytest.raises(ProfileError, match='two nodes are called "a"'):
        profiles.read(VALID + "  - {name: a, os: linux}\n", "file.yaml")


def test_an_unknown_profile_gets_the_nearest_one() -> None:
    """The hint names the profile that was probably meant, and all of them."""
    with pytest.raises(ProfileError) as error:
        profiles.load("win2022-l2bridge")
    assert 'There is no lab profile "win2022-l2bridge".' in str(error.value)
    assert 'Did you mean "win2022-l2bridge-dsr"?' in str(error.value)


def test_a_profile_can_be_a_file(tmp_path: Path) -> None:
    """A path that ends in .yaml is read; one that does not exist is named."""
    path = tmp_path / "mine.yaml"
    path.write_text(VALID)
    assert profiles.load(str(path)).name == "small"
    with pytest.raises(ProfileError, match=r"none\.yaml cannot be read"):
        profiles.load(str(tmp_path / "none.yaml"))
