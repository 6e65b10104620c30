"""One container: pulled, started, probed, restarted with back-off, stopped. Its program is a task.

Reasons follow the kubelet and containerd: ``ErrImagePull`` then ``ImagePullBackOff``, ``StartError`` for a program
that the image lacks, ``CrashLoopBackOff`` between restarts (the first is immediate, then after 10 s, 20 s … 300 s).
SIGTERM is ``Process.terminate``; SIGKILL cancels the task, with exit code 137.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nettests.lab.client import Json
from nettests.lab.interfaces import ExecOutcome, NotRunningError, Process, ProgramNotFoundError
from nettests.lab.mounted.files import Volume
from nettests.lab.node import images
from nettests.lab.node.container_state import START_FAILED, ContainerLog, ContainerState
from nettests.lab.node.context import NodeContext, Sandbox, credentials
from nettests.lab.node.environment import ConfigError
from nettests.lab.node.guests import Guests, exec_failure
from nettests.lab.node.health import Ended, Health, ProbeErroredError, Prober, cared_for
from nettests.lab.node.machine import MESSAGE
from nettests.lab.node.preparation import Run, StartFailedError
from nettests.lab.node.status import ContainerView
from nettests.lab.programs.terminal import keeping
from nettests.lab.topology import OS

_LOG = logging.getLogger(__name__)

KILLED = 137
_FIRST_BACK_OFF = 10.0
_LAST_BACK_OFF = 300.0
_DOCKER_GRACE = 5
"""Seconds that Windows gives to processes of a container that Docker stops (from the image's registry)."""
_INT32 = 0x7FFFFFFF
_FROM_LOG = "FallbackToLogsOnError"
_PROBE_OUTPUT = 10 * 1024
"""Bytes of a probe's output that a kubelet keeps (``pkg/probe/exec``)."""
_SYNC = 1.0
"""Seconds between a kubelet's syncs of a pod: how long an error is shown before its back-off."""


class _StoppedError(Exception):
    """The pod stopped while the container was waiting."""


def _back_off(delay: float) -> Iterator[float]:
    """Yield the wait before each try."""
    while True:
        yield delay
        delay = min(max(delay * 2, _FIRST_BACK_OFF), _LAST_BACK_OFF)


@dataclass(slots=True)
class _Running:
    """One run of the program; ``hollow`` means that its process stays but does nothing."""

    process: Process
    main: "asyncio.Task[int]"
    health: Health
    hollow: bool = False


class Container:
    """Runs ``spec`` of ``pod`` in ``sandbox`` until it has ended or is stopped.

    ``changed`` is called after every change that affects the pod's status.
    """

    def __init__(
        self,
        node: NodeContext,
        pod: Json,
        spec: Json,
        sandbox: Sandbox,
        changed: Callable[[], None],
        *,
        init: bool = False,
    ) -> None:
        self.name = str(spec["name"])
        self.log = ContainerLog()
        self.previous: ContainerLog | None = None
        self._node, self._pod, self._sandbox = node, pod, sandbox
        self._spec = cared_for(spec, node.profile, node.spec.os)
        self._init = init
        reason = "PodInitializing" if pod["spec"].get("initContainers") else "ContainerCreating"
        self._state = ContainerState(self.name, str(spec["image"]), reason, changed)
        self._guests = Guests(node)
        self._run: _Running | None = None
        self._message = Volume()
        self._stopping = asyncio.Event()

    def view(self) -> ContainerView:
        """Return the container's present state."""
        return self._state.view

    async def run(self) -> int:
        """Run, restart by the pod's restart policy, and return the last exit code."""
        crashes = _back_off(0.0)
        try:
            while True:
                code = await self._run_once(await self._pull())
                if self._stopping.is_set() or not self._restart_wanted(code):
                    return code
                await self._wait_for_restart(crashes)
                self._state.restart()
                self.previous, self.log = self.log, ContainerLog()
        except _StoppedError:
            return KILLED

    async def stop(self, grace: float) -> None:
        """Run the preStop hook, send SIGTERM, and SIGKILL after ``grace`` seconds.

        With Docker, Windows itself ends all processes after a few seconds, whatever the grace period.
        """
        self._stopping.set()
        if self._run is None:
            return
        run = self._run
        self._tell("Normal", "Killing", f"Stopping container {self.name}")
        windows = self._node.spec.os is OS.WINDOWS
        if windows and not self._node.profile.mechanism("graceful-end", 1):
            run.main.cancel()
            return
        limit = math.ceil(grace)
        if windows:
            usual = _DOCKER_GRACE if self._node.spec.has_docker else limit
            limit = self._node.profile.mechanism("grace-limit", usual)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await run.health.hook("preStop")
                run.process.terminate.set()
                await asyncio.wait([run.main], timeout=limit)
        run.main.cancel()

    def kill(self) -> bool:
        """Kill the program; it is restarted as after a crash. Return whether it was running."""
        return self._run is not None and self._run.main.cancel()

    def stop_serving(self) -> None:
        """Close the program's listening sockets; its process keeps running."""
        if self._run is not None:
            self._run.hollow = True
            self._run.main.cancel()

    async def exec(self, argv: Sequence[str], **streams: Any) -> ExecOutcome:
        """Run another program in the container; it ends with the container. Streams are those of ``Guests.run``."""
        if self._run is None:
            raise NotRunningError(f'container not found ("{self.name}")')
        return await self._guests.run(self._run.process, argv, **streams)

    async def _pull(self) -> images.Image:
        reference, back_off = str(self._spec["image"]), _back_off(_FIRST_BACK_OFF)
        while True:
            try:
                image = await self._pull_once(reference)
            except images.ImagePullError as error:
                await self._pull_failed(reference, str(error), back_off)
            except images.ImageBuildError as error:
                self._tell("Warning", "Failed", f"Error: {error}")
                self._state.fail_to_start(str(error))
                await self._wait(next(back_off))
            else:
                self._state.set(image_id=image.image_id)
                return image

    async def _pull_once(self, reference: str) -> images.Image:
        node, there = self._node, str(self._spec["image"]) in self._node.network.disk.images
        logins: images.Logins = {}
        lacking: list[str] = []
        if not there:
            self._tell("Normal", "Pulling", f'Pulling image "{reference}"')
            logins, lacking = await credentials(node.client, self._pod)
        if lacking:
            text = (
                f"Unable to retrieve some image pull secrets ({', '.join(lacking)}); "
                "attempting to pull the image may not succeed."
            )
            self._tell("Warning", "FailedToRetrieveImagePullSecret", text)
        image, seconds = await node.puller.pull(
            reference, logins, self._wait, host_process=self._sandbox.host_process
        )
        text = f'Container image "{reference}" already present on machine'
        if seconds is not None:
            spent = f"{seconds:g}s"
            text = f'Successfully pulled image "{reference}" in {spent} ({spent} including waiting)'
        self._tell("Normal", "Pulled", text)
        return image

    async def _pull_failed(self, reference: str, text: str, back_off: Iterator[float]) -> None:
        self._tell("Warning", "Failed", f'Failed to pull image "{reference}": {text}')
        self._tell("Warning", "Failed", "Error: ErrImagePull")
        self._state.wait("ErrImagePull", text)
        await self._wait(_SYNC)
        message = f'Back-off pulling image "{reference}"'
        self._tell("Normal", "BackOff", message)
        self._tell("Warning", "Failed", "Error: ImagePullBackOff")
        self._state.wait("ImagePullBackOff", f"{message}: ErrImagePull: {text}")
        await self._wait(next(back_off))

    async def _run_once(self, image: images.Image) -> int:
        self._state.create()
        message = self._message = Volume()
        try:
            process = Run(
                node=self._node,
                pod=self._pod,
                spec=self._spec,
                sandbox=self._sandbox,
                image=image,
                container_id=self._state.container_id,
                message=message,
            ).process(self.log)
        except ConfigError as error:
            self._tell("Warning", "Failed", f"Error: {error}")
            self._state.wait("CreateContainerConfigError", str(error))
            await self._wait(_FIRST_BACK_OFF)
            return START_FAILED
        except StartFailedError as error:
            return self._not_started(str(error))
        self._tell("Normal", "Created", f"Created container {self.name}")
        main = asyncio.create_task(self._node.launch(image.kind, process))
        started = "startupProbe" not in self._spec
        ready = started and "readinessProbe" not in self._spec and not self._init
        self._state.run(started=started, ready=ready)
        self._run = _Running(process, main, self._health(process, main))
        try:
            # A program that cannot start fails before its first wait: check before reporting.
            await asyncio.wait([main], timeout=0)
            if not main.done() or not isinstance(main.exception(), ProgramNotFoundError):
                self._tell("Normal", "Started", f"Started container {self.name}")
                self._state.tell()
                await self._run_health(self._run)
        finally:
            main.cancel()
            self._run = None
            self._guests.end()
        return self._ended(main)

    async def _run_health(self, run: _Running) -> None:
        care = asyncio.create_task(run.health.run())
        try:
            await asyncio.wait([run.main])
            if run.hollow:
                await run.process.terminate.wait()
        finally:
            care.cancel()
            await asyncio.gather(care, return_exceptions=True)

    def _ended(self, main: "asyncio.Task[int]") -> int:
        self.log.close()
        error = None if main.cancelled() else main.exception()
        if isinstance(error, ProgramNotFoundError):
            return self._not_started(str(error))
        if error is not None:
            _LOG.error(
                "%s: the program of %s failed", self.name, self._spec["image"], exc_info=error
            )
        code = KILLED if main.cancelled() or error is not None else main.result()
        windows = self._node.spec.os is OS.WINDOWS
        exit_code = code if not windows or self._node.profile.mechanism("exit-codes", 1) else 0
        if exit_code > _INT32:  # the runtime's interface has signed codes (CRI, ContainerStatus)
            exit_code -= 2 * (_INT32 + 1)
        message = self._message.texts.get(MESSAGE, "")
        if not message and exit_code and self._spec.get("terminationMessagePolicy") == _FROM_LOG:
            message = self.log.tail()
        self._state.terminate(exit_code, ready=self._init and exit_code == 0, message=message)
        return exit_code

    def _not_started(self, why: str) -> int:
        text = self._state.start_error(self._node.spec.os, why)
        shown = text.replace(self._state.container_id, self.name)
        self._tell("Warning", "Failed", f"Error: {shown}")
        self._state.fail_to_start(text)
        return START_FAILED

    def _health(self, process: Process, main: "asyncio.Task[int]") -> Health:
        def kill() -> None:
            process.terminate.set()
            grace = self._pod["spec"].get("terminationGracePeriodSeconds", 30)
            asyncio.get_running_loop().call_later(grace, main.cancel)

        prober = Prober(
            node=self._node.network.host,
            os=self._node.spec.os,
            address=str(self._sandbox.address),
            ports=self._spec.get("ports") or (),
            execute=self._run_quietly,
            locale=self._node.profile.windows.message_locale,
        )
        return Health(
            self._spec, prober, self._state, self._tell, kill, minor=self._node.profile.minor
        )

    async def _run_quietly(self, argv: Sequence[str]) -> Ended:
        keep = keeping(output := bytearray())
        try:
            outcome = await self.exec(argv, stdin=None, stdout=keep, stderr=keep, tty=False)
        except NotRunningError as error:
            raise ProbeErroredError(str(error)) from error
        if outcome.exit_code is None:
            raise ProbeErroredError(exec_failure(outcome.error or ""))
        return Ended(outcome.exit_code, output[:_PROBE_OUTPUT].decode(errors="replace"))

    def _restart_wanted(self, code: int) -> bool:
        policy = self._pod["spec"].get("restartPolicy", "Always")
        if self._init:
            return code != 0 and policy != "Never"
        return policy == "Always" or (policy == "OnFailure" and code != 0)

    async def _wait_for_restart(self, crashes: Iterator[float]) -> None:
        delay = next(crashes)
        await self._wait(_SYNC)
        if not delay:
            return
        metadata = self._pod["metadata"]
        where = f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"
        message = f"Back-off restarting failed container {self.name} in pod {where}"
        self._tell("Warning", "BackOff", message)
        self._state.wait(
            "CrashLoopBackOff",
            f"back-off {delay:.0f}s restarting failed container={self.name} pod={where}",
        )
        await self._wait(delay)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return
        raise _StoppedError

    def _tell(self, kind: str, reason: str, message: str) -> None:
        self._node.recorder.kubelet(self._pod, kind, reason, message, self.name)
