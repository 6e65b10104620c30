"""The files that a plugin's daemon leaves on a Windows node, by what the profile says."""

import json
from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.node import cni_files
from nettests.lab.node.cni_files import installed
from nettests.lab.topology import profiles

Json = dict[str, Any]


def configuration(profile: str, path: str) -> Json:
    """Return the CNI configuration that the plugin of a profile leaves on ``win-1``."""
    cluster = profiles.load(profile)
    found: Json = json.loads(installed(cluster.node("win-1"), cluster).files[path])
    return found


@pytest.mark.parametrize(
    ("profile", "paths"),
    [
        ("win2019-l2bridge", {cni_files.SUBNET_FILE, cni_files.FLANNEL_FILE}),
        ("azure-l2tunnel", {cni_files.AZURE_FILE}),
        ("calico-overlay-dsr", {cni_files.CALICO_FILE}),
        ("win2022-l2bridge-dualstack", {cni_files.SDNBRIDGE_FILE}),
        ("hns-ipam-l2bridge", {cni_files.SDNBRIDGE_FILE}),
        ("calico-bgp-l2bridge", {cni_files.CALICO_FILE}),
        ("azure-overlay-23h2", {cni_files.AZURE_FILE}),
        ("ovn-hybrid-overlay", {cni_files.OVN_FILE}),
        ("eks-vpc-bridge", {cni_files.VPC_FILE}),
        ("antrea-transparent", set()),
    ],
)
def test_each_plugin_leaves_its_own_files(profile: str, paths: set[str]) -> None:
    """Antrea's agent writes none that is shown here."""
    cluster = profiles.load(profile)
    node = next(one for one in cluster.nodes if one.build)
    assert installed(node, cluster).files.keys() == paths


@pytest.mark.parametrize(
    ("profile", "mtu"), [("win2019-l2bridge", 1500), ("win2019-overlay", 1450)]
)
def test_flannel_s_lease_has_the_node_s_range_and_what_fits_into_a_packet(
    profile: str, mtu: int
) -> None:
    """VXLAN takes 50 bytes of each packet."""
    cluster = profiles.load(profile)
    text = installed(cluster.node("win-1"), cluster).files[cni_files.SUBNET_FILE]
    assert text.splitlines() == [
        "FLANNEL_NETWORK=10.244.0.0/16",
        "FLANNEL_SUBNET=10.244.3.1/24",
        f"FLANNEL_MTU={mtu}",
        "FLANNEL_IPMASQ=true",
    ]


def test_azure_spares_pods_and_services_from_outbound_nat() -> None:
    """And sends the Services' range to the host."""
    cluster = profiles.load("azure-l2tunnel")
    (plugin,) = configuration("azure-l2tunnel", cni_files.AZURE_FILE)["plugins"]
    nat, route = (one["Value"] for one in plugin["AdditionalArgs"])
    assert nat == {
        "Type": "OutBoundNAT",
        "ExceptionList": [str(cluster.cluster_cidr), str(cluster.service_cidr)],
    }
    assert (route["Type"], route["DestinationPrefix"]) == ("ROUTE", str(cluster.service_cidr))


def test_calico_tells_its_network_and_whether_it_loops_back_by_dsr() -> None:
    """``windows_loopback_DSR`` is what the rule about hairpin connections reads."""
    cluster = profiles.load("calico-overlay-dsr")
    node = next(one for one in cluster.nodes if one.build)
    for loopback in (True, False):
        changed = replace(cluster, cni=replace(cluster.cni, loopback_dsr=loopback))
        text = installed(node, changed).files[cni_files.CALICO_FILE]
        (plugin,) = json.loads(text)["plugins"]
        assert plugin["windows_loopback_DSR"] is loopback
        assert (plugin["mode"], plugin["vxlan_vni"]) == ("vxlan", cluster.cni.vni)


def test_sdnbridge_names_both_families() -> None:
    """A range of pods and its gateway, exceptions, and routes to Services and to the node itself."""
    cluster = profiles.load("win2022-l2bridge-dualstack")
    node = cluster.node("win-1")
    assert node.ipv6 is not None
    made = configuration("win2022-l2bridge-dualstack", cni_files.SDNBRIDGE_FILE)
    assert made["optionalFlags"] == {"enableDualStack": True}
    subnets = [each["subnet"] for ranges in made["ipam"]["ranges"] for each in ranges]
    assert subnets == [str(node.pod_cidr), str(node.ipv6.pod_cidr)]
    routes = [
        one["Value"]["Settings"]["DestinationPrefix"]
        for one in made["AdditionalArgs"]
        if one["Value"]["Type"] == "SDNRoute"
    ]
    assert f"{node.address}/32" in routes
    assert f"{node.ipv6.address}/128" in routes


@pytest.mark.parametrize(
    ("runtime", "names"),
    [
        ("docker://20.10.8", {"win-bridge.exe", "win-overlay.exe", "host-local.exe"}),
        ("containerd://1.7.20", {"host-local.exe"}),
    ],
)
def test_with_docker_the_plugins_are_containernetworking_s(runtime: str, names: set[str]) -> None:
    """Which of them are there, and what each prints of itself."""
    cluster = profiles.load("win2019-l2bridge")
    node = replace(cluster.node("win-1"), runtime=runtime)
    programs = installed(node, cluster).programs
    assert {path.rpartition("\\")[2] for path in programs} == names
    text = programs[f"{cni_files.PLUGIN_FOLDER}\\host-local.exe"]
    assert text.startswith("CNI host-local plugin v")


@pytest.mark.parametrize(
    ("profile", "path", "manager"),
    [
        ("hns-ipam-l2bridge", cni_files.SDNBRIDGE_FILE, None),
        ("win2022-l2bridge-dualstack", cni_files.SDNBRIDGE_FILE, "host-local"),
        ("eks-vpc-bridge", cni_files.VPC_FILE, None),
        ("ovn-hybrid-overlay", cni_files.OVN_FILE, "host-local"),
    ],
)
def test_who_gives_addresses_stands_in_the_configuration(
    profile: str, path: str, manager: str | None
) -> None:
    """Where it names none Windows does, or the plugin itself knows."""
    found = configuration(profile, path).get("ipam")
    assert (found or {}).get("type") == manager


def test_aks_overlay_has_addresses_from_its_own_service() -> None:
    """azure-cns in mode overlay, and no ROUTE policy beside OutBoundNAT because DSR is on."""
    (plugin,) = configuration("azure-overlay-23h2", cni_files.AZURE_FILE)["plugins"]
    assert plugin["ipam"] == {"type": "azure-cns", "mode": "overlay"}
    assert [one["Value"]["Type"] for one in plugin["AdditionalArgs"]] == ["OutBoundNAT"]
    assert plugin["windowsSettings"] == {"enableLoopbackDSR": True}


def test_calico_without_encapsulation_names_no_network_id() -> None:
    """Its mode is the backend, as the operator renders it."""
    (plugin,) = configuration("calico-bgp-l2bridge", cni_files.CALICO_FILE)["plugins"]
    assert plugin["mode"] == "windows-bgp"
    assert "vxlan_vni" not in plugin
