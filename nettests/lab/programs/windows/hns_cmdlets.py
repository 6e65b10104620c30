"""``Get-HnsNetwork``, ``Get-HnsEndpoint`` and ``Get-HnsPolicyList``, piped to ``ConvertTo-Json``.

The cmdlets of the module HostNetworkingService, in HostProcess containers of a Windows node. Nothing else of a
pipeline is known: no filters, no properties to select. Values are those of the node's own data plane.
"""

import json
import re
from collections.abc import Callable, Mapping

from nettests.lab.interfaces import Hns, Json, Process
from nettests.lab.programs.terminal import err, out

_CMDLET = r"(?:HostNetworkingService\\)?(?P<cmdlet>Get-Hns(?:Network|Endpoint|PolicyList))(?:\s+-ErrorAction\s+Stop)?"
_FORM = r"(?:\s+-Depth\s+(?P<depth>\d+))?(?P<compress>\s+-Compress)?\s*"
# Sample: Get-HnsNetwork | ConvertTo-Json -Depth 5
_PIPELINE = re.compile(rf"{_CMDLET}\s*\|\s*ConvertTo-Json{_FORM}", re.IGNORECASE)
# Sample: ConvertTo-Json -InputObject @(HostNetworkingService\Get-HnsNetwork -ErrorAction Stop) -Depth 5 -Compress
_ARRAY = re.compile(rf"ConvertTo-Json\s+-InputObject\s+@\({_CMDLET}\){_FORM}", re.IGNORECASE)
_SYSTEM = "nt authority\\system"
_DENIED = "Invoke-HnsRequest : @{Error=Access is denied. ; ErrorCode=2147942405; Success=False}\n"
"""HNS answers administrators only."""
_DEFAULT_DEPTH = 2
_CMDLETS: Mapping[str, Callable[[Hns], list[Json]]] = {
    "get-hnsnetwork": lambda hns: hns.networks(),
    "get-hnsendpoint": lambda hns: hns.endpoints(),
    "get-hnspolicylist": lambda hns: hns.policy_lists(),
}


async def run(process: Process, text: str) -> int | None:
    """Run the pipeline; return its exit code, ``None`` where it is none of these or without HNS."""
    array = _ARRAY.fullmatch(text)
    match = array or _PIPELINE.fullmatch(text)
    node = process.machine.node
    if match is None or node is None or node.hns is None:
        return None
    if process.machine.user.lower() != _SYSTEM:
        await err(process, _DENIED)
        return 1
    rows = _CMDLETS[match["cmdlet"].lower()](node.hns)
    if rows or array:
        # A pipeline unrolls its input: one object is no array.
        unrolled = rows[0] if len(rows) == 1 and not array else rows
        value = _cut(unrolled, int(match["depth"] or _DEFAULT_DEPTH))
        await out(process, as_json(value, compress=bool(match["compress"])))
    return 0


def as_json(value: object, *, compress: bool) -> str:
    """Return what ConvertTo-Json prints."""
    if compress:
        return json.dumps(value, separators=(",", ":")) + "\n"
    return json.dumps(value, indent=4, separators=(",", ":  ")) + "\n"


def _cut(value: object, depth: int) -> object:
    """Leave of what lies deeper than ``depth`` its text only, as ConvertTo-Json does."""
    if not isinstance(value, dict | list):
        return value
    if depth < 0:
        return "System.Object[]" if isinstance(value, list) else "@{}"
    if isinstance(value, list):
        return [_cut(item, depth - 1) for item in value]
    return {key: _cut(item, depth - 1) for key, item in value.items()}
