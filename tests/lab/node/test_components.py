"""How components of a Windows node are started in the lab, as its registry, its files and kube-proxy tell."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.lab.installers import system_objects
from nettests.lab.network.hns import NodeHns
from nettests.lab.node.registration import (
    CONTAINERD_FILE,
    KUBELET_FILE,
    SERVICES,
    SOURCE_VIP_FILE,
    configuration,
    files,
    kube_proxy_line,
    registry,
)
from nettests.lab.topology import OS, KubeProxy, Profile, profiles

AS_SERVICE = "win2022-overlay-services"
PROXY = rf"{SERVICES}\kube-proxy"


def switched(name: str, **mechanisms: int) -> Profile:
    """Return a profile with mechanisms switched."""
    given = tuple((key.replace("_", "-"), value) for key, value in mechanisms.items())
    return replace(profiles.load(name), mechanisms=given)


def values(profile: Profile, key: str) -> dict[str, str]:
    """Return what stands below a key on the first Windows node."""
    found = registry(profile.node("win-1"), profile).get(key, ())
    return {name: data for name, _, data in found}


def hns_networks(profile: Profile, node: str) -> list[str]:
    """Return the names of a node's HNS networks."""
    spec = profile.node(node)
    hns = NodeHns(node=spec, profile=profile, exceptions=(), pods=dict, policies=tuple)
    return [one["Name"] for one in hns.networks()]


def test_a_service_of_its_host_is_registered_with_nssm() -> None:
    """With its network in a variable; the kubelet is a service everywhere, and kube-proxy's Pod is none."""
    profile = profiles.load(AS_SERVICE)
    assert values(profile, PROXY)["ImagePath"].endswith("nssm.exe")
    parameters = values(profile, rf"{PROXY}\Parameters")
    assert "--enable-dsr=true" in parameters["AppParameters"]
    assert parameters["AppEnvironmentExtra"] == "KUBE_NETWORK=flannel.4096"
    with_pod = profiles.load("win2022-overlay-dsr")
    assert values(with_pod, PROXY) == {}
    assert "kubelet.exe" in values(with_pod, rf"{SERVICES}\kubelet")["ImagePath"]
    assert registry(profile.node("linux-1"), profile) == {}


@pytest.mark.parametrize(
    "name", ["ovn-hybrid-overlay", "eks-vpc-bridge", "win2022-overlay-services"]
)
def test_a_service_is_given_the_network_that_hns_has(name: str) -> None:
    """Each plugin names its network by itself, and the node's kube-proxy is told that name."""
    profile = profiles.load(name)
    variable = values(profile, rf"{PROXY}\Parameters")["AppEnvironmentExtra"]
    assert variable.removeprefix("KUBE_NETWORK=") in hns_networks(profile, "win-1")


@pytest.mark.parametrize("name", ["ovn-hybrid-overlay", "eks-vpc-bridge"])
def test_a_pod_is_given_the_network_that_hns_has(name: str) -> None:
    """Its DaemonSet names the network that all nodes have, and none where each has another."""
    profile = replace(profiles.load(name), kube_proxy=KubeProxy(dsr=True))
    (proxy,) = [
        item["spec"]["template"]["spec"]["containers"][0]
        for _, item in system_objects.objects(profile)
        if item["metadata"]["name"] == "kube-proxy-windows"
    ]
    told = [one["value"] for one in proxy["env"] if one["name"] == "KUBE_NETWORK"]
    networks = [hns_networks(profile, node) for node in ("win-1", "win-2")]
    assert told == ([] if networks[0] != networks[1] else [networks[0][-1]])


def test_a_service_without_use_may_be_left() -> None:
    """Beside Antrea, which has none of its own."""
    assert values(profiles.load("antrea-transparent"), PROXY) == {}
    assert values(switched("antrea-transparent", proxy_left_behind=1), PROXY)


def test_recovery_can_be_taken_away() -> None:
    """From the service control manager's actions, and from nssm."""
    off = switched(AS_SERVICE, service_recovery=0)
    assert values(off, rf"{SERVICES}\kubelet")["FailureActions"] == "80510100" + "0" * 24
    assert values(off, rf"{PROXY}\Parameters\AppExit") == {"": "Exit"}


@pytest.mark.parametrize(
    ("mechanisms", "file", "line"),
    [
        ({}, KUBELET_FILE, "- 10.96.0.10"),
        ({}, KUBELET_FILE, 'resolvConf: ""'),
        ({"own_resolver": 0}, KUBELET_FILE, "resolvConf: /run/systemd/resolve/resolv.conf"),
        ({"pause_image": 4}, CONTAINERD_FILE, "registry.k8s.io/pause:3.4"),
        ({}, SOURCE_VIP_FILE, '"10.244.3.2/24"'),
        ({"rejoined_subnet": 1}, SOURCE_VIP_FILE, '"10.244.103.2/24"'),
    ],
)
def test_files_say_what_a_mechanism_makes_of_them(
    mechanisms: dict[str, int], file: str, line: str
) -> None:
    """As installers write them."""
    profile = switched(AS_SERVICE, **mechanisms)
    made = files(profile.node("win-1"), profile, ip_address("10.244.3.2"))
    assert line in made[file]


def test_a_kubelet_may_have_no_dns_for_pods() -> None:
    """Then its file names none."""
    profile = switched(AS_SERVICE, cluster_dns=0)
    assert "clusterDNS" not in files(profile.node("win-1"), profile)[KUBELET_FILE]


def test_what_kube_proxy_shows_follows_from_its_flags() -> None:
    """On Windows its settings of HNS, on Linux those of its rules."""
    profile = profiles.load(AS_SERVICE)
    line = kube_proxy_line(profile.node("win-1"), profile, ip_address("10.244.3.2"))
    shown = configuration(OS.WINDOWS, "kernelspace", line)["kubeproxy.config.k8s.io"]
    assert shown["HostnameOverride"] == "win-1"
    assert shown["FeatureGates"] == {"WinOverlay": True, "WinDSR": True}
    assert (shown["Winkernel"]["SourceVip"], shown["Winkernel"]["EnableDSR"]) == (
        "10.244.3.2",
        True,
    )
    linux = configuration(OS.LINUX, "nftables", "kube-proxy")["kubeproxy.config.k8s.io"]
    assert (linux["Mode"], "Winkernel" in linux) == ("nftables", False)
