"""PATCH bodies: JSON patch, merge patch, strategic merge patch, and apply as far as it is kept.

Apply (``application/apply-patch+yaml``) merges as a strategic patch does; who owns which field is not
tracked, so that it never removes a field and never conflicts. Pure.
"""

import copy
from typing import Any

import jsonpatch
import jsonpointer

from nettests.lab.apiserver import strategic
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.schema import type_name
from nettests.lab.apiserver.status import ApiError, bad_request

Json = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCH_TYPES = frozenset({JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH})


def unsupported_patch() -> ApiError:
    """The content type is none of the patch types."""
    return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def apply_patch(resource: Resource, original: Json, patch: Any, content_type: str) -> Json:
    """Return ``original`` patched; a 400 or 422 when the patch does not fit."""
    if content_type == JSON_PATCH:
        return _json_patch(original, patch)
    if not isinstance(patch, dict):
        raise bad_request(
            "error decoding patch: json: cannot unmarshal array into Go value of type map"
        )
    if content_type == MERGE_PATCH:
        return merged(original, patch)
    return strategic.merge(original, patch, type_name(resource.kind, resource.group))


def _json_patch(original: Json, patch: Any) -> Json:
    try:
        patched: Json = jsonpatch.apply_patch(original, patch)
    except jsonpatch.InvalidJsonPatch as error:
        raise bad_request(f"error decoding patch: {error}") from error
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
        message = "the server rejected our request due to an error in our request"
        raise ApiError(422, "Invalid", message, {}) from error
    return patched


def merged(original: Json, patch: Json) -> Json:
    """Return an object after a merge patch."""
    result: Json = _merge(original, patch)
    return result


def _merge(original: Any, patch: Any) -> Any:
    """RFC 7386, section 2."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(original) if isinstance(original, dict) else {}
    for key, item in patch.items():
        if item is None:
            result.pop(key, None)
        else:
            result[key] = _merge(result.get(key), item)
    return result
