"""The fields of each kind, and the decoding of bodies against them.

``fields.json`` has the types of the Kubernetes API (field name → type), taken from the official Python
client's models, which are generated from the published OpenAPI document. Decoding drops unknown fields as a
real API server does, and reports them for ``fieldValidation``. ``validation`` checks values.
"""

import json
from functools import cache
from importlib import resources
from typing import Any

from nettests.lab.apiserver.status import ApiError, bad_request
from nettests.lab.interfaces import Json

_GO_TYPES = {"string": "string", "time": "string", "integer": "int64", "boolean": "bool"}
_PYTHON_TYPES = {"integer": int, "boolean": bool}
_JSON_TYPES = {bool: "bool", str: "string", int: "number", float: "number", list: "array"}
_NULLS = frozenset({"lastProbeTime", "eventTime", "firstTimestamp", "lastTimestamp", "rules"})
"""Fields that Go writes as ``null`` when unset; a ``null`` for any other field means it is absent."""


_CUSTOM = {
    kind: {"apiVersion": "string", "kind": "string", "metadata": "ObjectMeta", "spec": "any"}
    for kind in ("IPPool", "IPAMConfig")
}
"""Kinds of a network plugin's CustomResourceDefinitions, whose ``spec`` is stored unchecked."""


@cache
def types() -> dict[str, dict[str, str]]:
    """Return field types by type name: ``string``, ``[]Container``, ``{}string``, ``any`` …"""
    text = resources.files(__package__).joinpath("fields.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, str]] = json.loads(text)
    return loaded | _CUSTOM


def type_name(kind: str, group: str = "") -> str:
    """Return the name of a kind's type; two groups have an ``Event``."""
    qualified = f"{group}/{kind}"
    return qualified if qualified in types() else kind


class Decoder:
    """Decodes one body; ``unknown`` collects the paths of unknown fields."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.unknown: list[str] = []

    def decode(self, value: Json, type_name: str) -> Json:
        """Return the body with known fields only; raise 400 if a value has the wrong JSON type."""
        decoded: Json = self._object(value, type_name, "")
        return decoded

    def _object(self, value: Json, name: str, path: str) -> Json:
        fields = types()[name]
        kept: Json = {}
        for key, item in value.items():
            where = f"{path}.{key}" if path else key
            declared = fields.get(key)
            if declared is None:
                self.unknown.append(where)
            elif item is None:
                if key in _NULLS:
                    kept[key] = None
            else:
                kept[key] = self._value(item, declared, where)
        return kept

    def _value(self, item: Any, declared: str, path: str) -> Any:
        if declared.startswith("[]"):
            if not isinstance(item, list):
                raise self._mismatch(item, path, declared)
            return [
                self._value(each, declared[2:], f"{path}[{index}]")
                for index, each in enumerate(item)
            ]
        if declared.startswith("{}"):
            if not isinstance(item, dict):
                raise self._mismatch(item, path, f"map[string]{declared[2:]}")
            return {
                key: self._value(each, declared[2:], f"{path}.{key}")
                for key, each in item.items()
                if each is not None
            }
        if declared in types():
            if not isinstance(item, dict):
                raise self._mismatch(item, path, f"v1.{declared}")
            return self._object(item, declared, path)
        if declared in _GO_TYPES and type(item) is not _PYTHON_TYPES.get(declared, str):
            raise self._mismatch(item, path, _GO_TYPES[declared])
        return item

    def _mismatch(self, item: Any, path: str, go_type: str) -> ApiError:
        return bad_request(
            f'{self._kind} in version "v1" cannot be handled as a {self._kind}: json: cannot '
            f"unmarshal {_JSON_TYPES.get(type(item), 'object')} into Go struct field {self._kind}.{path} of type {go_type}"
        )
