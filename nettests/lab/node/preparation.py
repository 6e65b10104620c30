"""Prepare a container's process before it starts: its command, variables, directory, account and machine.

Called by ``container`` for each run, because the runtime creates a container for each. ``ConfigError`` means that the container cannot
be created, ``StartFailedError`` that the runtime cannot start it. HostProcess containers follow the shim, microsoft/hcsshim
``internal/jobcontainers`` (``CreateProcess``, ``processToken``), and the images' Dockerfile (kubernetes/kubernetes,
``test/images/busybox/Dockerfile_windows``). Their variables are those of the account on the node, then the image's and the Pod's;
later ones replace earlier ones, whatever their case.
"""

import ntpath
from collections.abc import Mapping
from dataclasses import dataclass, replace

from nettests.lab.client import Json
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Machine, Process
from nettests.lab.mounted.files import Volume
from nettests.lab.node.container_state import ContainerLog
from nettests.lab.node.context import NodeContext, Sandbox
from nettests.lab.node.environment import ConfigError, command_line, linux_variables, variables
from nettests.lab.node.images import Image
from nettests.lab.node.machine import breaks_non_root, machine_of, unknown_account, user_of
from nettests.lab.programs.windows import starting
from nettests.lab.programs.windows.starting import drive_of, with_mount_point
from nettests.lab.topology import OS, Shim

VARIABLE = "CONTAINER_SANDBOX_MOUNT_POINT"
SYSTEM = "NT AUTHORITY"
"""The domain of system accounts, in the only spelling that logs on without a password."""
_USER_NAME = 20
"""The length of the user name that the shim makes of a container's id, for an account in a group."""
_EXTRA_PATH = r";C:\WINDOWS\System32\WindowsPowerShell\v1.0\;C:\WINDOWS\System32\Wbem"
_WINDOWS = read_yaml(__package__, "windows.yaml")


def computer(hostname: str) -> dict[str, str]:
    """Return the variable with the computer's NetBIOS name."""
    return {"COMPUTERNAME": hostname.upper()[:15]}


def host_variables(hostname: str, account: str) -> dict[str, str]:
    """Return the variables of an account's processes on its node."""
    name = account.rpartition("\\")[2]
    home = _WINDOWS["profiles"].get(name.lower(), r"C:\Windows\system32\config\systemprofile")
    domain = hostname.upper()[:15] if name.lower() in _WINDOWS["services"] else ""
    of_account = {"USERDOMAIN": domain, "USERNAME": name, "USERPROFILE": home}
    of_account |= {"windir": r"C:\Windows"}
    return {**computer(hostname), **_WINDOWS["host"], **of_account}


def on_host(
    shim: Shim, container_id: str, host: Mapping[str, str], variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of a HostProcess container: its account's, its ``variables``, and its mount point."""
    root = shim.root(container_id)
    given = {name: with_mount_point(value, root) for name, value in variables.items() if value}
    merged: dict[str, tuple[str, str]] = {}
    for name, value in (*host.items(), *given.items(), (VARIABLE, f"{root}\\")):
        if name.lower() == "path" and shim.images_in_hpc:
            merged["path"] = (name, f"{value.rstrip(';')};{root}\\{_EXTRA_PATH}")
        else:
            merged[name.lower()] = (name, value)
    return dict(merged.values())


def host_account(shim: Shim, container_id: str, hostname: str, name: str) -> str | None:
    """Return the account that a HostProcess container runs as; ``None`` if the shim cannot log on.

    From 0.10 on a local group means a new account in that group; accounts with a password cannot log on.
    """
    domain, _, user = name.rpartition("\\")
    if shim.images_in_hpc and name.lower() in _WINDOWS["groups"]:
        return f"{hostname}\\{container_id[:_USER_NAME]}"
    if domain == SYSTEM and user.lower() in _WINDOWS["services"]:
        return name
    return None


class StartFailedError(Exception):
    """The runtime cannot start the container's program; the text is its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the container ``spec`` of a pod, as the runtime's container ``container_id``."""

    node: NodeContext
    pod: Json
    spec: Json
    sandbox: Sandbox
    image: Image
    container_id: str
    message: Volume

    def process(self, log: ContainerLog) -> Process:
        """Return the process of the container's program; ``ConfigError`` or ``StartFailedError`` if it has none."""
        refusal = breaks_non_root(self.node, self.pod, self.spec)
        if refusal is not None:
            raise ConfigError(refusal)
        variables = self._own_variables()
        argv = command_line(self.spec, self.image, variables)
        machine = self._machine(argv)
        environment = variables
        if machine.host_process:
            host = host_variables(self.node.spec.name, machine.user)
            environment = on_host(self.node.shim, self.container_id, host, variables)
        return Process(
            argv=argv,
            environment=environment,
            machine=machine,
            stdout=log.stdout,
            stderr=log.stderr,
            tty=bool(self.spec.get("tty", False)),
            working_directory=self._directory(),
        )

    def _own_variables(self) -> dict[str, str]:
        """Return the variables of image and pod, which the kubelet expands in the command."""
        node, sandbox, pod = self.node, self.sandbox, self.pod
        facts = {
            "status.podIP": str(sandbox.address),
            "status.podIPs": ",".join(sandbox.addresses),
            "status.hostIP": str(node.spec.address),
            "status.hostIPs": ",".join(node.spec.addresses),
        }
        image = linux_variables(sandbox.hostname)
        if node.spec.os is OS.WINDOWS:
            if not node.profile.mechanism("service-links", 1):
                pod = {**pod, "spec": {**pod["spec"], "enableServiceLinks": False}}
            image = dict(_WINDOWS["image"]) if self.image.holds_agnhost else {}
            if not sandbox.host_process:
                image |= computer(sandbox.hostname)
        return variables(pod, self.spec, facts, node.services(), image)

    def _machine(self, argv: list[str]) -> Machine:
        node, sandbox = self.node, self.sandbox
        user = user_of(node, self.pod, self.spec, host_process=sandbox.host_process)
        machine = replace(
            machine_of(node, self.pod, self.spec, sandbox, self.message, user=user),
            container_id=self.container_id,
            shim=self.node.shim,
        )
        account: str | None = user
        if sandbox.host_process:
            shim, host = self.node.shim, node.spec.name
            account = host_account(shim, self.container_id, host, user)
        if account is None or unknown_account(node, user, host_process=sandbox.host_process):
            raise StartFailedError(starting.logon_failure(machine, argv))
        if node.spec.os is OS.LINUX:
            return machine
        machine = replace(machine, user=account)
        return replace(machine, drive=drive_of(machine, with_agnhost=self.image.holds_agnhost))

    def _directory(self) -> str:
        """Return the folder that the container starts in; without ``cmd`` paths are relative to the image's folder."""
        wanted, shim = str(self.spec.get("workingDir") or ""), self.node.shim
        if not self.sandbox.host_process:
            return wanted or ("/" if self.node.spec.os is OS.LINUX else "C:\\")
        root = shim.root(self.container_id)
        place = wanted or shim.directory
        replaced = with_mount_point(place, root)
        if replaced != place or shim.behind_cmd:
            return replaced
        return ntpath.normpath(ntpath.join(root, ntpath.splitdrive(place)[1].lstrip("\\/")))
