"""The state of one container (waiting, running or terminated, ready, restarts), and its log.

Records that ``Container`` changes and ``status`` reads; the pod is notified of changes. Reasons and messages are the
kubelet's and containerd's. The log has lines with the time they were written, bounded like a rotated file.
"""

import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from nettests.lab.client import Json
from nettests.lab.client.events import timestamp
from nettests.lab.node.status import ContainerView
from nettests.lab.topology import OS

START_FAILED = 128
_NEVER = "1970-01-01T00:00:00Z"


class ContainerState:
    """The current and last state of a container; ``changed`` is called after each reported change."""

    def __init__(self, name: str, image: str, reason: str, changed: Callable[[], None]) -> None:
        self.view = ContainerView(name=name, image=image, state={"waiting": {"reason": reason}})
        self.container_id = ""
        self.tell = changed
        """Reports the current state."""

    def set(self, **values: Any) -> None:
        """Change fields of the view without reporting them."""
        self.view = replace(self.view, **values)

    def create(self) -> None:
        """Give the container a new id: the runtime makes a container for each run."""
        self.container_id = uuid.uuid4().hex + uuid.uuid4().hex
        self.set(container_id=f"containerd://{self.container_id}")

    def wait(self, reason: str, message: str) -> None:
        """Set the state to waiting; the last state is kept."""
        self._remember()
        self.set(state={"waiting": {"reason": reason, "message": message}})
        self.tell()

    def run(self, *, started: bool, ready: bool) -> None:
        """Set the state to running, without a report, because a program that cannot start fails at once."""
        self.set(state={"running": {"startedAt": timestamp()}}, started=started, ready=ready)

    def terminate(self, code: int, *, ready: bool = False, message: str = "") -> None:
        """Set the state to terminated with an exit code, and the termination message if any."""
        started = self.view.state.get("running", {}).get("startedAt", _NEVER)
        reason = "Completed" if code == 0 else "Error"
        end: Json = {"exitCode": code, "reason": reason, "startedAt": started}
        self._end({**end, "message": message} if message else end, ready=ready)

    def fail_to_start(self, message: str) -> None:
        """Set the state to terminated before the program ran."""
        end = {"exitCode": START_FAILED, "reason": "StartError", "message": message}
        self._end({**end, "startedAt": _NEVER}, ready=False)

    def restart(self) -> None:
        """Count a restart; the end of the previous run becomes the last state."""
        self._remember()
        self.set(restarts=self.view.restarts + 1)

    def start_error(self, os: OS, text: str) -> str:
        """Return containerd's error for a program that cannot start: from runc on creation, from hcsshim on start."""
        if os is OS.WINDOWS:
            return f'failed to start containerd task "{self.container_id}": {text}'
        return (
            "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
            "runc create failed: unable to start container process: error during container init: "
            f"{text}"
        )

    def _remember(self) -> None:
        if "terminated" in self.view.state:
            self.set(last_state=self.view.state)

    def _end(self, end: Json, *, ready: bool) -> None:
        finish = {"finishedAt": timestamp(), "containerID": self.view.container_id}
        self.set(state={"terminated": {**end, **finish}}, started=False, ready=ready)
        self.tell()


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
        """Keep a last line without a newline; the container has ended."""
        for stream, text in self._open.items():
            if text:
                self._lines.append((_now(), text))
                self._open[stream] = b""

    def tail(self) -> str:
        """Return the end of the log, as a kubelet's termination message: at most 80 lines and 2048 bytes."""
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
    moment = datetime.now(UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='microseconds')}000Z"
