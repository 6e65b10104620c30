"""Background work of the API server: initial objects of clusters and namespaces, garbage collection, usage of quotas.

In a real cluster kube-apiserver creates the system namespaces, the ``kubernetes`` Service and, in releases that have
it, the ServiceCIDR of the Service networks; controllers give each namespace its ServiceAccount ``default`` and the
ConfigMap ``kube-root-ca.crt``, empty terminating namespaces, collect the dependents of deleted objects, and update the
usage in ResourceQuotas. The loops run only when the store changed; admission does not wait for them.
"""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

from nettests.lab.apiserver import deletion, quota, resources
from nettests.lab.apiserver.deletion import DeleteOptions
from nettests.lab.apiserver.generic_registry import Objects, now
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.settings import ApiSettings
from nettests.lab.apiserver.status import ApiError
from nettests.lab.apiserver.store import Record
from nettests.lab.interfaces import Json

_LOG = logging.getLogger(__name__)
_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_API_PORT = 6443
_LONGEST_WAIT = 3600.0
_GATHER = 0.05
"""Seconds in which deletions are gathered, as each collection goes through the whole store."""
_FOREGROUND = "foregroundDeletion"
_ORPHAN = "orphan"


def prepare(objects: Objects, settings: ApiSettings) -> None:
    """Create the initial objects of a cluster that do not exist yet."""
    for name in _NAMESPACES:
        _ensure(objects, resources.NAMESPACES, "", {"metadata": {"name": name}})
    ports = [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": _API_PORT}]
    labels = {"component": "apiserver", "provider": "kubernetes"}
    service = {
        "metadata": {"name": "kubernetes", "labels": labels},
        "spec": {"clusterIP": str(settings.service_cidr[1]), "ports": ports},
    }
    _ensure(objects, resources.SERVICES, "default", service)
    if settings.version.minor >= resources.SERVICE_CIDRS.since:
        _name_service_networks(objects, settings)
    _fill_namespaces(objects, settings)


def _name_service_networks(objects: Objects, settings: ApiSettings) -> None:
    """Create the default ServiceCIDR, as ``pkg/controlplane/controller/defaultservicecidr`` does."""
    networks = (settings.service_cidr, settings.second_service_cidr)
    cidrs = [str(network) for network in networks if network is not None]
    ready = {
        "lastTransitionTime": now(),
        "message": "Kubernetes default Service CIDR is ready",
        "reason": "",
        "status": "True",
        "type": "Ready",
    }
    item = {"metadata": {"name": "kubernetes"}, "spec": {"cidrs": cidrs}}
    _ensure(objects, resources.SERVICE_CIDRS, "", item)
    status = {"conditions": [ready]}
    objects.modify(
        resources.SERVICE_CIDRS, "", "kubernetes", lambda body: body.update(status=status)
    )


def _ensure(objects: Objects, resource: Resource, namespace: str, item: Json) -> None:
    if objects.store.get(resource.key, namespace, item["metadata"]["name"]) is None:
        objects.create(resource, namespace, item)


def _fill_namespaces(objects: Objects, settings: ApiSettings) -> None:
    data = {"ca.crt": settings.ca_certificate}
    for record in objects.store.records(resources.NAMESPACES.key):
        if not record.body["metadata"].get("deletionTimestamp"):
            name = record.name[1]
            _ensure(objects, resources.SERVICE_ACCOUNTS, name, {"metadata": {"name": "default"}})
            certificate = {"metadata": {"name": "kube-root-ca.crt"}, "data": data}
            _ensure(objects, resources.CONFIG_MAPS, name, certificate)


async def keep_namespaces(objects: Objects, settings: ApiSettings) -> None:
    """Create the ServiceAccount and ConfigMap of new namespaces, until cancelled."""
    with objects.store.subscribe(resources.NAMESPACES.key) as subscription:
        while True:
            _fill_namespaces(objects, settings)
            await subscription.wait(_LONGEST_WAIT)


async def keep_quotas(objects: Objects) -> None:
    """Keep the status of quotas up to date until cancelled."""
    with objects.store.subscribe_all() as subscription:
        while True:
            for record in objects.store.records(quota.QUOTAS):
                used = quota.used_of(record.body, objects.store)
                status = {
                    "hard": dict((record.body.get("spec") or {}).get("hard") or {}),
                    "used": {name: quota.spelled(amount, name) for name, amount in used.items()},
                }
                if used and record.body.get("status") != status:
                    _write_status(objects, record, status)
            await subscription.wait(_LONGEST_WAIT)


def _write_status(objects: Objects, record: Record, status: Json) -> None:
    resource = resources.of_key(quota.QUOTAS)
    objects.modify(resource, *record.name, lambda body: body.update(status=status))


async def collect_garbage(objects: Objects) -> None:
    """Collect garbage after deletions, until cancelled."""
    seen = -1
    with objects.store.subscribe_all() as subscription:
        while True:
            if objects.store.departures == seen:
                await subscription.wait(_LONGEST_WAIT)
                continue
            seen = objects.store.departures
            _collect(objects)
            await asyncio.sleep(_GATHER)


def _collect(objects: Objects) -> None:
    live: set[str] = set()
    concerned: list[tuple[Resource, Record]] = []
    for resource, record in _all(objects):
        meta = record.body["metadata"]
        live.add(meta["uid"])
        if meta.get("ownerReferences") or meta.get("deletionTimestamp"):
            concerned.append((resource, record))
    for resource, record in concerned:
        meta = record.body["metadata"]
        owners = meta.get("ownerReferences") or ()
        if owners and not any(owner.get("uid") in live for owner in owners):
            _delete(objects, resource, record)
        elif meta.get("deletionTimestamp") and meta.get("finalizers"):
            _finalize(objects, resource, record)
    for record in objects.store.records(resources.NAMESPACES.key):
        if record.body["metadata"].get("deletionTimestamp"):
            _empty(objects, record)


def _all(objects: Objects, namespace: str = "") -> Iterator[tuple[Resource, Record]]:
    """Yield every object, or those of one namespace."""
    for key in list(objects.store.keys()):
        resource = resources.of_key(key)
        if resource.namespaced or not namespace:
            for record in objects.store.unsorted(key, namespace):
                yield resource, record


def _owners(record: Record) -> list[str]:
    return [owner.get("uid", "") for owner in record.body["metadata"].get("ownerReferences") or ()]


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
    uid, finalizers = owner.body["metadata"]["uid"], owner.body["metadata"]["finalizers"]
    dependents = [(kind, record) for kind, record in _all(objects) if uid in _owners(record)]
    if _ORPHAN in finalizers:
        for kind, record in dependents:
            _without(objects, kind, record, "ownerReferences", lambda each: each.get("uid") == uid)
        _release(objects, resource, owner, _ORPHAN)
    elif _FOREGROUND in finalizers:
        owners = {owner_uid for _, record in _all(objects) for owner_uid in _owners(record)}
        for kind, record in dependents:
            is_owner = record.body["metadata"]["uid"] in owners
            _delete(objects, kind, record, propagation="Foreground" if is_owner else "Background")
        if not dependents:
            _release(objects, resource, owner, _FOREGROUND)


def _without(objects: Objects, resource: Resource, record: Record, field: str, gone: Any) -> Record:
    """Remove entries from a list in an object's metadata."""

    def change(body: Json) -> None:
        meta = body["metadata"]
        meta[field] = [entry for entry in meta[field] if not gone(entry)]

    return objects.modify(resource, *record.name, change)


def _release(objects: Objects, resource: Resource, record: Record, finalizer: str) -> None:
    released = _without(objects, resource, record, "finalizers", finalizer.__eq__)
    meta = released.body["metadata"]
    if not meta["finalizers"] and not meta.get("deletionGracePeriodSeconds"):
        objects.store.delete(resource.key, *record.name)


def _empty(objects: Objects, namespace: Record) -> None:
    name = namespace.name[1]
    left = False
    for resource, record in _all(objects, name):
        _delete(objects, resource, record)
        left = left or objects.store.get(resource.key, *record.name) is not None
    if not left and not namespace.body["metadata"].get("finalizers"):
        objects.store.delete(resources.NAMESPACES.key, "", name)
