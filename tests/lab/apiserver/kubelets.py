"""The nodes of the test's cluster: programs really run, connections are really made.

Programs run in a user and PID namespace of their own, so that the recorded ``kill -9 1`` hits nothing.
"""

import asyncio
import errno
import os
import pty
from collections.abc import Awaitable, Callable, Sequence

from nettests.lab.interfaces import Duplex, ExecOutcome, NotRunningError
from tests.lab.apiserver.netexec import NetExec

Write = Callable[[bytes], Awaitable[None]]

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""Each worker of pytest-xdist has loopback addresses of its own: kubelets listen on fixed ports."""
NODES = {"n1": f"127.20.{WORKER}.11", "n2": f"127.20.{WORKER}.12"}


def _confined(*words: str) -> list[str]:
    """Run in its own user and PID namespace: ``kill -9 1`` hits nothing but itself."""
    return ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", *words]


class TestKubelet:
    """Runs programs for pods that it was told of."""

    __test__ = False

    def __init__(self) -> None:
        self.servers: dict[str, NetExec] = {}
        self.logs: dict[str, list[tuple[str, bytes]]] = {}
        self.started: list[Sequence[str]] = []

    async def exec(
        self,
        *,
        namespace: str,
        pod: str,
        container: str,
        argv: Sequence[str],
        stdin: Callable[[], Awaitable[bytes]] | None,
        stdout: Write,
        stderr: Write,
        tty: bool,
    ) -> ExecOutcome:
        """Run a real program; one that does not exist fails as runc fails."""
        self.started.append(argv)
        if argv[0] == "nosuchcmd":
            return ExecOutcome(
                exit_code=None,
                error="OCI runtime exec failed: exec failed: unable to start container process: "
                f'exec: "{argv[0]}": executable file not found in $PATH',
            )
        if tty:
            return await _run_on_terminal(argv, stdout)
        return await _run_piped(argv, stdin, stdout, stderr)

    async def log(
        self, *, namespace: str, pod: str, container: str, previous: bool
    ) -> Sequence[tuple[str, bytes]]:
        """Return what the pod's server logged."""
        if previous:
            return [("2026-11-21T00:00:00Z", b'Error: unknown command "nosuch" for "app"\n')]
        return self.logs.get(f"{namespace}/{pod}", [])

    async def open_port(self, *, namespace: str, pod: str, port: int) -> Duplex:
        """Connect to the pod's server."""
        server = self.servers.get(f"{namespace}/{pod}")
        if server is None:
            raise NotRunningError(f'pod "{pod}" is not running')
        return await _connect(server.address, port)


async def _connect(address: str, port: int) -> Duplex:
    reader, writer = await asyncio.open_connection(address, port, local_addr=("127.0.0.1", 0))
    return Duplex(reader=reader, writer=writer)


async def _run_piped(
    argv: Sequence[str],
    stdin: Callable[[], Awaitable[bytes]] | None,
    stdout: Write,
    stderr: Write,
) -> ExecOutcome:
    process = await asyncio.create_subprocess_exec(
        *_confined(*argv),
        stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None

    async def copy(source: asyncio.StreamReader, target: Write) -> None:
        while data := await source.read(32768):
            await target(data)

    async def feed(read: Callable[[], Awaitable[bytes]]) -> None:
        assert process.stdin is not None
        while data := await read():
            process.stdin.write(data)
        process.stdin.close()

    feeder = asyncio.create_task(feed(stdin)) if stdin else None
    try:
        await asyncio.gather(copy(process.stdout, stdout), copy(process.stderr, stderr))
        code = await process.wait()
    finally:
        if feeder:
            feeder.cancel()
        if process.returncode is None:
            process.kill()
            await process.wait()
        process._transport.close()  # type: ignore[attr-defined]
    return ExecOutcome(exit_code=128 - code if code < 0 else code)


async def _run_on_terminal(argv: Sequence[str], stdout: Write) -> ExecOutcome:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *_confined(*argv), stdin=theirs, stdout=theirs, stderr=theirs
    )
    code = await process.wait()
    os.close(theirs)
    await stdout(os.read(ours, 65536))
    os.close(ours)
    return ExecOutcome(exit_code=code)


class TestNodes:
    """Finds kubelets by node, and dials as the control plane's node would."""

    __test__ = False

    def __init__(self) -> None:
        self.kubelets = {name: TestKubelet() for name in NODES}
        self.unreachable: set[str] = set()

    async def dial(self, address: str, port: int) -> Duplex:
        """Connect; addresses of pods that are gone have no route."""
        if address in self.unreachable:
            raise OSError(errno.EHOSTUNREACH, os.strerror(errno.EHOSTUNREACH))
        return await _connect(address, port)
