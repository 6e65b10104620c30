"""The files and CNI plugins that network plugins' daemons install on a Windows node. Pure.

Flannel's ``subnet.env`` has the node's lease; the CNI configurations are those of sig-windows-tools' Flannel image,
Azure CNI's conflist and Calico's operator, rendered from ``templates`` and formatted as JSON. The switch does not read
them, as it is built from the same profile.
"""

import functools
import json
import ntpath
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, StrictUndefined

from nettests.lab.client import Json
from nettests.lab.installers import flannel
from nettests.lab.installers.hns_network import HYBRID_OVERLAY, network_name
from nettests.lab.network import addressing
from nettests.lab.network.addressing import nat_exceptions
from nettests.lab.topology import Driver, Ipam, NodeSpec, Plugin, Profile

SUBNET_FILE = "C:\\run\\flannel\\subnet.env"
FLANNEL_FILE = "C:\\etc\\cni\\net.d\\10-flannel.conf"
SDNBRIDGE_FILE = "C:\\k\\cni\\config\\sdnbridge.conf"
AZURE_FILE = "C:\\k\\azurecni\\netconf\\10-azure.conflist"
CALICO_FILE = "C:\\etc\\cni\\net.d\\10-calico.conflist"
OVN_FILE = "C:\\k\\cni\\config\\cni.conf"
VPC_FILE = "C:\\ProgramData\\Amazon\\EKS\\cni\\config\\vpc-bridge.conf"
_TEMPLATES = {
    Plugin.AZURE: AZURE_FILE,
    Plugin.OVN_KUBERNETES: OVN_FILE,
    Plugin.VPC: VPC_FILE,
    Plugin.CALICO: CALICO_FILE,
    Plugin.SDNBRIDGE: SDNBRIDGE_FILE,
}
BY_HAND: dict[Plugin, list[str]] = {
    Plugin.SDNBRIDGE: [],
    Plugin.OVN_KUBERNETES: ["hybrid-overlay-node"],
    Plugin.VPC: [],
}
"""Plugins whose files are not installed by a Pod on Windows nodes, with their services' processes."""
PLUGIN_FOLDER = "C:\\opt\\cni\\bin"
_RELEASE = "v1.5.1"
_VERSIONS = "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0"
_MTU, _OVERLAY_MTU = 1500, 1450


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What a daemon installs: files by path, and plugins by path with the output of a bare call."""

    files: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)


def installed(spec: NodeSpec, profile: Profile) -> Installed:
    """Return what the plugin's daemon installs on a Windows node."""
    plugin = profile.cni.plugin
    if plugin is Plugin.FLANNEL:
        text = _text(flannel.configuration(spec, profile))
        files = {SUBNET_FILE: _subnet(spec, profile), FLANNEL_FILE: text}
        # with containerd the daemon installs Microsoft's plugins, whose output nothing reads
        docker_plugins = ("win-bridge", "win-overlay") if spec.has_docker else ()
        return Installed(files=files, programs=_reference((*docker_plugins, "host-local")))
    if plugin not in _TEMPLATES:
        return Installed()
    template = _environment().get_template(f"{ntpath.basename(_TEMPLATES[plugin])}.j2")
    text = _text(json.loads(template.render(_values(spec, profile))))
    reference = ("win-overlay", "host-local") if plugin is Plugin.OVN_KUBERNETES else ()
    return Installed(files={_TEMPLATES[plugin]: text}, programs=_reference(reference))


@functools.cache
def _environment() -> Environment:
    loader = PackageLoader("nettests.lab.node")
    return Environment(loader=loader, undefined=StrictUndefined, autoescape=False)  # noqa: S701  # JSON


def _text(value: Json) -> str:
    return json.dumps(value, indent=2) + "\n"


def _values(spec: NodeSpec, profile: Profile) -> dict[str, object]:
    families = [(family, family.node(spec.name)) for family in profile.by_family]
    services = [str(family.service_cidr) for family, _ in families]
    of_ovn = profile.cni.plugin is Plugin.OVN_KUBERNETES
    return {
        "spec": spec,
        "profile": profile,
        "mac": addressing.mac(spec.os, spec.address),
        "network": HYBRID_OVERLAY if of_ovn else network_name(profile.cni),
        "nat_exceptions": [str(each) for each in nat_exceptions(profile)],
        "dual_stack": profile.ipv6 is not None,
        "hns_ipam": families[0][0].cni.ipam is Ipam.HNS,
        "pools": [
            (str(node.pod_cidr), str(addressing.pod_gateway(node, family.cni)))
            for family, node in families
        ],
        "exceptions": [
            *(str(family.cluster_cidr) for family, _ in families),
            *services,
            *(str(family.node_network) for family, _ in families),
        ],
        "prefixes": [
            prefix
            for family, node in families
            for prefix in (str(family.service_cidr), f"{node.address}/{node.address.max_prefixlen}")
        ],
    }


def _reference(names: tuple[str, ...]) -> dict[str, str]:
    """Return containernetworking's plugins, with the output of cni's ``pkg/skel``."""
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
