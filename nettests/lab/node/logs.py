"""A container's log: lines with the time they were written, bounded like a rotated file."""

from collections import deque
from datetime import UTC, datetime

_MAX_LINES = 20_000
_MAX_LINE = 16 * 1024
_TAIL_LINES, _TAIL_BYTES = 80, 2048
"""``MaxContainerTerminationMessageLogLines`` and ``…Length`` (kubernetes/kubernetes, ``pkg/kubelet/container``)."""


class ContainerLog:
    """Collects what a container writes; the oldest lines go when there are too many."""

    def __init__(self) -> None:
        self._lines: deque[tuple[str, bytes]] = deque(maxlen=_MAX_LINES)
        self._open: dict[str, bytes] = {"stdout": b"", "stderr": b""}

    async def stdout(self, data: bytes) -> None:
        """Take what the container wrote on its standard output."""
        self._add("stdout", data)

    async def stderr(self, data: bytes) -> None:
        """Take what the container wrote on its standard error."""
        self._add("stderr", data)

    def lines(self) -> tuple[tuple[str, bytes], ...]:
        """Return finished lines with their time (RFC 3339, nanoseconds), oldest first."""
        return tuple(self._lines)

    def close(self) -> None:
        """Keep what was written without a newline at the end; the container has ended."""
        for stream, text in self._open.items():
            if text:
                self._lines.append((_now(), text))
                self._open[stream] = b""

    def tail(self) -> str:
        """Return what a kubelet takes for a termination message: 80 lines and 2048 bytes at most."""
        end = b"".join(line for _, line in tuple(self._lines)[-_TAIL_LINES:])
        return end[-_TAIL_BYTES:].decode(errors="replace")

    def _add(self, stream: str, data: bytes) -> None:
        *finished, rest = (self._open[stream] + data).split(b"\n")
        for line in finished:
            self._lines.append((_now(), line + b"\n"))
        if len(rest) > _MAX_LINE:
            self._lines.append((_now(), rest))
            rest = b""
        self._open[stream] = rest


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
