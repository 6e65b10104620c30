"""The emulated external host: netexec on TCP and UDP, reachable from the cluster through its gateway only."""

from collections.abc import Awaitable, Callable

from nettests.lab.interfaces import Machine, Namespace, Process, ResolverConfig
from nettests.lab.programs.images import run
from nettests.lab.topology import OS, Profile


class OutsideServer:
    """The external target of a profile; ``run`` serves until it is cancelled."""

    def __init__(self, profile: Profile, namespace: Namespace) -> None:
        self._profile = profile
        self.machine = Machine(
            os=OS.LINUX,
            hostname=profile.outside_name.partition(".")[0],
            namespace=namespace,
            addresses=(str(profile.outside_server),),
            gateway="",
            resolver=ResolverConfig(servers=()),
        )

    async def run(self, log: Callable[[bytes], Awaitable[None]]) -> int:
        """Serve the profile's TCP and UDP ports; log lines go to ``log``."""
        ports = self._profile.outside_tcp_port, self._profile.outside_udp_port
        process = Process(
            argv=["/agnhost", "netexec", f"--http-port={ports[0]}", f"--udp-port={ports[1]}"],
            environment={},
            machine=self.machine,
            stdout=log,
            stderr=log,
        )
        return await run(process)
