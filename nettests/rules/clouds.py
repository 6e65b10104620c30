"""Rules about Amazon's VPC plugin on Windows nodes: one interface, IPv4, and the cluster's DNS elsewhere.

Sources: Amazon EKS user guide ("Deploy Windows nodes"), aws/amazon-vpc-cni-plugins ``plugins/vpc-bridge``.
"""

from nettests.rules.evidence import Evidence, Finding, NothingThereError, finding
from nettests.rules.families import pods_ipv4
from nettests.rules.hns import networks
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.pods import PODS
from nettests.rules.rule import rule
from nettests.rules.subjects import VPC

BRIDGE = "vpcbr"
"""The plugin's prefix for the network of an interface; the interface's MAC address follows."""
DNS = "coredns"


@rule(
    "vpc-interface",
    about=(VPC,),
    reads=(NETWORKS,),
    remedy="look at C:\\ProgramData\\Amazon\\EKS\\logs\\vpc-bridge.log and at the node's bootstrap: the plugin makes one network, "
    "on the primary interface; remove what an earlier plugin left (Get-HnsNetwork, Remove-HnsNetwork)",
)
def vpc_interface(evidence: Evidence) -> Finding:
    """Pods hang on one network of type L2Bridge: the plugin uses one interface of the node, the primary one."""
    # sample: "Name":  "vpcbr0a1b2c3d4e5f", "Type":  "L2Bridge"
    vpc_networks = [
        network
        for network in networks(evidence, NETWORKS)
        if network.name.lower().startswith(BRIDGE)
    ]
    names = sorted(f"{network.name} ({network.kind})" for network in vpc_networks)
    bridges = [network for network in vpc_networks if network.is_of("l2bridge")]
    return finding(
        len(vpc_networks) == len(bridges) == 1,
        f"networks {', '.join(names) or 'of other names alone'}",
        f"one network {BRIDGE}<MAC address> of type L2Bridge",
        of=1,
    )


@rule(
    "vpc-pods-ipv4",
    about=(VPC,),
    reads=(PODS,),
    remedy="Windows nodes of Amazon's clusters support IPv4 alone: see which plugin gave the address, and run the flows "
    "over it before anything relies on it",
    beside_pod=True,
)
def vpc_pods_ipv4(evidence: Evidence) -> Finding:
    """Pods that Amazon's plugin carries on Windows have IPv4 addresses only."""
    return pods_ipv4(evidence)


@rule(
    "vpc-dns-elsewhere",
    about=(VPC,),
    reads=(PODS,),
    remedy="give the cluster's DNS a Linux node: its Pods run there alone (nodeSelector kubernetes.io/os: linux)",
)
def vpc_dns_elsewhere(evidence: Evidence) -> Finding:
    """No Pod of the cluster's DNS is on a Windows node: it needs Linux nodes beside them."""
    names = [str(pod["metadata"]["name"]) for pod in evidence.items(PODS)]
    if not names:
        raise NothingThereError("no Pod runs on the node")
    dns_pods = sorted(name for name in names if name.startswith(DNS))
    return finding(
        not dns_pods,
        f"Pod {', '.join(dns_pods)}" if dns_pods else f"{len(names)} Pods, none of them {DNS}",
        f"{DNS} on Linux nodes alone",
        of=len(names),
    )
