"""``ipconfig`` and ``ipconfig /all``: the container's adapter and resolver settings."""

import ipaddress
from collections.abc import Mapping, Sequence

from nettests.lab.interfaces import Machine, Process
from nettests.lab.programs.terminal import out
from nettests.lab.programs.windows import texts

_DEFAULT_PREFIX = 24
_COLUMN = 34


async def run(process: Process, words: Sequence[str]) -> int:
    """Print the settings; 1 for any other switch."""
    switches = [word.lower().lstrip("/-") for word in words]
    if switches not in ([], ["all"]):
        await out(process, f"\nError: unrecognized or incomplete command line: {' '.join(words)}\n")
        return 1
    machine = process.machine
    language = texts.of(machine.locale)
    labels = language.groups["ipconfig"]["labels"]
    text = f"\n{language.say('ipconfig', 'title')}\n\n"
    text += _lines(_system(machine), labels) if switches else ""
    text += f"\n{language.say('ipconfig', 'adapter', name=_adapter(machine))}\n\n"
    text += _lines(_adapter_settings(machine, everything=bool(switches)), labels)
    await out(process, text)
    return 0


def _adapter(machine: Machine) -> str:
    return (
        "vEthernet (Ethernet)" if machine.host_process else f"vEthernet ({machine.hostname}_eth0)"
    )


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
        address, mask = _address(text)
        settings += [
            ("IPv4 Address", [f"{address}(Preferred) " if everything else address]),
            ("Subnet Mask", [mask]),
        ]
    settings.append(("Default Gateway", [machine.gateway]))
    if everything:
        settings += [
            ("DNS Servers", list(machine.resolver.servers) or [""]),
            ("NetBIOS over Tcpip", ["Disabled"]),
        ]
    return settings


def _address(text: str) -> tuple[str, str]:
    """Read ``10.244.2.5`` or ``10.244.2.5/24`` into address and mask."""
    full = text if "/" in text else f"{text}/{_DEFAULT_PREFIX}"
    interface = ipaddress.IPv4Interface(full)
    return str(interface.ip), str(interface.netmask)


def _lines(settings: Sequence[tuple[str, Sequence[str]]], labels: Mapping[str, str]) -> str:
    """Lay settings out with dots at even columns: ``IPv4 Address. . . . : 10.244.2.5``."""
    text = ""
    for english, values in settings:
        label = labels.get(english, english)
        dots = "".join(". "[column % 2] for column in range(len(label), _COLUMN))
        text += f"   {label}{dots}: {values[0]}\n"
        text += "".join(f"{'':{_COLUMN + 5}}{value}\n" for value in values[1:])
    return text
