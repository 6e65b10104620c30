"""Cmdlets about the node itself: processes, services, the firewall, ports, and names.

Resolve-DnsName is of the module DnsClient, which images of PowerShell 6 lack (kubernetes/kubernetes, test/e2e/windows/dns.go).
"""

import dns.message
import dns.rdatatype

from nettests.lab.dns import exchange, windows
from nettests.lab.dns.exchange import Failure, ResolutionError
from nettests.lab.programs.windows import texts
from nettests.lab.programs.windows.powershell.calls import Call, cmdlet
from nettests.lab.programs.windows.powershell.session import Emit
from nettests.lab.programs.windows.powershell.values import Thing, text, thing

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
@cmdlet("Get-WmiObject", "Class! Filter Namespace Property", core=False)
async def get_instances(call: Call, emit: Emit) -> None:
    """Emit instances of Win32_Process or Win32_OperatingSystem; the command line is shown of processes that have one here."""
    machine = call.session.process.machine
    name = (call.text("classname") or call.text("class")).lower()
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


@cmdlet("Get-Process", "Name! Id")
async def _get_process(call: Call, emit: Emit) -> None:
    wanted = [text(each).lower() for each in call.list("name")]
    present = sorted(call.session.process.machine.disk.processes)
    for name in (each for each in wanted if each not in present):
        message = f'Cannot find a process with the name "{name}". Verify the process name and call the cmdlet again.'
        kind = "Microsoft.PowerShell.Commands.ProcessCommandException"
        await call.fail(message, "NoProcessFoundForGivenName", "ObjectNotFound", name, kind)
    for number, name in enumerate(present):
        if not wanted or name in wanted:
            identity = _FIRST_PROCESS + 4 * number
            await emit(thing("System.Diagnostics.Process", Id=identity, ProcessName=name))


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


@cmdlet("Get-NetTCPSetting", "SettingName!", module="NetTCPIP", core=False)
@cmdlet("Get-NetUDPSetting", "", module="NetTCPIP", core=False)
async def _get_ports(call: Call, emit: Emit) -> None:
    node = call.session.process.machine.node
    if node is not None and node.hns is not None:
        ports, name = node.hns.dynamic_ports(), call.text("settingname", "Internet")
        start, size = "DynamicPortRangeStartPort", "DynamicPortRangeNumberOfPorts"
        numbers = {start: ports.start, size: len(ports)}
        await emit(thing("MSFT_NetTCPSetting", SettingName=name, **numbers))


@cmdlet(
    "Resolve-DnsName",
    "Name! Type! Server DnsOnly? NoHostsFile? QuickTimeout? TcpOnly?",
    module="DnsClient",
    core=False,
)
async def resolve_name(call: Call, emit: Emit) -> None:
    """Request the names that the DNS client tries; the first that exists wins."""
    machine, name = call.session.process.machine, call.text("name")
    kind, failure = call.text("type", "A").upper(), Failure.NO_SUCH_HOST
    try:
        for candidate in windows.candidates(machine.resolver, name):
            answer = await windows.query(machine, candidate, kind)
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
