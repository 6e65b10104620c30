"""The verbs on stored objects: get, list, create, update, patch, delete, and their status.

Each handler takes a ``Call`` and returns the HTTP answer; rules are in ``generic_registry`` and ``deletion``.
"""

import base64
import json

from aiohttp import web

from nettests.lab.apiserver import body, deletion, patch, status, views
from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.request import flag
from nettests.lab.apiserver.responses import json_text, json_value
from nettests.lab.apiserver.store import Record
from nettests.lab.apiserver.views import negotiate, render_list, render_one
from nettests.lab.apiserver.watching import selection, watch
from nettests.lab.interfaces import Json

_DEPRECATED = {
    "endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
}


def _warnings(call: Call) -> tuple[str, ...]:
    text = _DEPRECATED.get(call.resource.key)
    return (text,) if text and call.server.settings.version.minor >= 33 else ()


def _answer(
    call: Call, record: Record, *, code: int = 200, warnings: tuple[str, ...] = ()
) -> web.Response:
    text = render_one(negotiate(call.accept), call.resource, record, call.include_object)
    return json_text(text, code=code, warnings=(*_warnings(call), *warnings))


async def get(call: Call) -> web.StreamResponse:
    """GET of one object."""
    if flag(call.http.query, "watch"):
        return await watch(call)
    record = call.server.objects.require(call.resource, call.namespace, call.name)
    return _answer(call, record)


async def list_objects(call: Call) -> web.Response:
    """GET of a collection, in pages if ``limit`` is set."""
    form, records, query = negotiate(call.accept), _selected(call), call.http.query
    metadata: Json = {"resourceVersion": str(call.server.store.version)}
    try:
        if token := query.get("continue"):
            after = tuple(json.loads(base64.urlsafe_b64decode(token)))
            records = [record for record in records if record.name > after]
    except ValueError as error:
        raise status.bad_request("continue key is not valid") from error
    try:
        limit = int(query.get("limit") or 0)
    except ValueError as error:
        raise status.bad_request(f'invalid limit: "{query["limit"]}"') from error
    if limit and len(records) > limit:
        last = json.dumps(records[limit - 1].name).encode()
        metadata["continue"] = base64.urlsafe_b64encode(last).decode()
        metadata["remainingItemCount"] = len(records) - limit
        records = records[:limit]
    text = render_list(form, call.resource, records, metadata, call.include_object)
    return json_text(text, warnings=_warnings(call))


def _selected(call: Call) -> list[Record]:
    selects = selection(call)
    records = call.server.store.records(call.resource.key, call.namespace)
    return [record for record in records if selects(record)]


async def create(call: Call) -> web.Response:
    """POST to a collection."""
    decoded = await _decoded(call)
    return _create(call, views.to_stored(call.resource, decoded.item), decoded.warnings)


async def update(call: Call) -> web.Response:
    """PUT of an object or of its status."""
    decoded = await _decoded(call)
    item = views.to_stored(call.resource, decoded.item)
    exists = call.server.store.get(call.resource.key, call.namespace, call.name)
    if exists is None and call.resource.create_on_update and not call.request.subresource:
        return _create(call, item, decoded.warnings)
    return _answer(call, _replace(call, item), warnings=decoded.warnings)


async def _decoded(call: Call) -> body.Decoded:
    return body.decode(*await call.body(), call.resource, call.field_validation)


def _create(call: Call, item: Json, warnings: tuple[str, ...]) -> web.Response:
    record = call.server.objects.create(call.resource, call.namespace, item, dry_run=call.dry_run)
    return _answer(call, record, code=201, warnings=warnings)


def _replace(call: Call, item: Json) -> Record:
    return call.server.objects.replace(
        call.resource,
        call.namespace,
        call.name,
        item,
        subresource=call.request.subresource,
        dry_run=call.dry_run,
    )


async def patch_object(call: Call) -> web.Response:
    """PATCH of an object or of its status; apply creates a missing object."""
    data, content_type = await call.body()
    media = body.media_type(content_type)
    if media not in patch.PATCH_TYPES:
        raise patch.unsupported_patch()
    document = body.parse(data, media, call.resource.kind)
    if media == patch.APPLY_PATCH:
        if not call.http.query.get("fieldManager"):
            error = status.required("fieldManager", "is required for apply patch")
            message = f'PatchOptions.meta.k8s.io "" is invalid: {error.field}: {error.text}'
            raise status.ApiError(422, "Invalid", message, {})
        if not isinstance(document, dict):
            raise status.bad_request("error decoding YAML: the patch is not an object")
        if call.server.store.get(call.resource.key, call.namespace, call.name) is None:
            decoded = body.prune(document, call.resource, call.field_validation)
            decoded.item.setdefault("metadata", {}).setdefault("name", call.name)
            return _create(call, decoded.item, decoded.warnings)
    record = call.server.objects.require(call.resource, call.namespace, call.name)
    original = patch.copied(views.whole(call.resource, record.body))
    patched = patch.apply_patch(call.resource, original, document, media)
    body.check_kind(patched, call.resource.kind, call.resource.api_version)
    decoded = body.prune(patched, call.resource, call.field_validation)
    replaced = _replace(call, views.to_stored(call.resource, decoded.item))
    return _answer(call, replaced, warnings=decoded.warnings)


async def _options(call: Call) -> deletion.DeleteOptions:
    data, content_type = await call.body()
    document = body.parse(data, content_type, "DeleteOptions") if data else {}
    return deletion.read_options(call.http.query, document or {})


async def delete(call: Call) -> web.Response:
    """DELETE of one object."""
    options = await _options(call)
    record, gone = deletion.delete(
        call.server.objects, call.resource, call.namespace, call.name, options
    )
    if call.resource.returns_deleted or not gone:
        return _answer(call, record)
    about = {**status.details(call.resource, call.name), "uid": record.body["metadata"]["uid"]}
    return json_value(status.success(about))


async def delete_collection(call: Call) -> web.Response:
    """DELETE of all selected objects of a collection; answers with their list."""
    options = await _options(call)
    deleted = [
        deletion.delete(call.server.objects, call.resource, *record.name, options)[0]
        for record in _selected(call)
    ]
    metadata = {"resourceVersion": str(call.server.store.version)}
    return json_text(render_list(negotiate(call.accept), call.resource, deleted, metadata, "None"))
