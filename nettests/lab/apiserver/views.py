"""How stored objects are shown: kind and version added, lists, ``events.k8s.io`` events, bare metadata.

Objects are kept once, in the version of their storage; the other version of an Event is a view of it.
Pure.
"""

import json
from collections.abc import Iterable
from typing import Any

from nettests.lab.apiserver.resources import EVENTS, Resource
from nettests.lab.apiserver.store import Record

Json = dict[str, Any]

# core/v1 field → events.k8s.io/v1 field
_EVENT_FIELDS = {
    "message": "note",
    "involvedObject": "regarding",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_STORED_FIELDS = {new: old for old, new in _EVENT_FIELDS.items()}

# What Go writes of an empty object besides metadata: bookmarks are such objects.
_EMPTY: dict[str, Json] = {
    "pods": {"spec": {"containers": None}, "status": {}},
    "services": {"spec": {}, "status": {"loadBalancer": {}}},
    "namespaces": {"spec": {}, "status": {}},
    "nodes": {"spec": {}, "status": {}},
    "endpointslices.discovery.k8s.io": {"addressType": "", "endpoints": None, "ports": None},
    "leases.coordination.k8s.io": {"spec": {}},
}


def _differs(resource: Resource) -> bool:
    return resource.key == EVENTS.key and resource is not EVENTS


def to_stored(resource: Resource, item: Json) -> Json:
    """Return a decoded body as its storage has it."""
    if not _differs(resource):
        return item
    return {_STORED_FIELDS.get(name, name): value for name, value in item.items()}


def shown(resource: Resource, body: Json) -> Json:
    """Return a stored body as ``resource`` shows it, without kind and version."""
    if not _differs(resource):
        return body
    return {_EVENT_FIELDS.get(name, name): value for name, value in body.items()}


def whole(resource: Resource, body: Json) -> Json:
    """Return a stored body as a whole object."""
    head = {"kind": resource.kind, "apiVersion": resource.api_version}
    return {**head, **shown(resource, body)}


def item_text(resource: Resource, record: Record) -> str:
    """Return the JSON text of a record as an item of a list."""
    if _differs(resource):
        return json.dumps(shown(resource, record.body), separators=(",", ":"))
    return record.text


def object_text(resource: Resource, record: Record) -> str:
    """Return the JSON text of a record as a whole object."""
    head = f'{{"kind":"{resource.kind}","apiVersion":"{resource.api_version}",'
    return head + item_text(resource, record)[1:]


def list_text(resource: Resource, records: Iterable[Record], metadata: Json) -> str:
    """Return the JSON text of a list."""
    items = ",".join(item_text(resource, record) for record in records)
    return (
        f'{{"kind":"{resource.kind}List","apiVersion":"{resource.api_version}",'
        f'"metadata":{json.dumps(metadata, separators=(",", ":"))},"items":[{items}]}}'
    )


def bare(body: Json) -> Json:
    """Return an object's metadata alone, as tables and metadata clients get it."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": body["metadata"],
    }


def bookmark(resource: Resource, version: int, *, initial_end: bool) -> Json:
    """Return the empty object of a BOOKMARK event."""
    metadata: Json = {"resourceVersion": str(version)}
    if initial_end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    head = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
    return {**head, **_EMPTY.get(resource.key, {})}
