"""What the API server requires of a node (``interfaces.Kubelet``): exec, logs, port-forward.

Port-forward goes the way of the node's runtime: containerd connects to 127.0.0.1 inside the pod's
namespace, on Windows too up to 1.7 (wincat in the sandbox); containerd 2 on Windows dials the pod's
address from the host (``sandbox_portforward_windows.go``).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from nettests.lab.interfaces import Duplex, ExecOutcome, NotRunningError
from nettests.lab.node.container import Container
from nettests.lab.node.context import NodeContext
from nettests.lab.node.dial import connect
from nettests.lab.node.pod import PodWorker
from nettests.lab.programs.sockets.texts import Call, call_text
from nettests.lab.topology import OS

_DIALS_FROM_HOST = 2


class NodeKubelet:
    """Answers for the pods of one node; ``workers`` maps ``namespace/name`` to them."""

    def __init__(self, node: NodeContext, workers: Mapping[str, PodWorker]) -> None:
        self._node = node
        self._workers = workers

    async def exec(
        self,
        *,
        namespace: str,
        pod: str,
        container: str,
        argv: Sequence[str],
        stdin: Callable[[], Awaitable[bytes]] | None,
        stdout: Callable[[bytes], Awaitable[None]],
        stderr: Callable[[bytes], Awaitable[None]],
        tty: bool,
    ) -> ExecOutcome:
        """Run a program in a running container; ``NotRunningError`` when there is none."""
        target = self._container(namespace, pod, container)
        return await target.exec(argv, stdin=stdin, stdout=stdout, stderr=stderr, tty=tty)

    def kill(self, *, namespace: str, pod: str) -> bool:
        """End the processes of a pod's containers as the kernel does (SIGKILL); say whether there were any."""
        worker = self._workers.get(f"{namespace}/{pod}")
        return worker is not None and worker.kill()

    def stop_serving(self, *, namespace: str, pod: str) -> None:
        """Close what a pod's containers listen on; their processes live on."""
        worker = self._workers.get(f"{namespace}/{pod}")
        if worker is not None:
            worker.stop_serving()

    async def log(
        self, *, namespace: str, pod: str, container: str, previous: bool
    ) -> Sequence[tuple[str, bytes]]:
        """Return the container's log so far, or that of its run before the last restart."""
        target = self._container(namespace, pod, container)
        if not previous:
            return target.log.lines()
        if target.previous is None:
            text = f'previous terminated container "{container}" in pod "{pod}" not found'
            raise NotRunningError(text)
        return target.previous.lines()

    async def open_port(self, *, namespace: str, pod: str, port: int) -> Duplex:
        """Connect to a port of the pod as this node's runtime does; ``OSError`` if it fails."""
        worker = self._workers.get(f"{namespace}/{pod}")
        if worker is None or worker.sandbox is None:
            raise OSError(f'pod "{pod}" is not running')
        sandbox = worker.sandbox
        if self._dials_from_host() and not sandbox.host_process:
            return await self._dial(str(sandbox.address), port)
        return await connect(sandbox.namespace, "127.0.0.1", port)

    async def _dial(self, address: str, port: int) -> Duplex:
        """Dial a pod from the host; containerd passes Windows' error text on."""
        try:
            return await connect(self._node.network.host, address, port)
        except OSError as error:
            text = call_text(
                OS.WINDOWS, Call.CONNECT, error, self._node.profile.windows.message_locale
            )
            message = f"failed to connect to {address}:{port}: dial tcp {address}:{port}: {text}"
            raise NotRunningError(message) from error

    def _dials_from_host(self) -> bool:
        # containerd://2.0.5
        major = int(self._node.spec.runtime.partition("://")[2].split(".")[0])
        usual = int(major >= _DIALS_FROM_HOST)
        dials = bool(self._node.profile.mechanism("forward-to-address", usual))
        return self._node.spec.os is OS.WINDOWS and dials

    def _container(self, namespace: str, pod: str, name: str) -> Container:
        worker = self._workers.get(f"{namespace}/{pod}")
        if worker is None:
            raise NotRunningError(f'container not found ("{name}")')
        return worker.container(name)
