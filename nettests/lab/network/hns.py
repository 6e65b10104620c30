"""HNS of one Windows node as its cmdlets show it: networks, endpoints, policy lists, port pools.

Built on request from the data plane: the attached pods, the load balancers in force and the OutBoundNAT
exceptions. Property names are those of HNS' first schema, which the cmdlets of the module
HostNetworkingService use.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network

from nettests.lab.installers import flannel
from nettests.lab.installers.hns_network import HYBRID_OVERLAY, network_name
from nettests.lab.interfaces import Json
from nettests.lab.network import addressing
from nettests.lab.network.thresholds import switch_features
from nettests.lab.network.winkernel import load_balancer
from nettests.lab.topology import Address, Driver, Network, NodeSpec, Plugin, Profile, ProxyMode

DYNAMIC_PORTS = range(49152, 65536)
POOL = 64
"""HNS reserves host ports for source rewriting in blocks of this size."""

_TYPES = {
    Driver.L2BRIDGE: "L2Bridge",
    Driver.L2TUNNEL: "L2Tunnel",
    Driver.OVERLAY: "Overlay",
    Driver.TRANSPARENT: "Transparent",
}
_EXTENSIONS = (
    {"Id": "E7C3B2F0-F3C5-48DF-AF2B-10FED6D72E7A", "IsEnabled": False, "Name": "filtering"},
    {"Id": "E9B59CFA-2BE1-4B21-828F-B6FBDBDDC017", "IsEnabled": True, "Name": "vfp"},
    {"Id": "EA24CD6C-D17A-4348-9190-09F0D5BE83DD", "IsEnabled": True, "Name": "capture"},
)
"""Switch extensions (kubernetes-sigs/sig-windows-dev-tools #184); cmdlets localise their names."""
_FIRST_PREFIX = IPv4Network("100.64.0.0/30")
"""The subnet of the hybrid overlay's unused base network (ho_node_windows.go, ensureBaseNetwork)."""
_OTHER_ADAPTER = "192.0.2.13"
_OBJECTS = frozenset({load_balancer.CLUSTER_IP, load_balancer.NODE_PORT, *load_balancer.OUTER})
_PROTOCOLS = {"tcp": 6, "udp": 17, "sctp": 132}
_ATTACHED, _CREATED, _APPLIED = 3, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHns:
    """HNS of ``node``; ``pods`` and ``policies`` return the current pods and load balancers."""

    node: NodeSpec
    profile: Profile
    exceptions: Sequence[Network]
    pods: Callable[[], Mapping[str, tuple[Address, ...]]]
    policies: Callable[[], tuple[load_balancer.LoadBalancer, ...]]
    dns: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """DNS servers and suffixes of pods' endpoints, by address."""

    def networks(self) -> list[Json]:
        """Return the pod network; with OVN-Kubernetes its permanent base network first."""
        cni, subnet = self.profile.cni, self.node.pod_cidr
        if cni.native:
            subnet = self.profile.cluster_cidr  # pods have addresses of the nodes' network
        overlay = cni.driver is Driver.OVERLAY
        of_ovn = cni.plugin is Plugin.OVN_KUBERNETES
        # OVN-Kubernetes leaves out the default UDP port (overlay_windows.go)
        port = [] if of_ovn else [{"Type": "VxlanPort", "Port": cni.vxlan_port}]
        pods = self._network_of(
            self._network,
            self._name,
            _TYPES[cni.driver],
            _subnet(subnet, subnet[1], cni.vni if overlay else None),
            *self._second_subnet(),
            endpoints=len(self.pods()),
        )
        policies = [*port, *self._remote_subnets()] if overlay else []
        extensions = [dict(each) for each in _EXTENSIONS]
        shown = {**pods, "Extensions": extensions, "IPv6": self._dual_stack, "Policies": policies}
        base = self._network_of(
            _identity(self.node.name, "base-network"),
            f"Base{HYBRID_OVERLAY}",
            _TYPES[Driver.OVERLAY],
            _subnet(_FIRST_PREFIX, _FIRST_PREFIX[2], cni.vni + 1),
            endpoints=0,
        )
        return [*([base] if of_ovn else ()), shown]

    def _network_of(
        self, identity: str, name: str, kind: str, *subnets: Json, endpoints: int
    ) -> Json:
        return {
            "CurrentEndpointCount": endpoints,
            "ID": identity,
            "IPv6": False,
            "ManagementIP": str(
                _OTHER_ADAPTER if self.profile.mechanism("other-adapter", 0) else self.node.address
            ),
            "Name": name,
            "Policies": [],
            "State": _CREATED,
            "Subnets": [*subnets],
            "TotalEndpoints": endpoints,
            "Type": kind,
        }

    def endpoints(self) -> list[Json]:
        """Return the endpoints of pods, the host's, and kube-proxy's remote ones for load balancers."""
        pods = self.pods()
        local = [
            {
                **self._endpoint(uid[:8], first),
                **({"IPv6Address": str(second[0])} if second else {}),
                **self._dns(first),
                "GatewayAddress": str(addressing.pod_gateway(self.node, self.profile.cni)),
                "Policies": self._policies(first),
                "State": _ATTACHED,
            }
            for uid, (first, *second) in pods.items()
        ]
        pod_addresses = {address for addresses in pods.values() for address in addresses}
        referred = {address for each in self._balancers() for address in each.backends}
        remote = [
            {
                **self._endpoint("Ethernet", address),
                "IsRemoteEndpoint": True,
                "Policies": self._provider(self._node_behind(address)),
                "State": _CREATED,
            }
            for address in sorted(referred - pod_addresses, key=int)
        ]
        return [*local, *self._host_endpoints(), *remote]

    def _host_endpoints(self) -> list[Json]:
        """Return the plugin's endpoint for the host, if any: the source VIP, or Calico's bridge endpoint."""
        cni = self.profile.cni
        names = {Plugin.CALICO: "Calico_ep", Plugin.OVN_KUBERNETES: "VIPEndpoint"}
        if cni.plugin not in names:
            return []
        of_bridge = addressing.pod_gateway(self.node, cni)
        address = addressing.source_vip(self.node, cni) or of_bridge
        return [{**self._endpoint(names[cni.plugin], address), "State": _ATTACHED}]

    def policy_lists(self) -> list[Json]:
        """Return the load balancers, without ``LB_HOST``: that is a rule of VFP, not an HNS object."""
        return [
            self._policy_list(balancer)
            for balancer in self._balancers()
            if balancer.kind in _OBJECTS
        ]

    def dynamic_ports(self) -> range:
        """Return the default dynamic port range of Windows."""
        return DYNAMIC_PORTS

    def port_pools(self, protocol: str) -> list[range]:
        """Return the port pool for source rewriting, shared by all load balancers since KB4551853."""
        rewriting = any(
            balancer.protocol == protocol and balancer.source is not load_balancer.Source.KEPT
            for balancer in self._balancers()
        )
        return [DYNAMIC_PORTS[:POOL]] if rewriting else []

    def _second_subnet(self) -> list[Json]:
        if self.node.ipv6 is None or not self._dual_stack:
            return []
        return [_subnet(self.node.ipv6.pod_cidr, self.node.ipv6.pod_cidr[1], None)]

    @property
    def _dual_stack(self) -> bool:
        dual_stack = switch_features(self.node, self.profile).dual_stack
        return self.profile.ipv6 is not None and dual_stack

    @property
    def _name(self) -> str:
        return network_name(self.profile.cni, addressing.mac(self.node.os, self.node.address))

    @property
    def _network(self) -> str:
        return _identity(self.node.name, "network")

    def _remote_subnets(self) -> list[Json]:
        return [
            {
                "Type": "RemoteSubnetRoute",
                "DestinationPrefix": str(other.pod_cidr),
                "IsolationId": self.profile.cni.vni,
                "ProviderAddress": str(other.address),
                "DistributedRouterMacAddress": _dashed(addressing.vtep_mac(other)),
            }
            for other in self.profile.nodes
            if other.name != self.node.name
        ]

    def _endpoint(self, name: str, address: Address) -> Json:
        return {
            "ID": self._endpoint_id(address),
            "IPAddress": str(address),
            "MacAddress": _dashed(addressing.mac(self.node.os, address)),
            "Name": name,
            "Policies": [],
            "PrefixLength": self.node.pod_cidr.prefixlen,
            "Type": _TYPES[self.profile.cni.driver],
            "VirtualNetwork": self._network,
            "VirtualNetworkName": self._name,
        }

    def _dns(self, address: Address) -> Json:
        servers, suffixes = self.dns.get(str(address), ("", ""))
        return {"DNSServerList": servers, "DNSSuffix": suffixes} if servers else {}

    def _policies(self, address: Address) -> list[Json]:
        """Return the policies of a Pod's endpoint, always in HNS' first schema, as the cmdlets show them."""
        if self.profile.cni.driver is Driver.TRANSPARENT:
            return []  # addresses are translated by the host (NetNat), not by HNS
        policies: list[Json] = [
            {"Type": "OutBoundNAT", "ExceptionList": [str(network) for network in self.exceptions]}
        ]
        policies += [
            {"Type": "ROUTE", "DestinationPrefix": prefix, "NeedEncap": True}
            for prefix in self._routes()
        ]
        policies += self._provider(self.node.address)
        if self.profile.cni.loopback_dsr:
            policies.append({"Type": "OutBoundNAT", "Destinations": [str(address)]})
        return policies

    def _routes(self) -> list[str]:
        """Return the prefixes of ROUTE policies, whose packets go to the host: Services, and often the node.

        AKS writes no prefixes with DSR (AgentBaker, azurecnifunc.ps1).
        """
        plugin = self.profile.cni.plugin
        if plugin is Plugin.FLANNEL:
            return flannel.routes(self.node, self.profile)
        if plugin is Plugin.AZURE and self.profile.kube_proxy.dsr:
            return []
        prefixes = []
        for family in self.profile.by_family if self._dual_stack else (self.profile,):
            node_address = family.node(self.node.name).address
            prefixes.append(str(family.service_cidr))
            if plugin not in {Plugin.AZURE, Plugin.OVN_KUBERNETES}:
                prefixes.append(f"{node_address}/{node_address.max_prefixlen}")
        return prefixes

    def _provider(self, address: Address) -> list[Json]:
        overlay = self.profile.cni.driver is Driver.OVERLAY
        return [{"Type": "PA", "PA": str(address)}] if overlay else []

    def _node_behind(self, address: Address) -> Address:
        """Return the address of the backend's node; this node's for addresses outside the cluster."""
        for other in self.profile.nodes:
            if address in other.pod_cidr or address == other.address:
                return other.address
        return self.node.address

    def _balancers(self) -> tuple[load_balancer.LoadBalancer, ...]:
        """Return the load balancers that kube-proxy created in HNS; other proxies create none."""
        kernelspace = self.profile.kube_proxy.mode is ProxyMode.KERNELSPACE
        return self.policies() if kernelspace else ()

    def _policy_list(self, policy: load_balancer.LoadBalancer) -> Json:
        elb: Json = {
            "ExternalPort": policy.external_port,
            "InternalPort": policy.internal_port,
            "IsDSR": load_balancer.Flag.DSR in policy.flags,
            "Protocol": _PROTOCOLS[policy.protocol],
            "SourceVIP": str(policy.source_vip or ""),
            "Type": "ELB",
            "VIPs": [] if policy.kind == load_balancer.NODE_PORT else [str(policy.vip)],
        }
        return {
            # each family has load balancers of its own
            "ID": _identity(self.node.name, policy.name + "/IPv6" * (policy.vip.version == 6)),
            "Policies": [elb],
            "References": [
                f"/endpoints/{self._endpoint_id(address)}" for _, address in policy.references
            ],
            "State": _APPLIED,
        }

    def _endpoint_id(self, address: Address) -> str:
        for addresses in self.pods().values():
            if address in addresses:
                address = addresses[0]
        return _identity(self.node.name, str(address))


def _identity(node: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.{node}")).upper()


def _subnet(prefix: Network, gateway: Address, vsid: int | None) -> Json:
    policies = [] if vsid is None else [{"Type": "VSID", "VSID": vsid}]
    return {"AddressPrefix": str(prefix), "GatewayAddress": str(gateway), "Policies": policies}


def _dashed(mac: str) -> str:
    return mac.replace(":", "-").upper()
