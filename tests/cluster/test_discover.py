"""From fetched objects to facts: networks, plugin, and the whole."""

import ipaddress
import json
from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from nettests.cluster import cni, networks
from nettests.cluster.discover import facts_of
from nettests.cluster.plugins import FLANNEL_BACKEND, plugin_of
from nettests.cluster.snapshot import Snapshot
from nettests.errors import ClusterError
from nettests.model.cluster_profile import ClusterProfile, StatedFacts
from nettests.model.facts import ExternalTarget, Fact
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS, Family, Protocol
from tests.cluster.recorded import (
    config_map,
    daemon_set,
    linux_node,
    plugin_objects,
    proxy_pod,
    windows_node,
)

KUBEADM = config_map(
    "kubeadm-config",
    ClusterConfiguration=(
        "apiVersion: kubeadm.k8s.io/v1beta3\n"
        "networking: {dnsDomain: cluster.local, podSubnet: 10.244.0.0/16,"
        " serviceSubnet: 10.96.0.0/16}\n"
    ),
)
COREDNS = config_map(
    "coredns",
    Corefile=".:53 {\n    errors\n    kubernetes corp.example in-addr.arpa ip6.arpa {\n    }\n}\n",
)
DNS = {
    "metadata": {"name": "kube-dns", "namespace": "kube-system"},
    "spec": {"clusterIP": "10.96.0.10"},
}
NOTHING = StatedFacts()


def flannel(kind: str, **backend: object) -> dict[str, Any]:
    """Return Flannel's ConfigMap with a backend."""
    network = {"Network": "10.244.0.0/16", "Backend": {"Type": kind, **backend}}
    return config_map("kube-flannel-cfg", **{"net-conf.json": json.dumps(network)})


@pytest.fixture
def snapshot() -> Snapshot:
    """A Flannel host-gw cluster with one Linux and one Windows node."""
    return Snapshot(
        server_version=KubernetesVersion(1, 29, 4),
        server_git_version="v1.29.4",
        context="test",
        nodes=[linux_node(), windows_node()],
        daemon_sets=[
            daemon_set("kube-flannel-ds", "kube-flannel"),
            daemon_set("kube-flannel-ds-windows-amd64", "kube-flannel"),
        ],
        config_maps={
            "kube-system/kubeadm-config": KUBEADM,
            "kube-system/coredns": COREDNS,
            "kube-flannel/kube-flannel-cfg": flannel("host-gw"),
            "kube-system/kube-proxy": config_map("kube-proxy", **{"config.conf": "mode: nftables"}),
        },
        dns_services=[DNS],
        proxy_pods={"n1": proxy_pod("n1"), "w1": proxy_pod("w1")},
        proxy_logs={"w1": 'I1 flags.go:64] FLAG: --enable-dsr="true"\n'},
        denied=("get pods/log",),
    )


def test_a_whole_cluster_is_read(snapshot: Snapshot) -> None:
    """The recorded objects of a mixed cluster give every fact with its origin."""
    facts = facts_of(snapshot, ClusterProfile())
    assert [(node.name, node.pool, node.member) for node in facts.nodes] == [
        ("n1", "linux-1", 1),
        ("w1", "windows-1", 1),
    ]
    windows = facts.node("w1")
    assert windows.cni_driver.value == "l2bridge"
    assert windows.kube_proxy.dsr.value is True
    assert windows.host_process.value is True
    assert facts.node("n1").kube_proxy.mode.value == "nftables"
    assert facts.cni.plugin.value == "flannel"
    assert facts.cni.backend.value == "host-gw"
    assert facts.pod_cidrs.value == (ipaddress.ip_network("10.244.0.0/16"),)
    assert facts.service_cidrs.value == (ipaddress.ip_network("10.96.0.0/16"),)
    assert facts.cluster_domain.value == "corp.example"
    assert facts.dns_address.value == ipaddress.ip_address("10.96.0.10")
    assert facts.families == (Family.IPV4,)
    assert facts.denied == ("get pods/log",)
    assert facts.external_target is None


def test_a_bare_cluster_has_unknown_facts_with_reasons(snapshot: Snapshot) -> None:
    """Where nothing but nodes can be read, the rest is unknown and each says why."""
    bare = replace(
        snapshot,
        daemon_sets=[],
        config_maps={},
        dns_services=[],
        proxy_pods={},
        proxy_logs={},
        reasons={"/api/v1/namespaces/kube-system/pods": "pods is forbidden"},
    )
    facts = facts_of(bare, ClusterProfile())
    proxy = facts.node("w1").kube_proxy
    unknown: list[Fact[Any]] = [
        facts.cni.plugin, facts.cni.backend, facts.service_cidrs, facts.dns_address,
        facts.cluster_domain, proxy.mode, proxy.dsr, proxy.source_vip, facts.node("w1").cni_driver,
    ]  # fmt: skip
    assert all(not fact.known and fact.origin for fact in unknown)
    assert proxy.dsr.origin == "pods is forbidden"
    assert facts.pod_cidrs.origin == "podCIDRs of the nodes"


def test_the_profile_completes_and_overrides(snapshot: Snapshot) -> None:
    """Stated facts, pinned node pools and the external target come from the profile."""
    profile = ClusterProfile(
        external_target=ExternalTarget(name="server.outside.test", tcp_port=80),
        external_vantage="direct",
        pools={"windows-3": ("w1",)},
        facts=StatedFacts(cni_plugin="mine", cni_driver="overlay", cluster_domain="a.b"),
    )
    facts = facts_of(snapshot, profile)
    assert facts.cni.plugin.value == "mine"
    assert facts.node("w1").cni_driver.origin == "cluster profile"
    assert facts.node("w1").pool == "windows-3"
    assert facts.cluster_domain.value == "a.b"
    assert facts.external_target == profile.external_target
    assert facts.external_vantage == "direct"
    assert facts.external_udp


@pytest.mark.parametrize(("relay", "carried"), [(None, False), ("socks5://x.test:1080", True)])
def test_a_proxy_carries_udp_where_the_profile_names_a_relay(
    snapshot: Snapshot, relay: str | None, *, carried: bool
) -> None:
    """A forward proxy carries TCP alone; that another one relays datagrams has to be stated."""
    profile = ClusterProfile(
        external_vantage="proxy", external_proxy="http://x.test:3128", external_udp_proxy=relay
    )
    facts = facts_of(snapshot, profile)
    assert facts.from_outside(Protocol.TCP)
    assert facts.from_outside(Protocol.UDP) is carried
    assert not facts.from_outside(Protocol.ICMP)


def test_no_node_is_an_error(snapshot: Snapshot) -> None:
    """A cluster without a Linux or Windows node cannot be queried anything."""
    with pytest.raises(ClusterError, match="no Linux or Windows node"):
        facts_of(replace(snapshot, nodes=[]), ClusterProfile())


def test_nodes_without_addresses_leave_the_ip_family_to_other_objects(snapshot: Snapshot) -> None:
    """Where none has the Service kubernetes or a Pod CIDR either, an error says what is missing."""
    node = {"metadata": {"name": "n"}, "status": {"nodeInfo": {"operatingSystem": "linux"}}}
    bare = replace(snapshot, nodes=[node], config_maps={})
    service = {"metadata": {"name": "kubernetes"}, "spec": {"clusterIP": "fd00::1"}}
    assert facts_of(replace(bare, kubernetes_service=service), ClusterProfile()).families == (
        Family.IPV6,
    )
    with pytest.raises(ClusterError, match="IP family is not known: no node has an address"):
        facts_of(replace(bare, kubernetes_service=None), ClusterProfile())


@pytest.mark.parametrize(
    ("annotations", "backend", "driver"),
    [
        ({}, "host-gw", "l2bridge"),
        ({}, "vxlan", "overlay"),
        ({FLANNEL_BACKEND: "vxlan"}, "host-gw", "overlay"),
        ({}, "wireguard", None),
    ],
)
def test_flannels_backend_names_the_driver(
    annotations: dict[str, str], backend: str, driver: str | None
) -> None:
    """host-gw makes an l2bridge network, vxlan an overlay; the node's own annotation wins."""
    plugin = cni.facts_of(
        plugin_objects(daemon_set("kube-flannel-ds"), config_maps={"x/y": flannel(backend)}),
        NOTHING,
    )
    assert cni.driver_of(OS.WINDOWS, annotations, plugin, NOTHING).value == driver


def test_a_linux_node_has_no_driver() -> None:
    """The driver is a matter of Windows nodes."""
    plugin = cni.facts_of(plugin_objects(config_maps={"x/y": flannel("vxlan")}), NOTHING)
    assert not cni.driver_of(OS.LINUX, {}, plugin, NOTHING).known


def test_overlay_settings_are_read() -> None:
    """VNI and port of VXLAN come from net-conf.json."""
    plugin = cni.facts_of(
        plugin_objects(config_maps={"x/y": flannel("vxlan", VNI=4096, Port=4789)}), NOTHING
    )
    assert (plugin.vni.value, plugin.vxlan_port.value) == (4096, 4789)


@pytest.mark.parametrize(
    ("names", "plugin"),
    [
        (["calico-node", "calico-node-windows"], "calico"),
        (["azure-cns", "azure-cns-win"], "azure-cni"),
        (["antrea-agent", "antrea-agent-windows"], "antrea"),
        (["something"], None),
        (["calico-node", "kube-flannel-ds"], None),
    ],
)
def test_the_plugin_is_known_by_its_daemon_sets(names: list[str], plugin: str | None) -> None:
    """One known plugin is a fact; none, or two at once, is unknown with the names."""
    fact = plugin_of(plugin_objects(*map(daemon_set, names)))
    assert fact.value == plugin


@pytest.mark.parametrize("text", ["", "{", "[]", "no: yaml: here"])
def test_unreadable_config_maps_say_nothing(text: str) -> None:
    """Texts that are no JSON or YAML object give no facts instead of an exception."""
    assert cni.flannel_network(config_map("x", **{"net-conf.json": text})) == {}
    assert networks.kubeadm_networking(config_map("x", ClusterConfiguration=text)) == {}


def test_dual_stack_networks_give_both_families() -> None:
    """A pod network of both families gives both, IPv4 first."""
    pods = networks.pod_cidrs({"podSubnet": "fd00::/48,10.244.0.0/16"}, {}, [], NOTHING)
    assert networks.families(pods, [], [], None) == (Family.IPV4, Family.IPV6)


def test_the_kubernetes_service_tells_the_primary_family() -> None:
    """The Service ``kubernetes`` has one family, the cluster's first; node podCIDRs count too."""
    pods = networks.pod_cidrs({"podSubnet": "10.244.0.0/16"}, {}, [], NOTHING)
    of_nodes = [ip_network("10.244.1.0/24"), ip_network("fd00:10:244:1::/64")]
    primary = ip_address("fd00:10:96::1")
    assert networks.families(pods, of_nodes, [], primary) == (Family.IPV6, Family.IPV4)


def test_flannel_names_the_networks_of_both_families() -> None:
    """Flannel's IPv6Network stands beside its Network."""
    flannel = {"Network": "10.244.0.0/16", "IPv6Network": "fd00:10:244::/56"}
    fact = networks.pod_cidrs({}, flannel, [], NOTHING)
    assert fact.value == (ip_network("10.244.0.0/16"), ip_network("fd00:10:244::/56"))


def dns_pod(address: str, *, ready: str = "True", phase: str = "Running", **metadata: str) -> Any:
    """Return a Pod of the cluster's DNS."""
    return {
        "metadata": {"name": address, "labels": {"k8s-app": "kube-dns"}, **metadata},
        "status": {
            "phase": phase,
            "podIP": address,
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def test_the_dns_pods_are_those_that_serve() -> None:
    """A Pod that is not ready, is being deleted or does not run is no endpoint of the DNS Service."""
    serving = dns_pod("10.244.1.2")
    others = [
        dns_pod("10.244.1.3", ready="False"),
        dns_pod("10.244.1.4", deletionTimestamp="2026-01-01T00:00:00Z"),
        dns_pod("10.244.1.5", phase="Succeeded"),
    ]
    assert networks.dns_pods([*others, serving]).value == (ip_address("10.244.1.2"),)
    assert "ready" in networks.dns_pods(others).origin


def test_service_networks_are_those_that_the_api_names(snapshot: Snapshot) -> None:
    """ServiceCIDRs tell them also where kubeadm does not, and what was added later; one that goes does not."""

    def named(name: str, *cidrs: str, **metadata: str) -> dict[str, Any]:
        return {"metadata": {"name": name, **metadata}, "spec": {"cidrs": list(cidrs)}}

    gone = named("gone", "10.99.0.0/16", deletionTimestamp="2026-01-01T00:00:00Z")
    items = [named("kubernetes", "10.96.0.0/16", "fd00::/108"), named("more", "10.98.0.0/24"), gone]
    read = facts_of(replace(snapshot, config_maps={}, service_cidrs=items), ClusterProfile())
    cidrs = [str(network) for network in read.service_cidrs.value or ()]
    assert cidrs == ["10.96.0.0/16", "fd00::/108", "10.98.0.0/24"]
    assert "ServiceCIDR" in read.service_cidrs.origin


@pytest.mark.parametrize(
    ("label", "platform"),
    [
        ("kubernetes.azure.com/agentpool", "aks"),
        ("eks.amazonaws.com/nodegroup", "eks"),
        ("cloud.google.com/gke-nodepool", "gke"),
        ("agentpool", "other"),
    ],
)
def test_labels_of_nodes_tell_whose_service_the_cluster_is(
    snapshot: Snapshot, label: str, platform: str
) -> None:
    """A managed service labels its nodes; a cluster of one's own is known to be none, and the profile decides first."""
    nodes = [linux_node(**{label: "np1"}), windows_node()]
    fact = facts_of(replace(snapshot, nodes=nodes), ClusterProfile()).platform
    assert fact.value == platform
    assert fact.origin.startswith("label ") is (platform != "other")
    stated = ClusterProfile(facts=StatedFacts(platform="gke"))
    assert facts_of(replace(snapshot, nodes=nodes), stated).platform.value == "gke"


def flannel_on_windows(*delegates: dict[str, Any]) -> dict[str, Any]:
    """Return sig-windows-tools' ConfigMap, with a configuration for each delegate."""
    data = {
        f"cni-conf-{number}.json": json.dumps({"type": "flannel", "delegate": one})
        for number, one in enumerate(delegates)
    }
    return config_map("kube-flannel-windows-cfg", **{"run.ps1": "no JSON", **data})


@pytest.mark.parametrize(
    ("delegates", "value"),
    [
        ([{"type": "sdnoverlay"}], False),
        ([{"type": "sdnbridge", "optionalFlags": {"loopbackDSR": True}}], True),
        ([{"type": "win-bridge", "loopbackDSR": True}], True),
        ([{"type": "sdnbridge", "optionalFlags": {"loopbackDSR": True}}, {"type": "x"}], None),
        ([], None),
    ],
)
def test_flannels_settings_on_windows_tell_loopback_dsr(
    snapshot: Snapshot, delegates: list[dict[str, Any]], value: bool | None
) -> None:
    """What Flannel hands on stands in a ConfigMap; off is the plugins' default, and files that differ say nothing."""
    name = "kube-system/kube-flannel-windows-cfg"
    maps = {**snapshot.config_maps, name: flannel_on_windows(*delegates)}
    fact = facts_of(replace(snapshot, config_maps=maps), ClusterProfile()).cni.loopback_dsr
    assert fact.value is value
    assert name in fact.origin


def test_what_nobody_reads_is_stated(snapshot: Snapshot) -> None:
    """Without the ConfigMap the option is unknown, as the firewall is, until the profile states them."""
    read = facts_of(snapshot, ClusterProfile())
    assert "facts.cni.loopbackDSR" in read.cni.loopback_dsr.origin
    assert "facts.windowsFirewall" in read.node("w1").firewall.origin
    assert not read.cni.loopback_dsr.known
    stated = StatedFacts(cni_loopback_dsr=False, windows_firewall=False)
    facts = facts_of(snapshot, ClusterProfile(facts=stated))
    assert (facts.cni.loopback_dsr.value, facts.node("w1").firewall.value) == (False, False)
    assert not facts.node("n1").firewall.known


def test_only_of_a_cordoned_node_whose_pods_were_listed_it_is_known_that_it_is_empty(
    snapshot: Snapshot,
) -> None:
    """A Pod with an address of its own ends it; a list that was refused leaves it open, with the reason."""
    windows = snapshot.nodes[1]
    name = windows["metadata"]["name"]
    host = {
        "metadata": {"namespace": "kube-system", "name": "proxy"},
        "spec": {"hostNetwork": True},
    }
    own = {"metadata": {"namespace": "web", "name": "iis"}, "spec": {}}

    def empty(**changes: Any) -> Fact[bool]:
        facts = facts_of(replace(snapshot, **changes), ClusterProfile())
        return next(node.empty for node in facts.nodes if node.os is OS.WINDOWS)

    assert not empty().known
    assert empty(cordoned={name: [host]}).value is True
    held = empty(cordoned={name: [host, own]})
    assert (held.value, held.origin) == (False, "Pods with addresses of their own: 1")
    refused = empty(reasons={f"/api/v1/pods/{name}": "pods is forbidden"})
    assert (refused.known, refused.origin) == (False, "pods is forbidden")
