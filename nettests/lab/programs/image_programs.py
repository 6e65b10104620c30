"""Which executable files Windows containers see: those of the agnhost image, of its base, and of the node itself.

After kubernetes/kubernetes, ``test/images/agnhost`` and ``test/images/busybox`` (``Dockerfile_windows``): agnhost has no
``.exe``, BIND's nslookup and PowerShell Core come with the image. A HostProcess container sees the node's own tools, and
its image in one folder of the node.
"""

import ntpath

from nettests.lab.interfaces import Machine
from nettests.lab.mounted import Drive

_SYSTEM32 = r"C:\Windows\System32"
_OF_IMAGE = {
    "agnhost": "agnhost",
    "agnhost-2": "agnhost",
    r"bin\cat.exe": "cat",
    r"bin\nc.exe": "nc",
    r"curl\curl.exe": "curl",
    r"dig\nslookup.exe": "bind-nslookup",
    r"Program Files\PowerShell\powershell.exe": "powershell",
    r"Program Files\PowerShell\pwsh.exe": "powershell",
}
_OF_BASE = ["cmd", "curl", "hostname", "ipconfig", "ping", "reg", "where", "whoami"]
_OF_NODE = "cmd curl fsutil hostname ipconfig netsh nslookup ping pktmon reg tasklist where whoami"
_POWERSHELL = rf"{_SYSTEM32}\WindowsPowerShell\v1.0\powershell.exe"
_OPTIONAL = frozenset({"ping"})
"""Programs an ordinary Windows image may lack; ``Machine.capabilities`` says."""


def drive_of(machine: Machine, *, with_agnhost: bool = True) -> Drive:
    """Return the executables of a new Windows container; base images alone hold no agnhost and nothing that came with it."""
    image = _OF_IMAGE if with_agnhost else {}
    if machine.host_process:
        root, tools = machine.shim.root(machine.container_id), _OF_NODE.split()
    else:
        root, tools = "C:\\", [t for t in _OF_BASE if t not in _OPTIONAL - machine.capabilities]
    programs = {ntpath.join(root, path): program for path, program in image.items()}
    programs |= {rf"{_SYSTEM32}\{tool}.exe": tool for tool in tools}
    if machine.host_process:
        programs[_POWERSHELL] = "powershell"
    plugins = {} if machine.node is None else machine.node.disk.programs
    return Drive(programs=programs, plugins=plugins, missing=machine.troubles.missing)
