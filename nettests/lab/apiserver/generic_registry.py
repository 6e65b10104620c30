"""Create, replace and patch objects by the rules of their kind, and write them to the store.

The steps of a real API server's generic registry, in its order: metadata, namespace, defaults,
admission, validation, allocation, write. ``deletion`` removes objects; ``body`` has decoded the input.
"""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from nettests.lab.apiserver import patch, quota, resources, status, validation
from nettests.lab.apiserver.defaults import random_suffix
from nettests.lab.apiserver.kinds import strategy
from nettests.lab.apiserver.pod_admission import Context
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.settings import ApiSettings
from nettests.lab.apiserver.store import ExistsError, Record, Store
from nettests.lab.interfaces import Json

_KEPT = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
)
_GENERATED_PREFIX = 58
_OTHER_NAMESPACE = (
    "the namespace of the provided object does not match the namespace sent on the request"
)


def now(later: float = 0) -> str:
    """Return the current time, or one that many seconds later, in the API's format: ``2026-11-21T01:22:03Z``."""
    return (datetime.now(UTC) + timedelta(seconds=later)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Objects:
    """The write path of one server."""

    def __init__(self, store: Store, settings: ApiSettings) -> None:
        self.store = store
        self._context = Context(store=store, settings=settings)

    def require(self, resource: Resource, namespace: str, name: str) -> Record:
        """Return the stored record; raise 404 if there is none."""
        record = self.store.get(resource.key, namespace, name)
        if record is None:
            raise status.not_found(resource, name)
        return record

    def create(
        self, resource: Resource, namespace: str, item: Json, *, dry_run: bool = False
    ) -> Record:
        """Complete ``item`` in place and store it as a new object."""
        self._prepare_metadata(resource, namespace, item)
        name = item["metadata"].get("name", "")
        if resource.namespaced:
            self._require_namespace(resource, namespace, name)
        rules = strategy(resource)
        if rules.generation:
            item["metadata"]["generation"] = 1
        if rules.status:
            item.pop("status", None)
            if rules.empty_status is not None:
                item["status"] = dict(rules.empty_status)
        errors = validation.metadata(resource, item)
        errors += rules.rules(item, None, self._context)
        if name and self.store.get(resource.key, namespace, name):
            raise status.already_exists(resource, name)
        if errors:
            raise status.invalid(resource, name, errors)
        quota.admit(resource, item, self.store)
        if dry_run:
            return Record(item, 0)
        try:
            return self.store.create(resource.key, item)
        except ExistsError:
            raise status.already_exists(resource, name) from None

    def replace(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        item: Json,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Record:
        """Replace an object, or its status; nothing is written if nothing changes."""
        record = self.require(resource, namespace, name)
        old = record.body
        _check_preconditions(resource, name, old, item)
        new = self._carried_over(resource, old, item, subresource)
        errors = validation.metadata(resource, new)
        if subresource != "status":
            errors += validation.immutable_metadata(old, new)
            errors += strategy(resource).rules(new, old, self._context)
        if errors:
            raise status.invalid(resource, name, errors)
        if strategy(resource).generation and _spec(old) != _spec(new):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        if dry_run or new == old:
            return Record(new, record.version)
        if _is_released(new):
            self.store.update(resource.key, new)
            return self.store.delete(resource.key, namespace, name)
        return self.store.update(resource.key, new)

    def modify(
        self, resource: Resource, namespace: str, name: str, change: Callable[[Json], None]
    ) -> Record:
        """Apply ``change`` to a copy of an object and store it, without the rules of its kind."""
        body = patch.copied(self.require(resource, namespace, name).body)
        change(body)
        return self.store.update(resource.key, body)

    def _prepare_metadata(self, resource: Resource, namespace: str, item: Json) -> None:
        meta = item.setdefault("metadata", {})
        stated = meta.get("namespace", "")
        if resource.namespaced and stated and stated != namespace:
            raise status.bad_request(_OTHER_NAMESPACE)
        for field in (*_KEPT, "managedFields", "selfLink"):
            meta.pop(field, None)
        if meta.pop("resourceVersion", "") not in {"", "0"}:
            raise status.bad_request("resourceVersion should not be set on objects to be created")
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = meta["generateName"][:_GENERATED_PREFIX] + random_suffix()
        if resource.namespaced:
            meta["namespace"] = namespace
        else:
            meta.pop("namespace", None)
        meta["uid"] = str(uuid.uuid4())
        meta["creationTimestamp"] = now()

    def _require_namespace(self, resource: Resource, namespace: str, name: str) -> None:
        record = self.store.get(resources.NAMESPACES.key, "", namespace)
        if record is None:
            raise status.not_found(resources.NAMESPACES, namespace)
        if record.body["metadata"].get("deletionTimestamp"):
            message = f"namespace {namespace} is being terminated"
            cause = {"reason": "NamespaceTerminating", "message": message}
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            raise status.forbidden(resource, name, why, [{**cause, "field": "metadata.namespace"}])

    def _carried_over(self, resource: Resource, old: Json, item: Json, subresource: str) -> Json:
        meta = {**item.get("metadata", {})}
        meta.pop("managedFields", None)
        for field in _KEPT:
            meta.pop(field, None)
            if field in old["metadata"]:
                meta[field] = old["metadata"][field]
        meta.setdefault("namespace", old["metadata"].get("namespace", ""))
        if not resource.namespaced:
            meta.pop("namespace")
        meta["resourceVersion"] = old["metadata"]["resourceVersion"]
        if subresource == "status":
            return {**old, "metadata": meta, "status": item.get("status", {})}
        new = {**item, "metadata": meta}
        if strategy(resource).status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        return new


def _spec(item: Json) -> Json:
    return {key: value for key, value in item.items() if key not in {"metadata", "status"}}


def _is_released(item: Json) -> bool:
    meta = item["metadata"]
    waits = "deletionTimestamp" in meta and not meta.get("deletionGracePeriodSeconds")
    held = meta.get("finalizers") or (item.get("spec") or {}).get("finalizers")
    return waits and not held


def _check_preconditions(resource: Resource, name: str, old: Json, item: Json) -> None:
    meta, current = item.get("metadata", {}), old["metadata"]
    if meta.get("name", name) != name:
        raise status.bad_request(
            f"the name of the object ({meta['name']}) does not match the name on the URL ({name})"
        )
    if current.get("namespace", "") != (meta.get("namespace") or current.get("namespace", "")):
        raise status.bad_request(_OTHER_NAMESPACE)
    if (uid := meta.get("uid")) and uid != current["uid"]:
        stated, stored = f"UID in precondition: {uid}", f"UID in object meta: {current['uid']}"
        why = f"Precondition failed: {stated}, {stored}"
        raise status.conflict(resource, name, why)
    version = meta.get("resourceVersion")
    if version and version != current["resourceVersion"]:
        raise status.stale(resource, name)
