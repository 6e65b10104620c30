"""Decoding of request bodies: content types, JSON errors in Go's words, kind checks, field validation.

The result holds known fields only, without ``kind`` and ``apiVersion``; warnings about the rest go into
``Warning`` headers as ``fieldValidation`` says. Pure.
"""

import io
import json
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from nettests.lab.apiserver import protobuf
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.schema import Decoder, type_name
from nettests.lab.apiserver.status import ApiError, bad_request, unsupported_media
from nettests.lab.interfaces import Json

_JSON = "application/json"
_YAML = frozenset({"application/yaml", "application/apply-patch+yaml"})
_SNIPPET = 80

# What Python's decoder says → what Go's says after "invalid character 'x' ".
_GO_CONTEXT = (
    ("Expecting property name", "looking for beginning of object key string"),
    ("Illegal trailing comma", "looking for beginning of object key string"),
    ("Expecting value", "looking for beginning of value"),
    ("Expecting ':' delimiter", "after object key"),
    ("Expecting ',' delimiter", "after object key:value pair"),
    ("Extra data", "after top-level value"),
    ("Invalid control character", "in string literal"),
    ("Invalid \\escape", "in string escape code"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A body's fields and the warnings to send with the answer."""

    item: Json
    warnings: tuple[str, ...] = ()


def media_type(content_type: str) -> str:
    """Return the content type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def go_json_error(text: str, error: json.JSONDecodeError) -> str:
    """Return what Go's ``encoding/json`` says of the same text."""
    if error.pos >= len(text):
        return "unexpected end of JSON input"
    for begin, context in _GO_CONTEXT:
        if error.msg.startswith(begin):
            return f"invalid character '{text[error.pos]}' {context}"
    return "unexpected end of JSON input"


def parse(data: bytes, content_type: str, kind: str) -> Any:
    """Parse JSON, YAML or protobuf; the errors of a real API server name ``kind``."""
    media = media_type(content_type) or _JSON
    if media == protobuf.MEDIA_TYPE:
        return protobuf.decode(data)
    text = data.decode("utf-8", "replace")
    if media in _YAML:
        try:
            return YAML(typ="safe", pure=True).load(io.StringIO(text))
        except YAMLError as error:
            raise bad_request(f"error converting YAML to JSON: {error}") from error
    if media != _JSON and not media.endswith("+json"):
        raise unsupported_media()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): couldn't get "
            f"version/kind; json parse error: {go_json_error(text, error)} ({text[:_SNIPPET]})"
        ) from error


def decode(data: bytes, content_type: str, resource: Resource, validation: str) -> Decoded:
    """Decode the body of a create or update of ``resource``."""
    value = parse(data, content_type, resource.kind)
    check_kind(value, resource.kind, resource.api_version)
    return prune(value, resource, validation)


def check_kind(value: Any, kind: str, api_version: str) -> None:
    """Raise 400 when a body is not of the kind that its path serves.

    A body without ``kind`` or ``apiVersion`` is of the path's own: decoders get that as a default
    (apimachinery, ``runtime/serializer/json``), and the Python client's models rely on it.
    """
    if not isinstance(value, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind})")
    value["kind"] = value.get("kind") or kind
    value["apiVersion"] = value.get("apiVersion") or api_version
    if value["apiVersion"] != api_version:
        raise bad_request(
            f"the API version in the data ({value['apiVersion']}) does not match the expected "
            f"API version ({api_version})"
        )
    if value["kind"] != kind:
        version = api_version.rpartition("/")[2]
        raise bad_request(
            f'{value["kind"]} in version "{version}" cannot be handled as a {kind}: '
            f"converting ({api_version}.{value['kind']}) to ({api_version}.{kind}): unknown conversion"
        )


def prune(value: Json, resource: Resource, validation: str) -> Decoded:
    """Drop the fields that the kind does not know; an error, warnings or silence as the client wants."""
    decoder = Decoder(resource.kind)
    item = decoder.decode(value, type_name(resource.kind, resource.group))
    item.pop("kind", None)
    item.pop("apiVersion", None)
    complaints = [f'unknown field "{path}"' for path in decoder.unknown]
    if complaints and validation == "Strict":
        raise strict_error(resource, complaints)
    return Decoded(item=item, warnings=() if validation == "Ignore" else tuple(complaints))


def strict_error(resource: Resource, complaints: list[str]) -> ApiError:
    """A body has fields that ``fieldValidation=Strict`` does not take."""
    return bad_request(
        f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
        f"strict decoding error: {', '.join(complaints)}"
    )
