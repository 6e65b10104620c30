"""The objects of the cluster, in memory: versions, conflicts, and a history that watches resume from.

One counter gives every write its ``resourceVersion``, like etcd's revision. Objects are kept without
``kind`` and ``apiVersion`` and must not be changed once stored: callers change a copy. Defaults,
validation and deletion rules are applied elsewhere. All calls are synchronous, so that nothing changes
between two awaits of the server.
"""

import asyncio
import bisect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from nettests.lab.interfaces import Json

Name = tuple[str, str]
"""``(namespace, name)``; cluster-scoped objects have an empty namespace."""
Pinned = tuple[str, str]
"""A path in :data:`PINNED`, and the value there that a watch is interested in."""

PINNED = ("spec.nodeName", "metadata.name")
"""Fields by which watches are grouped: kubelets watch the Pods of their node and their own Node."""

_FIRST_VERSION = 100


class ExistsError(Exception):
    """An object of that name is stored already."""


class MissingError(Exception):
    """No object of that name is stored."""


class HistoryGoneError(Exception):
    """The history no longer has all changes after the requested version."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"the history begins at {oldest}")
        self.oldest = oldest


class Record:
    """One version of one object; its JSON text is encoded once, when first needed."""

    def __init__(self, body: Json, version: int) -> None:
        self.body = body
        self.version = version
        metadata = body["metadata"]
        self.name: Name = (metadata.get("namespace", ""), metadata["name"])
        """Namespace and name."""

    @cached_property
    def text(self) -> str:
        """The object's JSON without ``kind`` and ``apiVersion``."""
        return json.dumps(self.body, separators=(",", ":"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One write, with the record after it (for ``DELETED`` the last state) and before it."""

    version: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    record: Record
    previous: Record | None


Watchers = dict[Pinned | None, set["Subscription"]]
Selects = Callable[[Record], bool]
"""Whether a subscription wants a record."""


@dataclass(slots=True)
class _Collection:
    records: dict[Name, Record] = field(default_factory=dict)
    history: list[Change] = field(default_factory=list)
    watchers: "Watchers" = field(default_factory=dict)
    """Subscriptions by the value at a path that they are interested in; ``None`` for all objects."""
    oldest: int = 0


class Store:
    """Collections of records by resource key (``pods``, ``deployments.apps``)."""

    def __init__(self, *, history: int = 4000) -> None:
        self.version = _FIRST_VERSION
        self._history = history
        self._collections: dict[str, _Collection] = {}
        self._watchers: Watchers = {}
        self.departures = 0
        """Counts writes that removed an object or marked it for removal."""

    def get(self, key: str, namespace: str, name: str) -> Record | None:
        """Return the stored record, if there is one."""
        return self._of(key).records.get((namespace, name))

    def records(self, key: str, namespace: str = "") -> list[Record]:
        """Return the records of one namespace (all when empty), by namespace and name."""
        return sorted(self.unsorted(key, namespace), key=lambda record: record.name)

    def unsorted(self, key: str, namespace: str = "") -> list[Record]:
        """Return the same records in no particular order."""
        records = self._of(key).records
        if not namespace:
            return list(records.values())
        return [record for name, record in records.items() if name[0] == namespace]

    def keys(self) -> Iterator[str]:
        """Yield the keys of the collections that are not empty."""
        yield from [key for key, held in self._collections.items() if held.records]

    def create(self, key: str, body: Json) -> Record:
        """Store a new object; ``ExistsError`` when its name is taken."""
        collection = self._of(key)
        name = Record(body, 0).name
        if name in collection.records:
            raise ExistsError(name)
        return self._write(collection, "ADDED", body, None)

    def update(self, key: str, body: Json) -> Record:
        """Replace an object."""
        collection = self._of(key)
        previous = collection.records.get(Record(body, 0).name)
        if previous is None:
            raise MissingError(Record(body, 0).name)
        return self._write(collection, "MODIFIED", body, previous)

    def delete(self, key: str, namespace: str, name: str) -> Record:
        """Remove an object; return its last state with the version of the removal."""
        collection = self._of(key)
        previous = collection.records.get((namespace, name))
        if previous is None:
            raise MissingError((namespace, name))
        record = self._write(collection, "DELETED", dict(previous.body), previous)
        del collection.records[namespace, name]
        return record

    def subscribe(
        self, key: str, selects: Selects | None = None, pinned: Pinned | None = None
    ) -> "Subscription":
        """Return a subscription that is woken by later writes to the collection.

        With ``selects``, only by writes of records that it selects, before or after the write. With ``pinned``, only
        writes of objects with that value at that path are checked: of hundreds of kubelets that watch the Pods of
        their node, one is woken by a Pod, and the others cost nothing.
        """
        return Subscription(self._of(key).watchers, selects, pinned)

    def subscribe_all(self) -> "Subscription":
        """Return a subscription that is woken by every later write."""
        return Subscription(self._watchers)

    def changes(self, key: str, since: int) -> list[Change]:
        """Return the changes after version ``since``; ``HistoryGoneError`` if they were trimmed."""
        collection = self._of(key)
        if since < collection.oldest:
            raise HistoryGoneError(collection.oldest)
        start = bisect.bisect_right(collection.history, since, key=lambda change: change.version)
        return collection.history[start:]

    def _write(
        self,
        collection: _Collection,
        kind: Literal["ADDED", "MODIFIED", "DELETED"],
        body: Json,
        previous: Record | None,
    ) -> Record:
        self.version += 1
        body["metadata"] = {**body["metadata"], "resourceVersion": str(self.version)}
        record = Record(body, self.version)
        collection.records[record.name] = record
        change = Change(version=self.version, type=kind, record=record, previous=previous)
        collection.history.append(change)
        if len(collection.history) > 2 * self._history:
            dropped = len(collection.history) - self._history
            collection.oldest = collection.history[dropped - 1].version
            del collection.history[:dropped]
        if kind == "DELETED" or "deletionTimestamp" in body["metadata"]:
            self.departures += 1
        every = (*self._watchers.get(None, ()), *_concerned(collection.watchers, change))
        for watcher in every:
            watcher.tell(change)
        return record

    def _of(self, key: str) -> _Collection:
        collection = self._collections.get(key)
        if collection is None:
            collection = self._collections[key] = _Collection(oldest=_FIRST_VERSION)
        return collection


def _concerned(watchers: Watchers, change: Change) -> set["Subscription"]:
    subscriptions = set(watchers.get(None, ()))
    if len(watchers) > bool(subscriptions):
        for record in filter(None, (change.record, change.previous)):
            for path in PINNED:
                outer, inner = path.split(".")
                value = (record.body.get(outer) or {}).get(inner) or ""
                subscriptions |= watchers.get((path, str(value)), set())
    return subscriptions


class Subscription:
    """Waits for writes to one collection; a context manager that ends with its watch."""

    def __init__(
        self, watchers: Watchers, selects: Selects | None = None, pinned: Pinned | None = None
    ) -> None:
        self._watchers = watchers
        self._pinned = pinned
        self._selects = selects
        self._event = asyncio.Event()
        self.first = 0
        """Version of the first selected write since the last ``wait``; earlier ones were not selected."""

    def __enter__(self) -> "Subscription":
        self._watchers.setdefault(self._pinned, set()).add(self)
        return self

    def __exit__(self, *_: object) -> None:
        alike = self._watchers[self._pinned]
        alike.discard(self)
        if not alike:
            del self._watchers[self._pinned]

    def tell(self, change: Change) -> None:
        """Wake the waiting task if the change is selected."""
        if self._event.is_set():
            return
        selects = self._selects
        before = change.previous
        if selects is None or selects(change.record) or (before is not None and selects(before)):
            self.first = change.version
            self._event.set()

    @property
    def company(self) -> int:
        """How many subscriptions have the same ``pinned``, this one included."""
        return len(self._watchers[self._pinned])

    @property
    def pending(self) -> bool:
        """Whether there was a selected write since the last ``wait``."""
        return self._event.is_set()

    async def wait(self, seconds: float) -> bool:
        """Wait for a selected write for at most ``seconds``; return whether there was one."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True
