"""Objects of HNS on a Windows node, as PowerShell shows them in HNS' first schema.

No rule is declared here. Sources: the module HostNetworkingService of Windows' container feature, kube-proxy
``pkg/proxy/winkernel``.
"""

import json
from collections.abc import Iterator

from nettests.model.json_text import read_json
from nettests.model.powershell import powershell
from nettests.rules import kept
from nettests.rules.evidence import Object
from nettests.rules.readings import ToolOutput

PROPERTIES = frozenset(
    {
        *("Name", "Type", "Subnets", "AddressPrefix", "Policies", "Settings", "VSID", "Port"),
        *("IPAddress", "VirtualNetworkName", "GatewayAddress", "IsRemoteEndpoint"),
        *("ExceptionList", "Exceptions", "ExternalPort", "InternalPort", "Protocol", "SourceVIP"),
        *("DNSServerList", "DNSSuffix"),
        *("VIPs", "IsDSR", "ID", "References", "IPv6Address", "IPv6"),
    }
)
"""Properties of HNS networks, endpoints and policy lists that are kept, on any level."""
SHOWN = 5


def shown_by(cmdlet: str, name: str) -> ToolOutput:
    """Return the reading of what a cmdlet shows."""
    words = powershell(f"{cmdlet} | ConvertTo-Json -Depth 5")
    return ToolOutput(name=name, words=words, keep=_keep)


def _keep(text: str) -> str:
    return json.dumps(kept.named(read_json(text), PROPERTIES))


def policies_of(item: Object, kind: str) -> Iterator[Object]:
    """Yield the policies of a type; ``Settings`` holds the values in the newer schema."""
    for policy in listed(item.get("Policies") or []):
        if str(policy.get("Type")).lower() == kind.lower():
            yield policy.get("Settings") or policy


def listed(value: object) -> list[Object]:
    """Return the list in a property; PowerShell shows a list of one as the object itself."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]


def shown(problems: list[str]) -> str:
    """Return the first of several problems, and how many more there are."""
    more = len(problems) - SHOWN
    return ", ".join(problems[:SHOWN]) + (f" and {more} more" if more > 0 else "")
