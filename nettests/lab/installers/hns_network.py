"""The name of the HNS network of Windows nodes, by which kube-proxy and tools find it. Pure."""

from nettests.lab.topology import Cni, Driver, Plugin

HYBRID_OVERLAY = "OVNKubernetesHybridOverlayNetwork"
_NAMES = {
    Plugin.AZURE: "azure",
    Plugin.ANTREA: "antrea-hnsnetwork",
    Plugin.CALICO: "Calico",
    Plugin.OVN_KUBERNETES: HYBRID_OVERLAY,
    Plugin.VPC: "vpcbr",
}


def network_name(cni: Cni, mac: str = "") -> str:
    """Return the name; that of Amazon's plugin ends with the MAC address of its node's interface."""
    usual = f"flannel.{cni.vni}" if cni.driver is Driver.OVERLAY else "cbr0"
    name = _NAMES.get(cni.plugin, usual)
    return f"{name}{mac.replace(':', '')}" if cni.plugin is Plugin.VPC else name
