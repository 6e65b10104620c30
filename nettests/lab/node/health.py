"""Probes and hooks of a running container, real dials from the node, and their consequences.

A kubelet dials HTTP and TCP probes from its node's own namespace, so a probe fails if the node cannot reach the pod; exec probes run
in the container. The startup probe runs first, then liveness and readiness together. A failed startup or liveness probe ends the
container with its grace period, so that it is restarted; readiness only changes ``ready``. Defaults and thresholds are the API's.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from nettests.lab.client import Json
from nettests.lab.interfaces import Duplex, Namespace
from nettests.lab.node.container_state import ContainerState
from nettests.lab.node.serving import connect
from nettests.lab.programs.sockets.transport import Call, call_text
from nettests.lab.topology import OS, Profile
from nettests.lab.topology.windows_settings import ENGLISH
from nettests.lab.web import messages


@dataclass(frozen=True, slots=True)
class Ended:
    """How a probe's command ended: its exit code, and what it wrote."""

    code: int
    output: str


Exec = Callable[[Sequence[str]], Awaitable[Ended]]
"""Runs argv in the probed container; raises ``ProbeErroredError`` if it does not start."""

_EAGER_PERIOD = 0.1
_EAGER_TRIES = 10


class ProbeFailedError(Exception):
    """One attempt failed; the text is that of the kubelet's event, ``code`` a command's exit code."""

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.code = code


class ProbeErroredError(ProbeFailedError):
    """A command could not be started: the kubelet writes an event and otherwise ignores the attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prober:
    """Probes one container. ``address`` is the pod's; ``node`` is the namespace that dials, ``os`` its system."""

    node: Namespace
    os: OS
    address: str
    ports: Sequence[Json]
    execute: Exec
    locale: str = ENGLISH
    """The language of errors on Windows."""

    async def request(self, handler: Json) -> None:
        """Make one attempt of an ``httpGet``, ``tcpSocket`` or ``exec`` handler."""
        if "httpGet" in handler:
            await self._http(handler["httpGet"])
        elif "tcpSocket" in handler:
            (await self._dial(handler["tcpSocket"])).writer.close()
        elif "exec" in handler:
            ended = await self.execute(handler["exec"]["command"])
            if ended.code != 0:
                raise ProbeFailedError(ended.output, ended.code)
        else:
            raise ProbeFailedError("missing probe handler")

    async def _http(self, action: Json) -> None:
        address, port = self._target(action)
        scheme = action.get("scheme", "HTTP").lower()
        url = f"{scheme}://{address}:{port}{action.get('path', '/')}"
        try:
            duplex = await self._dial(action)
        except ProbeFailedError as error:
            raise ProbeFailedError(f'Get "{url}": {error}') from error
        try:
            if scheme == "https":
                await duplex.writer.start_tls(_trust_all(), server_hostname=address)
            status = await _get(duplex, f"{address}:{port}", action)
        except (OSError, messages.MalformedError) as error:
            raise ProbeFailedError(f'Get "{url}": {error}') from error
        finally:
            duplex.writer.close()
        if not HTTPStatus.OK <= status < HTTPStatus.BAD_REQUEST:
            raise ProbeFailedError(f"HTTP probe failed with statuscode: {status}")

    async def _dial(self, action: Json) -> Duplex:
        address, port = self._target(action)
        try:
            return await connect(self.node, address, port)
        except OSError as error:
            text = call_text(self.os, Call.CONNECT, error, self.locale)
            raise ProbeFailedError(f"dial tcp {address}:{port}: {text}") from error

    def _target(self, action: Json) -> tuple[str, int]:
        named = {port["name"]: port["containerPort"] for port in self.ports if "name" in port}
        port = action["port"]
        return action.get("host") or self.address, int(named.get(port, port) or 0)


async def _get(duplex: Duplex, host: str, action: Json) -> int:
    headers = [("Host", host), ("User-Agent", "kube-probe/1.0"), ("Connection", "close")]
    headers += [(h["name"], h["value"]) for h in action.get("httpHeaders") or ()]
    duplex.writer.write(messages.request("GET", action.get("path") or "/", headers))
    await duplex.writer.drain()
    head = await messages.Messages(duplex.reader, answers=True).head()
    if head is None:
        raise messages.CutOffError("the connection ended before an answer")
    return head.status


def _trust_all() -> ssl.SSLContext:
    """Return a context that verifies nothing, as kubelets probe."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def watch(
    prober: Prober,
    probe: Json,
    result: Callable[[bool | None, str], None],
    *,
    failed: Callable[[str], None],
    until_success: bool = False,
    eager: bool = False,
) -> None:
    """Run ``probe`` periodically; call ``result`` when a threshold is reached, and ``failed`` for each failure.

    ``result`` gets success and the last attempt's text; for an attempt that could not be made it is called at once, with
    ``None``. ``failed`` stands for the kubelet's event (Kubernetes, pkg/kubelet/prober/prober.go). With ``until_success``
    (startup probes) return after the first success. With ``eager`` (readiness) probe more often at first: a kubelet
    also probes at each sync of a pod that has just started and is not ready.
    """
    await asyncio.sleep(probe.get("initialDelaySeconds", 0))
    period = probe.get("periodSeconds", 10)
    quick = min(int(period / _EAGER_PERIOD), _EAGER_TRIES) if eager else 0
    thresholds = {
        True: int(probe.get("successThreshold", 1)),
        False: int(probe.get("failureThreshold", 3)),
    }
    streak, last = 0, False
    while True:
        good, text = await _attempt(prober, probe)
        if good is None:
            result(None, text)
        else:
            if not good:
                failed(text)
            streak, last = streak + 1 if good == last else 1, good
            if streak >= thresholds[good]:
                result(good, text)
                if good and until_success:
                    return
        quick = 0 if good else quick - 1
        await asyncio.sleep(_EAGER_PERIOD if quick > 0 else period)


async def _attempt(prober: Prober, probe: Json) -> tuple[bool | None, str]:
    seconds = probe.get("timeoutSeconds", 1)
    try:
        async with asyncio.timeout(seconds):
            await prober.request(probe)
    except ProbeFailedError as error:
        return None if isinstance(error, ProbeErroredError) else False, str(error)
    except TimeoutError:
        return False, f"command timed out or no answer within {seconds} s"
    return True, ""


_PROBES = ("livenessProbe", "startupProbe")

Tell = Callable[[str, str, str], None]
"""Writes an event: type, reason, message."""

_STATED = 33
"""The minor version from which events name the state after a probe's error (inferred from reports of 1.32)."""
_DIAL_SECONDS = 30.0
"""The dial timeout of the DefaultTransport of Go's ``net/http``, which kubelets use for hooks."""


_HOOKS = {"postStart": "post-start-hooks", "preStop": "pre-stop-hooks"}
"""Hooks and the mechanisms of kubelets on Windows that run them."""


def cared_for(spec: Json, profile: Profile, os: OS) -> Json:
    """Return a container's spec without the probes and hooks that mechanisms switch off on Windows."""
    if os is OS.LINUX:
        return spec
    probed = bool(profile.mechanism("liveness-probes", 1))
    kept = {key: value for key, value in spec.items() if probed or key not in _PROBES}
    if "lifecycle" in kept:
        hooks = kept["lifecycle"].items()
        run = {name for name, switch in _HOOKS.items() if profile.mechanism(switch, 1)}
        kept["lifecycle"] = {name: hook for name, hook in hooks if name in run}
    return kept


class Health:
    """Runs hooks and probes for one run of the container of ``spec``; ``kill`` ends that."""

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
        """Run ``postStart`` or ``preStop`` if there is one; return whether it succeeded."""
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
        """Run a hook's handler; HTTP requests have the timeout of Go's dial."""
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
        """Run a probe with an event for each failure; a command that does not start is only an event (``worker.go``)."""

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
        if good:
            self._state.set(started=True, ready="readinessProbe" not in self._spec)
            self._state.tell()
        else:
            self._restart("startup")

    def _on_liveness(self, good: bool, _text: str) -> None:  # noqa: FBT001  # a probe's result
        if not good:
            self._restart("liveness")

    def _on_readiness(self, good: bool, _text: str) -> None:  # noqa: FBT001  # a probe's result
        if good != self._state.view.ready:
            self._state.set(ready=good)
            self._state.tell()

    def _restart(self, probe: str) -> None:
        why = f"Container {self._spec['name']} failed {probe} probe, will be restarted"
        self._end("Killing", why)

    def _end(self, reason: str, message: str) -> None:
        if not self._killed:
            self._killed = True
            self._tell("Normal", reason, message)
            self._kill()
