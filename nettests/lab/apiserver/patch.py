"""PATCH bodies: merge patch, strategic merge patch, and a simple apply. Pure.

A strategic patch merges lists of objects by a key instead of replacing them. Which lists, and by which key, are the
``patchMergeKey`` annotations of the Kubernetes API types; the directives ``$patch``, ``$deleteFromPrimitiveList``,
``$setElementOrder`` and ``$retainKeys`` are those of the "Strategic Merge Patch" document of sig-api-machinery.
Apply (``application/apply-patch+yaml``) merges like a strategic patch; field ownership is not tracked,
so that it never removes a field and never conflicts.
"""

from typing import Any

from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.schema import type_name, types
from nettests.lab.apiserver.status import ApiError, bad_request
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCH_TYPES = frozenset({MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH})

_MERGED_BY = read_yaml(__package__, "types.yaml")["merged_by"]
MERGE_KEYS = {place: key for key, places in _MERGED_BY.items() for place in places.split()}
"""The merge key of each merged list, by ``type.field``."""
_PRIMITIVE_MERGES = frozenset({"ObjectMeta.finalizers", "NodeSpec.podCIDRs"})
_DIRECTIVE = "$patch"
_ORDER = "$setElementOrder/"
_DELETE = "$deleteFromPrimitiveList/"
_RETAIN = "$retainKeys"


def unsupported_patch() -> ApiError:
    """Return the error for a content type that is no patch type."""
    return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def apply_patch(resource: Resource, original: Json, patch: Any, content_type: str) -> Json:
    """Return ``original`` patched; raise 400 if the patch is no object."""
    if not isinstance(patch, dict):
        raise bad_request(
            "error decoding patch: json: cannot unmarshal array into Go value of type map"
        )
    if content_type == MERGE_PATCH:
        return merged(original, patch)
    return merge(original, patch, type_name(resource.kind, resource.group))


def copied(item: Any) -> Any:
    """Return a copy of plain data, in a fraction of the time of ``copy.deepcopy``."""
    if isinstance(item, dict):
        return {key: copied(value) for key, value in item.items()}
    return [copied(value) for value in item] if isinstance(item, list) else item


def merged(original: Any, patch: Json) -> Json:
    """Return an object after a merge patch (RFC 7386, section 2)."""
    result: Json = dict(original) if isinstance(original, dict) else {}
    for key, item in patch.items():
        if item is None:
            result.pop(key, None)
        elif isinstance(item, dict):
            result[key] = merged(result.get(key), item)
        else:
            result[key] = copied(item)
    return result


def merge(original: Json, patch: Json, type_name: str) -> Json:
    """Return an object of ``type_name`` (empty: untyped) after a strategic merge patch."""
    if patch.get(_DIRECTIVE) == "replace":
        return {key: copied(item) for key, item in patch.items() if key != _DIRECTIVE}
    if patch.get(_DIRECTIVE) == "delete":
        return {}
    result = dict(original)
    if (retained := patch.get(_RETAIN)) is not None:
        result = {key: item for key, item in result.items() if key in retained}
    for key, item in patch.items():
        if key.startswith(_DELETE):
            name = key.removeprefix(_DELETE)
            if isinstance(result.get(name), list):
                result[name] = [each for each in result[name] if each not in item]
        elif not key.startswith("$"):
            _merge_field(result, key, item, type_name)
    for key, order in patch.items():
        if key.startswith(_ORDER):
            _reorder(result, key.removeprefix(_ORDER), order, type_name)
    return result


def _merge_field(result: Json, key: str, item: Any, type_name: str) -> None:
    declared = types().get(type_name, {}).get(key, "any")
    current = result.get(key)
    if item is None:
        result.pop(key, None)
    elif isinstance(item, dict):
        base = current if isinstance(current, dict) else {}
        result[key] = merge(base, item, declared.removeprefix("{}"))
    elif isinstance(item, list) and isinstance(current, list):
        place = f"{type_name}.{key}"
        result[key] = _merge_list(current, item, place, declared.removeprefix("[]"))
    else:
        result[key] = _without_directives(item) if isinstance(item, list) else item


def _merge_list(current: list[Any], patch: list[Any], place: str, element: str) -> list[Any]:
    if place in _PRIMITIVE_MERGES:
        return [*current, *(item for item in patch if item not in current)]
    merge_key = MERGE_KEYS.get(place)
    if merge_key is None or any(item.get(_DIRECTIVE) == "replace" for item in patch):
        return _without_directives(patch)
    result = list(current)
    for item in patch:
        same = [at for at, old in enumerate(result) if old.get(merge_key) == item.get(merge_key)]
        if item.get(_DIRECTIVE) == "delete":
            result = [old for at, old in enumerate(result) if at not in same]
        elif same:
            result[same[0]] = merge(result[same[0]], item, element)
        else:
            result.append(merge({}, item, element))
    return result


def _without_directives(items: list[Any]) -> list[Any]:
    return [copied(item) for item in items if not (isinstance(item, dict) and _DIRECTIVE in item)]


def _reorder(result: Json, key: str, order: list[Any], type_name: str) -> None:
    merge_key = MERGE_KEYS.get(f"{type_name}.{key}")

    def value(item: Any) -> Any:
        return item.get(merge_key) if isinstance(item, dict) else item

    wanted = list(map(value, order))
    if isinstance(items := result.get(key), list):
        result[key] = sorted(
            items,
            key=lambda item: wanted.index(value(item)) if value(item) in wanted else len(wanted),
        )
