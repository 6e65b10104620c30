"""Objects of HNS' first schema as its second one shows them: same facts, other names and shapes. Pure.

After microsoft/hcsshim, package ``hcn`` (hcnnetwork.go, hcnendpoint.go, hcnloadbalancer.go, hcnpolicy.go).
"""

from collections.abc import Callable, Mapping

from nettests.lab.interfaces import Json

_VERSION = {"Major": 2, "Minor": 0}
_REMOTE, _DSR = 1, 1
_ANYWHERE = "0.0.0.0/0"


def network(row: Json) -> Json:
    """HostComputeNetwork: subnets below Ipams, gateways as routes, settings of policies apart."""
    subnets = [
        {
            "IpAddressPrefix": each["AddressPrefix"],
            "Routes": [{"NextHop": each["GatewayAddress"], "DestinationPrefix": _ANYWHERE}],
            "Policies": [_subnet_policy(policy) for policy in each.get("Policies", ())],
        }
        for each in row.get("Subnets", ())
    ]
    return {
        "ID": row["ID"],
        "Name": row["Name"],
        "Type": row["Type"],
        "Policies": [_network_policy(policy) for policy in row.get("Policies", ())],
        "Ipams": [{"Type": "Static", "Subnets": subnets}],
        "MacPool": {"Ranges": []},
        "Dns": {},
        "Flags": 0,
        "Health": {"Data": None, "Extra": {}},
        "SchemaVersion": _VERSION,
    }


def endpoint(row: Json) -> Json:
    """HostComputeEndpoint: addresses, gateway and DNS in objects of their own, remote as a flag."""
    addresses = [{"IpAddress": row["IPAddress"], "PrefixLength": row["PrefixLength"]}]
    if row.get("IPv6Address"):
        addresses.append({"IpAddress": row["IPv6Address"], "PrefixLength": 64})
    suffixes = [text for text in row.get("DNSSuffix", "").split(",") if text]
    dns: Json = {"ServerList": [text for text in row.get("DNSServerList", "").split(",") if text]}
    if suffixes:
        dns |= {"Domain": suffixes[0], "Search": suffixes}
    gateway = row.get("GatewayAddress")
    return {
        "ID": row["ID"],
        "Name": row["Name"],
        "HostComputeNetwork": row["VirtualNetwork"],
        "Policies": [_endpoint_policy(policy) for policy in row.get("Policies", ())],
        "IpConfigurations": addresses,
        "Dns": dns,
        "Routes": [{"NextHop": gateway, "DestinationPrefix": _ANYWHERE}] if gateway else [],
        "MacAddress": row["MacAddress"],
        "Flags": _REMOTE if row.get("IsRemoteEndpoint") else 0,
        "Health": {"Data": None, "Extra": {}},
        "SchemaVersion": _VERSION,
    }


def load_balancer(row: Json) -> Json:
    """HostComputeLoadBalancer: ports in mappings, DSR as a flag, endpoints by their ids."""
    policies = [policy for policy in row.get("Policies", ()) if policy.get("Type") == "ELB"]
    return {
        "ID": row["ID"],
        "HostComputeEndpoints": [
            each.removeprefix("/endpoints/") for each in row.get("References", ())
        ],
        "SourceVIP": next((policy["SourceVIP"] for policy in policies), ""),
        "FrontendVIPs": [address for policy in policies for address in policy["VIPs"]],
        "PortMappings": [
            {
                "Protocol": policy["Protocol"],
                "InternalPort": policy["InternalPort"],
                "ExternalPort": policy["ExternalPort"],
                "DistributionType": 0,
                "Flags": 0,
            }
            for policy in policies
        ],
        "Flags": _DSR if any(policy["IsDSR"] for policy in policies) else 0,
        "Health": {"Data": None, "Extra": {}},
        "SchemaVersion": _VERSION,
    }


def _subnet_policy(policy: Json) -> Json:
    return {"Type": "VSID", "Settings": {"IsolationId": policy["VSID"]}}


def _network_policy(policy: Json) -> Json:
    kind = "VxlanPort" if policy["Type"] == "VxlanPort" else policy["Type"]
    return {
        "Type": kind,
        "Settings": {key: value for key, value in policy.items() if key != "Type"},
    }


def _endpoint_policy(policy: Json) -> Json:
    settings = {key: value for key, value in policy.items() if key != "Type"}
    if policy["Type"] == "OutBoundNAT":
        if "ExceptionList" in settings:
            settings["Exceptions"] = settings.pop("ExceptionList")
        return {"Type": "OutBoundNAT", "Settings": settings}
    if policy["Type"] == "ROUTE":
        return {"Type": "SDNRoute", "Settings": settings}
    if policy["Type"] == "PA":
        return {"Type": "ProviderAddress", "Settings": {"ProviderAddress": settings["PA"]}}
    return {"Type": policy["Type"], "Settings": settings}


CONVERSIONS: Mapping[str, Callable[[Json], Json]] = {
    "networks": network,
    "endpoints": endpoint,
    "policylists": load_balancer,
    "namespaces": lambda row: row,
}
"""By what HNS calls its lists."""
