"""PowerShell's pipelines about the node itself: command lines of processes, the firewall's profiles, files, logs.

``Get-CimInstance Win32_Process``, ``Get-NetFirewallProfile`` and ``Get-Content``, each in the one form that is run, in
HostProcess containers of a Windows node.
"""

import fnmatch
import re

from nettests.lab.interfaces import Disk, Process
from nettests.lab.programs.terminal import out
from nettests.lab.programs.windows.hns_cmdlets import as_json

# Sample: ConvertTo-Json -InputObject @(Get-CimInstance Win32_Process -ErrorAction Stop | Where-Object Name -EQ kube-proxy.exe
#         | Select-Object CommandLine) -Depth 2 -Compress
_PROCESSES = re.compile(
    r"ConvertTo-Json -InputObject @\(Get-CimInstance Win32_Process -ErrorAction Stop "
    r"\| Where-Object Name -EQ (?P<name>[\w.-]+)\.exe \| Select-Object CommandLine\) -Depth 2 -Compress",
    re.IGNORECASE,
)
_KUBELET = (
    "$kubelets = @(get-ciminstance win32_process | where-object name -eq kubelet.exe); "
    "$line = [string]$kubelets.commandline; "
    "if ($kubelets -and -not $line) { throw 'the command line of kubelet.exe is not shown' }; $line; "
    "if ($line.replace([string][char]34, '') -match '--config[= ](.+?)( --|$)') "
    "{ get-content -raw -literalpath $matches[1] }"
)
# Sample: if (Test-Path -Path 'C:\\k\\a*.json') { Get-Content -Path 'C:\\k\\a*.json' }
_CONTENT = re.compile(
    r"if \(Test-Path -Path '(?P<path>[^']+)'\) "
    r"\{ Get-Content -Path '(?P=path)' \}",
    re.IGNORECASE,
)
_LOGS = re.compile(
    r"if \(Test-Path -Path '(?P<path>[^']+)'\) "
    r"\{ Get-ChildItem -Path '(?P=path)' \| Sort-Object -Property CreationTime \| Get-Content -Tail (?P<lines>\d+) \}",
    re.IGNORECASE,
)
# Sample: Test-Path -PathType Leaf -LiteralPath 'C:\\etc\\resolv.conf','C:\\k\\config'
_ARE_FILES = re.compile(
    r"Test-Path -PathType Leaf -LiteralPath (?P<paths>'[^']+'(?:,'[^']+')*)", re.IGNORECASE
)
_FIREWALL = (
    "convertto-json -inputobject @(get-netfirewallprofile -policystore activestore -erroraction stop "
    "| select-object -property @('name', @{name='enabled'; expression={[string]$_.enabled}})) -depth 2 -compress"
)
_PROFILES = ("Domain", "Private", "Public")


async def run(process: Process, text: str) -> int | None:
    """Run the pipeline; return its exit code, ``None`` where it is none of these or not on a node."""
    node = process.machine.node
    if node is None:
        return None
    if text.lower() == _FIREWALL:
        rows = [{"Name": name, "Enabled": str(node.disk.firewall)} for name in _PROFILES]
        await out(process, as_json(rows, compress=True))
        return 0
    if text.lower() == _KUBELET:
        return await _print_kubelet(process, node.disk)
    if match := _CONTENT.fullmatch(text):
        for name in sorted(_matching(node.disk, match["path"])):
            await out(process, node.disk.files[name])
        return 0
    if match := _LOGS.fullmatch(text):
        return await _print_ends(process, node.disk, match["path"], int(match["lines"]))
    if match := _ARE_FILES.fullmatch(text):
        there = {name.lower() for name in node.disk.files}
        paths = match["paths"].strip("'").split("','")
        await out(process, "".join(f"{path.lower() in there}\n" for path in paths))
        return 0
    match = _PROCESSES.fullmatch(text)
    if match is None:
        return None
    name = match["name"].lower()
    lines = [node.disk.command_lines.get(name)] if name in node.disk.processes else []
    await out(process, as_json([{"CommandLine": line} for line in lines], compress=True))
    return 0


async def _print_kubelet(process: Process, disk: Disk) -> int:
    """Print the kubelet's command line, and the file that its --config names."""
    line = disk.command_lines.get("kubelet", "")
    await out(process, f"{line}\n")
    if match := re.search(r"--config[= ](.+?)( --|$)", line.replace('"', "")):
        await out(process, f"{disk.files.get(match[1], '')}\n")
    return 0


async def _print_ends(process: Process, disk: Disk, path: str, lines: int) -> int:
    """Print the last lines of files, in the order in which they were created."""
    for name in _matching(disk, path):
        await out(process, "".join(disk.files[name].splitlines(keepends=True)[-lines:]))
    return 0


def _matching(disk: Disk, path: str) -> list[str]:
    """Return files by a path with wildcards on every level, the oldest first."""
    return [name for name in disk.files if fnmatch.fnmatchcase(name.lower(), path.lower())]
