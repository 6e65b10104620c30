"""Which addresses and MACs the parts of a node carry: pure functions of node and CNI.

Flannel's plan, unless the plugin says otherwise: Linux pods' gateway is ``.1`` (``cni0``) and the VTEP ``.0``
(``flannel.1``); on Windows l2bridge ``.2`` is the bridge endpoint, the pods' gateway; on overlay ``.1`` is the gateway and
``.2`` is reserved for kube-proxy's ``--source-vip`` (sig-windows-tools, flannel ``kube-proxy`` start script).

Plugins write different exceptions of OutBoundNAT: Flannel's, Calico's and Microsoft's own except Pods and Services;
OpenShift's operator Services alone (cni-conf-template.json), AKS Pods alone on its overlay (AgentBaker, azurecnifunc.ps1),
Amazon's plugin the VPC and Services (vpc-bridge, bridge_windows.go). The switch spares Pods and Services in any case.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address

from nettests.lab.errors import LabError
from nettests.lab.topology import OS, Address, Cni, Driver, Ipam, Network, NodeSpec, Plugin, Profile

HYPER_V_PREFIX = b"\x00\x15\x5d"
"""Microsoft's OUI for dynamic MACs of virtual NICs."""


GATEWAY_MAC = "ee:ee:ee:ee:ee:ee"
"""The node's end of every routed link; the links are separate, so one MAC serves all."""


POINT_TO_POINT = IPv4Address("169.254.1.1")
"""The gateway of a link that needs none: nothing has the address, only its MAC is configured."""


POINT_TO_POINT_IPV6 = IPv6Address("fe80::1")
"""The same of the second family."""


class PodAddressesExhaustedError(LabError):
    """A node's pod CIDR has no free address left."""


def point_to_point(like: Address) -> Address:
    """Return the gateway of a link that needs none, in the family of ``like``."""
    return POINT_TO_POINT if like.version == 4 else POINT_TO_POINT_IPV6


def pod_gateway(node: NodeSpec, cni: Cni) -> Address:
    """Return the address that pods of ``node`` use as their default gateway."""
    if node.os is OS.LINUX and points_to_node(cni):
        return POINT_TO_POINT
    bridge_endpoint = cni.driver is Driver.L2BRIDGE and not points_to_node(cni)
    return node.pod_cidr[2 if node.os is OS.WINDOWS and bridge_endpoint else 1]


def points_to_node(cni: Cni) -> bool:
    """Whether a cloud's plugin connects pods: their gateway is the node, and on Windows the bridge has no endpoint."""
    return cni.plugin in {Plugin.AZURE, Plugin.VPC}


def source_vip(node: NodeSpec, cni: Cni) -> Address | None:
    """Return the address in a Windows node's own pod range that load balancers may rewrite to.

    kube-proxy's source VIP on overlay; with Open vSwitch the one of Antrea's gateway port, which the
    agent uses. ``None`` on every other node.
    """
    if node.os is OS.LINUX:
        return None
    reserved = {Driver.OVERLAY: node.pod_cidr[2], Driver.TRANSPARENT: node.pod_cidr[1]}
    return reserved.get(cni.driver)


def rewritten_source(node: NodeSpec, profile: Profile) -> Address | None:
    """Return the source VIP that load balancers really get: a switch may have one on l2bridge too."""
    usual = source_vip(node, profile.cni)
    return node.pod_cidr[1] if profile.mechanism("bridge-source-vip", 0) else usual


def vtep(node: NodeSpec) -> Address:
    """Return the address of a node's end of the VXLAN, the first of its pod CIDR."""
    return node.pod_cidr.network_address


def mac(os: OS, address: Address) -> str:
    """Return the MAC of the interface whose first address is ``address``, as that OS's stack would make it.

    Linux CNI plugins derive ``0a:58`` plus the address; Hyper-V hands out ``00:15:5d`` MACs.
    """
    octets = (
        HYPER_V_PREFIX + address.packed[-3:]
        if os is OS.WINDOWS
        else b"\x0a\x58" + address.packed[-4:]
    )
    return octets.hex(":")


def port_mac(address: Address) -> str:
    """Return the MAC of the port, on the wire's side, that leads to ``address``."""
    return (b"\x02\x01" + address.packed).hex(":")


def vtep_mac(node: NodeSpec) -> str:
    """Return the MAC a node's VXLAN device answers to (on Windows the distributed router's)."""
    return (b"\x0e\x2a" + node.pod_cidr.network_address.packed).hex(":")


class PodAddressTakenError(LabError):
    """A pod requested an address that another pod has, or that is another node's."""


class AddressPool:
    """Hands out a node's pod addresses, the least recently used first, or one that is wanted.

    host-local IPAM also goes on from the last address: a new pod does not inherit the
    connection-tracking entries of the one before. ``stride`` steps through the range instead of going along it.
    """

    def __init__(self, network: Network, first: int, stride: int = 1) -> None:
        self._network = network
        along = range(first, network.num_addresses - 1)
        self._offsets = [along[step * stride % len(along)] for step in range(len(along))]
        self._next = 0
        self._used: set[Address] = set()

    def take(self, wanted: Address | None = None) -> Address:
        """Return a free address; ``PodAddressesExhaustedError`` when there is none.

        With ``wanted`` it is this one, or ``PodAddressTakenError``.
        """
        if wanted is not None:
            return self._take(wanted)
        for step in range(len(self._offsets)):
            position = (self._next + step) % len(self._offsets)
            address = self._network[self._offsets[position]]
            if address not in self._used:
                self._next = position + 1
                self._used.add(address)
                return address
        raise PodAddressesExhaustedError(
            f"all {len(self._offsets)} pod addresses of {self._network} are in use",
            hint="remove pods, or give the node a larger pod CIDR",
        )

    def _take(self, wanted: Address) -> Address:
        if wanted in self._used or wanted not in map(self._network.__getitem__, self._offsets):
            raise PodAddressTakenError(
                f"{wanted} is no free pod address of {self._network}",
                hint="remove the pod that has it, or request another one",
            )
        self._used.add(wanted)
        return wanted

    def give_back(self, address: Address) -> None:
        """Make ``address`` free again."""
        self._used.discard(address)


_SCATTERED = 97
"""A prime: no address is used twice before all others are."""


def pod_addresses(node: NodeSpec, ipam: Ipam = Ipam.HOST_LOCAL) -> AddressPool:
    """Return the pool of addresses that pods of ``node`` get; Windows gives its own in no order."""
    if node.os is OS.LINUX:
        return AddressPool(node.pod_cidr, 2)
    return AddressPool(node.pod_cidr, 3, _SCATTERED if ipam is Ipam.HNS else 1)


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
