"""What HNS networks and the CNI configuration of a Windows node show about the network plugin.

No rule is declared here: these are facts that ``parse.host_facts`` adds to discovery. Network names
are constants of the plugins: Azure/azure-container-networking ``cni/network``,
aws/amazon-vpc-cni-plugins ``plugins/vpc-bridge/network``, antrea ``pkg/agent/util``, Calico's
``node/windows-packaging``, OVN-Kubernetes ``go-controller/hybrid-overlay``, flannel ``pkg/backend``
and sig-windows-tools.
"""

import ipaddress
import re

from nettests.model.facts import EVERY_ADDRESS, Network
from nettests.rules.cni import policies_in_files
from nettests.rules.evidence import Evidence, UnreadableError
from nettests.rules.hns import Network as HnsNetwork
from nettests.rules.hns import networks
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.nat import exceptions_of

DRIVERS = ("l2bridge", "l2tunnel", "overlay", "transparent")
"""Network types for Pods; NAT, ICS and Internal belong to Windows and container runtimes."""
PLACEHOLDER = "192.168.255.0/30"
"""The network that installers create first, so that HNS creates the switch; no Pod uses it."""
PLUGINS = {
    r"azure": "azure-cni",
    r"vpcbr[0-9a-f]{12}": "aws-vpc-cni",
    r"antrea-hnsnetwork": "antrea",
    r"Calico": "calico",
    r"(?:Base)?OVNKubernetesHybridOverlayNetwork": "ovn-kubernetes",
    r"flannel\.\d+|cbr0": "flannel",
}
BACKENDS = {
    ("flannel", "overlay"): "vxlan",
    ("flannel", "l2bridge"): "host-gw",
    ("calico", "overlay"): "vxlan",
    ("calico", "l2bridge"): "windows-bgp",
    ("ovn-kubernetes", "overlay"): "hybrid-overlay",
}
"""The backend that follows from plugin and network type."""
AS_IN_FILE = frozenset({"azure-cni"})
"""Plugins whose Pods have exactly the OutBoundNAT exceptions in the CNI configuration."""


def pod_networks(evidence: Evidence) -> list[HnsNetwork]:
    """Return networks that may carry Pods: not Windows' own, the placeholder only if no other."""
    of_drivers = [
        network for network in networks(evidence, NETWORKS) if network.kind.lower() in DRIVERS
    ]
    with_pods = [
        network
        for network in of_drivers
        if all(subnet.prefix != PLACEHOLDER for subnet in network.subnets)
    ]
    return with_pods or of_drivers


def driver_of(evidence: Evidence) -> str:
    """Return the type of the Pod networks; ``UnreadableError`` for none or several."""
    carrying = pod_networks(evidence)
    types = {network.kind.lower() for network in carrying}
    if len(types) == 1:
        return types.pop()
    names = ", ".join(f"{network.name} ({network.kind})" for network in carrying)
    raise UnreadableError(
        f"of HNS' networks {names or 'none'} may carry Pods, which tells no driver"
    )


def plugin_of(evidence: Evidence) -> str:
    """Return the plugin by its network names; ``UnreadableError`` if they match none or several."""
    names = [network.name for network in pod_networks(evidence)]
    plugins = {
        plugin
        for pattern, plugin in PLUGINS.items()
        if any(re.fullmatch(pattern, name, re.IGNORECASE) for name in names)
    }
    if len(plugins) == 1:
        return plugins.pop()
    raise UnreadableError(
        f"the names of HNS' networks tell no plugin: {', '.join(names) or 'none'}"
    )


def nat_exceptions(evidence: Evidence) -> tuple[Network, ...]:
    """Return the CNI configuration's OutBoundNAT exceptions; all addresses without a policy."""
    policies = list(policies_in_files(evidence, {"outboundnat"}))
    if not policies:
        return EVERY_ADDRESS
    texts = dict.fromkeys(text for policy in policies for text in exceptions_of(policy))
    try:
        return tuple(ipaddress.ip_network(text, strict=False) for text in texts)
    except ValueError as error:
        raise UnreadableError(f"an exception of OutBoundNAT is no network: {error}") from error
