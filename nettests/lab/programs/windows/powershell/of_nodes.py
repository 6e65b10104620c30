"""Cmdlets about the node itself: processes, services, the firewall, ports, and names.

Resolve-DnsName is of the module DnsClient, which images of PowerShell 6 lack (kubernetes/kubernetes, test/e2e/windows/dns.go).
"""

import dns.message
import dns.rdatatype

from nettests.lab.dns import exchange, windows
from nettests.lab.dns.exchange import Failure, ResolutionError
from nettests.lab.interfaces import Disk, Process
from nettests.lab.programs.windows import texts
from nettests.lab.programs.windows.powershell.calls import Call, cmdlet
from nettests.lab.programs.windows.powershell.session import Emit
from nettests.lab.programs.windows.powershell.values import Thing, text

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


def _disk(process: Process) -> Disk:
    return process.machine.node.disk if process.machine.node is not None else Disk()


@cmdlet("Get-CimInstance", "ClassName! Filter Namespace Property", module="CimCmdlets", core=False)
@cmdlet("Get-WmiObject", "Class! Filter Namespace Property", core=False)
async def get_instances(call: Call, emit: Emit) -> None:
    """Emit instances of Win32_Process or Win32_OperatingSystem; the command line is shown of processes that have one here."""
    disk, machine = _disk(call.session.process), call.session.process.machine
    name = (call.text("classname") or call.text("class")).lower()
    wanted = call.text("filter").lower().replace(" ", "").removeprefix("name=").strip("'\"")
    if name == "win32_process":
        for number, process in enumerate(sorted(disk.processes)):
            image, line = f"{process}.exe", disk.command_lines.get(process)
            if wanted in {"", image}:
                await emit(
                    Thing(
                        {
                            "ProcessId": _FIRST_PROCESS + 4 * number,
                            "Name": image,
                            "CommandLine": line,
                        },
                        "Win32_Process",
                    )
                )
    elif name == "win32_operatingsystem":
        version = f"10.0.{machine.build}"
        await emit(
            Thing(
                {
                    "Version": version,
                    "BuildNumber": str(machine.build),
                    "OSLanguage": machine.locale,
                },
                "Win32_OperatingSystem",
            )
        )
    else:
        kind = "Microsoft.Management.Infrastructure.CimException"
        await call.error(
            call.record("Invalid class ", "HRESULT 0x80041010", "MetadataError", name, kind)
        )


@cmdlet("Get-Process", "Name! Id")
async def get_process(call: Call, emit: Emit) -> None:
    """Emit processes."""
    wanted = [text(each).lower() for each in call.list("name")]
    present = sorted(_disk(call.session.process).processes)
    for name in (each for each in wanted if each not in present):
        message = f'Cannot find a process with the name "{name}". Verify the process name and call the cmdlet again.'
        kind = "Microsoft.PowerShell.Commands.ProcessCommandException"
        await call.error(
            call.record(message, "NoProcessFoundForGivenName", "ObjectNotFound", name, kind)
        )
    for number, name in enumerate(present):
        if not wanted or name in wanted:
            await emit(
                Thing(
                    {"Id": _FIRST_PROCESS + 4 * number, "ProcessName": name},
                    "System.Diagnostics.Process",
                )
            )


@cmdlet("Get-Service", "Name! DisplayName")
async def get_service(call: Call, emit: Emit) -> None:
    """Emit services, which the registry has."""
    disk = _disk(call.session.process)
    names = {
        key.removeprefix(_SERVICES).lower(): key.removeprefix(_SERVICES)
        for key in disk.registry
        if key.startswith(_SERVICES) and "\\" not in key.removeprefix(_SERVICES)
    }
    wanted = [text(each).lower() for each in call.list("name")] or list(names)
    for name in wanted:
        if name not in names:
            message = f"Cannot find any service with service name '{name}'."
            kind = "Microsoft.PowerShell.Commands.ServiceCommandException"
            await call.error(
                call.record(message, "NoServiceFoundForGivenName", "ObjectNotFound", name, kind)
            )
        else:
            await emit(
                Thing(
                    {"Status": "Running", "Name": names[name], "DisplayName": names[name]},
                    "System.ServiceProcess.ServiceController",
                )
            )


@cmdlet("Get-NetFirewallProfile", "Name! PolicyStore All?", module="NetSecurity", core=False)
async def get_firewall(call: Call, emit: Emit) -> None:
    """Emit the firewall's profiles; ``Enabled`` is a GpoBoolean, which is a number in JSON (posted output)."""
    on = int(_disk(call.session.process).firewall)
    for name in _PROFILES:
        if not call.has("name") or name.lower() in {
            text(each).lower() for each in call.list("name")
        }:
            await emit(Thing({"Name": name, "Enabled": on}, "MSFT_NetFirewallProfile"))


@cmdlet("Get-NetTCPSetting", "SettingName!", module="NetTCPIP", core=False)
@cmdlet("Get-NetUDPSetting", "", module="NetTCPIP", core=False)
async def get_ports(call: Call, emit: Emit) -> None:
    """Emit the range of dynamic ports."""
    node = call.session.process.machine.node
    if node is not None and node.hns is not None:
        ports = node.hns.dynamic_ports()
        numbers = {
            "DynamicPortRangeStartPort": ports.start,
            "DynamicPortRangeNumberOfPorts": len(ports),
        }
        await emit(
            Thing(
                {"SettingName": call.text("settingname", "Internet"), **numbers},
                "MSFT_NetTCPSetting",
            )
        )


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
    sections = (("Answer", answer.answer), ("Authority", answer.authority))
    rows = []
    for section, rrsets in sections:
        for rrset in rrsets:
            kind = dns.rdatatype.to_text(rrset.rdtype)
            title = _DATA.get(kind, "Data")
            for record in rrset:
                row = {
                    "Name": rrset.name.to_text(omit_final_dot=True),
                    "Type": kind,
                    "TTL": rrset.ttl,
                    "Section": section,
                }
                rows.append(
                    Thing(
                        {**row, title: record.to_text().rstrip(".")},
                        "Microsoft.DnsClient.Commands.DnsRecord",
                    )
                )
    return rows
