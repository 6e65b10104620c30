"""How stored objects are shown: kind and version added, lists, ``events.k8s.io`` events, tables, bare metadata.

Objects are kept once, in the version of their storage; the other version of an Event is a view of it.
``Accept`` is read like in ``k8s.io/apiserver/pkg/endpoints/handlers/negotiation``, the first match wins, but
only JSON is served: a client that accepts only protobuf gets 406. Pure.
"""

import json
from collections.abc import Callable, Sequence
from enum import Enum

from nettests.lab.apiserver.resources import EVENTS, Resource
from nettests.lab.apiserver.status import ApiError
from nettests.lab.apiserver.store import Record
from nettests.lab.apiserver.tables import table
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

_KINDS = read_yaml(__package__, "kinds.yaml")
_EVENT_FIELDS: dict[str, str] = _KINDS["event_fields"]
_STORED_FIELDS = {new: old for old, new in _EVENT_FIELDS.items()}


class Form(Enum):
    """What an answer consists of: whole objects, a table for ``kubectl get``, or bare metadata."""

    WHOLE = "whole"
    TABLE = "table"
    BARE = "bare"


_PARTIAL = "PartialObjectMetadata"
_AS = {"Table": Form.TABLE, _PARTIAL: Form.BARE, f"{_PARTIAL}List": Form.BARE}
_ANY = frozenset({"*/*", "application/*", "application/json", ""})


def negotiate(accept: str) -> Form:
    """Return the form that an ``Accept`` header requests; raise 406 if none can be served."""
    for offer in accept.split(","):
        media, *parameters = (part.strip() for part in offer.split(";"))
        values = dict(part.partition("=")[::2] for part in parameters)
        if media not in _ANY:
            continue
        if "as" not in values:
            return Form.WHOLE
        if values["as"] in _AS and values.get("v", "v1") == "v1":
            return _AS[values["as"]]
    raise ApiError(
        406,
        "NotAcceptable",
        "only the following media types are accepted: application/json, "
        "application/json;as=Table;g=meta.k8s.io;v=v1, "
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    )


def _differs(resource: Resource) -> bool:
    return resource.key == EVENTS.key and resource is not EVENTS


def to_stored(resource: Resource, item: Json) -> Json:
    """Return a decoded body in the version of its storage."""
    if not _differs(resource):
        return item
    return {_STORED_FIELDS.get(name, name): value for name, value in item.items()}


def _shown(resource: Resource, body: Json) -> Json:
    if not _differs(resource):
        return body
    return {_EVENT_FIELDS.get(name, name): value for name, value in body.items()}


def whole(resource: Resource, body: Json) -> Json:
    """Return a stored body as a whole object."""
    head = {"kind": resource.kind, "apiVersion": resource.api_version}
    return {**head, **_shown(resource, body)}


def _bare(body: Json) -> Json:
    return {"kind": _PARTIAL, "apiVersion": "meta.k8s.io/v1", "metadata": body["metadata"]}


def _dump(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


def _item_text(resource: Resource, record: Record) -> str:
    return _dump(_shown(resource, record.body)) if _differs(resource) else record.text


def _table(resource: Resource, records: Sequence[Record], metadata: Json, included: str) -> str:
    carried: dict[str, Callable[[Json], Json] | None] = {
        "Object": lambda body: whole(resource, body),
        "None": None,
    }
    bodies = [record.body for record in records]
    return _dump(table(resource.key, bodies, metadata, carried.get(included, _bare)))


def render_one(form: Form, resource: Resource, record: Record, included: str) -> str:
    """Return the text of one object; ``included`` is the table parameter ``includeObject``."""
    if form is Form.TABLE:
        return _table(resource, [record], {"resourceVersion": str(record.version)}, included)
    if form is Form.BARE:
        return _dump(_bare(record.body))
    head = f'{{"kind":"{resource.kind}","apiVersion":"{resource.api_version}",'
    return head + _item_text(resource, record)[1:]


def render_list(
    form: Form, resource: Resource, records: Sequence[Record], metadata: Json, included: str
) -> str:
    """Return the text of a list."""
    if form is Form.TABLE:
        return _table(resource, records, metadata, included)
    if form is Form.BARE:
        items = [_bare(record.body) for record in records]
        head = {"kind": f"{_PARTIAL}List", "apiVersion": "meta.k8s.io/v1"}
        return _dump({**head, "metadata": metadata, "items": items})
    texts = ",".join(_item_text(resource, record) for record in records)
    return (
        f'{{"kind":"{resource.kind}List","apiVersion":"{resource.api_version}",'
        f'"metadata":{_dump(metadata)},"items":[{texts}]}}'
    )


def render_event(form: Form, resource: Resource, kind: str, record: Record, included: str) -> str:
    """Return the line of one watch event."""
    return f'{{"type":"{kind}","object":{render_one(form, resource, record, included)}}}\n'


def bookmark(resource: Resource, version: int, *, initial_end: bool) -> Json:
    """Return the empty object of a BOOKMARK event."""
    metadata: Json = {"resourceVersion": str(version)}
    if initial_end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    head = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
    return {**head, **_KINDS["empty"].get(resource.key, {})}
