"""Probes and hooks of a running container, and their consequences.

The startup probe comes first, then liveness and readiness together. A failed startup or liveness probe ends the
container with its grace period, so that it is restarted; readiness only changes ``ready``.
"""

import asyncio
from collections.abc import Callable

from nettests.lab.client import Json
from nettests.lab.node.container_state import ContainerState
from nettests.lab.node.probes import ProbeFailedError, Prober, watch
from nettests.lab.topology import OS, Profile

_PROBES = ("livenessProbe", "startupProbe")

Tell = Callable[[str, str, str], None]
"""Writes an event: type, reason, message."""

_STATED = 33
"""Kubernetes whose events name the state that follows from a probe's error (inferred from reports of 1.32)."""
_DIAL_SECONDS = 30.0
"""The DefaultTransport of Go's ``net/http``, which kubelets use for hooks, limits a dial to so long."""


def cared_for(spec: Json, profile: Profile, os: OS) -> Json:
    """Return a container's spec with the probes and hooks that its kubelet follows: on Windows they can be switched off."""
    if os is OS.LINUX:
        return spec
    probed = bool(profile.mechanism("liveness-probes", 1))
    kept = {key: value for key, value in spec.items() if probed or key not in _PROBES}
    if "lifecycle" in kept and not profile.mechanism("pre-stop-hooks", 1):
        hooks = kept["lifecycle"].items()
        kept["lifecycle"] = {name: hook for name, hook in hooks if name != "preStop"}
    return kept


class Health:
    """Looks after one run of the container that ``spec`` describes; ``kill`` ends it."""

    def __init__(
        self,
        spec: Json,
        prober: Prober,
        state: ContainerState,
        tell: Tell,
        kill: Callable[[], None],
        *,
        minor: int,
    ) -> None:
        self._spec = spec
        self._prober = prober
        self._state = state
        self._tell = tell
        self._kill = kill
        self._erred = "errored and resulted in unknown state" if minor >= _STATED else "errored"
        self._killed = False

    async def run(self) -> None:
        """Run the postStart hook and the probes until cancelled."""
        if not await self.hook("postStart"):
            self._end("FailedPostStartHook", "PostStartHook failed")
            return
        startup = self._spec.get("startupProbe")
        if startup:
            await self._watch("Startup", startup, self._on_startup, until_success=True)
        async with asyncio.TaskGroup() as group:
            if "livenessProbe" in self._spec:
                probe = self._spec["livenessProbe"]
                group.create_task(self._watch("Liveness", probe, self._on_liveness))
            if "readinessProbe" in self._spec:
                probe = self._spec["readinessProbe"]
                group.create_task(self._watch("Readiness", probe, self._on_readiness, eager=True))

    async def hook(self, name: str) -> bool:
        """Run ``postStart`` or ``preStop`` if there is one; return whether it went well."""
        handler = (self._spec.get("lifecycle") or {}).get(name)
        if not handler:
            return True
        try:
            await self._request(handler)
        except ProbeFailedError as error:
            title = f"{name[0].upper()}{name[1:]}Hook"
            ended = "" if error.code is None else f"command exited with {error.code}: "
            reason = f"{title} failed: {ended}{error}".rstrip(" :")
            self._tell("Warning", f"Failed{title}", reason)
            return False
        return True

    async def _request(self, handler: Json) -> None:
        """Send a hook's request: only the dial of Go's HTTP client has a timeout."""
        action = handler.get("httpGet")
        if action is None:
            await self._prober.request(handler)
            return
        try:
            async with asyncio.timeout(_DIAL_SECONDS):
                await self._prober.request(handler)
        except TimeoutError as error:
            at = f"{action.get('host') or self._prober.address}:{action['port']}"
            url = f"http://{at}{action.get('path', '/')}"
            raise ProbeFailedError(f'Get "{url}": dial tcp {at}: i/o timeout') from error

    async def _watch(
        self,
        name: str,
        probe: Json,
        result: Callable[[bool, str], None],
        *,
        until_success: bool = False,
        eager: bool = False,
    ) -> None:
        """Run a probe; each failure is an event, and a command that did not start is no result (``prober.go``, ``worker.go``)."""

        def unhealthy(how: str) -> None:
            self._tell("Warning", "Unhealthy", f"{name} probe {how}")

        def tell(good: bool | None, text: str) -> None:  # noqa: FBT001  # a probe's result
            if good is None:
                unhealthy(f"{self._erred}: rpc error: code = Unknown desc = {text}")
            else:
                result(good, text)

        await watch(
            self._prober,
            probe,
            tell,
            failed=lambda text: unhealthy(f"failed: {text}"),
            until_success=until_success,
            eager=eager,
        )

    def _on_startup(self, good: bool, _text: str) -> None:  # noqa: FBT001  # a probe's result
        if not good:
            self._failed("Startup")
            return
        self._state.started = True
        self._state.ready = "readinessProbe" not in self._spec
        self._state.tell()

    def _on_liveness(self, good: bool, _text: str) -> None:  # noqa: FBT001  # a probe's result
        if not good:
            self._failed("Liveness")

    def _on_readiness(self, good: bool, _text: str) -> None:  # noqa: FBT001  # a probe's result
        if good != self._state.ready:
            self._state.ready = good
            self._state.tell()

    def _failed(self, probe: str) -> None:
        name = self._spec["name"]
        self._end("Killing", f"Container {name} failed {probe.lower()} probe, will be restarted")

    def _end(self, reason: str, message: str) -> None:
        if not self._killed:
            self._killed = True
            self._tell("Normal", reason, message)
            self._kill()
