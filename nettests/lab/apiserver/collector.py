"""The loop that empties terminating namespaces and collects the dependents of deleted objects.

Stands in for the namespace and garbage-collector controllers of kube-controller-manager, which every
deletion relies on. It looks at the store only when something was deleted or marked for deletion.
"""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

from nettests.lab.apiserver import deletion, resources
from nettests.lab.apiserver.deletion import DeleteOptions
from nettests.lab.apiserver.generic_registry import Objects
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.status import ApiError
from nettests.lab.apiserver.store import Record

Json = dict[str, Any]

_LOG = logging.getLogger(__name__)
_LONGEST_WAIT = 3600.0
_GATHER = 0.05
"""Seconds in which deletions are gathered: each collection looks at the whole store."""
_FOREGROUND = "foregroundDeletion"
_ORPHAN = "orphan"


async def run(objects: Objects) -> None:
    """Collect after deletions, until cancelled."""
    seen = -1
    with objects.store.subscribe_all() as subscription:
        while True:
            if objects.store.departures == seen:
                await subscription.wait(_LONGEST_WAIT)
                continue
            seen = objects.store.departures
            collect(objects)
            await asyncio.sleep(_GATHER)


def collect(objects: Objects) -> None:
    """Go over the store once; what is deleted here may call for another round."""
    live = {record.body["metadata"]["uid"] for _, record in _all(objects)}
    for resource, record in _all(objects):
        meta = record.body["metadata"]
        owners = meta.get("ownerReferences") or ()
        if owners and not any(owner.get("uid") in live for owner in owners):
            _delete(objects, resource, record)
        elif meta.get("deletionTimestamp") and meta.get("finalizers"):
            _finalize(objects, resource, record)
    for record in objects.store.records(resources.NAMESPACES.key):
        if record.body["metadata"].get("deletionTimestamp"):
            _empty(objects, record)


def _all(objects: Objects) -> Iterator[tuple[Resource, Record]]:
    for key in list(objects.store.keys()):
        resource = resources.of_key(key)
        for record in objects.store.records(key):
            yield resource, record


def _delete(
    objects: Objects, resource: Resource, record: Record, propagation: str = "Background"
) -> None:
    namespace, name = record.name
    if record.body["metadata"].get("deletionTimestamp"):
        return
    try:
        deletion.delete(objects, resource, namespace, name, DeleteOptions(propagation=propagation))
    except ApiError as error:
        _LOG.info("collector: %s %s/%s: %s", resource.plural, namespace, name, error)


def _finalize(objects: Objects, resource: Resource, owner: Record) -> None:
    meta = owner.body["metadata"]
    dependents = [
        (kind, record)
        for kind, record in _all(objects)
        for reference in record.body["metadata"].get("ownerReferences") or ()
        if reference.get("uid") == meta["uid"]
    ]
    if _ORPHAN in meta["finalizers"]:
        for kind, record in dependents:
            _disown(objects, kind, record, meta["uid"])
        _release(objects, resource, owner, _ORPHAN)
    elif _FOREGROUND in meta["finalizers"]:
        owners = {
            reference.get("uid")
            for _, record in _all(objects)
            for reference in record.body["metadata"].get("ownerReferences") or ()
        }
        for kind, record in dependents:
            is_owner = record.body["metadata"]["uid"] in owners
            _delete(objects, kind, record, propagation="Foreground" if is_owner else "Background")
        if not dependents:
            _release(objects, resource, owner, _FOREGROUND)


def _disown(objects: Objects, resource: Resource, record: Record, uid: str) -> None:
    def change(body: Json) -> None:
        meta = body["metadata"]
        meta["ownerReferences"] = [
            owner for owner in meta["ownerReferences"] if owner.get("uid") != uid
        ]

    objects.modify(resource, *record.name, change)


def _release(objects: Objects, resource: Resource, record: Record, finalizer: str) -> None:
    def change(body: Json) -> None:
        meta = body["metadata"]
        meta["finalizers"] = [name for name in meta["finalizers"] if name != finalizer]

    released = objects.modify(resource, *record.name, change)
    meta = released.body["metadata"]
    if not meta["finalizers"] and not meta.get("deletionGracePeriodSeconds"):
        objects.store.delete(resource.key, *record.name)


def _empty(objects: Objects, namespace: Record) -> None:
    name = namespace.name[1]
    left = False
    for key in list(objects.store.keys()):
        resource = resources.of_key(key)
        for record in objects.store.records(key, name) if resource.namespaced else ():
            _delete(objects, resource, record)
            left = left or objects.store.get(key, *record.name) is not None
    if not left and not namespace.body["metadata"].get("finalizers"):
        objects.store.delete(resources.NAMESPACES.key, "", name)
