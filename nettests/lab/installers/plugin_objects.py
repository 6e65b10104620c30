"""What network plugins leave in a cluster: DaemonSets, ConfigMaps, node annotations and labels.

Pure: profile in, values out; ``system_objects`` makes objects of them. Names and contents are those that the
projects ship (flannel's and sig-windows-tools' manifests, Azure CNI's on a Cluster API cluster,
``antrea.yml`` and ``antrea-windows.yml``, what Calico's operator renders), because tools read settings there.
"""

import json
from collections.abc import Callable, Iterator
from typing import assert_never

from nettests.lab.client import Json
from nettests.lab.installers import clouds, flannel, ovn
from nettests.lab.installers.daemons import Daemon, Settings, in_kube_system, node_name
from nettests.lab.topology import OS, NodeSpec, Plugin, Profile

FLANNEL_IMAGE = "ghcr.io/flannel-io/flannel:v0.25.6"
FLANNEL_WINDOWS_IMAGE = "docker.io/sigwindowstools/flannel:v0.{minor}.5-hostprocess"
_FLANNEL_MINOR = 21
ANTREA_IMAGE = "docker.io/antrea/antrea-agent-ubuntu:v2.4.1"
CALICO_IMAGE = "quay.io/calico/node:v3.30.3"
_CALICO_BLOCK = 26
CALICO_WINDOWS_IMAGE = "quay.io/calico/node-windows:v3.30.3"
ANTREA_WINDOWS_IMAGE = "docker.io/antrea/antrea-windows:v2.4.1"


def nodes_with_policies(profile: Profile) -> tuple[str, ...]:
    """Return the nodes on which an agent of the plugin binds pods by NetworkPolicies.

    OVN-Kubernetes brings one, and does not run on the Windows nodes of a hybrid overlay (its documentation, Hybrid
    overlay). Where the mechanism is switched on by name, every node has an agent.
    """
    everywhere = tuple(spec.name for spec in profile.nodes)
    match profile.cni.plugin:
        case Plugin.CALICO | Plugin.ANTREA:
            agents = everywhere
        case Plugin.OVN_KUBERNETES:
            agents = tuple(spec.name for spec in profile.nodes if spec.os is OS.LINUX)
        case Plugin.FLANNEL | Plugin.AZURE | Plugin.VPC | Plugin.SDNBRIDGE:
            agents = ()
        case _:
            assert_never(profile.cni.plugin)
    enforced = profile.mechanism("network-policies", bool(agents))
    return (agents or everywhere) if enforced else ()


def namespaces(profile: Profile) -> tuple[str, ...]:
    """Return the namespaces that the plugin brings along."""
    by_plugin = {
        Plugin.FLANNEL: ("kube-flannel",),
        Plugin.CALICO: ("calico-system",),
        Plugin.OVN_KUBERNETES: (ovn.NAMESPACE,),
    }
    return by_plugin.get(profile.cni.plugin, ())


def settings(profile: Profile) -> Iterator[Settings]:
    """Return the plugin's ConfigMaps."""
    match profile.cni.plugin:
        case Plugin.FLANNEL:
            text = json.dumps(_net_conf(profile), indent=2)
            yield Settings(
                namespace="kube-flannel", name="kube-flannel-cfg", data={"net-conf.json": text}
            )
            if any(node.os is OS.WINDOWS for node in profile.nodes):
                text = json.dumps(flannel.template(profile), indent=2)
                yield Settings(
                    namespace="kube-flannel",
                    name=flannel.CONFIG_MAP,
                    data={flannel.TEMPLATE: text},
                )
        case Plugin.AZURE:
            yield clouds.azure_settings(profile)
        case Plugin.OVN_KUBERNETES:
            yield ovn.settings(profile)
        case Plugin.ANTREA:
            text = _antrea_agent_conf(profile)
            for name in ("antrea-config", "antrea-windows-config"):
                yield Settings(namespace="kube-system", name=name, data={"antrea-agent.conf": text})


def ip_pools(profile: Profile) -> Iterator[tuple[str, Json]]:
    """Return (collection path, object) of Calico's pool for all nodes, as its operator makes it of ``ipPools``."""
    if profile.cni.plugin is not Plugin.CALICO:
        return
    spec = {
        "cidr": str(profile.cluster_cidr),
        "blockSize": _CALICO_BLOCK,
        "ipipMode": "Always" if profile.mechanism("calico-ipip", 0) else "Never",
        "vxlanMode": "Always" if profile.cni.backend == "vxlan" else "Never",
        "natOutgoing": True,
        "nodeSelector": "all()",
    }
    item = {
        "apiVersion": "crd.projectcalico.org/v1",
        "kind": "IPPool",
        "metadata": {"name": "default-ipv4-ippool"},
        "spec": spec,
    }
    yield "/apis/crd.projectcalico.org/v1/ippools", item


def daemons(profile: Profile) -> Iterator[Daemon]:
    """Return the plugin's DaemonSets, those of Windows only where a node runs it."""
    makers: dict[Plugin, Callable[[], Iterator[Daemon]]] = {
        Plugin.FLANNEL: lambda: _flannels(profile),
        Plugin.AZURE: clouds.azures,
        Plugin.ANTREA: _antreas,
        Plugin.CALICO: lambda: _calicos(profile),
        Plugin.OVN_KUBERNETES: ovn.daemons,
        Plugin.VPC: clouds.amazons,
        Plugin.SDNBRIDGE: lambda: iter(()),  # programs on the nodes' disks, and nothing else
    }
    systems = {node.os for node in profile.nodes}
    return (daemon for daemon in makers[profile.cni.plugin]() if daemon.os in systems)


def annotations(spec: NodeSpec, profile: Profile) -> dict[str, str]:
    """Return what the plugin's daemon writes on its node."""
    if profile.cni.plugin is Plugin.OVN_KUBERNETES:
        return ovn.annotations(spec)
    if profile.cni.plugin is not Plugin.FLANNEL:
        return {}
    vxlan = profile.cni.backend == "vxlan"
    return {
        "flannel.alpha.coreos.com/backend-type": profile.cni.backend,
        "flannel.alpha.coreos.com/backend-data": (
            json.dumps({"VNI": profile.cni.vni}) if vxlan else "null"
        ),
        "flannel.alpha.coreos.com/kube-subnet-manager": "true",
        "flannel.alpha.coreos.com/public-ip": str(spec.address),
    }


def labels(spec: NodeSpec, profile: Profile) -> dict[str, str]:
    """Return the labels that the plugin's cloud gives its nodes."""
    match profile.cni.plugin:
        case Plugin.AZURE:
            return clouds.azure_labels(spec, profile)
        case Plugin.VPC:
            return clouds.amazon_labels(spec)
    return {}


def _net_conf(profile: Profile) -> Json:
    backend: Json = {"Type": profile.cni.backend}
    if profile.cni.backend == "vxlan":
        backend |= {"VNI": profile.cni.vni, "Port": profile.cni.vxlan_port}
    networks: Json = {"Network": str(profile.cluster_cidr), "EnableNFTables": True}
    if profile.ipv6 is not None:
        networks |= {"EnableIPv6": True, "IPv6Network": str(profile.ipv6.cluster_cidr)}
    return {**networks, "Backend": backend}


def _antrea_agent_conf(profile: Profile) -> str:
    return "\n".join(
        (
            "trafficEncapMode: encap",
            f"tunnelType: {profile.cni.backend}",
            "antreaProxy:",
            "  enable: true",
            "  proxyAll: true",
            f"serviceCIDR: {profile.service_cidr}",
            "",
        )
    )


def _flannels(profile: Profile) -> Iterator[Daemon]:
    linux = {
        "name": "kube-flannel",
        "image": FLANNEL_IMAGE,
        "command": ["/opt/bin/flanneld", "--ip-masq", "--kube-subnet-mgr"],
        "env": [node_name()],
    }
    windows = {
        **linux,
        "image": FLANNEL_WINDOWS_IMAGE.format(
            minor=profile.mechanism("flannel-release", _FLANNEL_MINOR)
        ),
        "command": ["flanneld.exe", "--kube-subnet-mgr"],
    }
    for name, container, os in (
        ("kube-flannel-ds", linux, OS.LINUX),
        ("kube-flannel-ds-windows-amd64", windows, OS.WINDOWS),
    ):
        labels = {"app": "flannel", "kubernetes.io/os": os.value}
        yield Daemon(namespace="kube-flannel", name=name, labels=labels, container=container, os=os)


def _antreas() -> Iterator[Daemon]:
    for name, image, os in (
        ("antrea-agent", ANTREA_IMAGE, OS.LINUX),
        ("antrea-agent-windows", ANTREA_WINDOWS_IMAGE, OS.WINDOWS),
    ):
        container = {
            "name": "antrea-agent",
            "image": image,
            "command": ["antrea-agent", "--config=/etc/antrea/antrea-agent.conf"],
            "env": [node_name()],
        }
        yield in_kube_system(name, container, os)


def _calicos(profile: Profile) -> Iterator[Daemon]:
    """Calico's operator writes the settings of Windows nodes into their DaemonSet, and no ConfigMap."""
    encapsulated = [{"name": "VXLAN_VNI", "value": str(profile.cni.vni)}]
    windows_only = [
        {"name": "CALICO_NETWORKING_BACKEND", "value": profile.cni.backend},
        *(encapsulated if profile.cni.encapsulates else []),
        {"name": "KUBE_NETWORK", "value": "Calico.*"},
    ]
    for name, image, os, env in (
        ("calico-node", CALICO_IMAGE, OS.LINUX, []),
        ("calico-node-windows", CALICO_WINDOWS_IMAGE, OS.WINDOWS, windows_only),
    ):
        container = {"name": name, "image": image, "env": [node_name(), *env]}
        labels = {"k8s-app": name, "app.kubernetes.io/name": name}
        yield Daemon(
            namespace="calico-system", name=name, labels=labels, container=container, os=os
        )
