"""Decoding of request bodies: JSON and YAML with Go's errors, protobuf; kind checks, field validation.

``kubectl create``, ``auth`` and ``create token`` use typed clients, which encode in protobuf and accept JSON answers: the
envelope is ``k8s\\0`` and ``runtime.Unknown``, field numbers are those of the published ``generated.proto`` files, field
types are from ``schema``. Go writes unset fields as zero values, so zero values are dropped.

The result holds known fields only, without ``kind`` and ``apiVersion``; warnings about the rest go into
``Warning`` headers as ``fieldValidation`` says. Pure.
"""

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.schema import Decoder, type_name, types
from nettests.lab.apiserver.status import ApiError, bad_request, unsupported_media
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"

_NUMBERS: dict[str, str] = read_yaml(__package__, "types.yaml")["numbers"]
_QUANTITIES = frozenset({"ResourceQuotaSpec.hard"})
"""Maps of quantities, each a message whose field 1 is the text; ``schema`` has no type for them."""
KINDS = frozenset(kind for kind in _NUMBERS if "metadata" in _NUMBERS[kind].split())

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def decode_protobuf(data: bytes) -> Json:
    """Return the object of a protobuf body; raise 415 for unsupported kinds."""
    try:
        if not data.startswith(MAGIC):
            raise _refused("it lacks the prefix k8s\\x00")
        outer = dict(_fields(data[len(MAGIC) :]))
        inner = dict(_fields(_as_bytes(outer.get(1, b""))))
        api_version, kind = (_as_bytes(inner.get(number, b"")).decode() for number in (1, 2))
        raw = _as_bytes(outer.get(2, b""))
        if kind not in KINDS:
            raise _refused(f"{kind} is not among the kinds it decodes")
        return {"kind": kind, "apiVersion": api_version, **_message(raw, kind)}
    except (IndexError, UnicodeDecodeError) as error:
        raise _refused("the body is cut off or damaged") from error


def _refused(why: str) -> ApiError:
    message = (
        f"the body is protobuf, which this API server reads for a few kinds only, and {why}: "
        "send it as JSON or YAML, for example with kubectl create --dry-run=client -o yaml | "
        "kubectl apply -f -"
    )
    return ApiError(415, "UnsupportedMediaType", message)


def _as_bytes(value: int | bytes) -> bytes:
    return value if isinstance(value, bytes) else b""


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield field numbers with their varint or bytes; fixed-size fields are skipped."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        match tag & 7:
            case wire if wire == _VARINT:
                value, at = _varint(data, at)
                yield tag >> 3, value
            case wire if wire == _BYTES:
                length, at = _varint(data, at)
                if at + length > len(data):
                    raise IndexError(at)
                yield tag >> 3, data[at : at + length]
                at += length
            case wire if wire in {_FIXED64, _FIXED32}:
                at += 8 if wire == _FIXED64 else 4
            case _:
                raise IndexError(at)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _message(data: bytes, name: str) -> Json:
    names = _NUMBERS[name].split()
    declared = types()[name]
    message: Json = {}
    for number, value in _fields(data):
        field = names[number - 1] if number <= len(names) else "-"
        if field == "-":
            continue
        kind = "{}Quantity" if f"{name}.{field}" in _QUANTITIES else declared[field]
        if kind.startswith("[]"):
            message.setdefault(field, []).append(_value(value, kind[2:]))
        elif kind.startswith("{}"):
            entry = dict(_fields(_as_bytes(value)))
            key = _as_bytes(entry.get(1, b"")).decode()
            message.setdefault(field, {})[key] = _map_value(entry.get(2, b""), f"{name}.{field}")
        elif value not in {0, b""}:
            message[field] = _value(value, kind)
    return message


def _map_value(value: int | bytes, path: str) -> str:
    raw = _as_bytes(value)
    if path in {"Secret.data", "ConfigMap.binaryData"}:
        return base64.b64encode(raw).decode()
    if path in _QUANTITIES:
        return _as_bytes(dict(_fields(raw)).get(1, b"")).decode()
    return raw.decode()


def _value(value: int | bytes, kind: str) -> Any:
    if isinstance(value, int):
        return bool(value) if kind == "boolean" else value
    if kind in _NUMBERS:
        return _message(value, kind)
    return _int_or_string(value) if kind == "any" else value.decode()


def _int_or_string(data: bytes) -> int | str:
    """Decode ``intstr.IntOrString``: field 1 is the type (0 number, 1 text), 2 the number, 3 the text."""
    parts = dict(_fields(data))
    if parts.get(1):
        return _as_bytes(parts.get(3, b"")).decode()
    number = parts.get(2, 0)
    return number if isinstance(number, int) else 0


_JSON = "application/json"
_YAML = frozenset({"application/yaml", "application/apply-patch+yaml"})
_SNIPPET = 80

_GO_CONTEXT: dict[str, str] = read_yaml(__package__, "types.yaml")["json_errors"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A body's fields and the warnings to send with the answer."""

    item: Json
    warnings: tuple[str, ...] = ()


def media_type(content_type: str) -> str:
    """Return the content type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def go_json_error(text: str, error: json.JSONDecodeError) -> str:
    """Return the error of Go's ``encoding/json`` for the same text."""
    if error.pos >= len(text):
        return "unexpected end of JSON input"
    for begin, context in _GO_CONTEXT.items():
        if error.msg.startswith(begin):
            return f"invalid character '{text[error.pos]}' {context}"
    return "unexpected end of JSON input"


def parse(data: bytes, content_type: str, kind: str) -> Any:
    """Parse JSON, YAML or protobuf; the errors of a real API server name ``kind``."""
    media = media_type(content_type) or _JSON
    if media == MEDIA_TYPE:
        return decode_protobuf(data)
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
    """Raise 400 if a body's kind is not that of its path.

    ``kind`` and ``apiVersion`` default to the path's (apimachinery, ``runtime/serializer/json``), which the
    Python client's models rely on.
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
    """Drop unknown fields, with an error, warnings or neither as ``fieldValidation`` says."""
    decoder = Decoder(resource.kind)
    item = decoder.decode(value, type_name(resource.kind, resource.group))
    item.pop("kind", None)
    item.pop("apiVersion", None)
    complaints = [f'unknown field "{path}"' for path in decoder.unknown]
    if complaints and validation == "Strict":
        raise strict_error(resource, complaints)
    return Decoded(item=item, warnings=() if validation == "Ignore" else tuple(complaints))


def strict_error(resource: Resource, complaints: list[str]) -> ApiError:
    """Return the error for a body with fields that ``fieldValidation=Strict`` rejects."""
    return bad_request(
        f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
        f"strict decoding error: {', '.join(complaints)}"
    )
