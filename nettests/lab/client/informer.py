"""A cache of one kind of object, kept current by list and watch.

Handlers are called for every change with the key of the object and its old and new value; they must not
block. A lost watch is resumed from the last ``resourceVersion``; if that has expired, the list is read
again and handlers get the differences. ``WorkQueue`` queues keys to reconcile, each once; ``work_beside``
and ``work_after_changes`` are the loops of controllers.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence

import aiohttp

from nettests.lab.client.rest import ApiError, Client, Json, Retry

_LOG = logging.getLogger(__name__)

Handler = Callable[[str, Json | None, Json | None], None]
"""Called with key, old object (``None`` if added), new object (``None`` if deleted)."""


def key_of(item: Json) -> str:
    """Return ``namespace/name``, or ``name`` for cluster-scoped objects."""
    metadata = item["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def has_condition(item: Json, kind: str) -> bool:
    """Whether a condition of an object is true."""
    conditions = (item.get("status") or {}).get("conditions") or ()
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)


def _version(item: Json | None) -> str | None:
    return None if item is None else str(item["metadata"]["resourceVersion"])


class Informer:
    """Runs list and watch on ``path``; ``objects`` is the cache, ``synced`` is set after the list."""

    def __init__(self, client: Client, path: str, **query: str) -> None:
        self.objects: dict[str, Json] = {}
        self.synced = asyncio.Event()
        self._client = client
        self._path = path
        self._query = query
        self._handlers: list[Handler] = []
        self._version = ""

    def subscribe(self, handler: Handler) -> None:
        """Call ``handler`` for every later change."""
        self._handlers.append(handler)

    def in_namespace(self, namespace: str) -> Iterator[Json]:
        """Yield the cached objects of one namespace."""
        prefix = f"{namespace}/"
        return (item for key, item in self.objects.items() if key.startswith(prefix))

    async def run(self) -> None:
        """List and watch until cancelled; errors are logged and retried with growing delays."""
        retry = Retry()
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._follow(retry)
            except ApiError as error:
                _LOG.info("%s: watch of %s: %s", self._client.agent, self._path, error)
                self._version = ""
                await retry.wait()
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                _LOG.info("%s: watch of %s: %r", self._client.agent, self._path, error)
                await retry.wait()

    async def _list(self) -> None:
        answer = await self._client.get(self._path, **self._query)
        fresh = {key_of(item): item for item in answer["items"]}
        for key in [key for key in self.objects if key not in fresh]:
            self._apply(key, None)
        for key, item in fresh.items():
            if _version(self.objects.get(key)) != _version(item):
                self._apply(key, item)
        self._version = answer["metadata"]["resourceVersion"]
        self.synced.set()

    async def _follow(self, retry: Retry) -> None:
        async for event in self._client.watch(self._path, self._version, **self._query):
            retry.reset()
            item = event["object"]
            self._version = item["metadata"]["resourceVersion"]
            if event["type"] == "BOOKMARK":
                continue
            self._apply(key_of(item), None if event["type"] == "DELETED" else item)

    def _apply(self, key: str, new: Json | None) -> None:
        old = self.objects.get(key)
        if new is None:
            self.objects.pop(key, None)
        else:
            self.objects[key] = new
        for handler in self._handlers:
            handler(key, old, new)


class WorkQueue:
    """A queue of keys without duplicates."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._some = asyncio.Event()

    def add(self, key: str) -> None:
        """Queue ``key``."""
        self._keys[key] = None
        self._some.set()

    async def take(self) -> str:
        """Wait for a key and remove it from the queue."""
        while not self._keys:
            self._some.clear()
            await self._some.wait()
        key = next(iter(self._keys))
        del self._keys[key]
        return key


async def work_beside(informers: Sequence[Informer], work: Callable[[], Awaitable[None]]) -> None:
    """Run informers until cancelled, and ``work`` once all of them have their first list."""
    async with asyncio.TaskGroup() as group:
        for informer in informers:
            group.create_task(informer.run())
        for informer in informers:
            await informer.synced.wait()
        await work()


async def work_after_changes(
    informers: Sequence[Informer], gather: float, work: Callable[[], Awaitable[None]]
) -> None:
    """Run informers until cancelled; call ``work`` after the first lists, and after later changes.

    Changes within ``gather`` seconds are handled by one call.
    """
    changed = asyncio.Event()
    changed.set()
    for informer in informers:
        informer.subscribe(lambda _key, _old, _new: changed.set())

    async def keep_working() -> None:
        while True:
            await changed.wait()
            await asyncio.sleep(gather)
            changed.clear()
            await work()

    await work_beside(informers, keep_working)
