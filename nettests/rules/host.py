"""Rules about a node's adapters and ports, read with Windows' own tools; the firewall's state.

Read with ``ipconfig``, ``netsh`` and PowerShell in a HostProcess container. Windows translates the
words of the first two, so only numbers, addresses and names are read. The firewall is a fact, not a
rule: ``probes.host_facts`` adds it to discovery. Sources: "Windows debugging tips", Microsoft's
``networkhealth.ps1`` and "Common problems", ``Get-NetFirewallProfile`` (``ActiveStore`` holds group
policies and the node's own settings together).
"""

import json
import re
from collections.abc import Mapping

from nettests.model.json_text import Object
from nettests.model.ports import NODE_PORTS
from nettests.model.powershell import as_json, read_shown, to_the_end
from nettests.model.windows_programs import node_argv
from nettests.rules import reduction
from nettests.rules.evidence import Evidence, Finding, UnreadableError, finding, rule
from nettests.rules.readings import ToolOutput
from nettests.rules.subjects import HNS, KERNELSPACE

POOL = 64
FEWEST_POOLS = 10
"""networkhealth.ps1 warns at this number: HNS allocates ports for source NAT in blocks of 64."""
ADAPTERS = ToolOutput(
    name="ipconfig",
    words=node_argv("ipconfig.exe"),
    # names of adapters, and lines that end with an address
    # sample: Ethernet adapter vEthernet (Ethernet):
    #            IPv4 Address. . . . . . . . . . . : 172.30.0.13
    keep=reduction.lines(
        r"(?m)^\S.{0,200}$|^[ \t]+.{0,80}: [0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*.{0,20}$"
    ),
)
DYNAMIC = ToolOutput(
    name="dynamic-ports",
    words=node_argv("netsh.exe", "int", "ipv4", "show", "dynamicport", "tcp"),
    keep=reduction.lines(r"(?m):\s*\d+\s*$"),
)
EXCLUDED = ToolOutput(
    name="excluded-ports",
    words=node_argv("netsh.exe", "int", "ipv4", "show", "excludedportrange", "protocol=tcp"),
    keep=reduction.lines(r"(?m)^-{4}[ -]*|^\s+\d+\s+\d+\s*\*?\s*$"),
)


@rule(about=(HNS,), reads=(ADAPTERS,))
def virtual_adapter(evidence: Evidence) -> Finding:
    """The node's address is on a virtual adapter: without one, no Pod network was created."""
    node_addresses = set(evidence.fact("node-addresses").split(","))
    # sample: Ethernet adapter vEthernet (Ethernet):
    #            IPv4 Address. . . . . . . . . . . : 172.30.0.13
    sections = re.split(r"\n(?=\S)", evidence.text(ADAPTERS).replace("\r", ""))
    holding = [
        section.strip().splitlines()[0].rstrip(":")
        for section in sections
        if node_addresses & set(re.findall(r"[0-9a-fA-F:.]+", section))
    ]
    if not holding:
        raise UnreadableError("ipconfig shows no adapter with the node's address")
    if not any("ethernet" in name.lower() for name in holding):
        # samples: Ethernet-Adapter Ethernet, but イーサネット アダプター イーサネット of one whose name is translated too
        raise UnreadableError(f"ipconfig's names of adapters are not understood: {holding[0]}")
    return finding(
        any("vEthernet (" in name for name in holding),
        f"the node's address on {', '.join(holding)}",
        "it on a virtual adapter, vEthernet (…)",
        of=len(holding),
    )


@rule(about=(), reads=(DYNAMIC, EXCLUDED))
def node_ports_free(evidence: Evidence) -> Finding:
    """Neither dynamic nor excluded port ranges overlap the NodePort range."""
    ranges = [_dynamic(evidence), *excluded_ranges(evidence.text(EXCLUDED))]
    taken = [
        f"{ports.start}-{ports.stop - 1}"
        for ports in ranges
        if max(ports.start, NODE_PORTS.start) < min(ports.stop, NODE_PORTS.stop)
    ]
    return finding(
        not taken,
        f"{', '.join(taken)} taken" if taken else "no port of that range taken",
        f"{NODE_PORTS.start}-{NODE_PORTS.stop - 1} left to NodePorts",
        of=len(ranges),
    )


@rule(about=(KERNELSPACE,), reads=(DYNAMIC, EXCLUDED))
def port_pools_left(evidence: Evidence) -> Finding:
    """Enough blocks of 64 dynamic ports are free for HNS load balancers to come."""
    dynamic = _dynamic(evidence)
    taken = {port for ports in excluded_ranges(evidence.text(EXCLUDED)) for port in ports}
    blocks = range(dynamic.start, dynamic.stop - POOL + 1, POOL)
    free = sum(taken.isdisjoint(range(start, start + POOL)) for start in blocks)
    return finding(
        free > FEWEST_POOLS,
        f"{free} free blocks",
        f"more than {FEWEST_POOLS} blocks of {POOL} ports",
        of=1,
    )


def _dynamic(evidence: Evidence) -> range:
    return dynamic_range(evidence.text(DYNAMIC))


def dynamic_range(text: str) -> range:
    """Parse ``netsh int ipv4 show dynamicport``: first port and count, after colons."""
    # sample: Start Port      : 49152
    #         Number of Ports : 16384
    numbers = re.findall(r"(?m):\s*(\d+)\s*$", text.replace("\r", ""))
    if len(numbers) != 2:
        raise UnreadableError("netsh names no dynamic port range")
    return range(int(numbers[0]), int(numbers[0]) + int(numbers[1]))


def excluded_ranges(text: str) -> list[range]:
    """Parse ``netsh int ipv4 show excludedportrange``: first and last port per line."""
    # sample: ----------    --------
    #              50000       50059     *
    if not re.search(r"(?m)^-{4,}", text):
        raise UnreadableError("netsh prints no table of excluded port ranges")
    rows = re.findall(r"(?m)^\s+(\d+)\s+(\d+)\s*\*?\s*$", text)
    return [range(int(first), int(last) + 1) for first, last in rows]


def _keep(text: str) -> str:
    # sample: [{"Name":"Domain","Enabled":"True"},{"Name":"Private","Enabled":"True"},{"Name":"Public","Enabled":"False"}]
    return json.dumps([{key: row[key] for key in ("Name", "Enabled")} for row in _rows(text)])


def _rows(text: str) -> list[Object]:
    loaded = read_shown(text)
    return loaded if isinstance(loaded, list) else [loaded]


PROFILES = ToolOutput(
    name="firewall-profiles",
    words=to_the_end(
        as_json(
            "Get-NetFirewallProfile -PolicyStore ActiveStore -ErrorAction Stop "
            "| Select-Object -Property @('Name', @{Name='Enabled'; Expression={[string]$_.Enabled}})",
            depth=2,
        )
    ),
    keep=_keep,
)
_ON, _OFF = frozenset({1, "True"}), frozenset({0, "False"})
"""How PowerShell prints a ``GpoBoolean``: as a word; in older journals as a number."""


def profiles_of(text: str) -> Mapping[str, bool]:
    """Return which profiles are on; ``ValueError`` for unexpected text."""
    try:
        states = {str(row["Name"]): row["Enabled"] for row in _rows(text)}
    except (TypeError, LookupError) as error:
        raise ValueError("it names no profile") from error
    if not states or any(value not in _ON | _OFF for value in states.values()):
        raise ValueError(f"it is neither on nor off in all profiles: {text}")
    return {name: value in _ON for name, value in states.items()}
