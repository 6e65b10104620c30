"""The files and plugins that network plugins' daemons leave on a Windows node. Pure.

Flannel's ``subnet.env`` is the node's lease; a CNI configuration is what the plugin is called with
(sig-windows-tools' Flannel image, Azure CNI's conflist, what Calico's operator renders). The switch is built from the
same profile and does not read them.
"""

import json
from dataclasses import dataclass, field

from nettests.lab.client import Json
from nettests.lab.installers import flannel
from nettests.lab.installers.hns_network import HYBRID_OVERLAY, network_name
from nettests.lab.network import addressing
from nettests.lab.network.outbound_nat import nat_exceptions
from nettests.lab.topology import Driver, Ipam, NodeSpec, Plugin, Profile

SUBNET_FILE = "C:\\run\\flannel\\subnet.env"
FLANNEL_FILE = "C:\\etc\\cni\\net.d\\10-flannel.conf"
SDNBRIDGE_FILE = "C:\\k\\cni\\config\\sdnbridge.conf"
AZURE_FILE = "C:\\k\\azurecni\\netconf\\10-azure.conflist"
CALICO_FILE = "C:\\etc\\cni\\net.d\\10-calico.conflist"
OVN_FILE = "C:\\k\\cni\\config\\cni.conf"
VPC_FILE = "C:\\ProgramData\\Amazon\\EKS\\cni\\config\\vpc-bridge.conf"
BY_HAND: dict[Plugin, list[str]] = {
    Plugin.SDNBRIDGE: [],
    Plugin.OVN_KUBERNETES: ["hybrid-overlay-node"],
    Plugin.VPC: [],
}
"""Plugins whose files no Pod installs on Windows nodes, with the processes that are services there."""
PLUGIN_FOLDER = "C:\\opt\\cni\\bin"
_RELEASE = "v1.5.1"
_VERSIONS = "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0"
_MTU, _OVERLAY_MTU = 1500, 1450


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What a daemon installs: files by path, plugins by path with what they print of themselves."""

    files: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)


def installed(spec: NodeSpec, profile: Profile) -> Installed:
    """Return what the plugin's daemon leaves on a Windows node."""
    match profile.cni.plugin:
        case Plugin.FLANNEL:
            text = _text(flannel.configuration(spec, profile))
            files = {SUBNET_FILE: _subnet(spec, profile), FLANNEL_FILE: text}
            # with containerd the daemon brings Microsoft's plugins, whose output nothing reads
            docker_plugins = ("win-bridge", "win-overlay") if spec.has_docker else ()
            return Installed(files=files, programs=_reference((*docker_plugins, "host-local")))
        case Plugin.AZURE:
            return Installed(files={AZURE_FILE: _text(_azure(profile))})
        case Plugin.OVN_KUBERNETES:
            files = {OVN_FILE: _text(_hybrid_overlay(spec, profile))}
            return Installed(files=files, programs=_reference(("win-overlay", "host-local")))
        case Plugin.VPC:
            return Installed(files={VPC_FILE: _text(_vpc_bridge(spec, profile))})
        case Plugin.CALICO:
            return Installed(files={CALICO_FILE: _text(_calico(profile))})
        case Plugin.SDNBRIDGE:
            return Installed(files={SDNBRIDGE_FILE: _text(_sdnbridge(spec, profile))})
    return Installed()


def _text(value: Json) -> str:
    return json.dumps(value, indent=2) + "\n"


def _sdnbridge(spec: NodeSpec, profile: Profile) -> Json:
    """Return a configuration after the example of microsoft/windows-container-networking."""
    families = [(family, family.node(spec.name)) for family in profile.by_family]
    services = [str(family.service_cidr) for family, _ in families]
    cluster = [str(family.cluster_cidr) for family, _ in families]
    nodes = [str(family.node_network) for family, _ in families]
    nat = {"Type": "OutBoundNAT", "Settings": {"Exceptions": [*cluster, *services, *nodes]}}
    return {
        "cniVersion": "0.3.0",
        "name": network_name(profile.cni),
        "type": "sdnbridge",
        "master": "Ethernet",
        "capabilities": {"portMappings": True, "dns": True},
        "optionalFlags": {"enableDualStack": profile.ipv6 is not None},
        **_ipam(families),
        "AdditionalArgs": [_policy(policy) for policy in (nat, *_sdn_routes(families))],
    }


def _ipam(families: list[tuple[Profile, NodeSpec]]) -> Json:
    """Return the IPAM; without one the plugin leaves addresses to HNS (common/core/network.go)."""
    if families[0][0].cni.ipam is Ipam.HNS:
        return {}
    pools = [(str(n.pod_cidr), str(addressing.pod_gateway(n, p.cni))) for p, n in families]
    ranges = [[{"subnet": subnet, "gateway": gateway}] for subnet, gateway in pools]
    return {"ipam": {"type": "host-local", "ranges": ranges}}


def _hybrid_overlay(spec: NodeSpec, profile: Profile) -> Json:
    """Return what windows-machine-config-operator writes (pkg/nodeconfig/payload), with keys in its spelling."""
    service, exceptions = str(profile.service_cidr), [str(each) for each in nat_exceptions(profile)]
    values: list[Json] = [
        {
            "type": "OutBoundNAT",
            "settings": {"exceptionList": exceptions, "destinationPrefix": "", "needEncap": False},
        },
        {
            "type": "SDNRoute",
            "settings": {"exceptionList": [], "destinationPrefix": service, "needEncap": True},
        },
        {"type": "ProviderAddress", "settings": {"providerAddress": str(spec.address)}},
    ]
    return {
        "cniVersion": "0.2.0",
        "name": HYBRID_OVERLAY,
        "type": "win-overlay",
        "apiVersion": 2,
        "capabilities": {"portMappings": True, "dns": True},
        "ipam": {"type": "host-local", "subnet": str(spec.pod_cidr)},
        "policies": [{"name": "EndpointPolicy", "value": value} for value in values],
    }


def _vpc_bridge(spec: NodeSpec, profile: Profile) -> Json:
    """Return what EKS writes when a node starts; the plugin fetches each Pod's address from its annotation."""
    return {
        "cniVersion": "0.4.0",
        "name": "vpc",
        "type": "vpc-bridge",
        "capabilities": {"portMappings": True},
        "disableCheck": True,
        "eniMACAddress": addressing.mac(spec.os, spec.address),
        "eniIPAddresses": [f"{spec.address}/{profile.node_network.prefixlen}"],
        "gatewayIPAddress": str(profile.node_network[1]),
        "vpcCIDRs": [str(profile.cluster_cidr)],
        "serviceCIDR": str(profile.service_cidr),
        "dns": {
            "nameservers": [str(profile.dns_address)],
            "search": ["{%namespace%}.svc.cluster.local", "svc.cluster.local", "cluster.local"],
        },
    }


def _sdn_routes(families: list[tuple[Profile, NodeSpec]]) -> list[Json]:
    prefixes = [
        prefix
        for family, node in families
        for prefix in (str(family.service_cidr), f"{node.address}/{node.address.max_prefixlen}")
    ]
    return [
        {"Type": "SDNRoute", "Settings": {"DestinationPrefix": prefix, "NeedEncap": True}}
        for prefix in prefixes
    ]


def _reference(names: tuple[str, ...]) -> dict[str, str]:
    """Return containernetworking's plugins; what they print is cni's ``pkg/skel``."""
    return {
        f"{PLUGIN_FOLDER}\\{name}.exe": (
            f"CNI {name} plugin {_RELEASE}\nCNI protocol versions supported: {_VERSIONS}\n"
        )
        for name in names
    }


def _subnet(spec: NodeSpec, profile: Profile) -> str:
    lines = (
        f"FLANNEL_NETWORK={profile.cluster_cidr}",
        f"FLANNEL_SUBNET={spec.pod_cidr[1]}/{spec.pod_cidr.prefixlen}",
        f"FLANNEL_MTU={_OVERLAY_MTU if profile.cni.driver is Driver.OVERLAY else _MTU}",
        "FLANNEL_IPMASQ=true",
    )
    return "".join(f"{line}\n" for line in lines)


def _azure(profile: Profile) -> Json:
    """AKS takes the ROUTE policy out where DSR is on, and sets enableLoopbackDSR (AgentBaker, azurecnifunc.ps1)."""
    exceptions = [str(network) for network in dict.fromkeys(nat_exceptions(profile))]
    route = {"Type": "ROUTE", "DestinationPrefix": str(profile.service_cidr), "NeedEncap": True}
    routes = [] if profile.kube_proxy.dsr else [_policy(route)]
    overlay = {"executionMode": "v4swift", "ipam": {"type": "azure-cns", "mode": "overlay"}}
    network = {
        "type": "azure-vnet",
        "mode": "bridge",
        "bridge": "azure0",
        "capabilities": {"portMappings": True, "dns": True},
        **({"ipam": {"type": "azure-vnet-ipam"}} if profile.cni.native else overlay),
        "AdditionalArgs": [_outbound_nat(exceptions), *routes],
        **({"windowsSettings": {"enableLoopbackDSR": True}} if profile.cni.loopback_dsr else {}),
    }
    return {"cniVersion": "0.3.0", "name": "azure", "adapterName": "", "plugins": [network]}


def _calico(profile: Profile) -> Json:
    """Its plugin adds the pools to OutBoundNAT's exceptions itself, and on l2bridge the node's own route."""
    service = str(profile.service_cidr)
    network = {
        "type": "calico",
        "name": "Calico",
        "mode": profile.cni.backend,
        **({"vxlan_vni": profile.cni.vni} if profile.cni.encapsulates else {}),
        "windows_loopback_DSR": profile.cni.loopback_dsr,
        "capabilities": {"dns": True},
        "ipam": {"type": "calico-ipam", "subnet": "usePodCidr"},
        "policies": [
            _outbound_nat([service]),
            _policy({"Type": "SDNROUTE", "DestinationPrefix": service, "NeedEncap": True}),
        ],
    }
    return {"name": "Calico", "cniVersion": "0.3.1", "plugins": [network]}


def _outbound_nat(exceptions: list[str]) -> Json:
    return _policy({"Type": "OutBoundNAT", "ExceptionList": exceptions})


def _policy(value: Json) -> Json:
    return {"Name": "EndpointPolicy", "Value": value}
