"""Programs that exec and probes run in a container; they end when the container ends.

Their output may be lost, as on some Windows nodes: all of it if it is short, or what exceeds a limit.
"""

import asyncio
import itertools
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from nettests.lab.interfaces import ExecOutcome, Process, ProgramNotFoundError
from nettests.lab.node.context import NodeContext
from nettests.lab.programs.terminal import reading
from nettests.lab.programs.windows import starting
from nettests.lab.topology import OS

Write = Callable[[bytes], Awaitable[None]]

_SHORT = 4096
"""The size of a pipe, which the shim closes before it has read it (hcsshim before 5eb195256)."""


class Output:
    """The streams of one command; wrap each by ``through``, and call ``end`` when the command has ended."""

    def __init__(self, *, loses_all: bool, limit: int | None) -> None:
        self._loses_all, self._left = loses_all, limit
        self._held: list[tuple[Write, bytes]] = []

    def through(self, write: Write) -> Write:
        """Return ``write`` with the losses."""

        async def passed(data: bytes) -> None:
            if self._left is not None:
                data = data[: self._left]
                self._left -= len(data)
            if not self._loses_all:
                await write(data)
                return
            self._held.append((write, data))
            if sum(len(held) for _, held in self._held) > _SHORT:
                self._loses_all = False
                await self.end()

        return passed

    async def end(self) -> None:
        """Pass on the held-back output, unless it is lost."""
        held, self._held = self._held, []
        for write, data in held if not self._loses_all else ():
            await write(data)


Read = Callable[[], Awaitable[bytes]]

_KILLED = 137
_RUNC = "OCI runtime exec failed: exec failed: unable to start container process: "


class Guests:
    """The guests of one container of a node."""

    def __init__(self, node: NodeContext) -> None:
        self._node = node
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[int]] = set()

    async def run(
        self,
        host: Process,
        argv: Sequence[str],
        *,
        stdin: Read | None,
        stdout: Write,
        stderr: Write,
        tty: bool,
    ) -> ExecOutcome:
        """Run ``argv`` with the environment and machine of ``host``; cancelling kills the program."""
        troubles = self._node.network.disk.troubles
        output = Output(loses_all=self._loses_output(), limit=troubles.output_limit)
        guest = replace(
            host,
            argv=list(argv),
            stdin=stdin or reading(),
            stdout=output.through(_through_terminal(stdout) if tty else stdout),
            stderr=output.through(stderr),
            tty=tty,
            terminate=asyncio.Event(),
        )
        if troubles.refused:
            error = f"{_RUNC}permission denied"
            if self._node.spec.os is OS.WINDOWS:
                error = starting.process_failure(guest.machine, guest.argv, "Access is denied.")
            return ExecOutcome(exit_code=None, error=error)
        task = asyncio.create_task(self._node.execute(guest))
        self._tasks.add(task)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._tasks.discard(task)
        await output.end()
        outcome = _outcome(task, self._node.spec.os)
        if troubles.exit_code is None or outcome.exit_code is None:
            return outcome
        return ExecOutcome(exit_code=troubles.exit_code)

    def end(self) -> None:
        """Kill all guests, as their container has ended."""
        for task in self._tasks:
            task.cancel()

    def _loses_output(self) -> bool:
        node = self._node
        if node.network.disk.troubles.loses_output:
            return True
        every = node.profile.windows.lost_output
        affected = node.spec.os is OS.WINDOWS and node.shim.loses_output and every
        return bool(affected) and next(self._numbers) % every == 0


def exec_failure(text: str) -> str:
    """Return containerd's error for an exec whose program did not start."""
    return f'failed to exec in container: failed to start exec "{secrets.token_hex(32)}": {text}'


def _through_terminal(write: Write) -> Write:
    """Return ``write`` behind a terminal, which writes LF as CR LF (ONLCR)."""

    async def terminal(data: bytes) -> None:
        await write(data.replace(b"\n", b"\r\n"))

    return terminal


def _outcome(task: "asyncio.Task[int]", os: OS) -> ExecOutcome:
    """Return how a program ended; start errors are in runc's words on Linux, in the shim's on Windows."""
    if task.cancelled():
        return ExecOutcome(exit_code=_KILLED)
    error = task.exception()
    if isinstance(error, ProgramNotFoundError):
        return ExecOutcome(exit_code=None, error=f"{_RUNC if os is OS.LINUX else ''}{error}")
    return ExecOutcome(exit_code=task.result())
