"""The state of one container: waiting, running or terminated, ready, restarts.

A record that ``Container`` changes and ``status`` reads; every change is passed to the pod. Reasons and messages are
the kubelet's and containerd's.
"""

import uuid
from collections.abc import Callable

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
