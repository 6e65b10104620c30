"""What a command's output loses on its way: all of it where it is short, or what exceeds a limit."""

from collections.abc import Awaitable, Callable

Write = Callable[[bytes], Awaitable[None]]

_SHORT = 4096
"""Bytes that a pipe takes at once: the shim closes its ends before it has read them (hcsshim before 5eb195256)."""


class Output:
    """The streams of one command; ``through`` wraps each, and ``end`` is called when the command has ended."""

    def __init__(self, *, loses_all: bool, limit: int | None) -> None:
        self._loses_all, self._left = loses_all, limit
        self._held: list[tuple[Write, bytes]] = []

    def through(self, write: Write) -> Write:
        """Return a stream from which the same is lost."""

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
        """Pass on what was held back, unless it is lost."""
        held, self._held = self._held, []
        for write, data in held if not self._loses_all else ():
            await write(data)
