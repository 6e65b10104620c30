"""The state of one container (waiting, running or terminated, ready, restarts), and its log.

Records that ``Container`` changes and ``status`` reads; every change of the state is passed to the pod. Reasons and messages are the
kubelet's and containerd's. The log is lines with the time they were written, bounded like a rotated file.
"""

import uuid
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

from nettests.lab.client import Json
from nettests.lab.client.events import timestamp
from nettests.lab.node.status import ContainerView
from nettests.lab.topology import OS

START_FAILED = 128
_NEVER = "1970-01-01T00:00:00Z"


class ContainerState:
    """The present and last state of a container; ``changed`` is called after each change."""

    def __init__(self, name: str, image: str, reason: str, changed: Callable[[], None]) -> None:
        self.ready = False
        self.started = False
        self.image_id = ""
        self._name, self._image = name, image
        self._changed = changed
        self.container_id = ""
        self._restarts = 0
        self._state: Json = {"waiting": {"reason": reason}}
        self._last: Json = {}

    def view(self) -> ContainerView:
        """Return the state as a value."""
        return ContainerView(
            name=self._name,
            image=self._image,
            image_id=self.image_id,
            state=self._state,
            last_state=self._last,
            ready=self.ready,
            started=self.started,
            restarts=self._restarts,
            container_id=self._reference(),
        )

    def create(self) -> None:
        """Give the container a new id: each run is a container of its own to the runtime."""
        self.container_id = uuid.uuid4().hex + uuid.uuid4().hex

    def wait(self, reason: str, message: str) -> None:
        """Wait for something; how the last run ended stays known."""
        if "terminated" in self._state:
            self._last = self._state
        self._state = {"waiting": {"reason": reason, "message": message}}
        self._changed()

    def run(self, *, started: bool, ready: bool) -> None:
        """Set the state to running; not reported yet, because a program that cannot start fails at once."""
        self._state = {"running": {"startedAt": timestamp()}}
        self.started, self.ready = started, ready

    def tell(self) -> None:
        """Report the present state."""
        self._changed()

    def terminate(self, code: int, *, ready: bool = False, message: str = "") -> None:
        """End with an exit code, and with what the program wrote to its termination message, if anything."""
        started = self._state.get("running", {}).get("startedAt", _NEVER)
        reason = "Completed" if code == 0 else "Error"
        end: Json = {"exitCode": code, "reason": reason, "startedAt": started}
        self._end({**end, "message": message} if message else end, ready=ready)

    def fail_to_start(self, message: str) -> None:
        """End before the program ran."""
        end = {"exitCode": START_FAILED, "reason": "StartError", "message": message}
        self._end({**end, "startedAt": _NEVER}, ready=False)

    def restart(self) -> None:
        """Count a restart; the end of the run before becomes the last state."""
        if "terminated" in self._state:
            self._last = self._state
        self._restarts += 1

    def start_error(self, os: OS, text: str) -> str:
        """Return what containerd says when a program cannot start: runc fails to create it, hcsshim to start it."""
        if os is OS.WINDOWS:
            return f'failed to start containerd task "{self.container_id}": {text}'
        return (
            "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
            "runc create failed: unable to start container process: error during container init: "
            f"{text}"
        )

    def _end(self, end: Json, *, ready: bool) -> None:
        finish = {"finishedAt": timestamp(), "containerID": self._reference()}
        self._state = {"terminated": {**end, **finish}}
        self.started, self.ready = False, ready
        self._changed()

    def _reference(self) -> str:
        return f"containerd://{self.container_id}" if self.container_id else ""


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
