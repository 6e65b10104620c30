"""Flannel's CNI configuration on Windows nodes, for Docker and for containerd. Pure.

The start script of sig-windows-tools writes it on each node from a template in a ConfigMap. Docker nodes have
containernetworking's win-bridge and win-overlay with policies of HNS' first schema; containerd nodes have Microsoft's
sdnbridge and sdnoverlay, which accept only policies with ``Settings``. The switch is built from the same profile
and reads neither.
"""

from nettests.lab.client import Json
from nettests.lab.installers.hns_network import network_name
from nettests.lab.topology import Driver, NodeSpec, Profile

CONFIG_MAP = "kube-flannel-windows-cfg"
TEMPLATE = "cni-conf-containerd.json"
"""The template's key in the ConfigMap; that for Docker was ``cni-conf.json``."""
_CNI_MINOR = 3


def configuration(spec: NodeSpec, profile: Profile) -> Json:
    """Return the configuration of one Windows node, as its container runtime needs it."""
    make = _docker if spec.has_docker else _containerd
    return _flannel(profile, make(spec, profile))


def template(profile: Profile) -> Json:
    """Return the template in the ConfigMap, in which the start script fills in networks and node address."""
    return _flannel(profile, _delegate(profile, _policies(profile, [], [""], "")))


def exceptions(profile: Profile) -> list[str]:
    """Return the networks that OutBoundNAT does not translate."""
    networks = [str(profile.cluster_cidr), str(profile.service_cidr)]
    if profile.mechanism("excepted-nodes", not _is_overlay(profile)):
        networks.append(str(profile.node_network))
    if profile.mechanism("excepted-world", 0):
        networks.append("0.0.0.0/0")
    return networks


def routes(spec: NodeSpec, profile: Profile) -> list[str]:
    """Return the prefixes whose packets from Pods go to the host: Services, and on l2bridge the node."""
    to_node = profile.mechanism("own-node-route", not _is_overlay(profile))
    return [str(profile.service_cidr), *([f"{spec.address}/32"] if to_node else [])]


def _flannel(profile: Profile, delegate: Json) -> Json:
    return {
        "cniVersion": f"0.{profile.mechanism('cni-version', _CNI_MINOR)}.0",
        "name": network_name(profile.cni),
        "type": "flannel",
        "capabilities": {"portMappings": True, "dns": True},
        "delegate": delegate,
    }


def _containerd(spec: NodeSpec, profile: Profile) -> Json:
    prefixes, address = routes(spec, profile), str(spec.address)
    policies = _policies(profile, exceptions(profile), prefixes, address)
    if not profile.mechanism("settings-policies", 1):
        policies = [_flat(policy["Value"]) for policy in policies]
    return _delegate(profile, policies)


def _policies(
    profile: Profile, excepted: list[str], prefixes: list[str], address: str
) -> list[Json]:
    values: list[tuple[str, Json]] = [("OutBoundNAT", {"Exceptions": excepted})]
    values += [("SDNROUTE", {"DestinationPrefix": each, "NeedEncap": True}) for each in prefixes]
    if _is_overlay(profile):
        values.append(("ProviderAddress", {"ProviderAddress": address}))
    return [
        {"Name": "EndpointPolicy", "Value": {"Type": kind, "Settings": settings}}
        for kind, settings in values
    ]


def _delegate(profile: Profile, policies: list[Json]) -> Json:
    """Return the delegate's configuration for Microsoft's plugins; sdnbridge needs the bridge's gateway."""
    overlay = _is_overlay(profile)
    bridge = {} if overlay else {"forceBridgeGateway": True}
    return {
        "type": "sdnoverlay" if overlay else "sdnbridge",
        "optionalFlags": {**bridge, "loopbackDSR": profile.cni.loopback_dsr},
        "AdditionalArgs": policies,
    }


def _docker(spec: NodeSpec, profile: Profile) -> Json:
    values: list[Json] = [
        {"Type": "OutBoundNAT", "ExceptionList": exceptions(profile)},
        *(
            {"Type": "ROUTE", "DestinationPrefix": prefix, "NeedEncap": True}
            for prefix in routes(spec, profile)
        ),
    ]
    return {
        "type": "win-overlay" if _is_overlay(profile) else "win-bridge",
        "loopbackDSR": profile.cni.loopback_dsr,
        "policies": [{"Name": "EndpointPolicy", "Value": value} for value in values],
    }


def _flat(value: Json) -> Json:
    """Return a policy in HNS' first schema, which Microsoft's plugins do not accept."""
    spelled = {"Exceptions": "ExceptionList", "ProviderAddress": "PA"}
    kinds = {"SDNROUTE": "ROUTE", "ProviderAddress": "PA"}
    settings = {spelled.get(key, key): item for key, item in value["Settings"].items()}
    kind = kinds.get(value["Type"], value["Type"])
    return {"Name": "EndpointPolicy", "Value": {"Type": kind, **settings}}


def _is_overlay(profile: Profile) -> bool:
    return profile.cni.driver is Driver.OVERLAY
