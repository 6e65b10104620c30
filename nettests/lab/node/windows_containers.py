"""What the shim of a Windows node makes of a container before it starts: place, variables, directory, account. Pure.

After microsoft/hcsshim, ``internal/jobcontainers`` (``CreateProcess``, ``processToken``), and the images' own files
(kubernetes/kubernetes, ``test/images/busybox/Dockerfile_windows``). A HostProcess container has the variables of its
account on the node, then those of its image and Pod, later ones in place of earlier ones, whatever their case.
"""

import ntpath
from collections.abc import Mapping

from nettests.lab.node.images import Image
from nettests.lab.programs.windows.starting import with_mount_point
from nettests.lab.topology import Shim

VARIABLE = "CONTAINER_SANDBOX_MOUNT_POINT"
SYSTEM = "NT AUTHORITY"
"""The domain of the accounts of the system, in the one spelling that logs on without a password."""
_SERVICES = frozenset(
    {"system", "local service", "localservice", "network service", "networkservice"}
)
_GROUPS = frozenset(
    {
        "administrators",
        "backup operators",
        "guests",
        "network configuration operators",
        "performance log users",
        "power users",
        "users",
    }
)
"""Local groups of a node, among those that Windows has by itself."""
_USER_NAME = 20
"""Characters of a container's id that name the account of a group's member."""
_HOST_PATHEXT = ".COM;.EXE;.BAT;.CMD;.VBS;.VBE;.JS;.JSE;.WSF;.WSH;.MSC;.CPL"
_EXTRA_PATH = r";C:\WINDOWS\System32\WindowsPowerShell\v1.0\;C:\WINDOWS\System32\Wbem"
_PROFILES = {
    "local service": r"C:\Windows\ServiceProfiles\LocalService",
    "network service": r"C:\Windows\ServiceProfiles\NetworkService",
}


def computer(hostname: str) -> dict[str, str]:
    """Return the variable that names a computer, as NetBIOS cuts it."""
    return {"COMPUTERNAME": hostname.upper()[:15]}


def image_variables(image: Image) -> dict[str, str]:
    """Return the variables that an image states."""
    if not image.holds_agnhost:
        return {}
    local = r"C:\Users\ContainerAdministrator\AppData\Local"
    return {
        "LOCALAPPDATA": local,
        "PATH": "C:\\dig\\;C:\\bin\\;C:\\curl\\;C:\\Windows\\system32;C:\\Windows;C:\\Program Files\\PowerShell;",
        "PSCORE": r"C:\Program Files\PowerShell\pwsh.exe",
        "PSModuleAnalysisCachePath": rf"{local}\Microsoft\Windows\PowerShell\docker\ModuleAnalysisCache",
        "ProgramFiles": r"C:\Program Files",
    }


def host_variables(hostname: str, account: str) -> dict[str, str]:
    """Return the variables that a process of an account has on its node."""
    name = account.rpartition("\\")[2]
    home = _PROFILES.get(name.lower(), r"C:\Windows\system32\config\systemprofile")
    return {
        **computer(hostname),
        "ComSpec": r"C:\Windows\system32\cmd.exe",
        "OS": "Windows_NT",
        "PATHEXT": _HOST_PATHEXT,
        "Path": "C:\\Windows\\system32;C:\\Windows;C:\\Windows\\System32\\Wbem;"
        "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\",
        "ProgramData": r"C:\ProgramData",
        "SystemDrive": "C:",
        "SystemRoot": r"C:\Windows",
        "TEMP": r"C:\Windows\TEMP",
        "TMP": r"C:\Windows\TEMP",
        "USERDOMAIN": hostname.upper()[:15] if name.lower() in _SERVICES else "",
        "USERNAME": name,
        "USERPROFILE": home,
        "windir": r"C:\Windows",
    }


def on_host(
    shim: Shim, container_id: str, host: Mapping[str, str], variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of a HostProcess container: its account's, its ``variables``, and where its image is."""
    root = shim.root(container_id)
    given = {name: with_mount_point(value, root) for name, value in variables.items() if value}
    merged: dict[str, tuple[str, str]] = {}
    for name, value in (*host.items(), *given.items(), (VARIABLE, f"{root}\\")):
        if name.lower() == "path" and shim.images_in_hpc:
            merged["path"] = (name, f"{value.rstrip(';')};{root}\\{_EXTRA_PATH}")
        else:
            merged[name.lower()] = (name, value)
    return dict(merged.values())


def directory(shim: Shim, container_id: str, wanted: str, *, host_process: bool) -> str:
    """Return where a container starts: where images are no bound folder, paths count below the image."""
    if not host_process:
        return wanted or "C:\\"
    root = shim.root(container_id)
    place = wanted or shim.directory
    replaced = with_mount_point(place, root)
    if replaced != place or shim.behind_cmd:
        return replaced
    return ntpath.normpath(ntpath.join(root, ntpath.splitdrive(place)[1].lstrip("\\/")))


def account(shim: Shim, container_id: str, hostname: str, name: str) -> str | None:
    """Return the account that a HostProcess container runs as; ``None`` where the shim cannot log on.

    From 0.10 on a local group stands for a new account in it; accounts with a password cannot log on.
    """
    domain, _, user = name.rpartition("\\")
    if shim.images_in_hpc and name.lower() in _GROUPS:
        return f"{hostname}\\{container_id[:_USER_NAME]}"
    if domain == SYSTEM and user.lower() in _SERVICES:
        return name
    return None
