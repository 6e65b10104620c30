"""The DaemonSets, ConfigMaps, node annotations and labels of network plugins. Pure.

``system_objects`` makes objects of these values. Names and contents are those of the projects, because tools read
settings there; ``daemons.yaml`` lists the DaemonSets, ``settings.yaml`` the rest. Node labels are those of AKS' overlay
(Azure/azure-container-networking, test/integration/manifests and ``podnetwork-type``) and of EKS' managed node groups.
OVN-Kubernetes has a hybrid overlay: hybrid-overlay-node is a service of Windows hosts, like kube-proxy
(openshift/windows-machine-config-operator, pkg/services); ``ovnkube.conf`` is that of OpenShift's cluster-network-operator.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any, assert_never

from ruamel.yaml import YAML

from nettests.lab.client import Json
from nettests.lab.installers import flannel
from nettests.lab.topology import OS, NodeSpec, Plugin, Profile

_FLANNEL_MINOR = 21
_OVN = "k8s.ovn.org/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """One DaemonSet: a hostNetwork (on Windows HostProcess) container on every node of an OS."""

    namespace: str
    name: str
    labels: dict[str, str]
    container: Json
    os: OS


def filled_in(file: str, **values: object) -> dict[str, Any]:
    """Return a file of this package, with its ``$name`` variables replaced."""
    text = Template(files(__package__).joinpath(file).read_text("utf-8")).substitute(values)
    document: dict[str, Any] = YAML(typ="safe").load(text)
    return document


def node_name() -> Json:
    """Return the environment variable with the name of a daemon's node."""
    return {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}


def nodes_with_policies(profile: Profile) -> tuple[str, ...]:
    """Return the nodes on which the plugin's agent enforces NetworkPolicies.

    OVN-Kubernetes has an agent, but not on the Windows nodes of a hybrid overlay (its documentation, Hybrid
    overlay). If the mechanism is switched on, every node has an agent.
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
    """Return the namespaces of the plugin's objects."""
    by_plugin = {
        Plugin.FLANNEL: ("kube-flannel",),
        Plugin.CALICO: ("calico-system",),
        Plugin.OVN_KUBERNETES: ("openshift-ovn-kubernetes",),
    }
    return by_plugin.get(profile.cni.plugin, ())


def settings(profile: Profile) -> Iterator[Json]:
    """Yield the plugin's ConfigMaps, and Calico's objects for all nodes."""
    if profile.cni.plugin is Plugin.FLANNEL:
        yield _of_flannel("kube-flannel-cfg", "net-conf.json", _net_conf(profile))
        if any(node.os is OS.WINDOWS for node in profile.nodes):
            yield _of_flannel(flannel.CONFIG_MAP, flannel.TEMPLATE, flannel.template(profile))
    strict = not profile.mechanism("calico-borrowing", 0)
    yield from filled_in(
        "settings.yaml",
        pods=profile.cluster_cidr,
        services=profile.service_cidr,
        backend=profile.cni.backend,
        ipip="Always" if profile.mechanism("calico-ipip", 0) else "Never",
        vxlan="Always" if profile.cni.backend == "vxlan" else "Never",
        strict=str(strict).lower(),
        ipam=str(bool(profile.mechanism("windows-ipam", 1))).lower(),
    ).get(profile.cni.plugin, ())


def _of_flannel(name: str, key: str, value: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "kube-flannel"},
        "data": {key: json.dumps(value, indent=2)},
    }


def daemons(profile: Profile) -> Iterator[Daemon]:
    """Return the plugin's DaemonSets; those for Windows only if there are Windows nodes."""
    minor = profile.mechanism("flannel-release", _FLANNEL_MINOR)
    cni = profile.cni
    rows = filled_in("daemons.yaml", flannel=minor, backend=cni.backend, vni=cni.vni)[cni.plugin]
    systems = {node.os for node in profile.nodes}
    for row in rows:
        name, os, container = row["name"], OS(row["os"]), row["container"]
        env = [
            each
            for each in container.get("env", ())
            if each["name"] != "VXLAN_VNI" or cni.encapsulates
        ]
        if os in systems:
            yield Daemon(
                namespace=row.get("namespace", "kube-system"),
                name=name,
                labels=row.get("labels", {"app": name, "k8s-app": name}),
                container={**container, "env": [node_name(), *env]},
                os=os,
            )


def annotations(spec: NodeSpec, profile: Profile) -> dict[str, str]:
    """Return the annotations that the plugin's daemon writes on its node."""
    if profile.cni.plugin is Plugin.OVN_KUBERNETES:
        return _ovn_annotations(spec)
    if profile.cni.plugin is not Plugin.FLANNEL:
        return {}
    vxlan = profile.cni.backend == "vxlan"
    values = {
        "backend-type": profile.cni.backend,
        "backend-data": json.dumps({"VNI": profile.cni.vni}) if vxlan else "null",
        "kube-subnet-manager": "true",
        "public-ip": str(spec.address),
    }
    return {f"flannel.alpha.coreos.com/{name}": value for name, value in values.items()}


def labels(spec: NodeSpec, profile: Profile) -> dict[str, str]:
    """Return the node labels of the plugin's cloud; self-managed clusters in Azure have none."""
    if profile.cni.plugin is Plugin.VPC:
        return {"eks.amazonaws.com/nodegroup": spec.os.value}
    if profile.cni.plugin is not Plugin.AZURE or profile.cni.native:
        return {}
    return {
        "kubernetes.azure.com/agentpool": f"np{spec.os.value[:3]}",
        "kubernetes.azure.com/podnetwork-type": profile.cni.backend,
    }


def _net_conf(profile: Profile) -> Json:
    backend: Json = {"Type": profile.cni.backend}
    if profile.cni.backend == "vxlan":
        backend |= {"VNI": profile.cni.vni, "Port": profile.cni.vxlan_port}
    networks: Json = {"Network": str(profile.cluster_cidr), "EnableNFTables": True}
    if profile.ipv6 is not None:
        networks |= {"EnableIPv6": True, "IPv6Network": str(profile.ipv6.cluster_cidr)}
    return {**networks, "Backend": backend}


def _ovn_annotations(spec: NodeSpec) -> dict[str, str]:
    """Return the node's subnet and, for nodes of the hybrid overlay, the MAC of the distributed router."""
    mac = f"0a:58:{spec.pod_cidr[3].packed.hex(':')}"
    subnet = {f"{_OVN}node-subnets": json.dumps({"default": [str(spec.pod_cidr)]})}
    if spec.os is OS.WINDOWS:
        subnet = {f"{_OVN}hybrid-overlay-node-subnet": str(spec.pod_cidr)}
        mac = mac.replace(":", "-").upper()
    return {**subnet, f"{_OVN}hybrid-overlay-distributed-router-gateway-mac": mac}
