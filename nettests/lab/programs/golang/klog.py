"""Log lines as klog writes them: ``I1121 01:06:58.380590   18863 log.go:244] GET /hostname``.

agnhost sends the standard ``log`` package through klog, so that every line carries ``log.go:244``.
"""

from datetime import UTC, datetime

from nettests.lab.interfaces import Process

_PROCESS_ID = 1
_SOURCE = "log.go:244"


class Log:
    """Writes one process's log to its standard error."""

    def __init__(self, process: Process) -> None:
        self._write = process.stderr

    async def line(self, text: str) -> None:
        """Write one line; a final newline in ``text`` is not doubled."""
        now = datetime.now(UTC)
        stamp = now.strftime("%m%d %H:%M:%S.%f")
        message = text.removesuffix("\n")
        await self._write(f"I{stamp} {_PROCESS_ID:>7} {_SOURCE}] {message}\n".encode())
