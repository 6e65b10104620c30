"""The facts by which runs are compared: each one's name, and how its value is read from the facts of a cluster or node.

Names used in conditions of limitations are spelled as ``expect.condition`` spells them in its sentences; a test
compares the two. Facts that change while networking does not are left out: addresses of nodes and Pods, the context.
"""

from collections.abc import Callable, Mapping
from typing import Any

from nettests.model.facts import ClusterFacts, ExternalTarget, Fact, NodeFacts
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS
from nettests.report.summary import fact_text

KUBERNETES, PLATFORM = "Kubernetes", "platform"
PLUGIN, BACKEND, LOOPBACK_DSR = "CNI plugin", "CNI backend", "loopbackDSR"
NAT_EXCEPTIONS, EXTERNAL_TARGET = "OutBoundNAT exceptions", "external target"
KUBE_PROXY, MODE, RUNTIME_VERSION = "kube-proxy", "kube-proxy mode", "runtime's version"

OF_CLUSTER: Mapping[str, Callable[[ClusterFacts], Any]] = {
    KUBERNETES: lambda facts: facts.server_version,
    "Kubernetes build": lambda facts: _of_vendor(facts.server_version, facts.server_git_version),
    PLATFORM: lambda facts: facts.platform,
    PLUGIN: lambda facts: facts.cni.plugin,
    BACKEND: lambda facts: facts.cni.backend,
    "VNI": lambda facts: facts.cni.vni,
    "VXLAN port": lambda facts: facts.cni.vxlan_port,
    "MTU of Pods": lambda facts: facts.cni.mtu,
    LOOPBACK_DSR: lambda facts: facts.cni.loopback_dsr,
    NAT_EXCEPTIONS: lambda facts: facts.cni.nat_exceptions,
    "Pod CIDRs": lambda facts: facts.pod_cidrs,
    "Service CIDRs": lambda facts: facts.service_cidrs,
    "IP families": lambda facts: tuple(family.value for family in facts.families),
    "cluster domain": lambda facts: facts.cluster_domain,
    "DNS address": lambda facts: facts.dns_address,
    "Pod records in DNS": lambda facts: facts.pod_records,
    EXTERNAL_TARGET: lambda facts: _outside(facts.external_target),
    "external vantage": lambda facts: facts.external_vantage,
    "UDP from outside": lambda facts: facts.external_udp,
    "Pod Security": lambda facts: facts.pod_security,
    "privileged containers": lambda facts: facts.privileged,
    "what the identity may not do": lambda facts: facts.denied,
    "RuntimeClasses": lambda facts: facts.runtime_classes,
    "nodes of the fleet sweep": lambda facts: facts.fleet.chosen,
}
OF_NODE: Mapping[str, Callable[[NodeFacts], Any]] = {
    "node pool": lambda node: node.pool,
    "build": lambda node: node.build if node.os is OS.WINDOWS else None,
    "OS image": lambda node: node.os_image,
    "kernel": lambda node: node.kernel if node.os is OS.LINUX else None,
    "architecture": lambda node: node.architecture,
    "kubelet": lambda node: node.kubelet,
    "runtime": lambda node: _part(node.runtime, 0),
    RUNTIME_VERSION: lambda node: _part(node.runtime, 2),
    KUBE_PROXY: lambda node: node.kube_proxy.version,
    MODE: lambda node: node.kube_proxy.mode,
    "DSR": lambda node: node.kube_proxy.dsr,
    "source VIP": lambda node: "set" if node.kube_proxy.source_vip.known else None,
    "NodePorts at loopback": lambda node: node.kube_proxy.localhost_node_ports,
    "network driver": lambda node: node.cni_driver,
    "HostProcess": lambda node: node.host_process,
    "firewall": lambda node: node.firewall,
    "DNS suffixes": lambda node: node.dns_suffixes,
    "zone": lambda node: node.zone,
    "taints": lambda node: tuple(
        f"{taint.key}={taint.value}:{taint.effect}" for taint in node.taints
    ),
    "takes part": lambda node: node.left_out or "yes",
}


def text_of(value: Any) -> str:
    """Return a value in words: ``UNKNOWN`` of a fact without one, ``none`` where there is nothing."""
    if isinstance(value, Fact):
        return fact_text(value)
    if value is None or value in {"", ()}:
        return "none"
    return fact_text(Fact(value, ""))


def _of_vendor(version: KubernetesVersion, git_version: str) -> str | None:
    """Return the version with what a vendor adds to it (``v1.29.4+rke2r1``); ``None`` if nothing is added."""
    return None if git_version.removeprefix("v") == str(version) else git_version


def _outside(target: ExternalTarget | None) -> str | None:
    if target is None:
        return None
    parts = (target.address, target.name, target.tcp_port, target.udp_port)
    return " ".join(str(part) for part in parts if part is not None)


def _part(runtime: Fact[str], which: int) -> Fact[str]:
    # sample: "containerd://1.7.20"
    return Fact(runtime.value and runtime.value.partition("://")[which], runtime.origin)
