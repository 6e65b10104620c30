"""One container's process before it starts: its command, variables, directory, account and machine.

Called by ``container`` for each run, because the runtime makes a container of each. What keeps a container from being
made is a ``ConfigError``; what the runtime says when it cannot start one is a ``StartFailedError``.
"""

from dataclasses import dataclass, replace

from nettests.lab.client import Json
from nettests.lab.interfaces import Machine, Process
from nettests.lab.mounted import Volume
from nettests.lab.node import windows_containers
from nettests.lab.node.context import NodeContext, Sandbox
from nettests.lab.node.environment import ConfigError, command_line, linux_variables, variables
from nettests.lab.node.images import Image
from nettests.lab.node.logs import ContainerLog
from nettests.lab.node.machine import breaks_non_root, machine_of, unknown_account, user_of
from nettests.lab.programs.image_programs import drive_of
from nettests.lab.programs.windows import starting
from nettests.lab.topology import OS, Shim


class StartFailedError(Exception):
    """The runtime cannot start the container's program; the text is its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a container: of a pod's ``spec``, in ``sandbox``, as the runtime's container ``container_id``."""

    node: NodeContext
    pod: Json
    spec: Json
    sandbox: Sandbox
    image: Image
    container_id: str
    message: Volume

    @property
    def shim(self) -> Shim:
        """The shim of the node."""
        return self.node.shim

    def process(self, log: ContainerLog) -> Process:
        """Return the process of the container's variables program."""
        refusal = breaks_non_root(self.node, self.pod, self.spec)
        if refusal is not None:
            raise ConfigError(refusal)
        variables = self._own_variables()
        argv = command_line(self.spec, self.image, variables)
        machine = self._machine(argv)
        environment = variables
        if machine.host_process:
            host = windows_containers.host_variables(self.node.spec.name, machine.user)
            environment = windows_containers.on_host(self.shim, self.container_id, host, variables)
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
        """Return the variables of image and pod, from which the kubelet fills in a command."""
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
            image = windows_containers.image_variables(self.image)
            if not sandbox.host_process:
                image |= windows_containers.computer(sandbox.hostname)
        return variables(pod, self.spec, facts, node.services(), image)

    def _machine(self, argv: list[str]) -> Machine:
        node, sandbox = self.node, self.sandbox
        user = user_of(node, self.pod, self.spec, host_process=sandbox.host_process)
        machine = replace(
            machine_of(node, self.pod, self.spec, sandbox, self.message, user=user),
            container_id=self.container_id,
            shim=self.shim,
        )
        account: str | None = user
        if sandbox.host_process:
            shim, host = self.shim, node.spec.name
            account = windows_containers.account(shim, self.container_id, host, user)
        if account is None or unknown_account(node, user, host_process=sandbox.host_process):
            raise StartFailedError(starting.logon_failure(machine, argv))
        if node.spec.os is OS.LINUX:
            return machine
        machine = replace(machine, user=account)
        return replace(machine, drive=drive_of(machine, with_agnhost=self.image.holds_agnhost))

    def _directory(self) -> str:
        wanted = str(self.spec.get("workingDir") or "")
        if self.node.spec.os is OS.LINUX:
            return wanted or "/"
        return windows_containers.directory(
            self.shim, self.container_id, wanted, host_process=self.sandbox.host_process
        )
