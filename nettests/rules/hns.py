"""HNS objects on a Windows node: networks and endpoints, in both schemas that PowerShell shows.

The module of Windows' container feature shows HNS' first schema, the gallery's module ``HNS`` the
second by default, so one node may mix both; objects of the second have ``SchemaVersion``. Any form
that ConvertTo-Json gives a list is read: an array, a single object, ``{"value": […], "Count": n}``.
Nothing is concluded from output with neither an object nor an empty list, or whose deeper levels
PowerShell omitted. No rule is declared here. Sources: hcsshim ``internal/hns`` and ``hcn``;
microsoft/SDN ``hns.v2.psm1``; kube-proxy ``pkg/proxy/winkernel``.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nettests.model.json_text import Object
from nettests.model.powershell import as_json, read_shown, to_the_end
from nettests.rules import reduction
from nettests.rules.evidence import Evidence, UnreadableError
from nettests.rules.readings import UNEXPECTED, ToolOutput

DEPTH = 12
"""Levels that ConvertTo-Json shows; policies of a network's subnets are on the eighth."""
PROPERTIES = frozenset(reduction.KEPT["hns"])
"""Properties of HNS networks, endpoints and policy lists that are kept, on any level."""
CALLS = 4
"""How often HNS is called before an empty result is accepted."""
SHOWN = 5
REMOTE = DIRECT = 1
"""The first bit of ``Flags``: a remote endpoint, or a load balancer with DSR."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy of a network, a subnet or an endpoint; ``kind`` is lower-case."""

    kind: str
    settings: Object


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet of a network."""

    prefix: str
    gateway: str
    policies: tuple[Policy, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """An HNS network; ``kind`` is spelled as by HNS."""

    name: str
    kind: str
    subnets: tuple[Subnet, ...]
    policies: tuple[Policy, ...]
    management: str = ""
    """The address of the adapter that it is on; only the first schema has it."""

    def is_of(self, kind: str) -> bool:
        """Whether it is of a kind, ignoring case as HNS does."""
        return self.kind.lower() == kind.lower()

    @property
    def is_nat(self) -> bool:
        """Whether it reaches outside only by NAT: type NAT, or Internet Connection Sharing."""
        return self.is_of("nat") or self.is_of("ics")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An HNS endpoint: of a Pod, of the host, or a remote one for another node's Pod."""

    id: str
    addresses: tuple[str, ...]
    """At most one per family, IPv4 first."""
    network: str | None
    """The network's name; ``None`` if only its id is known."""
    gateway: str
    remote: bool
    policies: tuple[Policy, ...]
    dns_servers: tuple[str, ...]
    dns_suffix: str
    """The first suffix."""


def shown_by(cmdlet: str, name: str) -> ToolOutput:
    """Return the reading of a cmdlet of Windows' own module; another has the same names."""
    return ToolOutput(name=name, words=to_the_end(script_of(cmdlet)), keep=_keep)


def script_of(cmdlet: str) -> str:
    """Return the script that prints the output of a cmdlet of Windows' own module.

    HNS sometimes returns nothing, without an error: an empty result counts only if every call gives
    it, and HNS shows a network.
    """
    call, networks_shown = (
        f"@(HostNetworkingService\\{name} -ErrorAction Stop)" for name in (cmdlet, "Get-HnsNetwork")
    )
    again = f"for ($i = 1; $i -lt {CALLS} -and -not $shown; $i++) {{ $shown = {call} }}"
    doubt = f"if (-not $shown -and -not {networks_shown}) {{ throw 'HNS shows no network at all' }}"
    return f"$shown = {call}; {again}; {doubt}; {as_json('$shown', DEPTH)}"


def _keep(text: str) -> str:
    return json.dumps(reduction.named(read_shown(text), PROPERTIES))


def objects_in(text: str) -> list[Object]:
    """Parse the objects in an output, or in what is kept of it."""
    if text.startswith(UNEXPECTED):
        raise UnreadableError(f"HNS' objects were not read {text}")
    try:
        loaded = read_shown(text)
    except ValueError as error:
        raise UnreadableError(
            f"no list of HNS' objects, not even an empty one: {text[:80]!r}"
        ) from error
    if isinstance(loaded, dict):
        return [loaded]
    if not isinstance(loaded, list) or not all(isinstance(item, dict) for item in loaded):
        raise UnreadableError(f"no list of HNS' objects: {text[:80]!r}")
    return loaded


def networks(evidence: Evidence, reading: ToolOutput) -> list[Network]:
    """Return the networks that a reading shows."""
    return [network_of(row) for row in objects_in(evidence.text(reading))]


def endpoints(evidence: Evidence, reading: ToolOutput) -> list[Endpoint]:
    """Return the endpoints that a reading shows."""
    return [endpoint_of(row) for row in objects_in(evidence.text(reading))]


def network_of(row: Object) -> Network:
    """Return a network."""
    # samples: {"Name": "cbr0", "Type": "L2Bridge", "Subnets": [{"AddressPrefix": "10.244.3.0/24", "GatewayAddress": "10.244.3.1"}]}
    #          {"Name": "cbr0", "Type": "L2Bridge", "Ipams": [{"Subnets": [{"IpAddressPrefix": "10.244.3.0/24",
    #           "Routes": [{"NextHop": "10.244.3.1"}]}]}], "SchemaVersion": {"Major": 2, "Minor": 0}}
    if is_second(row):
        ipams = listed(row.get("Ipams"))
        subnets = [subnet for ipam in ipams for subnet in listed(ipam.get("Subnets"))]
    else:
        subnets = listed(row.get("Subnets"))
    return Network(
        name=str(row.get("Name") or ""),
        kind=str(row.get("Type") or ""),
        subnets=tuple(
            Subnet(
                str(subnet.get("AddressPrefix") or subnet.get("IpAddressPrefix") or ""),
                str(
                    subnet.get("GatewayAddress") or _first(listed(subnet.get("Routes")), "NextHop")
                ),
                policies_of(subnet),
            )
            for subnet in subnets
        ),
        policies=policies_of(row),
        management=str(row.get("ManagementIP") or ""),
    )


def endpoint_of(row: Object) -> Endpoint:
    """Return an endpoint."""
    # samples: {"ID": "89958f54-…", "IPAddress": "10.1.18.67", "VirtualNetworkName": "Calico", "GatewayAddress": "10.1.18.65",
    #           "DNSServerList": "10.96.0.10", "DNSSuffix": "demo.svc.cluster.local,svc.cluster.local"}
    #          {"ID": "89958f54-…", "IpConfigurations": [{"IpAddress": "10.1.18.67"}], "HostComputeNetwork": "93c5…", "Flags": 0,
    #           "Routes": [{"NextHop": "10.1.18.65"}], "Dns": {"Domain": "demo.svc.cluster.local", "ServerList": ["10.96.0.10"]}}
    if is_second(row):
        dns = row.get("Dns") or {}
        addresses = [
            str(item.get("IpAddress") or "") for item in listed(row.get("IpConfigurations"))
        ]
        network, remote = None, bool(int(row.get("Flags") or 0) & REMOTE)
        gateway = _first(listed(row.get("Routes")), "NextHop")
        servers, suffixes = (
            _texts(dns.get("ServerList")),
            _texts(dns.get("Domain") or dns.get("Search")),
        )
    else:
        addresses = [str(row.get(key) or "") for key in ("IPAddress", "IPv6Address")]
        network, remote = (
            str(row.get("VirtualNetworkName") or ""),
            bool(row.get("IsRemoteEndpoint")),
        )
        gateway = str(row.get("GatewayAddress") or "")
        servers, suffixes = _texts(row.get("DNSServerList")), _texts(row.get("DNSSuffix"))
    return Endpoint(
        id=str(row.get("ID")).lower(),
        addresses=tuple(address for address in addresses if address),
        network=network,
        gateway=gateway,
        remote=remote,
        policies=policies_of(row),
        dns_servers=servers,
        dns_suffix=suffixes[0] if suffixes else "",
    )


def is_second(row: Object) -> bool:
    """Whether an object has HNS' second schema."""
    return row.get("SchemaVersion") is not None


def policies_of(item: Object) -> tuple[Policy, ...]:
    """Return an object's policies; in the second schema their values are in ``Settings``."""
    return tuple(
        Policy(str(policy.get("Type")).lower(), policy.get("Settings") or policy)
        for policy in listed(item.get("Policies"))
    )


def listed(value: object) -> list[Object]:
    """Return the objects in a property; PowerShell shows a list of one as the object itself."""
    if isinstance(value, str) and value.strip():  # sample: "System.Object[]", "@{Type=OutBoundNAT}"
        raise UnreadableError(f"PowerShell left out what is below {value[:40]!r}")
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or of one comma-separated text."""
    items = value if isinstance(value, list) else str(value or "").split(",")
    return tuple(str(item).strip() for item in items if str(item).strip())


def _first(items: Iterable[Object], key: str) -> str:
    return next((str(item[key]) for item in items if item.get(key)), "")


def of_kind(policies: Iterable[Policy], kind: str) -> Iterator[Object]:
    """Yield the settings of the policies of a kind."""
    return (policy.settings for policy in policies if policy.kind == kind.lower())


def shown(problems: list[str]) -> str:
    """Return the first of several problems, and how many more there are."""
    more = len(problems) - SHOWN
    return ", ".join(problems[:SHOWN]) + (f" and {more} more" if more > 0 else "")
