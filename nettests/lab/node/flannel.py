"""The files that Flannel's daemon and its start script write on a Windows node. Pure.

``subnet.env`` is the node's lease, the CNI configuration what its plugin is called with (sig-windows-tools,
``flannel`` HostProcess image). The switch is built from the same profile and does not read them.
"""

import json

from nettests.lab.client import Json
from nettests.lab.topology import Driver, NodeSpec, Profile

SUBNET_FILE = "C:\\run\\flannel\\subnet.env"
CNI_FILE = "C:\\etc\\cni\\net.d\\10-flannel.conf"
_MTU, _OVERLAY_MTU = 1500, 1450


def flannel_files(spec: NodeSpec, profile: Profile) -> dict[str, str]:
    """Return the files by path."""
    return {
        SUBNET_FILE: _subnet(spec, profile),
        CNI_FILE: json.dumps(_configuration(spec, profile), indent=2) + "\n",
    }


def _subnet(spec: NodeSpec, profile: Profile) -> str:
    lines = (
        f"FLANNEL_NETWORK={profile.cluster_cidr}",
        f"FLANNEL_SUBNET={spec.pod_cidr[1]}/{spec.pod_cidr.prefixlen}",
        f"FLANNEL_MTU={_OVERLAY_MTU if profile.cni.driver is Driver.OVERLAY else _MTU}",
        "FLANNEL_IPMASQ=true",
    )
    return "".join(f"{line}\n" for line in lines)


def _configuration(spec: NodeSpec, profile: Profile) -> Json:
    overlay = profile.cni.driver is Driver.OVERLAY
    exceptions = [str(profile.cluster_cidr), str(profile.service_cidr)]
    routes = [str(profile.service_cidr)]
    if not overlay:
        exceptions.append(str(profile.node_network))
        routes.append(f"{spec.address}/32")
    return {
        "cniVersion": "0.3.0",
        "name": f"flannel.{profile.cni.vni}" if overlay else "cbr0",
        "type": "flannel",
        "capabilities": {"portMappings": True, "dns": True},
        "delegate": {
            "type": "win-overlay" if overlay else "win-bridge",
            "loopbackDSR": profile.cni.loopback_dsr,
            "policies": [
                _policy({"Type": "OutBoundNAT", "ExceptionList": exceptions}),
                *(
                    _policy({"Type": "ROUTE", "DestinationPrefix": prefix, "NeedEncap": True})
                    for prefix in routes
                ),
            ],
        },
    }


def _policy(value: Json) -> Json:
    return {"Name": "EndpointPolicy", "Value": value}
