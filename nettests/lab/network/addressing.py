"""The addresses and MACs of a node's interfaces and pods: pure functions of node and CNI.

Flannel's layout, unless the plugin differs: on Linux ``.1`` (``cni0``) is the pods' gateway and ``.0``
(``flannel.1``) the VTEP; on Windows l2bridge ``.2`` is the bridge endpoint and the pods' gateway; on overlay ``.1`` is
the gateway and ``.2`` is reserved for kube-proxy's ``--source-vip`` (sig-windows-tools, flannel ``kube-proxy`` start script).

OutBoundNAT exceptions differ by plugin: Flannel, Calico and Microsoft's own plugin except Pods and Services;
OpenShift's operator only Services (cni-conf-template.json), AKS on its overlay only Pods (AgentBaker, azurecnifunc.ps1),
Amazon's plugin the VPC and Services (vpc-bridge, bridge_windows.go). The switch never translates Pods and Services.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address

from nettests.lab.errors import LabError
from nettests.lab.topology import OS, Address, Cni, Driver, Ipam, Network, NodeSpec, Plugin, Profile

HYPER_V_PREFIX = b"\x00\x15\x5d"
"""Microsoft's OUI for dynamic MACs of virtual NICs."""


GATEWAY_MAC = "ee:ee:ee:ee:ee:ee"
"""The node's end of every routed link; the links are separate, so one MAC serves all."""


POINT_TO_POINT = IPv4Address("169.254.1.1")
"""The gateway of a point-to-point link: no interface has the address, only its MAC is configured."""


POINT_TO_POINT_IPV6 = IPv6Address("fe80::1")
"""The same for IPv6."""


class PodAddressesExhaustedError(LabError):
    """A node's pod CIDR has no free address left."""


def point_to_point(like: Address) -> Address:
    """Return the gateway of a point-to-point link, in the family of ``like``."""
    return POINT_TO_POINT if like.version == 4 else POINT_TO_POINT_IPV6


def pod_gateway(node: NodeSpec, cni: Cni) -> Address:
    """Return the address that pods of ``node`` use as their default gateway."""
    if node.os is OS.LINUX and points_to_node(cni):
        return POINT_TO_POINT
    bridge_endpoint = cni.driver is Driver.L2BRIDGE and not points_to_node(cni)
    return node.pod_cidr[2 if node.os is OS.WINDOWS and bridge_endpoint else 1]


def points_to_node(cni: Cni) -> bool:
    """Whether pods' gateway is the node itself, as with cloud plugins; the bridge then has no endpoint."""
    return cni.plugin in {Plugin.AZURE, Plugin.VPC}


def source_vip(node: NodeSpec, cni: Cni) -> Address | None:
    """Return the address in a Windows node's pod CIDR that load balancers may rewrite sources to.

    On overlay it is kube-proxy's source VIP, with Open vSwitch the address of Antrea's gateway port.
    ``None`` on every other node.
    """
    if node.os is OS.LINUX:
        return None
    reserved = {Driver.OVERLAY: node.pod_cidr[2], Driver.TRANSPARENT: node.pod_cidr[1]}
    return reserved.get(cni.driver)


def rewritten_source(node: NodeSpec, profile: Profile) -> Address | None:
    """Return the source VIP in force; the mechanism ``bridge-source-vip`` sets one on l2bridge too."""
    usual = source_vip(node, profile.cni)
    return node.pod_cidr[1] if profile.mechanism("bridge-source-vip", 0) else usual


def vtep(node: NodeSpec) -> Address:
    """Return the address of a node's end of the VXLAN, the first of its pod CIDR."""
    return node.pod_cidr.network_address


def mac(os: OS, address: Address) -> str:
    """Return the MAC of the interface whose first address is ``address``, in the manner of the OS.

    Linux CNI plugins use ``0a:58`` plus the address; Hyper-V assigns ``00:15:5d`` MACs.
    """
    octets = (
        HYPER_V_PREFIX + address.packed[-3:]
        if os is OS.WINDOWS
        else b"\x0a\x58" + address.packed[-4:]
    )
    return octets.hex(":")


def port_mac(address: Address) -> str:
    """Return the MAC of the underlay's bridge port that leads to ``address``."""
    return (b"\x02\x01" + address.packed).hex(":")


def vtep_mac(node: NodeSpec) -> str:
    """Return the MAC of a node's VXLAN device (on Windows that of the distributed router)."""
    return (b"\x0e\x2a" + node.pod_cidr.network_address.packed).hex(":")


class PodAddressTakenError(LabError):
    """A pod requested an address that another pod has, or that is outside the node's range."""


class AddressPool:
    """Assigns a node's pod addresses, the least recently used first, or a requested one.

    Like host-local IPAM it continues after the last address, so that a new pod does not inherit the
    connection-tracking entries of an old one. ``stride`` is the step through the range.
    """

    def __init__(self, network: Network, first: int, stride: int = 1) -> None:
        self._network = network
        along = range(first, network.num_addresses - 1)
        self._offsets = [along[step * stride % len(along)] for step in range(len(along))]
        self._next = 0
        self._used: set[Address] = set()

    def take(self, wanted: Address | None = None) -> Address:
        """Return a free address, or raise ``PodAddressesExhaustedError``.

        With ``wanted`` return exactly this one, or raise ``PodAddressTakenError``.
        """
        if wanted is not None:
            if wanted in self._used or wanted not in map(self._network.__getitem__, self._offsets):
                raise PodAddressTakenError(
                    f"{wanted} is no free pod address of {self._network}",
                    hint="remove the pod that has it, or request another one",
                )
            self._used.add(wanted)
            return wanted
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

    def give_back(self, address: Address) -> None:
        """Make ``address`` free again."""
        self._used.discard(address)


_SCATTERED = 97
"""A prime: no address is used twice before all others are."""


def pod_addresses(node: NodeSpec, ipam: Ipam = Ipam.HOST_LOCAL) -> AddressPool:
    """Return the address pool for pods of ``node``; HNS assigns addresses in a scattered order."""
    if node.os is OS.LINUX:
        return AddressPool(node.pod_cidr, 2)
    return AddressPool(node.pod_cidr, 3, _SCATTERED if ipam is Ipam.HNS else 1)


_WORLD = IPv4Network("0.0.0.0/0")


def nat_exceptions(profile: Profile) -> tuple[Network, ...]:
    """Return the OutBoundNAT exceptions that the plugin writes; nodes are included if they route to pods."""
    nodes = profile.mechanism("excepted-nodes", knows_pods(profile))
    cluster_networks = (*_own_networks(profile), *((profile.node_network,) * nodes))
    stated = (*profile.cni.nat_exceptions, *((_WORLD,) * profile.mechanism("excepted-world", 0)))
    return (
        *cluster_networks,
        *(network for network in stated if network.version == profile.cluster_cidr.version),
    )


def spared(profile: Profile) -> tuple[Network, ...]:
    """Return the destinations without OutBoundNAT: the exceptions, and Pods and Services."""
    within = (profile.cluster_cidr, profile.service_cidr)
    return tuple(dict.fromkeys((*nat_exceptions(profile), *within)))


def knows_pods(profile: Profile) -> bool:
    """Whether the node network routes pod addresses: not on overlays, nor on Azure's, which has no tunnels."""
    return not profile.cni.encapsulates and profile.cni.backend != "overlay"


def _own_networks(profile: Profile) -> tuple[Network, ...]:
    if profile.cni.plugin is Plugin.OVN_KUBERNETES:
        return (profile.service_cidr,)
    if profile.cni.plugin is Plugin.AZURE and not profile.cni.native:
        return (profile.cluster_cidr,)
    return profile.cluster_cidr, profile.service_cidr
