"""Faults of nodes and Pods: missing images, failing sandboxes, killed processes, and how programs start and end.

The last group breaks assumptions about running commands in containers, one by one (``ProgramTroubles``). A run creates its
Pods after a fault was injected, so Pods whose names match a pattern are watched, and affected once they run.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from fnmatch import fnmatchcase

from nettests.lab.client import Json
from nettests.lab.client.informer import Informer
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import Options, Targets, Undo, added, changed, fault
from nettests.lab.interfaces import Namespace
from nettests.lab.node.agent import NodeKubelet
from nettests.lab.programs.windows.broken_tools import broken_tools

_LOG = logging.getLogger(__name__)

_NO_ENDPOINT = (
    'plugin type="sdnbridge" name="l2bridge" failed (add): error creating endpoint hcnCreateEndpoint failed in Win32: IP address is '
    'either invalid or not part of any configured subnet(s). (0x803b001e) {"Success":false,"Error":"IP address is either invalid or '
    'not part of any configured subnet(s). ","ErrorCode":2151350302}'
)
"""An HNS error in hcsshim's words (hcn/hcnerrors.go) inside a plugin's, as users report it."""
_CROWDED = 10.0
"""Pods that start within this many seconds count as simultaneous."""
_OTHER_TEXT = "0x8007: wird nicht erkannt / n'est pas reconnu / 認識されていません"
"""Words of three languages, which no table of error texts has."""

Strike = Callable[[Json], Awaitable[Undo | None]]
"""Injects a fault at one pod; returns its undo, or ``None`` if there is nothing to undo."""


class _Following:
    """Strikes each running pod whose name matches a pattern, now and later."""

    def __init__(self, name: str, strike: Strike) -> None:
        self._name = name
        self._strike = strike
        self._struck: dict[str, Undo | None] = {}
        self._waiting: asyncio.Queue[Json] = asyncio.Queue()

    async def watch(self, lab: Targets, ready: asyncio.Event) -> None:
        async with lab.client("faults") as client:
            pods = Informer(client, "/api/v1/pods")
            pods.subscribe(self._pod_changed)
            async with asyncio.TaskGroup() as group:
                group.create_task(pods.run())
                group.create_task(self._work())
                await pods.synced.wait()
                await self._waiting.join()
                ready.set()

    def _pod_changed(self, _key: str, _old: Json | None, pod: Json | None) -> None:
        if pod is None or pod.get("status", {}).get("phase") != "Running":
            return
        uid = str(pod["metadata"]["uid"])
        if uid not in self._struck and fnmatchcase(pod["metadata"]["name"], self._name):
            self._struck[uid] = None
            self._waiting.put_nowait(pod)

    async def _work(self) -> None:
        while True:
            pod = await self._waiting.get()
            try:
                self._struck[str(pod["metadata"]["uid"])] = await self._strike(pod)
            except (LabError, OSError) as error:  # the pod may have been deleted meanwhile
                _LOG.info("fault at pod %s: %s", pod["metadata"]["name"], error)
            finally:
                self._waiting.task_done()

    async def end(self) -> None:
        for undo in self._struck.values():
            if undo is not None:
                await undo()


@asynccontextmanager
async def _followed(lab: Targets, options: Options, strike: Strike) -> AsyncIterator[None]:
    """Strike the pods that match ``--pod`` during the block, running ones before it is entered."""
    following, ready = _Following(options.text("pod"), strike), asyncio.Event()
    task = asyncio.create_task(following.watch(lab, ready))
    synced = asyncio.create_task(ready.wait())
    await asyncio.wait({task, synced}, return_when=asyncio.FIRST_COMPLETED)
    synced.cancel()
    if task.done():
        await task  # raises its error
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await following.end()


@fault("pod-silent")
async def _pod_silent(lab: Targets, options: Options) -> AsyncIterator[None]:
    chosen, rate = options.packets, options.number("rate", 1)

    async def strike(pod: Json) -> Undo | None:
        namespaces = lab.fabric.nodes[pod["spec"]["nodeName"]].pod_namespaces()
        namespace = namespaces.get(pod["metadata"]["uid"])
        if namespace is None:  # on its node's network, or deleted
            return None
        return await lab.fabric.node_faults.lose_entering(namespace, chosen, rate)

    async with _followed(lab, options, strike):
        yield


def _some_time_after_start(
    name: str, seconds: float, act: Callable[[NodeKubelet, str, str], object]
) -> None:
    """Declare a fault of matching pods that strikes some seconds after they are running."""

    @fault(name)
    async def inject(lab: Targets, options: Options) -> AsyncIterator[None]:
        delay, waiting = options.number("seconds", seconds), set[asyncio.TimerHandle]()

        async def strike(pod: Json) -> None:
            metadata, kubelet = pod["metadata"], lab.kubelets[pod["spec"]["nodeName"]]
            place = kubelet, metadata["namespace"], metadata["name"]
            waiting.add(asyncio.get_running_loop().call_later(delay, act, *place))

        async with _followed(lab, options, strike):
            yield
        for timer in waiting:
            timer.cancel()


_some_time_after_start(
    "container-killed", 20.0, lambda kubelet, ns, pod: kubelet.kill(namespace=ns, pod=pod)
)
_some_time_after_start(
    "server-dead", 5.0, lambda kubelet, ns, pod: kubelet.stop_serving(namespace=ns, pod=pod)
)


@fault("late-pod-network")
async def _late_pod_network(lab: Targets, options: Options) -> AsyncIterator[None]:
    node = lab.fabric.nodes[str(lab.node(options))]
    seconds, beyond = options.number("seconds", 6.0), options.count("beyond", 0)
    hearing: set[asyncio.Task[None]] = set()
    arrivals: list[float] = []

    async def strike(namespace: Namespace) -> None:
        now = asyncio.get_running_loop().time()
        arrivals[:] = [*(moment for moment in arrivals if moment > now - _CROWDED), now]
        if len(arrivals) <= beyond:
            return
        mend = await lab.fabric.node_faults.deafen(namespace)

        async def later() -> None:
            try:
                await asyncio.sleep(seconds)
            finally:
                await mend()

        task = asyncio.create_task(later())
        hearing.add(task)
        task.add_done_callback(hearing.discard)

    with changed([node], newcomer=strike):
        yield
    for task in (waiting := tuple(hearing)):
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


@fault("no-sandbox")
async def _no_sandbox(lab: Targets, options: Options) -> AsyncIterator[None]:
    disks, pattern = lab.disks(options), options.text("pod")
    for disk in disks:
        disk.no_sandbox[pattern] = options.text("text") or _NO_ENDPOINT
    yield
    for disk in disks:
        disk.no_sandbox.pop(pattern, None)


def _pulling(name: str, changes: Callable[[Options], dict[str, object]]) -> None:
    """Declare a fault of pulls; pulled images are removed, so that containers pull them again."""

    @fault(name)
    async def inject(lab: Targets, options: Options) -> AsyncIterator[None]:
        disks = lab.disks(options)
        for disk in disks:
            disk.images.clear()
        with changed(disks, **changes(options)):
            yield


_pulling("slow-pull", lambda options: {"pull_seconds": options.number("seconds", 5.0)})
_pulling("registry-down", lambda _: {"registry_down": True})


def _troubled(name: str, trouble: str, value: Callable[[Options], object] = lambda _: True) -> None:
    """Declare a fault that sets one field of ``ProgramTroubles`` on the selected nodes."""

    @fault(name)
    async def inject(lab: Targets, options: Options) -> AsyncIterator[None]:
        troubles = [disk.troubles for disk in lab.disks(options)]
        with changed(troubles, **{trouble: value(options)}):
            yield


_troubled("wrong-exit-codes", "exit_code", lambda options: options.count("code", 0))
_troubled("exec-refused", "refused")
_troubled("output-truncated", "output_limit", lambda options: options.count("bytes", 1000))
_troubled("output-lost", "loses_output")
_troubled("other-cmd-text", "cmd_text", lambda _: _OTHER_TEXT)
_troubled("copy-refused", "copy_refused")
_troubled("slow-copy", "copy_seconds", lambda options: options.number("seconds", 5.0))


def _broken_tool(name: str) -> None:
    @fault(name)
    async def inject(lab: Targets, options: Options) -> AsyncIterator[None]:
        with added([disk.troubles.tools for disk in lab.disks(options)], name):
            yield


for _name in broken_tools():
    _broken_tool(_name)


@fault("program-missing")
async def _program_missing(lab: Targets, options: Options) -> AsyncIterator[None]:
    program = options.text("program").lower().removesuffix(".exe")
    with added([disk.troubles.missing for disk in lab.disks(options)], program):
        yield
