"""One container on a node of its own, in virtual time: what runs in it, and what was told of it."""

import asyncio
from typing import Any

from nettests.lab.interfaces import Process
from nettests.lab.node.container import Container
from nettests.lab.node.context import NodeContext, Sandbox
from nettests.lab.node.images import Kind
from tests.lab.node import nowhere
from tests.lab.node.nowhere import IMAGE, Told
from tests.lab.node.virtual_time import now

Json = dict[str, Any]


class Program:
    """A program that ends with one of ``codes`` after the other, each after ``lasts`` seconds.

    Told to end, it does so after ``leaves`` seconds.
    """

    def __init__(self, *codes: int, lasts: float = 0.5, leaves: float = 0.0) -> None:
        self._codes = list(codes)
        self._lasts, self._leaves = lasts, leaves
        self.began: list[float] = []
        self.processes: list[Process] = []

    async def launch(self, kind: Kind, process: Process) -> int:
        """Run once."""
        assert kind is Kind.AGNHOST
        self.began.append(now())
        self.processes.append(process)
        await process.stdout(f"run {len(self.began)}\n".encode())
        try:
            async with asyncio.timeout(self._lasts if self._codes else None):
                await process.terminate.wait()
        except TimeoutError:
            return self._codes.pop(0) if len(self._codes) > 1 else self._codes[0]
        await asyncio.sleep(self._leaves)
        return 0


class Lone:
    """One container of a node, and what was told of it."""

    def __init__(
        self,
        program: Program | None = None,
        *,
        context: NodeContext | None = None,
        sandbox: Sandbox | None = None,
        **pod: Any,
    ) -> None:
        self.program = program or Program()
        self.node = context or nowhere.node(launch=self.program.launch)
        self.pod = nowhere.pod(**pod)
        self.changes: list[tuple[float, Json]] = []
        self.container = Container(
            self.node,
            self.pod,
            self.pod["spec"]["containers"][0],
            sandbox or nowhere.sandbox(),
            self._changed,
        )

    def _changed(self) -> None:
        self.changes.append((now(), dict(self.container.view().state)))

    @property
    def told(self) -> Told:
        """The events."""
        assert isinstance(self.node.recorder, Told)
        return self.node.recorder

    def waited_for(self) -> list[tuple[float, str]]:
        """Return when the container began to wait, and for what."""
        return [(at, s["waiting"]["reason"]) for at, s in self.changes if "waiting" in s]

    async def run(self, seconds: float) -> int | None:
        """Run the container for so long at most; return its exit code if it ended."""
        try:
            async with asyncio.timeout(seconds):
                return await self.container.run()
        except TimeoutError:
            return None


def containers(**fields: Any) -> list[Json]:
    """Return a pod's only container with these fields."""
    return [{"name": "c", "image": IMAGE, **fields}]


async def stopped(lone: Lone, grace: float) -> tuple[float, int]:
    """Stop a container after two seconds; return when it had ended, and with what."""
    task = asyncio.create_task(lone.container.run())
    await asyncio.sleep(2)
    await lone.container.stop(grace)
    code = await task
    return now(), code
