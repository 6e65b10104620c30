"""Decoding of the protobuf bodies that ``kubectl create``, ``auth`` and ``create token`` send.

Those commands use typed clients, which encode in protobuf and take JSON answers. The envelope is
``k8s\\0`` and ``runtime.Unknown``; field numbers are those of the published ``generated.proto`` files, for
the kinds that such commands make. Types of fields come from ``schema``. Go writes unset fields as zero
values, so zero values are dropped. Other kinds are refused with a word on what to do. Pure.
"""

import base64
from collections.abc import Iterator
from typing import Any

from nettests.lab.apiserver.schema import types
from nettests.lab.apiserver.status import ApiError
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"

_NUMBERS: dict[str, str] = read_yaml(__package__, "types.yaml")["numbers"]
_QUANTITIES = frozenset({"ResourceQuotaSpec.hard"})
"""Maps of quantities, each a message with its text as field 1; ``schema`` leaves their type open."""
KINDS = frozenset(kind for kind in _NUMBERS if "metadata" in _NUMBERS[kind].split())

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def decode(data: bytes) -> Json:
    """Return the object of a protobuf body; a 415 for kinds that are not decoded here."""
    try:
        kind, api_version, raw = _envelope(data)
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


def _envelope(data: bytes) -> tuple[str, str, bytes]:
    if not data.startswith(MAGIC):
        raise _refused("it lacks the prefix k8s\\x00")
    outer = dict(_fields(data[len(MAGIC) :]))
    inner = dict(_fields(_as_bytes(outer.get(1, b""))))
    api_version, kind = (_as_bytes(inner.get(number, b"")).decode() for number in (1, 2))
    return kind, api_version, _as_bytes(outer.get(2, b""))


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
    """``intstr.IntOrString``: 1 is the type (0 a number, 1 a text), 2 the number, 3 the text."""
    parts = dict(_fields(data))
    if parts.get(1):
        return _as_bytes(parts.get(3, b"")).decode()
    number = parts.get(2, 0)
    return number if isinstance(number, int) else 0
