"""What OVN-Kubernetes leaves in a cluster with a hybrid overlay: OpenShift's names, and the project's annotations. Pure.

Windows nodes have no Pod of it: hybrid-overlay-node is a service of its hosts, as kube-proxy is
(openshift/windows-machine-config-operator, pkg/services). ``ovnkube.conf`` is what OpenShift's cluster-network-operator
writes, the annotations those of go-controller/hybrid-overlay/pkg/types.
"""

import json
from collections.abc import Iterator

from nettests.lab.installers.daemons import Daemon, Settings, node_name
from nettests.lab.topology import OS, NodeSpec, Profile

NAMESPACE = "openshift-ovn-kubernetes"
IMAGE = "ghcr.io/ovn-kubernetes/ovn-kubernetes/ovn-kube-fedora:v1.1.0"
_BASE = "k8s.ovn.org/"


def daemons() -> Iterator[Daemon]:
    """Return OVN-Kubernetes' daemon of Linux nodes."""
    container = {"name": "ovnkube-controller", "image": IMAGE, "env": [node_name()]}
    labels = {"app": "ovnkube-node", "component": "network", "type": "infra"}
    yield Daemon(
        namespace=NAMESPACE, name="ovnkube-node", labels=labels, container=container, os=OS.LINUX
    )


def settings(profile: Profile) -> Settings:
    """Return the daemon's configuration; the UDP port is left out where it is the usual one."""
    lines = (
        "[default]",
        f'cluster-subnets="{profile.cluster_cidr}/24"',
        "",
        "[kubernetes]",
        f'service-cidrs="{profile.service_cidr}"',
        'no-hostsubnet-nodes="kubernetes.io/os=windows"',
        "",
        "[hybridoverlay]",
        "enabled=true",
        f'cluster-subnets="{profile.cluster_cidr}"',
        "",
    )
    return Settings(
        namespace=NAMESPACE, name="ovnkube-config", data={"ovnkube.conf": "\n".join(lines)}
    )


def annotations(spec: NodeSpec) -> dict[str, str]:
    """Return the node's subnet and, of the hybrid overlay's ends, the MAC of the distributed router."""
    mac = f"0a:58:{spec.pod_cidr[3].packed.hex(':')}"
    if spec.os is OS.LINUX:
        subnet = {f"{_BASE}node-subnets": json.dumps({"default": [str(spec.pod_cidr)]})}
    else:
        subnet = {f"{_BASE}hybrid-overlay-node-subnet": str(spec.pod_cidr)}
        mac = mac.replace(":", "-").upper()
    return {**subnet, f"{_BASE}hybrid-overlay-distributed-router-gateway-mac": mac}
