"""Programs that exec and probes run beside a container's own; they end when the container ends."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from nettests.lab.interfaces import ExecOutcome, Process, ProgramNotFoundError
from nettests.lab.node.context import Execute

Write = Callable[[bytes], Awaitable[None]]
Read = Callable[[], Awaitable[bytes]]

_KILLED = 137


class Guests:
    """The guests of one container; ``execute`` runs a program."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute
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
        guest = Process(
            argv=list(argv),
            environment=host.environment,
            machine=host.machine,
            stdout=_through_terminal(stdout) if tty else stdout,
            stderr=stderr,
            tty=tty,
            working_directory=host.working_directory,
        )
        if stdin is not None:
            guest = replace(guest, stdin=stdin)
        task = asyncio.create_task(_as_coroutine(self._execute(guest)))
        self._tasks.add(task)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._tasks.discard(task)
        return _outcome(task)

    def end(self) -> None:
        """Kill all guests: their container has ended."""
        for task in self._tasks:
            task.cancel()


def _through_terminal(write: Write) -> Write:
    """Return ``write`` behind a terminal, which ends lines with CR LF (ONLCR)."""

    async def terminal(data: bytes) -> None:
        await write(data.replace(b"\n", b"\r\n"))

    return terminal


def _outcome(task: "asyncio.Task[int]") -> ExecOutcome:
    if task.cancelled():
        return ExecOutcome(exit_code=_KILLED)
    error = task.exception()
    if isinstance(error, ProgramNotFoundError):
        return ExecOutcome(exit_code=None, error=str(error))
    return ExecOutcome(exit_code=task.result())


async def _as_coroutine(work: Awaitable[int]) -> int:
    return await work
