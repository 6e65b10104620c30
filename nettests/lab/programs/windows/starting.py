"""Which programs a Windows container has, and how its node's runtime starts one: from argv to a command line, and to a file.

Images follow kubernetes/kubernetes, ``test/images/agnhost`` and ``test/images/busybox`` (``Dockerfile_windows``): agnhost has no
``.exe``; BIND's nslookup and PowerShell Core are in the image. A HostProcess container sees the node's own tools, and its
image in one folder of the node. Starting follows microsoft/hcsshim: ``internal/cmd`` (``escapeArgs``), ``internal/jobcontainers``
(``replaceWithMountPoint``, ``getApplicationName``, ``cmd /c``), and ``internal/hcs/system.go`` for the texts of other
containers. A missing program raises an error with the shim's text; with ``cmd /c``, cmd reports it instead.
"""

import ntpath
import re
from collections.abc import Sequence

from nettests.lab.interfaces import Machine, Process, ProgramNotFoundError
from nettests.lab.mounted.files import Drive, full
from nettests.lab.programs.golang.values import quote

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
"""Programs that a Windows image has only if they are in ``Machine.capabilities``."""


def drive_of(machine: Machine, *, with_agnhost: bool = True) -> Drive:
    """Return the executables of a new Windows container; base images lack agnhost and the programs beside it."""
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


_SYSTEM = (r"C:\Windows\System32", r"C:\Windows\System", r"C:\Windows")
_HOST_PATH = (*_SYSTEM, r"C:\Windows\System32\WindowsPowerShell\v1.0", r"C:\Windows\System32\Wbem")
"""The PATH of the node's services, the shim among them."""
_MOUNT_POINT = re.compile(r"%CONTAINER_SANDBOX_MOUNT_POINT%|\$env:CONTAINER_SANDBOX_MOUNT_POINT")
# "C:\Program Files\a.exe"  -n  1
_PART = re.compile(r'[^\s"]+|"([^"]*)"')
# a\\"b
_QUOTES = re.compile(r'(\\*)"')
_HCS = "hcs::System::CreateProcess"
_LOGON = "The user name or password is incorrect."


def command_line(argv: Sequence[str]) -> str:
    """Return argv as one line, with quotes only around empty words and words with blanks (Go's ``windows.EscapeArg``)."""
    words = []
    for word in argv:
        quoted = _QUOTES.sub(r'\1\1\\"', word)
        if not word or set(word) & {" ", "\t"}:
            ending = quoted[len(quoted.rstrip("\\")) :]
            quoted = f'"{quoted}{ending}"'
        words.append(quoted)
    return " ".join(words)


def arguments(line: str) -> list[str]:
    """Split a command line into a program's arguments, its own name first (``CommandLineToArgvW``)."""
    words: list[str] = []
    word, quoted, at, begun = "", False, 0, False
    while at < len(line):
        match = _QUOTES.match(line, at)
        if match:
            slashes = len(match[1])
            word += "\\" * (slashes // 2)
            if slashes % 2:
                word += '"'
            else:
                quoted = not quoted
            at, begun = match.end(), True
        elif line[at] in " \t\n" and not quoted:
            if begun:
                words.append(word)
            word, begun, at = "", False, at + 1
        else:
            word, begun, at = word + line[at], True, at + 1
    return [*words, word] if begun else words


def with_mount_point(text: str, root: str) -> str:
    """Replace the variable of the mount point, which is case-sensitive, by the image's folder (``replaceWithMountPoint``)."""
    return _MOUNT_POINT.sub(lambda _: root, text)


def start(process: Process, drive: Drive) -> tuple[str, str]:
    """Return the file and command line for ``process.argv``; ``ProgramNotFoundError`` with the shim's text."""
    machine = process.machine
    line = command_line(process.argv)
    if not machine.host_process:
        return _in_silo(process, drive, line)
    replaced = with_mount_point(line, machine.shim.root(machine.container_id))
    if machine.shim.behind_cmd:
        replaced = f"cmd /c {replaced}"
    # the shim searches its own PATH, since 0.10 the container's
    path = _path_of(process) if machine.shim.images_in_hpc else _HOST_PATH
    folders = (process.working_directory, *path, *_SYSTEM)
    application = _application(drive, replaced, folders)
    if application is None:
        raise ProgramNotFoundError(
            f"failed to get application name from commandline {quote(line)}: "
            f"failed to find executable {quote(replaced)}: unknown"
        )
    return application


def logon_failure(machine: Machine, argv: Sequence[str]) -> str:
    """Return the shim's error when it cannot log on an account."""
    if machine.host_process:
        return f"failed to create user process token: failed to logon user: {_LOGON}: unknown"
    return process_failure(machine, argv, _LOGON)


def process_failure(machine: Machine, argv: Sequence[str], why: str) -> str:
    """Return the shim's error when a process cannot be created; in the HCS's form from 0.10 on with the command line."""
    if machine.host_process:
        return f"failed to start host process: failed to create process: {why}: unknown"
    line = command_line(argv)
    operation = f"{_HCS}: {line}" if machine.shim.images_in_hpc else _HCS
    return f"{operation} {machine.container_id}: {why}: unknown"


def _in_silo(process: Process, drive: Drive, line: str) -> tuple[str, str]:
    folders = (process.working_directory, *_path_of(process), *_SYSTEM)
    application = _application(drive, line, folders)
    if application is None:
        folder = ntpath.dirname(process.argv[0].replace("/", "\\"))
        there = not folder or drive.has_folder(full(folder, process.working_directory))
        why = f"The system cannot find the {'file' if there else 'path'} specified."
        raise ProgramNotFoundError(process_failure(process.machine, process.argv, why))
    return application


def _path_of(process: Process) -> tuple[str, ...]:
    values = {name.upper(): value for name, value in process.environment.items()}
    return tuple(folder for folder in values.get("PATH", "").split(";") if folder)


def _application(drive: Drive, line: str, folders: Sequence[str]) -> tuple[str, str] | None:
    """Find the file that a line begins with: the quoted part, or the shortest prefix that is a file."""
    if line.startswith('"'):
        path = _file(drive, line[1:].partition('"')[0], folders)
        return (path, line) if path else None
    parts = [match[0] for match in _PART.finditer(line)]
    for count in range(1, len(parts) + 1):
        name = " ".join(parts[:count])
        path = _file(drive, name, folders)
        if path:
            quoted = " ".join((f'"{name}"', *parts[count:]))
            return path, line if count == 1 else quoted
    return None


def _file(drive: Drive, name: str, folders: Sequence[str]) -> str | None:
    """Find a file like ``SearchPathW``: a path as it is, a name in the folders, with ``.exe`` if it has no extension."""
    with_exe = name if ntpath.splitext(name)[1] else f"{name}.exe"
    if ntpath.dirname(name) or ":" in name:
        candidates = [full(each, folders[0]) for each in (name, with_exe)]
    else:
        candidates = [full(with_exe, full(folder, folders[0])) for folder in folders]
    return next((path for path in candidates if drive.program(path) is not None), None)
