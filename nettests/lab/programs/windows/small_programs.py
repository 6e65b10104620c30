"""Small Windows programs, and cmd's internal ``type`` and ``del``, on the node's ``Disk``.

They are ``hostname``, ``whoami``, ``fsutil volume diskfree``, ``reg query``, ``netsh`` (port ranges), ``ipconfig``, ``tasklist`` and CNI
plugins. cmd's messages are in the language of the system; the fault ``other-cmd-text`` replaces them. The registry is the node's or a
container's own, and read-only.
"""

import fnmatch
import ipaddress
import re
from collections.abc import Mapping, Sequence
from functools import partial

from nettests.lab.interfaces import Machine, Process
from nettests.lab.mounted.files import NO_FILE
from nettests.lab.programs.terminal import encode, err, out
from nettests.lab.programs.windows import texts
from nettests.lab.programs.windows.broken_tools import OTHER_ACCOUNT, OTHER_NAME

_FIRST_PROCESS = 2804
DENIED = 5


def message(process: Process, key: str | int, **values: object) -> bytes:
    """Return, as encoded output, one of cmd's messages by its key, or the system's message for an error number."""
    language = texts.of(process.machine.locale)
    text = language.say("cmd", key, **values) if isinstance(key, str) else language.system(key)
    return encode(process, f"{process.machine.troubles.cmd_text or text}\n")


async def complain(process: Process, key: str | int, **values: object) -> None:
    """Write a message to standard error."""
    await process.stderr(message(process, key, **values))


async def type_files(process: Process, paths: Sequence[str]) -> int:
    """Print files; with wildcards or several paths their names go to standard error, as in cmd."""
    disk = process.machine.disk
    several = len(paths) > 1 or any(set(path) & {"*", "?"} for path in paths)
    code = 0
    for path in paths:
        wanted = path.replace("/", "\\").lower()
        names = [name for name in sorted(disk.files) if fnmatch.fnmatchcase(name.lower(), wanted)]
        for name in names:
            if several:
                await err(process, f"\n{name}\n\n\n")
            await out(process, disk.files[name])
        if not names:
            await complain(process, NO_FILE)
            code = 1
    return code


async def delete_files(process: Process, words: Sequence[str]) -> int:
    """Delete files (``del /q FILE …``); 0 even if one does not exist, as in cmd."""
    disk = process.machine.disk
    for path in (word for word in words if not word.startswith("/")):
        wanted = path.replace("/", "\\").lower()
        gone = [name for name in disk.files if name.lower() == wanted]
        for name in gone:
            del disk.files[name]
        if not gone:
            await complain(process, "not_found", path=path)
    return 0


async def print_about(process: Process, _words: Sequence[str]) -> int:
    """Run a CNI plugin without input: it prints its version to standard error."""
    by_path = {name.lower(): text for name, text in process.machine.disk.programs.items()}
    await err(process, by_path[process.argv[0].replace("/", "\\").lower()])
    return 0


async def tasklist(process: Process, words: Sequence[str]) -> int:
    """Print ``tasklist /FO CSV /NH``, including its own process; 1 for other options."""
    if [word.upper() for word in words] != ["/FO", "CSV", "/NH"]:
        await err(process, f"ERROR: Invalid argument/option - '{' '.join(words)}'.\n")
        return 1
    for number, name in enumerate(sorted({*process.machine.disk.processes, "tasklist"})):
        identity = _FIRST_PROCESS + 4 * number
        await out(process, f'"{name}.exe","{identity}","Services","0","43,148 K"\n')
    return 0


_FREE_BYTES, _DRIVE_BYTES = 103_079_215_104, 136_365_211_648
_CONTAINER_USER = r"User Manager\ContainerAdministrator"
_HOST_USER = r"NT AUTHORITY\SYSTEM"
_UNKNOWN_USER, _UNKNOWN_NAME = r"NT AUTHORITY\Network Service", "somewhere-else"
"""The account and host name under the faults of ``whoami`` and ``hostname``."""
_SIDS = {"system": "S-1-5-18", "local service": "S-1-5-19", "network service": "S-1-5-20"}
_ANY_SID = "S-1-5-93-2-1"


async def hostname(process: Process, _words: Sequence[str]) -> int:
    """Print the host name."""
    machine = process.machine
    other = machine.host_process and OTHER_NAME in machine.troubles.tools
    await out(process, f"{_UNKNOWN_NAME if other else machine.hostname}\n")
    return 0


async def whoami(process: Process, words: Sequence[str]) -> int:
    """Print the account, in lower case as on Windows; with ``/user`` its SID, too."""
    name, sid = account(process.machine)
    name = name.lower()
    if [word.lower() for word in words] == ["/user"]:
        width = max(len(name), len("User Name"))
        rows = (("User Name", "SID"), ("=" * width, "=" * len(sid)), (name, sid))
        lines = "".join(f"{left.ljust(width)} {right}\n" for left, right in rows)
        await out(process, f"\nUSER INFORMATION\n----------------\n\n{lines}")
        return 0
    await out(process, f"{name}\n")
    return 0


def account(machine: Machine) -> tuple[str, str]:
    """Return the name and the SID of the account that a process runs as."""
    user = machine.user or (_HOST_USER if machine.host_process else _CONTAINER_USER)
    if machine.host_process and OTHER_ACCOUNT in machine.troubles.tools:
        user = _UNKNOWN_USER
    key = user.rpartition("\\")[2].lower()
    names = texts.of(machine.locale).groups["accounts"]
    return str(names.get(key, user)), _SIDS.get(key, _ANY_SID)


async def fsutil(process: Process, words: Sequence[str]) -> int:
    """Print ``fsutil volume diskfree C:``; 1 for anything else."""
    if [word.lower() for word in words] != ["volume", "diskfree", "c:"]:
        await err(process, f"{' '.join(words)} is an invalid parameter.\n")
        return 1
    free, whole = f"{_FREE_BYTES:,} ( 96.0 GB)", f"{_DRIVE_BYTES:,} (127.0 GB)"
    rows = {"free bytes": free, "bytes": whole, "quota free bytes": free}
    await out(process, "".join(f"Total {name:<26}: {value}\n" for name, value in rows.items()))
    return 0


Values = tuple[tuple[str, str, str], ...]
_ALWAYS: Values = (("DataBasePath", "REG_EXPAND_SZ", r"%SystemRoot%\System32\drivers\etc"),)
_TCPIP = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters"
_ROOTS = {"hklm": "hkey_local_machine"}
_ABSENT = "ERROR: The system was unable to find the specified registry key or value.\n"
_INVALID = 'ERROR: Invalid syntax.\nType "REG QUERY /?" for usage.\n'
_NO_NAME = "(Default)"


async def reg(process: Process, words: Sequence[str]) -> int:
    """Print the values and subkeys of a key, with ``/s`` also the subkeys' values; 1 if there is no such key."""
    options = [word.lower() for word in words[2:]]
    if not words[1:] or words[0].lower() != "query" or options not in ([], ["/s"]):
        await err(process, _INVALID)
        return 1
    root, _, rest = words[1].lower().partition("\\")
    wanted = f"{_ROOTS.get(root, root)}\\{rest}"
    machine, searches = process.machine, ",".join(process.machine.resolver.searches)
    registry: dict[str, Values] = {_TCPIP: _ALWAYS} | dict(machine.disk.registry)
    if machine.node is None:  # the container's name, and the DNS settings of its HNS endpoint
        listed: Values = (("SearchList", "REG_SZ", searches),) if searches else ()
        registry[_TCPIP] = (*_ALWAYS, ("Hostname", "REG_SZ", machine.hostname), *listed)
    inner = [key for key in registry if key.lower().startswith(f"{wanted}\\")]
    printed = [key for key in registry if key.lower() == wanted] + (inner if options else [])
    for key in printed:
        await out(process, f"\n{key}\n")
        for name, kind, data in registry[key]:
            await out(process, f"    {name or _NO_NAME}    {kind}    {data}\n")
    if not options:
        depth = wanted.count("\\") + 2  # one level below, also keys that only have subkeys
        for key in dict.fromkeys("\\".join(key.split("\\")[:depth]) for key in inner):
            await out(process, f"{key}\n")
    if not printed and not inner:
        await err(process, _ABSENT)
    return 0 if printed or inner else 1


# Sample: int ipv4 show dynamicport tcp
_DYNAMIC = re.compile(r"int(?:erface)? ipv4 show dynamicport(?:range)? (?:protocol=)?(tcp|udp)")
# Sample: int ipv4 show excludedportrange protocol=tcp
_EXCLUDED = re.compile(r"int(?:erface)? ipv4 show excludedportrange (?:protocol=)?(tcp|udp)")
_REMOTE_MANAGEMENT = {"tcp": (5985, 47001), "udp": ()}
"""WinRM's own reservations."""


async def netsh(process: Process, words: Sequence[str]) -> int:
    """Print the requested port range; 1 for other commands."""
    text, node, say = " ".join(words).lower(), process.machine.node, partial(texts.say, "netsh")
    hns = node.hns if node is not None else None
    if hns is not None and (match := _DYNAMIC.fullmatch(text)):
        ports = hns.dynamic_ports()
        numbers = f"{say(process, 'start', number=ports.start)}\n{say(process, 'count', number=len(ports))}"
        title = say(process, "dynamic", protocol=match[1])
        await out(process, f"\n{title}\n---------------------------------\n{numbers}\n\n")
        return 0
    if hns is not None and (match := _EXCLUDED.fullmatch(text)):
        ranges = [range(port, port + 1) for port in _REMOTE_MANAGEMENT[match[1]]]
        ranges = sorted([*ranges, *hns.port_pools(match[1])], key=min)
        rows = "".join(f"{each.start:>10}  {each.stop - 1:>10}      \n" for each in ranges)
        title = f"{say(process, 'excluded', protocol=match[1])}\n\n{say(process, 'columns')}"
        end = say(process, "administered")
        await out(process, f"\n{title}\n----------    --------      \n{rows}\n{end}\n\n")
        return 0
    await out(process, f"{say(process, 'unknown', command=' '.join(words))}\n")
    return 1


_DEFAULT_PREFIX = 24
_COLUMN = 34


async def ipconfig(process: Process, words: Sequence[str]) -> int:
    """Print the network settings; 1 for other switches."""
    switches = [word.lower().lstrip("/-") for word in words]
    if switches not in ([], ["all"]):
        await out(process, f"\nError: unrecognized or incomplete command line: {' '.join(words)}\n")
        return 1
    machine = process.machine
    language = texts.of(machine.locale)
    labels = language.groups["ipconfig"]["labels"]
    text = f"\n{language.say('ipconfig', 'title')}\n\n"
    text += _lines(_system(machine), labels) if switches else ""
    adapter = "Ethernet" if machine.host_process else f"{machine.hostname}_eth0"
    text += f"\n{language.say('ipconfig', 'adapter', name=f'vEthernet ({adapter})')}\n\n"
    text += _lines(_adapter_settings(machine, everything=bool(switches)), labels)
    await out(process, text)
    return 0


def _system(machine: Machine) -> list[tuple[str, list[str]]]:
    suffixes = machine.resolver.searches
    settings = [
        ("Host Name", [machine.hostname]),
        ("Primary Dns Suffix", [""]),
        ("Node Type", ["Hybrid"]),
        ("IP Routing Enabled", ["No"]),
        ("WINS Proxy Enabled", ["No"]),
    ]
    if suffixes:
        settings.append(("DNS Suffix Search List", list(suffixes)))
    return settings


def _adapter_settings(machine: Machine, *, everything: bool) -> list[tuple[str, list[str]]]:
    suffix = machine.resolver.searches[0] if machine.resolver.searches else ""
    settings = [("Connection-specific DNS Suffix ", [suffix])]
    if everything:
        settings += [
            ("Description", ["Hyper-V Virtual Ethernet Adapter"]),
            ("Physical Address", [machine.mac.upper().replace(":", "-")]),
            ("DHCP Enabled", ["No"]),
            ("Autoconfiguration Enabled ", ["Yes"]),
        ]
    # Windows lists IPv6 addresses first.
    for text in (address for address in machine.addresses if ":" in address):
        settings.append(("IPv6 Address", [f"{text}(Preferred) " if everything else text]))
    for text in (address for address in machine.addresses if ":" not in address):
        full = text if "/" in text else f"{text}/{_DEFAULT_PREFIX}"
        interface = ipaddress.IPv4Interface(full)
        shown = f"{interface.ip}(Preferred) " if everything else str(interface.ip)
        settings += [("IPv4 Address", [shown]), ("Subnet Mask", [str(interface.netmask)])]
    settings.append(("Default Gateway", [machine.gateway]))
    if everything:
        settings += [
            ("DNS Servers", list(machine.resolver.servers) or [""]),
            ("NetBIOS over Tcpip", ["Disabled"]),
        ]
    return settings


def _lines(settings: Sequence[tuple[str, Sequence[str]]], labels: Mapping[str, str]) -> str:
    """Format settings with dots at even columns: ``IPv4 Address. . . . : 10.244.2.5``."""
    text = ""
    for english, values in settings:
        label = labels.get(english, english)
        dots = "".join(". "[column % 2] for column in range(len(label), _COLUMN))
        text += f"   {label}{dots}: {values[0]}\n"
        text += "".join(f"{'':{_COLUMN + 5}}{value}\n" for value in values[1:])
    return text
