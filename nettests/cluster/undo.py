"""Remove what this run created, and nothing else, at its end.

The run remembers what it created: an object is deleted if it carries the run's labels and its UID is one that this
process created. A namespace of its own is deleted as a whole, unless another run holds it. ``collect`` removes what
dead runs left.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nettests.cluster.apply import (
    COLLECTIONS,
    OPTIONAL,
    delete_object,
    owned_namespaces,
    owned_objects,
    wait_gone,
)
from nettests.cluster.connection import Connection
from nettests.cluster.lease import holder_of, read_lease
from nettests.cluster.ownership import Ownership
from nettests.errors import ClusterError

Object = dict[str, Any]
Key = tuple[str, str, str]


@dataclass(slots=True)
class CreatedObjects:
    """What a run created: the UID by kind, namespace and name, as soon as it is known.

    The object may exist although the answer was lost: then the name and the marks have to identify it.
    """

    _uids: dict[Key, set[str | None]] = field(default_factory=dict)

    def call(self, item: Object) -> None:
        """Remember an object that is about to be created."""
        self._uids.setdefault(_key(item), set()).add(None)

    def take(self, stored: Object, sent: Object) -> None:
        """Remember the UID of a created object."""
        uids = self._uids.setdefault(_key(sent), set())
        uids.discard(None)
        uids.add(stored["metadata"].get("uid"))

    def any_of(self, kind: str) -> bool:
        """Whether the run had an object of that kind created, or tried to."""
        return any(created_kind == kind for created_kind, _, _ in self._uids)

    def holds(self, item: Object) -> bool:
        """Whether the run created this object, or its owner."""
        own_uids = self._uids.get(_key(item), set())
        if None in own_uids or item["metadata"]["uid"] in own_uids:
            return True
        every = {uid for uids in self._uids.values() for uid in uids}
        owners = [owner["uid"] for owner in item["metadata"].get("ownerReferences") or ()]
        return bool(owners) and every.issuperset(owners)


def _key(item: Object) -> Key:
    meta = item["metadata"]
    return item["kind"], meta.get("namespace", ""), meta["name"]


def delete_run(
    connection: Connection,
    marks: Ownership,
    created: CreatedObjects,
    *,
    wait: float,
    namespace: str | None = None,
) -> None:
    """Delete the run's namespaces, or its objects in an existing ``namespace``, and wait until they are gone.

    ``ClusterError`` for what still exists after ``wait`` seconds, or belongs to another run now.
    """
    if namespace is not None:
        _delete_objects(connection, marks, created, namespace, wait)
        return

    def delete(item: Object) -> str:
        """Delete a namespace, or the run's objects in it; return the run that holds it now, if it is another one."""
        name = item["metadata"]["name"]
        lease = read_lease(connection, name)
        if lease is None or holder_of(lease) == marks.run:
            delete_object(connection, item)
            return ""
        _delete_objects(connection, marks, created, name, wait)
        return holder_of(lease)

    namespaces = _namespaces(connection, marks, created)
    with ThreadPoolExecutor(connection.bounds.requests_open, "delete") as pool:
        holders = list(pool.map(delete, namespaces))
    names = [item["metadata"]["name"] for item in namespaces]
    taken = {name: holder for name, holder in zip(names, holders, strict=True) if holder}
    wait_gone(
        lambda: [
            item
            for item in _namespaces(connection, marks, created)
            if item["metadata"]["name"] not in taken
        ],
        "namespace",
        wait,
    )
    if taken:
        others = ", ".join(f"{name} is run {run}'s now" for name, run in taken.items())
        raise ClusterError(f"namespace {others}, and stays with what that one put into it")


def _namespaces(connection: Connection, marks: Ownership, created: CreatedObjects) -> list[Object]:
    namespaces = ({"kind": "Namespace", **item} for item in owned_namespaces(connection, marks.run))
    return [item for item in namespaces if Ownership.of(item) == marks and created.holds(item)]


def _delete_objects(
    connection: Connection, marks: Ownership, created: CreatedObjects, namespace: str, wait: float
) -> None:
    for kind in COLLECTIONS:
        if kind in OPTIONAL and not created.any_of(kind):
            continue
        left = partial(_objects, connection, marks, created, kind, namespace)
        delete = partial(_deleted, connection, left)
        delete()
        # A Lease that was renewed between read and deletion still exists, and is tried again.
        wait_gone(delete if kind == "Lease" else left, kind.lower(), wait)


def _deleted(connection: Connection, left: Callable[[], list[Object]]) -> list[Object]:
    remaining = left()
    if remaining:  # an interrupted run may have left hundreds of Services
        with ThreadPoolExecutor(connection.bounds.requests, "delete") as pool:
            list(pool.map(partial(delete_object, connection), remaining))
    return remaining


def _objects(
    connection: Connection, marks: Ownership, created: CreatedObjects, kind: str, namespace: str
) -> list[Object]:
    return [
        item
        for item in owned_objects(connection, kind, marks.run, namespace)
        if Ownership.of(item) == marks
        and (created.holds(item) if kind != "Lease" else holder_of(item) == marks.run)
    ]
