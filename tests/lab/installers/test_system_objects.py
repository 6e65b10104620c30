"""What tools find in a lab's kube-system: the objects that installers write, and what their pods say."""

import json
import re
from typing import Any

import pytest
from kubernetes.client import AppsV1Api
from ruamel.yaml import YAML

from tests.lab.conftest import Labs
from tests.lab.running import AGNHOST, Lab, until

# I1121 01:22:03.787132       1 flags.go:64] FLAG: --enable-dsr="false"
FLAG = re.compile(r'I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ flags\.go:64\] FLAG: --([a-z-]+)="(.*)"')


def _flags(lab: Lab, node: str) -> dict[str, str]:
    pods = lab.core.list_namespaced_pod(
        "kube-system", field_selector=f"spec.nodeName={node}", label_selector="k8s-app"
    )
    (name,) = (p.metadata.name for p in pods.items if p.metadata.name.startswith("kube-proxy"))
    log = lab.core.read_namespaced_pod_log(name, "kube-system")
    return {match[1]: match[2] for match in map(FLAG.fullmatch, log.splitlines()) if match}


@pytest.mark.parametrize(
    ("profile", "dsr", "source_vip"),
    [
        ("win2019-l2bridge", "false", ""),
        ("win2022-l2bridge-dsr", "true", ""),
        ("win2019-overlay", "false", "10.244.3.2"),
    ],
)
def test_kube_proxys_log_begins_with_its_flags(
    labs: Labs, profile: str, dsr: str, source_vip: str
) -> None:
    """DSR, mode and source VIP can be read where they can be read in a real cluster."""
    flags = _flags(labs[profile], "win-1")
    assert flags["enable-dsr"] == dsr
    assert flags["source-vip"] == source_vip
    assert flags["proxy-mode"] == "kernelspace"
    assert flags["hostname-override"] == "win-1"


@pytest.mark.parametrize(("node", "mode"), [("linux-1", "nftables"), ("win-1", "kernelspace")])
def test_kube_proxy_tells_its_mode_on_its_own_node_alone(lab: Lab, node: str, mode: str) -> None:
    """At the loopback address, as text, as its metrics server does; nobody else reaches it."""
    windows = node.startswith("win")
    options = {"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}
    own: dict[str, Any] = {"args": ["pause"], "hostNetwork": True}
    if windows:
        own |= {"os": {"name": "windows"}, "securityContext": options}
        own |= {"command": ["%CONTAINER_SANDBOX_MOUNT_POINT%/agnhost"]}
    name = f"asks-proxy-{mode}"
    lab.run(name, node, **own)
    port = "10249/proxyMode"
    curl = "curl.exe" if windows else "curl"
    assert lab.exec(name, curl, "-s", "-m", "5", f"http://127.0.0.1:{port}") == (0, mode)
    other = {"linux-1": "172.30.0.12", "win-1": "172.30.0.14"}[node]
    assert lab.exec(name, curl, "-s", "-m", "5", f"http://{other}:{port}")[0] in {7, 28}
    lab.remove(name)


def test_linux_kube_proxy_is_configured_by_file(lab: Lab) -> None:
    """Its flags name the file, whose content is in the ConfigMap: mode nftables."""
    assert _flags(lab, "linux-1")["config"] == "/var/lib/kube-proxy/config.conf"
    data = lab.core.read_namespaced_config_map("kube-proxy", "kube-system").data
    config = YAML(typ="safe").load(data["config.conf"])
    assert (config["kind"], config["mode"]) == ("KubeProxyConfiguration", "nftables")


def test_networks_are_in_kubeadms_configuration(lab: Lab) -> None:
    """Pod and Service ranges and the DNS domain, as kubeadm writes them."""
    data = lab.core.read_namespaced_config_map("kubeadm-config", "kube-system").data
    networking = YAML(typ="safe").load(data["ClusterConfiguration"])["networking"]
    assert networking == {
        "dnsDomain": "cluster.local",
        "podSubnet": "10.244.0.0/16",
        "serviceSubnet": "10.96.0.0/16",
    }


@pytest.mark.parametrize(
    ("profile", "backend"),
    [
        ("win2019-l2bridge", {"Type": "host-gw"}),
        ("win2019-overlay", {"Type": "vxlan", "VNI": 4096, "Port": 4789}),
    ],
)
def test_flannel_says_its_backend(labs: Labs, profile: str, backend: dict[str, object]) -> None:
    """In its ConfigMap and in an annotation of every node."""
    lab = labs[profile]
    data = lab.core.read_namespaced_config_map("kube-flannel-cfg", "kube-flannel").data
    assert json.loads(data["net-conf.json"])["Backend"] == backend
    for node in lab.core.list_node().items:
        found = node.metadata.annotations["flannel.alpha.coreos.com/backend-type"]
        assert found == backend["Type"]


def test_system_workloads_run(lab: Lab) -> None:
    """DaemonSets of both systems and CoreDNS are there and fully ready."""
    apps = AppsV1Api(lab.core.api_client)
    ready = {
        item.metadata.name: (item.status.number_ready, item.status.desired_number_scheduled)
        for item in apps.list_daemon_set_for_all_namespaces().items
    }
    assert ready == {
        "kube-flannel-ds": (2, 2),
        "kube-flannel-ds-windows-amd64": (2, 2),
        "kube-proxy": (2, 2),
        "kube-proxy-windows": (2, 2),
    }
    coredns = apps.read_namespaced_deployment("coredns", "kube-system")
    assert coredns.status.ready_replicas == 1


def test_dns_answers_from_the_coredns_pod(lab: Lab) -> None:
    """The pod behind the kube-dns Service is where the DNS server listens."""
    lab.run("asks-dns", "linux-2")
    pods = lab.core.list_namespaced_pod("kube-system", label_selector="k8s-app=kube-dns")
    (address,) = (pod.status.pod_ip for pod in pods.items)
    service = "kubernetes.default.svc.cluster.local"
    code, text = lab.exec("asks-dns", "nslookup", service, address)
    lab.remove("asks-dns")
    assert code == 0
    assert "10.96.0.1" in text


def test_a_deployment_is_followed_by_pods_and_goes_with_them(lab: Lab) -> None:
    """Creating, scaling and deleting a Deployment creates, adds and removes pods."""
    apps = AppsV1Api(lab.core.api_client)
    labels = {"app": "web"}
    container = {"name": "c", "image": AGNHOST, "args": ["pause"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1}
    body = {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }

    def count() -> int:
        return len(lab.core.list_namespaced_pod("default", label_selector="app=web").items)

    apps.create_namespaced_deployment("default", body)
    until(lambda: apps.read_namespaced_deployment("web", "default").status.ready_replicas == 2)
    apps.patch_namespaced_deployment("web", "default", {"spec": {"replicas": 3}})
    until(lambda: count() == 3)
    apps.delete_namespaced_deployment("web", "default")
    until(lambda: count() == 0)
