"""What the clouds' own plugins leave in a cluster: Azure CNI on a cluster of one's own and on AKS, Amazon's on EKS. Pure.

Labels are those that AKS writes on nodes of its overlay (Azure/azure-container-networking,
test/integration/manifests and ``podnetwork-type``), and EKS on nodes of a managed node group.
"""

import json
from collections.abc import Iterator

from nettests.lab.installers.daemons import Daemon, Settings, in_kube_system, node_name
from nettests.lab.topology import OS, NodeSpec, Profile

AZURE_CNS_IMAGE = "mcr.microsoft.com/containernetworking/azure-cns:v1.6.21"
AWS_NODE_IMAGE = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.1"


def azures() -> Iterator[Daemon]:
    """Return Azure's container networking service on both systems."""
    for name, os in (("azure-cns", OS.LINUX), ("azure-cns-win", OS.WINDOWS)):
        container = {
            "name": "cns-container",
            "image": AZURE_CNS_IMAGE,
            "command": ["azure-cns"],
            "env": [node_name()],
        }
        yield in_kube_system(name, container, os)


def azure_settings(profile: Profile) -> Settings:
    """Return the configuration of Azure's masquerading agent on Linux nodes."""
    config = {"NonMasqueradeCIDRs": [str(profile.cluster_cidr), str(profile.service_cidr)]}
    return Settings(
        namespace="kube-system",
        name="azure-ip-masq-agent-config",
        data={"ip-masq-agent": json.dumps(config)},
    )


def azure_labels(spec: NodeSpec, profile: Profile) -> dict[str, str]:
    """Return what AKS writes on its nodes; a cluster of one's own in Azure has none of it."""
    if profile.cni.native:
        return {}
    return {
        "kubernetes.azure.com/agentpool": f"np{spec.os.value[:3]}",
        "kubernetes.azure.com/podnetwork-type": profile.cni.backend,
    }


def amazons() -> Iterator[Daemon]:
    """Return Amazon's daemon, which runs on Linux alone: its controller serves Windows nodes from outside."""
    container = {"name": "aws-node", "image": AWS_NODE_IMAGE, "env": [node_name()]}
    yield in_kube_system("aws-node", container, OS.LINUX)


def amazon_labels(spec: NodeSpec) -> dict[str, str]:
    """Return what EKS writes on the nodes of a managed node group."""
    return {"eks.amazonaws.com/nodegroup": spec.os.value}
