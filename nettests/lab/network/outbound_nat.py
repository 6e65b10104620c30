"""Exceptions of OutBoundNAT: those that a plugin configures, and those that the switch always makes. Pure.

Plugins differ in what they write. Flannel's, Calico's and Microsoft's own except Pods and Services, and nodes where
the network below knows Pods. OpenShift's windows-machine-config-operator excepts Services alone
(cni-conf-template.json), AKS Pods alone on its overlay (AgentBaker, azurecnifunc.ps1), Amazon's plugin the VPC and
Services (vpc-bridge, bridge_windows.go). Pods reach each other with all of them, so the switch spares Pods and
Services whatever is written.
"""

from ipaddress import IPv4Network

from nettests.lab.topology import Network, Plugin, Profile

_WORLD = IPv4Network("0.0.0.0/0")


def nat_exceptions(profile: Profile) -> tuple[Network, ...]:
    """Return the exceptions that the plugin writes; nodes are among them where they can route back to pods."""
    nodes = profile.mechanism("excepted-nodes", knows_pods(profile))
    cluster_networks = (*_own_networks(profile), *((profile.node_network,) * nodes))
    stated = (*profile.cni.nat_exceptions, *((_WORLD,) * profile.mechanism("excepted-world", 0)))
    return (
        *cluster_networks,
        *(network for network in stated if network.version == profile.cluster_cidr.version),
    )


def spared(profile: Profile) -> tuple[Network, ...]:
    """Return what is not translated: the exceptions, and what never leaves the cluster."""
    within = (profile.cluster_cidr, profile.service_cidr)
    return tuple(dict.fromkeys((*nat_exceptions(profile), *within)))


def knows_pods(profile: Profile) -> bool:
    """Whether addresses of pods are known outside the cluster's nodes: on no overlay, Azure's without tunnels included."""
    return not profile.cni.encapsulates and profile.cni.backend != "overlay"


def _own_networks(profile: Profile) -> tuple[Network, ...]:
    if profile.cni.plugin is Plugin.OVN_KUBERNETES:
        return (profile.service_cidr,)
    if profile.cni.plugin is Plugin.AZURE and not profile.cni.native:
        return (profile.cluster_cidr,)
    return profile.cluster_cidr, profile.service_cidr
