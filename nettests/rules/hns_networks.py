"""Rules about the network of HNS that carries Pods: it is there, of its type, with its subnet and its VXLAN.

Sources: "Windows debugging tips", kube-proxy ``pkg/proxy/winkernel``, Flannel's ``backends.md``, OVN-Kubernetes'
hybrid overlay.
"""

from nettests.model import ports
from nettests.rules.evidence import Evidence, Finding, UnreadableError, finding
from nettests.rules.hns import Network, networks, of_kind, shown_by
from nettests.rules.kube_proxy import NETWORK_GIVEN, PROXY_LOG, network_of
from nettests.rules.pods import PODS, of_pod_families
from nettests.rules.rule import rule
from nettests.rules.subjects import (
    FLANNEL,
    HNS,
    KERNELSPACE,
    KUBE_PROXY,
    OVERLAY,
    OVN_KUBERNETES,
    VXLAN,
)

HYBRID_OVERLAY_VNI = 4097
NETWORKS = shown_by("Get-HnsNetwork", "hns-networks")


@rule(
    "hns-network",
    about=(KUBE_PROXY, KERNELSPACE),
    reads=(PODS, PROXY_LOG, *NETWORK_GIVEN, NETWORKS),
    remedy="compare Get-HnsNetwork with KUBE_NETWORK; where no network was made, check the name of "
    "the physical adapter (InterfaceName of start.ps1) and restart flanneld",
)
def hns_network(evidence: Evidence) -> Finding:
    """The HNS network that kube-proxy is given exists."""
    wanted = network_of(evidence)
    names = sorted(network.name for network in networks(evidence, NETWORKS))
    exists = bool(wanted) and wanted.lower() in {name.lower() for name in names}
    return finding(
        exists,
        f"HNS networks {', '.join(names) or 'none'}",
        f"the one that kube-proxy is given, {wanted or 'which is none'}",
        of=1,
    )


@rule(
    "hns-network-type",
    about=(KUBE_PROXY, KERNELSPACE, HNS),
    reads=(PODS, PROXY_LOG, *NETWORK_GIVEN, NETWORKS),
    remedy="remove the HNS network of another type and let the plugin make its own "
    "(Get-HnsNetwork, Remove-HnsNetwork)",
)
def hns_network_type(evidence: Evidence) -> Finding:
    """Its type is the driver that the plugin's settings promise."""
    # sample: "Name":  "cbr0", "Type":  "L2Bridge"
    network, driver = _network(evidence), evidence.fact("driver")
    return finding(network.is_of(driver), f"type {network.kind}", f"{driver}", of=1)


@rule(
    "hns-network-subnet",
    about=(KUBE_PROXY, KERNELSPACE, FLANNEL),
    reads=(PODS, PROXY_LOG, *NETWORK_GIVEN, NETWORKS),
    remedy="the node has rejoined with another subnet: remove the old HNS network and "
    "C:\\k\\SourceVip.json, C:\\k\\SourceVipRequest.json, then restart flanneld",
)
def hns_network_subnet(evidence: Evidence) -> Finding:
    """Its subnet is the node's pod CIDR: after a node has rejoined, an old network may be left."""
    prefixes = [subnet.prefix for subnet in _network(evidence).subnets]
    pod_cidrs = [
        str(family) for family in of_pod_families(evidence, evidence.networks("node-pod-cidrs"))
    ]
    return finding(
        set(pod_cidrs) <= set(prefixes),
        f"subnet {', '.join(prefixes)}",
        f"{', '.join(pod_cidrs)}",
        of=len(pod_cidrs),
    )


@rule(
    "overlay-network-id",
    about=(OVERLAY, VXLAN),
    reads=(NETWORKS,),
    remedy="make the HNS network again with a network id of "
    f"{ports.FIRST_VNI} or above and UDP port {ports.VXLAN}: "
    "the other nodes have to use the same",
)
def overlay_network_id(evidence: Evidence) -> Finding:
    """HNS carries overlays in VXLAN with a network id from 4096 on, to UDP port 4789."""
    ids, used = _vxlan(evidence)
    return finding(
        all(number >= ports.FIRST_VNI for number in ids) and used <= {ports.VXLAN},
        _vxlan_text(ids, used),
        f"a network id of {ports.FIRST_VNI} or above, and port {ports.VXLAN}",
        of=len(ids),
    )


@rule(
    "hybrid-overlay-id",
    about=(OVERLAY, OVN_KUBERNETES),
    reads=(NETWORKS,),
    remedy="let the hybrid overlay make its HNS network again: Linux nodes send to Windows nodes "
    "with network id 4097 only",
)
def hybrid_overlay_id(evidence: Evidence) -> Finding:
    """The hybrid overlay of OVN-Kubernetes has one network id everywhere; a network beside it holds the next."""
    ids, used = _vxlan(evidence)
    return finding(
        HYBRID_OVERLAY_VNI in ids,
        _vxlan_text(ids, used),
        f"network id {HYBRID_OVERLAY_VNI}",
        of=len(ids),
    )


def _network(evidence: Evidence) -> Network:
    name = network_of(evidence)
    for network in networks(evidence, NETWORKS):
        if network.name.lower() == name.lower():
            return network
    raise UnreadableError(f"the node has no HNS network {name or '(kube-proxy is given none)'}")


def _vxlan(evidence: Evidence) -> tuple[set[int], set[int]]:
    """Return network ids and UDP ports of the overlay networks; without a port they use the usual one."""
    # samples: {"Type": "VSID", "VSID": 4096} of a subnet, {"Type": "VxlanPort", "Port": 4789} of the network
    #          {"Type": "VSID", "Settings": {"IsolationId": 4096}}
    overlays = [network for network in networks(evidence, NETWORKS) if network.is_of("overlay")]
    ids = {
        int(policy["VSID"] if "VSID" in policy else policy["IsolationId"])
        for network in overlays
        for subnet in network.subnets
        for policy in of_kind(subnet.policies, "VSID")
    }
    if not ids:
        raise UnreadableError("no HNS network of type Overlay shows a network id")
    used = {
        int(policy["Port"])
        for network in overlays
        for policy in of_kind(network.policies, "VxlanPort")
    }
    return ids, used


def _vxlan_text(ids: set[int], ports: set[int]) -> str:
    network_ids = f"network id {', '.join(map(str, sorted(ids)))}"
    return f"{network_ids}, port {', '.join(map(str, sorted(ports))) or 'not given'}"
