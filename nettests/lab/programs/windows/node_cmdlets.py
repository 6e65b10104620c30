"""PowerShell's pipelines about the node itself: command lines of processes, and the firewall's profiles.

``Get-CimInstance Win32_Process`` and ``Get-NetFirewallProfile``, each in the one form that is run, in HostProcess containers
of a Windows node.
"""

import json
import re

from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import out

# Sample: Get-CimInstance Win32_Process | Where-Object Name -EQ kube-proxy.exe | Select-Object CommandLine | ConvertTo-Json
_PROCESSES = re.compile(
    r"Get-CimInstance Win32_Process \| Where-Object Name -EQ (?P<name>[\w.-]+)\.exe "
    r"\| Select-Object CommandLine \| ConvertTo-Json",
    re.IGNORECASE,
)
_FIREWALL = (
    "get-netfirewallprofile -policystore activestore | select-object name,enabled | convertto-json"
)
_PROFILES = ("Domain", "Private", "Public")


async def run(process: Process, text: str) -> int | None:
    """Run the pipeline; return its exit code, ``None`` where it is none of these or not on a node."""
    node = process.machine.node
    if node is None:
        return None
    if text.lower() == _FIREWALL:
        rows = [{"Name": name, "Enabled": int(node.disk.firewall)} for name in _PROFILES]
        await out(process, _json(rows))
        return 0
    match = _PROCESSES.fullmatch(text)
    if match is None:
        return None
    name = match["name"].lower()
    if name in node.disk.processes:  # a pipeline without input prints nothing
        await out(process, _json({"CommandLine": node.disk.command_lines.get(name)}))
    return 0


def _json(value: object) -> str:
    return json.dumps(value, indent=4, separators=(",", ":  ")) + "\n"
