"""Cmdlets of HNS: those of Windows' module HostNetworkingService, and those of the Gallery's module HNS 0.2.4.

The former use HNS' first schema, the latter its second unless ``-Version 1`` is given (microsoft/SDN, hns.psm1 and
hns.v2.psm1). All are functions of script modules: an error of HNS is written with Write-Error, which leaves the caller's ``$?``
true, and is non-terminating without ``-ErrorAction Stop``. Objects of the second schema follow microsoft/hcsshim, package
``hcn`` (hcnnetwork.go, hcnendpoint.go, hcnloadbalancer.go, hcnpolicy.go).
"""

from collections.abc import Callable, Mapping

from nettests.lab.interfaces import Hns, Json
from nettests.lab.programs.windows import texts
from nettests.lab.programs.windows.broken_tools import HNS_DENIED, HNS_EMPTY, HNS_OTHER
from nettests.lab.programs.windows.powershell.calls import GALLERY, INBOX, Call, cmdlet
from nettests.lab.programs.windows.powershell.session import Emit
from nettests.lab.programs.windows.powershell.values import Thing, from_json, text, whole

_COMMON: Json = {
    "Health": {"Data": None, "Extra": {}},
    "SchemaVersion": {"Major": 2, "Minor": 0},
}
_REMOTE, _DSR = 1, 1
_ANYWHERE = "0.0.0.0/0"


def _network(row: Json) -> Json:
    """Return a HostComputeNetwork: subnets below Ipams, gateways as routes, policies with ``Settings``."""
    subnets = [
        {
            "IpAddressPrefix": each["AddressPrefix"],
            "Routes": [{"NextHop": each["GatewayAddress"], "DestinationPrefix": _ANYWHERE}],
            "Policies": [
                {"Type": "VSID", "Settings": {"IsolationId": policy["VSID"]}}
                for policy in each.get("Policies", ())
            ],
        }
        for each in row.get("Subnets", ())
    ]
    return {
        "ID": row["ID"],
        "Name": row["Name"],
        "Type": row["Type"],
        "Policies": [
            {"Type": policy["Type"], "Settings": _settings(policy)}
            for policy in row.get("Policies", ())
        ],
        "Ipams": [{"Type": "Static", "Subnets": subnets}],
        "MacPool": {"Ranges": []},
        "Dns": {},
        "Flags": 0,
        **_COMMON,
    }


def _endpoint(row: Json) -> Json:
    """Return a HostComputeEndpoint: addresses, gateway and DNS in separate objects, remote as a flag."""
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
        **_COMMON,
    }


def _load_balancer(row: Json) -> Json:
    """Return a HostComputeLoadBalancer: ports in mappings, DSR as a flag, endpoints by id."""
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
        **_COMMON,
    }


def _endpoint_policy(policy: Json) -> Json:
    settings, kind = _settings(policy), policy["Type"]
    if kind == "OutBoundNAT" and "ExceptionList" in settings:
        settings["Exceptions"] = settings.pop("ExceptionList")
    if kind == "PA":
        return {"Type": "ProviderAddress", "Settings": {"ProviderAddress": settings["PA"]}}
    return {"Type": "SDNRoute" if kind == "ROUTE" else kind, "Settings": settings}


def _settings(policy: Json) -> Json:
    return {key: value for key, value in policy.items() if key != "Type"}


_KINDS: Mapping[str, tuple[Callable[[Hns], list[Json]], Callable[[Json], Json]]] = {
    "get-hnsnetwork": (lambda hns: hns.networks(), _network),
    "get-hnsendpoint": (lambda hns: hns.endpoints(), _endpoint),
    "get-hnspolicylist": (lambda hns: hns.policy_lists(), _load_balancer),
    "get-hnsloadbalancer": (lambda hns: hns.policy_lists(), _load_balancer),
    "get-hnsnamespace": (lambda _hns: [], lambda row: row),
}
"""The objects of each cmdlet, and their conversion to the second schema."""


_CALLS = "hns-calls"
_SYSTEM = "nt authority\\system"


@cmdlet("Get-HnsNetwork", "Id! Version Detailed?", module=GALLERY, of_module=True, core=False)
@cmdlet("Get-HnsEndpoint", "Id! Version Detailed?", module=GALLERY, of_module=True, core=False)
@cmdlet("Get-HnsNamespace", "Id! Version Detailed?", module=GALLERY, of_module=True, core=False)
@cmdlet("Get-HnsLoadBalancer", "Id! Version Detailed?", module=GALLERY, of_module=True, core=False)
async def of_gallery(call: Call, emit: Emit) -> None:
    """Emit objects of HNS in its second schema, or in the first with ``-Version 1``."""
    await _query(call, emit, second=whole(call.given.get("version", 2)) != 1)


@cmdlet("Get-HnsNetwork", "Id!", module=INBOX, of_module=True, core=False)
@cmdlet("Get-HnsEndpoint", "Id!", module=INBOX, of_module=True, core=False)
@cmdlet("Get-HnsNamespace", "Id!", module=INBOX, of_module=True, core=False)
@cmdlet("Get-HnsPolicyList", "Id!", module=INBOX, of_module=True, core=False)
async def _of_windows(call: Call, emit: Emit) -> None:
    await _query(call, emit, second=HNS_OTHER in call.session.process.machine.troubles.tools)


async def _query(call: Call, emit: Emit, *, second: bool) -> None:
    machine = call.session.process.machine
    node = machine.node
    if node is None or node.hns is None or _hiccups(call):
        return
    answered = machine.windows.hns_accounts == "all" or machine.user.lower() == _SYSTEM
    if HNS_DENIED in machine.troubles.tools or not answered:
        denied = texts.of(machine.locale).system(5)
        kind = "Microsoft.PowerShell.Commands.WriteErrorException"
        message = f"@{{Error={denied} ; ErrorCode=2147942405; Success=False}}"
        record = call.record(message, kind, "NotSpecified", kind=kind)
        record.activity, record.error_id = "Invoke-HnsRequest", f"{kind},Invoke-HnsRequest"
        await call.error(record)
        return
    read, converted = _KINDS[call.cmdlet.name.lower()]
    language = texts.of(machine.locale)
    for row in read(node.hns):
        shown = from_json(converted(row) if second else _localised(row, language))
        wanted = call.text("id").lower()
        if not wanted or wanted == text(shown.properties.get("ID")).lower():
            await emit(Thing(shown.properties))


def _hiccups(call: Call) -> bool:
    """Whether this call succeeds without output: one in so many calls, or all of them under a fault."""
    machine = call.session.process.machine
    if HNS_EMPTY in machine.troubles.tools:
        return True
    each = machine.windows.hns_hiccup
    if machine.node is None or not each:
        return False
    count = machine.node.disk.background.get(_CALLS, 0)
    assert isinstance(count, int), "the name is this module's own"
    machine.node.disk.background[_CALLS] = count + 1
    return count % each == each - 1


def _localised(row: Json, language: texts.Texts) -> Json:
    """Return an object with the names of its extensions in the host's language (projectcalico/calico#6996)."""
    extensions = row.get("Extensions")
    if not extensions:
        return row
    named = [{**each, "Name": language.say("hns", each["Name"])} for each in extensions]
    return {**row, "Extensions": named}
