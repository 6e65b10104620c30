"""Faults of pods by name that may not exist yet: each pod is affected once it runs.

A run creates its pods after a fault was injected. Pods are watched through the API, as any component does.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from fnmatch import fnmatchcase

from nettests.lab.client import Client, Json
from nettests.lab.client.informer import Informer
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import Undo

_LOG = logging.getLogger(__name__)

Strike = Callable[[Json], Awaitable[Undo | None]]
"""Injects a fault at one pod; returns its undo, or ``None`` if there is nothing to undo."""


class Pods:
    """The pods of a lab, existing and future ones."""

    def __init__(self, client: Callable[[str], Client]) -> None:
        self._client = client

    async def follow(self, name: str, strike: Strike) -> Undo:
        """Apply ``strike`` to each running pod whose name matches the pattern, now and later; return the undo."""
        following = _Following(name, strike)
        ready = asyncio.Event()
        task = asyncio.create_task(self._watch(following, ready))
        synced = asyncio.create_task(ready.wait())
        await asyncio.wait({task, synced}, return_when=asyncio.FIRST_COMPLETED)
        synced.cancel()
        if task.done():
            await task  # it has failed, and says why

        async def undo() -> None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await following.end()

        return undo

    async def _watch(self, following: "_Following", ready: asyncio.Event) -> None:
        async with self._client("faults") as client:
            pods = Informer(client, "/api/v1/pods")
            pods.subscribe(following.pod_changed)
            async with asyncio.TaskGroup() as group:
                group.create_task(pods.run())
                group.create_task(following.work())
                await pods.synced.wait()
                await following.idle()
                ready.set()


class _Following:
    def __init__(self, name: str, strike: Strike) -> None:
        self._name = name
        self._strike = strike
        self._struck: dict[str, Undo | None] = {}
        self._waiting: asyncio.Queue[Json] = asyncio.Queue()

    def pod_changed(self, _key: str, _old: Json | None, pod: Json | None) -> None:
        if pod is None or pod.get("status", {}).get("phase") != "Running":
            return
        uid = str(pod["metadata"]["uid"])
        if uid not in self._struck and fnmatchcase(pod["metadata"]["name"], self._name):
            self._struck[uid] = None
            self._waiting.put_nowait(pod)

    async def work(self) -> None:
        while True:
            pod = await self._waiting.get()
            try:
                self._struck[str(pod["metadata"]["uid"])] = await self._strike(pod)
            except (LabError, OSError) as error:  # the pod may have gone meanwhile
                _LOG.info("fault at pod %s: %s", pod["metadata"]["name"], error)
            finally:
                self._waiting.task_done()

    async def idle(self) -> None:
        """Wait until every pod that was seen is struck."""
        await self._waiting.join()

    async def end(self) -> None:
        for undo in self._struck.values():
            if undo is not None:
                await undo()
        self._struck.clear()
