"""Cmdlets about the node: processes, services, the firewall, ports, names, files, and programs in a container.

Resolve-DnsName is in the module DnsClient, which images of PowerShell 6 lack (kubernetes/kubernetes, test/e2e/windows/dns.go).
Files are those of components and those that scripts wrote.
"""

import fnmatch
import ntpath
from collections.abc import MutableMapping

import dns.message
import dns.rdatatype

from nettests.lab.dns import clients, exchange
from nettests.lab.dns.exchange import Failure, ResolutionError
from nettests.lab.programs.windows import texts
from nettests.lab.programs.windows.powershell.calls import Call, cmdlet
from nettests.lab.programs.windows.powershell.session import Emit
from nettests.lab.programs.windows.powershell.values import Thing, text, thing, whole

_PROFILES = ("Domain", "Private", "Public")
_FIRST_PROCESS = 2804
_SERVICES = "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\"
_ERRORS = {
    Failure.NO_SUCH_HOST: (9003, "DNS_ERROR_RCODE_NAME_ERROR"),
    Failure.SERVER_FAILURE: (9002, "DNS_ERROR_RCODE_SERVER_FAILURE"),
    Failure.TIMED_OUT: (1460, "ERROR_TIMEOUT"),
    Failure.NO_SERVER: (9852, "DNS_ERROR_NO_DNS_SERVERS"),
}
_DATA = {"A": "IPAddress", "AAAA": "IPAddress", "CNAME": "NameHost", "PTR": "NameHost"}


@cmdlet("Get-CimInstance", "ClassName! Filter Namespace Property", module="CimCmdlets", core=False)
async def get_instances(call: Call, emit: Emit) -> None:
    """Emit instances of Win32_Process or Win32_OperatingSystem; only some processes have a command line."""
    machine = call.session.process.machine
    name = call.text("classname").lower()
    wanted = call.text("filter").lower().replace(" ", "").removeprefix("name=").strip("'\"")
    if name == "win32_process":
        for number, process in enumerate(sorted(machine.disk.processes)):
            image, line = f"{process}.exe", machine.disk.command_lines.get(process)
            if wanted in {"", image}:
                identity = _FIRST_PROCESS + 4 * number
                await emit(thing("Win32_Process", ProcessId=identity, Name=image, CommandLine=line))
    elif name == "win32_operatingsystem":
        build = {"Version": f"10.0.{machine.build}", "BuildNumber": str(machine.build)}
        await emit(thing("Win32_OperatingSystem", **build, OSLanguage=machine.locale))
    else:
        kind = "Microsoft.Management.Infrastructure.CimException"
        await call.fail("Invalid class ", "HRESULT 0x80041010", "MetadataError", name, kind)


@cmdlet("Get-Service", "Name! DisplayName")
async def _get_service(call: Call, emit: Emit) -> None:
    services = (
        key.removeprefix(_SERVICES)
        for key in call.session.process.machine.disk.registry
        if key.startswith(_SERVICES)
    )
    names = {name.lower(): name for name in services if "\\" not in name}
    for wanted in [text(each).lower() for each in call.list("name")] or list(names):
        if name := names.get(wanted):
            state = {"Status": "Running", "Name": name, "DisplayName": name}
            await emit(thing("System.ServiceProcess.ServiceController", **state))
        else:
            message = f"Cannot find any service with service name '{wanted}'."
            kind = "Microsoft.PowerShell.Commands.ServiceCommandException"
            await call.fail(message, "NoServiceFoundForGivenName", "ObjectNotFound", wanted, kind)


@cmdlet("Get-NetFirewallProfile", "Name! PolicyStore All?", module="NetSecurity", core=False)
async def get_firewall(call: Call, emit: Emit) -> None:
    """Emit the firewall's profiles; ``Enabled`` is a GpoBoolean, which is a number in JSON (posted output)."""
    on = int(call.session.process.machine.disk.firewall)
    wanted = {text(each).lower() for each in call.list("name")}
    for name in _PROFILES:
        if not call.has("name") or name.lower() in wanted:
            await emit(thing("MSFT_NetFirewallProfile", Name=name, Enabled=on))


@cmdlet(
    "Resolve-DnsName",
    "Name! Type! Server DnsOnly? NoHostsFile? QuickTimeout? TcpOnly?",
    module="DnsClient",
    core=False,
)
async def resolve_name(call: Call, emit: Emit) -> None:
    """Query the names that the DNS client tries, and emit the records of the first that exists."""
    machine, name = call.session.process.machine, call.text("name")
    kind, failure = call.text("type", "A").upper(), Failure.NO_SUCH_HOST
    try:
        for candidate in clients.windows_candidates(machine.resolver, name):
            answer = await clients.query(machine, candidate, kind)
            failure = exchange.failure(answer)
            if answer.answer or failure is Failure.NO_DATA:
                for row in _rows(answer):
                    await emit(row)
                return
    except ResolutionError as error:
        failure = error.failure
    number, code = _ERRORS[failure]
    message = f"{name} : {texts.of(machine.locale).system(number)}"
    record = call.record(
        message, code, "ResourceUnavailable", name, "System.ComponentModel.Win32Exception"
    )
    record.error_id = f"{code},Microsoft.DnsClient.Commands.ResolveDnsName"
    await call.error(record)


def _rows(answer: dns.message.Message) -> list[Thing]:
    rows = []
    for section, rrsets in (("Answer", answer.answer), ("Authority", answer.authority)):
        for rrset in rrsets:
            kind = dns.rdatatype.to_text(rrset.rdtype)
            name = rrset.name.to_text(omit_final_dot=True)
            row = {"Name": name, "Type": kind, "TTL": rrset.ttl, "Section": section}
            for record in rrset:
                data = {_DATA.get(kind, "Data"): record.to_text().rstrip(".")}
                rows.append(thing("Microsoft.DnsClient.Commands.DnsRecord", **row, **data))
    return rows


_PATHS = "Path! LiteralPath"
_MISSING = "System.Management.Automation.ItemNotFoundException"


def _files(call: Call) -> MutableMapping[str, str]:
    return call.session.process.machine.disk.files


def _paths(call: Call) -> list[tuple[str, bool]]:
    """Return the paths of arguments and pipeline, each with whether it may have wildcards."""
    literal = [(text(each), False) for each in call.list("literalpath")]
    given = [(text(each), True) for each in call.list("path")]
    piped = [
        (text(each.properties.get("FullName") if isinstance(each, Thing) else each), False)
        for each in call.input or ()
    ]
    return literal + given or piped


def _matching(call: Call, path: str, *, wildcards: bool) -> list[str]:
    wanted = path.replace("/", "\\").lower()
    return [
        name
        for name in _files(call)
        if (fnmatch.fnmatchcase(name.lower(), wanted) if wildcards else name.lower() == wanted)
    ]


def _is_folder(call: Call, path: str) -> bool:
    below = path.replace("/", "\\").rstrip("\\").lower() + "\\"
    everywhere = below in {"c:\\", "c:\\windows\\"}
    return everywhere or any(name.lower().startswith(below) for name in _files(call))


async def _missing(call: Call, path: str) -> None:
    message = f"Cannot find path '{path}' because it does not exist."
    await call.fail(message, "PathNotFound", "ObjectNotFound", path, _MISSING)


def _item(name: str, content: str) -> Thing:
    folder, _, short = name.rpartition("\\")
    names = {"Name": short, "FullName": name, "Extension": ntpath.splitext(short)[1]}
    size = {"Mode": "-a----", "Length": len(content)}
    return thing("System.IO.FileInfo", **size, **names, DirectoryName=folder, CreationTime=0)


@cmdlet("Test-Path", f"{_PATHS} PathType")
async def _test_path(call: Call, emit: Emit) -> None:
    kind = call.text("pathtype").lower()
    for path, wildcards in _paths(call):
        is_file = bool(_matching(call, path, wildcards=wildcards))
        is_folder = _is_folder(call, path)
        await emit({"leaf": is_file, "container": is_folder}.get(kind, is_file or is_folder))


@cmdlet("Get-Item", f"{_PATHS} Force?")
@cmdlet("Get-ChildItem", f"{_PATHS} Filter Include Recurse? Force? File? Directory? Name?")
async def get_items(call: Call, emit: Emit) -> None:
    """Emit files, or those in a folder."""
    for path, wildcards in _paths(call) or [("C:\\", True)]:
        names = _matching(call, path, wildcards=wildcards)
        lists = call.cmdlet.name == "Get-ChildItem"
        if not names and lists and _is_folder(call, path):
            folder = path.replace("/", "\\").rstrip("\\")
            names = [
                name
                for name in _matching(call, f"{folder}\\{call.text('filter', '*')}", wildcards=True)
                if call.has("recurse") or ntpath.dirname(name).lower() == folder.lower()
            ]
        elif not names and not _is_folder(call, path) and not (wildcards and set(path) & set("*?")):
            await _missing(call, path)
        for name in names:
            await emit(_item(name, _files(call)[name]))


@cmdlet("Get-Content", f"{_PATHS} Tail TotalCount Encoding ReadCount Raw?")
async def _get_content(call: Call, emit: Emit) -> None:
    for path, wildcards in _paths(call):
        names = _matching(call, path, wildcards=wildcards)
        if not names and not (wildcards and set(path) & set("*?")):
            await _missing(call, path)
        for name in names:
            content = _files(call)[name]
            lines = content.splitlines()
            if call.has("tail"):
                lines = lines[-whole(call.given["tail"]) :]
            for line in [content] if call.has("raw") else lines:
                await emit(line)
