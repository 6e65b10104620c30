"""Content negotiation: whole objects, tables for ``kubectl get``, or bare metadata.

Reads ``Accept`` as ``k8s.io/apiserver/pkg/endpoints/handlers/negotiation`` does, first match wins, for
JSON only: a client that takes nothing but protobuf gets 406. Renders answers and watch events. Pure.
"""

import json
from collections.abc import Sequence
from enum import Enum
from typing import Any

from nettests.lab.apiserver import tables, views
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.status import ApiError
from nettests.lab.apiserver.store import Record

Json = dict[str, Any]


class Form(Enum):
    """What an answer consists of."""

    WHOLE = "whole"
    TABLE = "table"
    BARE = "bare"


_AS = {
    "Table": Form.TABLE,
    "PartialObjectMetadata": Form.BARE,
    "PartialObjectMetadataList": Form.BARE,
}
_ANY = frozenset({"*/*", "application/*", "application/json", ""})


def negotiate(accept: str) -> Form:
    """Return the form that an ``Accept`` header requests; 406 when none can be given."""
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


def _dump(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


def render_one(form: Form, resource: Resource, record: Record, included: str) -> str:
    """Return the text of one object; ``included`` is the table parameter ``includeObject``."""
    if form is Form.TABLE:
        metadata = {"resourceVersion": str(record.version)}
        return _dump(tables.table(resource, [record], metadata, included))
    if form is Form.BARE:
        return _dump(views.bare(record.body))
    return views.object_text(resource, record)


def render_list(
    form: Form, resource: Resource, records: Sequence[Record], metadata: Json, included: str
) -> str:
    """Return the text of a list."""
    if form is Form.TABLE:
        return _dump(tables.table(resource, records, metadata, included))
    if form is Form.BARE:
        items = [views.bare(record.body) for record in records]
        head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        return _dump({**head, "metadata": metadata, "items": items})
    return views.list_text(resource, records, metadata)


def render_event(form: Form, resource: Resource, kind: str, record: Record, included: str) -> str:
    """Return the line of one watch event."""
    return f'{{"type":"{kind}","object":{render_one(form, resource, record, included)}}}\n'
