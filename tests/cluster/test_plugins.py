"""Network plugins as discovery recognises them: plugin, backend, driver, and who serves Services."""

from typing import Any

import pytest

from nettests.cluster import cni, plugin_settings
from nettests.cluster.kubeproxy import ProxySources, facts_of
from nettests.cluster.plugins import plugin_of
from nettests.model.cluster_profile import StatedFacts, StatedKubeProxy
from nettests.model.facts import known
from nettests.model.words import OS
from tests.cluster.recorded import config_map, daemon_set, linux_node, plugin_objects, proxy_pod

NOTHING = StatedFacts()
ANTREA = "kube-system/antrea-windows-config"
CALICO = "kube-system/calico-windows-config"
PROXY_ALL = "antreaProxy:\n  enable: true\n  proxyAll: true\n"
OVN = {"k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac": "00-15-5D-11-22-33"}
LEASE = {"flannel.alpha.coreos.com/backend-type": "vxlan"}


def agent_conf(text: str) -> dict[str, Any]:
    """Return Antrea's ConfigMaps for Windows with the agent's configuration."""
    return {ANTREA: config_map("antrea-windows-config", **{"antrea-agent.conf": text})}


def calico(backend: str) -> dict[str, Any]:
    """Return Calico's ConfigMap for Windows, as its manifests have it."""
    return {CALICO: config_map("calico-windows-config", CALICO_NETWORKING_BACKEND=backend)}


@pytest.mark.parametrize(
    ("daemon_sets", "config_maps", "annotations", "plugin", "backend", "driver"),
    [
        (["kube-flannel-ds"], {}, LEASE, "flannel", None, "overlay"),
        (["calico-node", "calico-node-windows"], calico("vxlan"), {}, "calico", "vxlan", "overlay"),
        (["calico-node"], calico("windows-bgp"), {}, "calico", "windows-bgp", "l2bridge"),
        (["calico-node"], calico("none"), {}, "calico", "none", None),
        (["calico-node"], {}, {}, "calico", None, None),
        (["antrea-agent"], agent_conf("tunnelType: vxlan"), {}, "antrea", "vxlan", "transparent"),
        (["antrea-agent"], agent_conf(PROXY_ALL), {}, "antrea", "geneve", "transparent"),
        (
            ["antrea-agent"],
            agent_conf("trafficEncapMode: noEncap\n"),
            {},
            "antrea",
            "noencap",
            "transparent",
        ),
        (["antrea-agent"], {}, {}, "antrea", None, "transparent"),
        (["ovnkube-node"], {}, OVN, "ovn-kubernetes", None, "overlay"),
        (["ovnkube-node"], {}, {}, "ovn-kubernetes", None, None),
        (["aws-node"], {}, {}, "aws-vpc-cni", None, "l2bridge"),
        (["azure-cns", "azure-cns-win"], {}, {}, "azure-cni", None, None),
        (["weave-net"], {}, {}, "weave", None, None),
        (["cilium"], {}, {}, "cilium", None, None),
    ],
)
def test_plugin_backend_and_driver(  # noqa: PLR0917  # the columns of a table
    daemon_sets: list[str],
    config_maps: dict[str, Any],
    annotations: dict[str, str],
    plugin: str,
    backend: str | None,
    driver: str | None,
) -> None:
    """DaemonSets name the plugin, its ConfigMap the backend; the driver follows or stays unknown."""
    sets = [daemon_set(name) for name in daemon_sets]
    facts = cni.facts_of(plugin_objects(*sets, config_maps=config_maps), NOTHING)
    found = cni.driver_of(OS.WINDOWS, annotations, facts, NOTHING)
    assert (facts.plugin.value, facts.backend.value, found.value) == (plugin, backend, driver)
    assert found.origin


@pytest.mark.parametrize(
    ("variables", "backend", "driver", "vni"),
    [
        ({"CALICO_NETWORKING_BACKEND": "vxlan", "VXLAN_VNI": "4096"}, "vxlan", "overlay", 4096),
        ({"CALICO_NETWORKING_BACKEND": "windows-bgp"}, "windows-bgp", "l2bridge", None),
        ({"VXLAN_VNI": "${VNI}"}, None, None, None),
    ],
)
def test_calicos_operator_tells_settings_in_a_daemon_set(
    variables: dict[str, str], backend: str | None, driver: str | None, vni: int | None
) -> None:
    """It writes no ConfigMap: the environment of its containers on Windows has backend and network id."""
    sets = [
        daemon_set("calico-node", "calico-system", CALICO_NETWORKING_BACKEND="bird"),
        daemon_set("calico-node-windows", "calico-system", **variables),
    ]
    facts = cni.facts_of(plugin_objects(*sets), NOTHING)
    found = cni.driver_of(OS.WINDOWS, {}, facts, NOTHING)
    assert (facts.backend.value, found.value, facts.vni.value) == (backend, driver, vni)
    if backend:
        assert facts.backend.origin.startswith("DaemonSet calico-system/calico-node-windows: ")


def test_calicos_daemon_set_goes_before_a_config_map() -> None:
    """What runs is what the DaemonSet says; a ConfigMap may be an older installation's."""
    sets = [daemon_set("calico-node-windows", CALICO_NETWORKING_BACKEND="vxlan")]
    facts = cni.facts_of(plugin_objects(*sets, config_maps=calico("windows-bgp")), NOTHING)
    assert facts.backend.value == "vxlan"


def test_a_foreign_annotation_of_flannel_is_no_driver() -> None:
    """What another plugin's node still carries of Flannel says nothing of its network."""
    facts = cni.facts_of(plugin_objects(daemon_set("azure-cns")), NOTHING)
    assert not cni.driver_of(OS.WINDOWS, LEASE, facts, NOTHING).known


@pytest.mark.parametrize(
    ("text", "served"),
    [
        (PROXY_ALL, True),
        ("antreaProxy:\n  proxyAll: true\n", True),
        ("antreaProxy:\n  enable: false\n  proxyAll: true\n", False),
        ("antreaProxy:\n  proxyAll: false\n", False),
        ("antreaProxy: yes, please\n", False),
        ("{", False),
    ],
)
def test_antrea_serves_services_with_proxy_all(text: str, served: bool) -> None:
    """proxyAll in the agent's configuration says that Antrea takes kube-proxy's place."""
    antrea, other = known("antrea", "x"), known("calico", "x")
    found = plugin_settings.serves_services(antrea, OS.WINDOWS, agent_conf(text))
    assert found == (f"ConfigMap {ANTREA}: antreaProxy.proxyAll" if served else "")
    assert plugin_settings.serves_services(antrea, OS.LINUX, agent_conf(text)) == ""
    assert plugin_settings.serves_services(other, OS.WINDOWS, agent_conf(text)) == ""


def test_without_kube_proxy_its_settings_have_a_reason() -> None:
    """Where the plugin serves Services the mode is none, and every other setting says why it is unknown."""
    sources = ProxySources(replaced="ConfigMap x: antreaProxy.proxyAll")
    facts = facts_of(OS.WINDOWS, "w1", sources, StatedKubeProxy())
    assert facts.mode.value == "none"
    for fact in (facts.version, facts.dsr, facts.source_vip):
        assert fact.origin == "no kube-proxy runs there (ConfigMap x: antreaProxy.proxyAll)"


def test_a_kube_proxy_that_runs_decides_its_mode() -> None:
    """A Pod of kube-proxy on the node goes before what the plugin's configuration promises."""
    pod = proxy_pod("w1", "--proxy-mode=kernelspace")
    sources = ProxySources(pod=pod, replaced="ConfigMap x: antreaProxy.proxyAll")
    assert facts_of(OS.WINDOWS, "w1", sources, StatedKubeProxy()).mode.value == "kernelspace"


@pytest.mark.parametrize(
    ("labels", "backend", "driver"),
    [
        ({"kubernetes.azure.com/podnetwork-type": "overlay"}, "overlay", "l2bridge"),
        ({"kubernetes.azure.com/podnetwork-type": "vnet"}, "vnet", None),
        ({"kubernetes.azure.com/agentpool": "npwin"}, None, None),
    ],
)
def test_aks_tells_its_kind_of_pod_network_by_a_label(
    labels: dict[str, str], backend: str | None, driver: str | None
) -> None:
    """Its overlay is l2bridge on Windows; of its other networks no object tells the driver."""
    nodes = [linux_node("n1", **labels)]
    facts = cni.facts_of(plugin_objects(daemon_set("azure-cns"), nodes=nodes), NOTHING)
    found = cni.driver_of(OS.WINDOWS, {}, facts, NOTHING)
    assert (facts.backend.value, found.value) == (backend, driver)
    assert "node n1" in facts.backend.origin or not backend


def test_azure_cni_powered_by_cilium_is_cilium() -> None:
    """Azure's service gives the addresses there, and what carries Pods has no agent for Windows."""
    found = plugin_of(plugin_objects(daemon_set("azure-cns"), daemon_set("cilium")))
    assert found.value == "cilium"
    assert found.origin.endswith("Azure CNI powered by Cilium")


def test_amazon_s_termination_handler_is_no_plugin() -> None:
    """It is called like the VPC's daemon and may run beside any plugin."""
    others = [daemon_set("aws-node-termination-handler"), daemon_set("calico-node")]
    assert plugin_of(plugin_objects(*others)).value == "calico"
    assert plugin_of(plugin_objects(others[0])).value is None
