"""Clusters as distributions ship them: their objects have other names than kubeadm's, and lead to the same facts."""

import json
from typing import Any

import pytest

from nettests.cluster.discover import discover
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts
from nettests.model.json_text import Object
from scripts.sample_readings.served import Served
from tests.cluster.recorded import daemon_set, linux_node, windows_node

COREFILE = ".:53 {{\n    errors\n    kubernetes {zones} {{\n        pods insecure\n    }}\n}}\n"
FLANNEL = "flannel.alpha.coreos.com"
AKS = {"kubernetes.azure.com/mode": "user"}
CONFIG = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n{settings}"


def read(**sample: Any) -> ClusterFacts:
    """Return the facts of a cluster with a Linux and a Windows node, as discovery asks for its objects."""
    nodes = sample.pop("nodes", None) or [bare(linux_node()), bare(windows_node())]
    served = {"version": "v1.33.5", "kubernetes": "10.96.0.1", "nodes": nodes, **sample}
    return discover(Served(served), ClusterProfile())  # type: ignore[arg-type]  # what it calls of a connection


def bare(node: Object, **annotations: str) -> Object:
    """Return a node to which a cloud gives addresses: without a Pod range."""
    node["spec"].pop("podCIDR", None)
    node["spec"].pop("podCIDRs", None)
    node["metadata"]["annotations"] = annotations
    return node


def labelled(**labels: str) -> list[Object]:
    """Return both nodes with labels."""
    nodes = [bare(linux_node()), bare(windows_node())]
    for node in nodes:
        node["metadata"]["labels"] |= labels
    return nodes


def pod(name: str, *words: str, namespace: str = "kube-system", **more: Any) -> Object:
    """Return a Pod on the Linux node, ready, with one container."""
    image = more.pop("image", "registry.example/kube-proxy:v1.33.5")
    container = {"name": more.pop("container", "kube-proxy"), "image": image, "command": [*words]}
    return {
        "metadata": {"name": name, "namespace": namespace, "labels": more.pop("labels", {})},
        "spec": {"nodeName": more.pop("node", "n1"), "containers": [container], **more},
        "status": {
            "phase": "Running",
            "podIP": "10.42.0.7",
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def data(**texts: str) -> Object:
    """Return a ConfigMap's texts, by keys with ``_`` for a dot or a dash."""
    return {"data": texts}


@pytest.mark.parametrize(
    ("sets", "labels", "plugin", "driver"),
    [
        ([daemon_set("azure-ip-masq-agent")], AKS, "azure-cni", "l2bridge"),
        ([daemon_set("azure-npm")], {}, "azure-cni", None),
        ([daemon_set("azure-cns"), daemon_set("azure-cns-win")], AKS, "azure-cni", "l2bridge"),
        ([daemon_set("azure-cns"), daemon_set("azure-cns-win")], {}, "azure-cni", None),
        (
            [
                daemon_set("calico-node", CALICO_NETWORKING_BACKEND="none"),
                daemon_set("calico-node-windows", CNI_PLUGIN_TYPE="AzureVNET"),
            ],
            {},
            "azure-cni",
            None,
        ),
        (
            [daemon_set("aws-node"), daemon_set("calico-node", FELIX_INTERFACEPREFIX="eni")],
            {},
            "aws-vpc-cni",
            "l2bridge",
        ),
        (
            [
                daemon_set("calico-node", CALICO_NETWORKING_BACKEND="vxlan"),
                daemon_set("azure-ip-masq-agent"),
            ],
            AKS,
            "calico",
            "overlay",
        ),
        ([], {"cloud.google.com/gke-nodepool": "np"}, "sdnbridge", "l2bridge"),
        ([], {}, None, None),
    ],
)
def test_the_plugin_is_the_one_that_gives_pods_their_network(
    sets: list[Object], labels: dict[str, str], plugin: str | None, driver: str | None
) -> None:
    """A policy engine beside it is none, and what a managed service installs counts where no DaemonSet shows another."""
    facts = read(daemonSets=sets, nodes=labelled(**labels))
    assert (facts.cni.plugin.value, facts.node("w1").cni_driver.value) == (plugin, driver)


def test_flannel_without_a_daemon_set_is_known_by_its_annotations() -> None:
    """k3s runs it in its own process; it writes backend and network id on each node."""
    vxlan = {f"{FLANNEL}/backend-type": "vxlan", f"{FLANNEL}/backend-data": '{"VNI":4096}'}
    facts = read(nodes=[bare(linux_node(), **vxlan), bare(windows_node())])
    assert (facts.cni.plugin.value, facts.cni.backend.value) == ("flannel", "vxlan")
    assert (facts.cni.vni.value, facts.node("w1").cni_driver.value) == (4096, "overlay")


@pytest.mark.parametrize(
    ("backend", "pools", "expected"),
    [
        ("vxlan", [], "vxlan"),
        ("bird", [{"vxlanMode": "Never", "ipipMode": "Never"}], "windows-bgp"),
        ("bird", [{"vxlanMode": "Always"}], None),
        ("bird", [], None),
    ],
)
def test_calico_on_windows_without_a_daemon_set_follows_the_linux_nodes(
    backend: str, pools: list[Object], expected: str | None
) -> None:
    """RKE2 runs it in its own process there; with BGP the pools decide, whose IP in IP Windows does not know."""
    listed = [{"metadata": {"name": f"p{n}"}, "spec": spec} for n, spec in enumerate(pools)]
    sets = [daemon_set("calico-node", "calico-system", CALICO_NETWORKING_BACKEND=backend)]
    assert read(daemonSets=sets, ipPools=listed).cni.backend.value == expected


def test_a_variable_is_read_where_it_refers_to() -> None:
    """Calico's manifests keep its backend in a ConfigMap, and the DaemonSet names key and ConfigMap."""
    reference = {"configMapKeyRef": {"name": "our-calico", "key": "calico_backend"}}
    calico = daemon_set("calico-node", X="y")
    env = calico["spec"]["template"]["spec"]["containers"][0]["env"]
    env.append({"name": "CALICO_NETWORKING_BACKEND", "valueFrom": reference})
    facts = read(
        daemonSets=[calico], configMaps={"kube-system/our-calico": data(calico_backend="vxlan")}
    )
    assert facts.cni.backend.value == "vxlan"


def test_antreas_config_maps_are_found_whatever_their_hash() -> None:
    """Its DaemonSet on Windows refers to the ConfigMap by the name that kustomize gave it."""
    agent = daemon_set("antrea-agent-windows")
    volume = {"name": "c", "configMap": {"name": "antrea-windows-config-f2k8"}}
    agent["spec"] = {"template": {"spec": {"volumes": [volume]}}}
    text = "tunnelType: vxlan\nantreaProxy:\n  proxyAll: true\n"
    maps = {"kube-system/antrea-windows-config-f2k8": {"data": {"antrea-agent.conf": text}}}
    facts = read(daemonSets=[agent], configMaps=maps)
    assert facts.cni.backend.value == "vxlan"
    assert facts.node("w1").kube_proxy.mode.value == "none"


@pytest.mark.parametrize(
    ("service", "dns_pod", "name"),
    [
        ({"selector": {"app": "dns"}}, {"volumes": [{"configMap": {"name": "odd"}}]}, "odd"),
        ({}, None, "corp-dns"),
    ],
)
def test_the_corefile_is_that_of_the_pods_behind_the_dns_service(
    service: Object, dns_pod: Object | None, name: str
) -> None:
    """Pods that the Service selects refer to it; where none may be seen it has the Service's own name."""
    dns = {
        "metadata": {"name": "corp-dns", "namespace": "kube-system"},
        "spec": {"clusterIP": "10.96.0.10", **service},
    }
    pods = [pod("dns-1", labels={"app": "dns"}, **dns_pod)] if dns_pod else []
    maps = {
        f"kube-system/{name}": data(Corefile=COREFILE.format(zones="in-addr.arpa corp.test")),
        "kube-system/coredns": data(Corefile=COREFILE.format(zones="stale.test")),
    }
    facts = read(services=[dns], pods=pods, configMaps=maps)
    assert facts.cluster_domain.value == "corp.test"
    assert facts.pod_records.value is True
    assert (facts.dns_pods.value is not None) is (dns_pod is not None)


def test_openshift_names_its_dns_in_the_plugins_configuration() -> None:
    """Service, ConfigMap and the networks of Services are where OVN-Kubernetes is told they are."""
    conf = '[kubernetes]\nservice-cidrs="172.30.0.0/16"\ndns-service-namespace="my-dns"\ndns-service-name="named"\n'
    dns = {
        "metadata": {"name": "named", "namespace": "my-dns"},
        "spec": {"clusterIP": "172.30.0.10"},
    }
    facts = read(
        daemonSets=[daemon_set("ovnkube-node", "openshift-ovn-kubernetes")],
        configMaps={
            "openshift-ovn-kubernetes/ovnkube-config": {"data": {"ovnkube.conf": conf}},
            "my-dns/named": data(Corefile=COREFILE.format(zones="cluster.local")),
        },
        services=[dns],
    )
    assert str(facts.dns_address.value) == "172.30.0.10"
    assert facts.cluster_domain.value == "cluster.local"
    assert list(map(str, facts.service_cidrs.value or ())) == ["172.30.0.0/16"]
    assert facts.node("n1").kube_proxy.mode.value == "none"


def test_the_upstream_manifests_enable_the_hybrid_overlay_by_a_variable() -> None:
    """Where the project's own manifests installed OVN-Kubernetes there is no ovnkube.conf to read."""
    sets = [daemon_set("ovnkube-node", "ovn-kubernetes", OVN_HYBRID_OVERLAY_ENABLE="true")]
    maps = {"ovn-kubernetes/ovn-config": data(svc_cidr="10.96.0.0/16")}
    facts = read(daemonSets=sets, configMaps=maps)
    assert (facts.cni.backend.value, facts.cni.vxlan_port.value) == ("hybrid-overlay", 4789)
    assert list(map(str, facts.service_cidrs.value or ())) == ["10.96.0.0/16"]


def test_a_kube_proxy_is_given_the_config_map_that_its_pod_refers_to() -> None:
    """kubeadm's ConfigMap beside it says nothing of a Windows kube-proxy with one of its own, nor does one that is not read."""
    own = pod(
        "kube-proxy-windows-x",
        "--config=/var/lib/kube-proxy-windows/config.conf",
        node="w1",
        volumes=[{"name": "c", "configMap": {"name": "for-windows"}}],
    )
    kubeadm = data(**{"config.conf": CONFIG.format(settings="winkernel: {enableDSR: false}")})
    mine = data(**{"config.conf": CONFIG.format(settings="winkernel: {enableDSR: true}")})
    maps = {"kube-system/kube-proxy": kubeadm, "kube-system/for-windows": mine}
    dsr = read(pods=[own], configMaps=maps).node("w1").kube_proxy.dsr
    assert (dsr.value, dsr.origin) == (True, "ConfigMap kube-system/for-windows")
    del maps["kube-system/for-windows"]
    unread = read(pods=[own], configMaps=maps).node("w1").kube_proxy.dsr
    assert unread.value is None
    assert "for-windows" in unread.origin


@pytest.mark.parametrize(
    ("proxy", "maps", "mode", "version"),
    [
        (
            pod("kube-proxy-abcde", "kube-proxy", "--config=/var/lib/kube-proxy-config/config"),
            {"kube-system/kube-proxy-config": data(config=CONFIG.format(settings="mode: ipvs"))},
            "ipvs",
            "1.33.5",
        ),
        (
            pod(
                "kube-proxy-gke-1",
                "/bin/sh",
                "-c",
                "exec kube-proxy --cluster-cidr=10.8.0.0/14 --v=2 1>>/var/log/kube-proxy.log 2>&1",
                image="gke.example/kube-proxy-amd64:v1.33.4-gke.1036000",
            ),
            {},
            "iptables",
            "1.33.4",
        ),
        (
            pod(
                "kube-proxy-srv1",
                "kube-proxy",
                "--proxy-mode=ipvs",
                image="index.docker.io/rancher/hardened-kubernetes:v1.33.2-rke2r1-build20240215",
            ),
            {},
            "ipvs",
            "1.33.2",
        ),
    ],
)
def test_kube_proxy_of_a_distribution_tells_mode_and_version(
    proxy: Object, maps: dict[str, Object], mode: str, version: str
) -> None:
    """EKS' ConfigMap, GKE's static Pod that a shell starts, RKE2's image of all of Kubernetes."""
    found = read(pods=[proxy], configMaps=maps).node("n1").kube_proxy
    assert (found.mode.value, str(found.version.value)) == (mode, version)


@pytest.mark.parametrize(
    ("server", "daemon", "mode"),
    [
        ("v1.33.5", "aws-node", "kernelspace"),
        ("v1.28.4", "aws-node", None),
        ("v1.33.5", "antrea-agent", None),
        ("v1.33.5", "something", None),
    ],
)
def test_a_kube_proxy_of_the_host_has_the_only_mode_there_is(
    server: str, daemon: str, mode: str | None
) -> None:
    """Unless the skew policy allows older ones beside the API server, or a plugin may serve Services instead."""
    proxy = read(version=server, daemonSets=[daemon_set(daemon)]).node("w1").kube_proxy
    assert (proxy.mode.value, proxy.as_pod.value) == (mode, False)


def test_kube_dns_is_given_its_domain_as_an_argument() -> None:
    """GKE's DNS is no CoreDNS and has no Corefile."""
    dns = {
        "metadata": {"name": "kube-dns", "namespace": "kube-system"},
        "spec": {"clusterIP": "10.12.0.10", "selector": {"k8s-app": "kube-dns"}},
    }
    serving = pod(
        "kube-dns-1", "--domain=corp.test.", container="kubedns", labels={"k8s-app": "kube-dns"}
    )
    facts = read(services=[dns], pods=[serving])
    assert facts.cluster_domain.value == "corp.test"
    assert facts.pod_records.value is None


@pytest.mark.parametrize(
    ("labels", "kubelet", "platform"),
    [
        ({"alpha.eksctl.io/cluster-name": "c"}, "v1.33.5", "eks"),
        ({"karpenter.sh/nodepool": "c"}, "v1.33.5-eks-1552ad0", "eks"),
        ({"kubernetes.azure.com/os-sku": "Windows2022"}, "v1.33.5", "aks"),
        ({"cloud.google.com/gke-os-distribution": "windows_ltsc"}, "v1.33.5", "gke"),
        ({"topology.kubernetes.io/zone": "a"}, "v1.33.5-gke.1036000", "gke"),
        ({"agentpool": "np1"}, "v1.33.5+rke2r1", "rke2"),
        ({"node.openshift.io/os_id": "Windows"}, "v1.33.5+b1b77f6", "openshift"),
        ({"agentpool": "np1"}, "v1.33.5+k3s1", "other"),
    ],
)
def test_nodes_of_a_managed_service_show_it_by_labels_or_builds(
    labels: dict[str, str], kubelet: str, platform: str
) -> None:
    """Nodes that joined by hand have no label of a node group, but the service's own kubelet."""
    nodes = labelled(**labels)
    for node in nodes:
        node["status"]["nodeInfo"]["kubeletVersion"] = kubelet
    assert read(nodes=nodes).platform.value == platform


def test_several_domains_of_a_corefile_are_not_one() -> None:
    """Which of them Pods get is the kubelet's setting; kubeadm's ConfigMap may name it."""
    maps: Object = {"kube-system/coredns": data(Corefile=COREFILE.format(zones="a.test b.test"))}
    assert "a.test, b.test" in read(configMaps=maps).cluster_domain.origin
    kubeadm = json.dumps({"networking": {"dnsDomain": "b.test"}})
    maps["kube-system/kubeadm-config"] = data(ClusterConfiguration=kubeadm)
    assert read(configMaps=maps).cluster_domain.value == "b.test"


@pytest.mark.parametrize(
    ("wanted", "nat"), [([False, False], False), ([True], True), ([True, False], None), ([], None)]
)
def test_calicos_pools_tell_whether_pods_keep_their_addresses(
    wanted: list[bool], nat: bool | None
) -> None:
    """What is expected outside stays as it is: only routes that nobody reads decide whether answers come back."""
    pools = [
        {"metadata": {"name": f"p{n}"}, "spec": {"natOutgoing": each}}
        for n, each in enumerate(wanted)
    ]
    sets = [daemon_set("calico-node", "calico-system", CALICO_NETWORKING_BACKEND="bird")]
    cni = read(daemonSets=sets, ipPools=pools).cni
    assert (cni.nat_outgoing.value, cni.nat_exceptions.value) == (nat, None)
