"""Cmdlets of HNS: those of Windows' module HostNetworkingService, and those of the Gallery's module HNS 0.2.4.

The first speak HNS' first schema, the second one its second unless ``-Version 1`` is given (microsoft/SDN, hns.psm1 and
hns.v2.psm1). All are functions of script modules: an error of HNS is written with Write-Error, which leaves the caller's ``$?``
true, and ends nothing unless ``-ErrorAction Stop`` stands at the call.
"""

from collections.abc import Callable, Mapping

from nettests.lab.interfaces import Hns, Json
from nettests.lab.programs.windows import texts
from nettests.lab.programs.windows.broken_tools import HNS_DENIED, HNS_EMPTY, HNS_OTHER
from nettests.lab.programs.windows.powershell.calls import Call, cmdlet
from nettests.lab.programs.windows.powershell.hns_schema2 import CONVERSIONS
from nettests.lab.programs.windows.powershell.modules import GALLERY, INBOX
from nettests.lab.programs.windows.powershell.session import Emit
from nettests.lab.programs.windows.powershell.values import Thing, from_json, text, whole

_CALLS = "hns-calls"
_SYSTEM = "nt authority\\system"
_KINDS: Mapping[str, tuple[str, Callable[[Hns], list[Json]]]] = {
    "get-hnsnetwork": ("networks", lambda hns: hns.networks()),
    "get-hnsendpoint": ("endpoints", lambda hns: hns.endpoints()),
    "get-hnspolicylist": ("policylists", lambda hns: hns.policy_lists()),
    "get-hnsloadbalancer": ("policylists", lambda hns: hns.policy_lists()),
    "get-hnsnamespace": ("namespaces", lambda _hns: []),
}


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
async def of_windows(call: Call, emit: Emit) -> None:
    """Emit objects of HNS in its first schema."""
    await _query(call, emit, second=HNS_OTHER in call.session.process.machine.troubles.tools)


async def _query(call: Call, emit: Emit, *, second: bool) -> None:
    machine = call.session.process.machine
    node = machine.node
    if node is None or node.hns is None or _hiccups(call):
        return
    answered = machine.windows.hns_accounts == "all" or machine.user.lower() == _SYSTEM
    if HNS_DENIED in machine.troubles.tools or not answered:
        denied = texts.of(machine.locale).system(5)
        record = call.record(
            f"@{{Error={denied} ; ErrorCode=2147942405; Success=False}}",
            "Microsoft.PowerShell.Commands.WriteErrorException",
            "NotSpecified",
            kind="Microsoft.PowerShell.Commands.WriteErrorException",
        )
        record.activity, record.error_id = (
            "Invoke-HnsRequest",
            f"{record.exception.kind},Invoke-HnsRequest",
        )
        await call.error(record)
        return
    kind, read = _KINDS[call.cmdlet.name.lower()]
    language = texts.of(machine.locale)
    for row in read(node.hns):
        shown = from_json(CONVERSIONS[kind](row) if second else _localised(row, language))
        wanted = call.text("id").lower()
        if not wanted or wanted == text(shown.properties.get("ID")).lower():
            await emit(Thing(shown.properties))


def _hiccups(call: Call) -> bool:
    """Whether HNS prints nothing this time, and succeeds: at one call of so many, or at all of them under a fault."""
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
