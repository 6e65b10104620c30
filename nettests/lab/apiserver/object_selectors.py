"""Label and field selectors: parsing, with the API server's own errors, and matching.

Grammar and messages follow ``k8s.io/apimachinery/pkg/labels`` and ``…/pkg/fields``. Pure.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from nettests.lab.apiserver.status import ApiError, bad_request
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

Predicate = Callable[[Json], bool]

# app in (a, b),tier!=x,!gone,size>3 →  "app" "in" "(" "a" "," "b" ")" "," "tier" "!=" …
_TOKEN = re.compile(r"\s*(!=|==|=|!|\(|\)|,|<|>|[^\s!=(),<>]+)")
_SYMBOLS = frozenset({"!=", "==", "=", "!", "(", ")", ",", "<", ">"})
_OPERATORS = "in, notin, =, ==, !=, gt, lt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One clause: label key, operator, values."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy the clause."""
        value = labels.get(self.key)
        match self.operator:
            case "exists":
                return value is not None
            case "absent":
                return value is None
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
        if value is None or not value.lstrip("-").isdigit():
            return False
        bound = int(next(iter(self.values)))
        return int(value) > bound if self.operator == ">" else int(value) < bound


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        self._at = 0

    def requirements(self) -> list[Requirement]:
        requirements: list[Requirement] = []
        while self._peek():
            requirements.append(self._requirement())
            if self._peek() == ",":
                self._next()
                if not self._peek():
                    raise _bad("found '', expected: identifier after ','")
            elif self._peek():
                raise _bad(f"found '{self._peek()}', expected: ',' or 'end of string'")
        return requirements

    def _requirement(self) -> Requirement:
        negated = self._peek() == "!"
        if negated:
            self._next()
        key = self._next()
        if key in _SYMBOLS or not key:
            raise _bad(f"found '{key}', expected: identifier")
        if negated:
            return Requirement(key=key, operator="absent")
        if self._peek() in {"", ","}:
            return Requirement(key=key, operator="exists")
        return self._valued(key, self._next())

    def _valued(self, key: str, operator: str) -> Requirement:
        if operator in {"in", "notin"}:
            return Requirement(key=key, operator=operator, values=self._set())
        if operator not in {"=", "==", "!=", "<", ">"}:
            raise _bad(f"found '{operator}', expected: {_OPERATORS}")
        value = "" if self._peek() in {"", ","} else self._next()
        if value in _SYMBOLS:
            raise _bad(f"found '{value}', expected: identifier")
        name = {"=": "in", "==": "in", "!=": "notin"}.get(operator, operator)
        return Requirement(key=key, operator=name, values=frozenset({value}))

    def _set(self) -> frozenset[str]:
        if (opening := self._next()) != "(":
            raise _bad(f"found '{opening}' expected: '('")
        values: set[str] = set()
        while (word := self._next()) != ")":
            if not word:
                raise _bad("found '', expected: ',' or ')'")
            if word != ",":
                values.add(word)
        return frozenset(values)

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token


def _bad(detail: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {detail}")


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """Parse ``labelSelector``; raise 400 in the API server's words if it is malformed."""
    return tuple(_Parser(text).requirements())


def matches_labels(requirements: tuple[Requirement, ...], item: Json) -> bool:
    """Whether an object's labels satisfy every clause."""
    labels = item["metadata"].get("labels") or {}
    return all(requirement.matches(labels) for requirement in requirements)


_FIELDS = read_yaml(__package__, "kinds.yaml")["selectable"]


def _value_at(item: Json, path: str) -> str:
    if path == "source":
        return str((item.get("source") or {}).get("component", ""))
    if path == "status.podIPs":
        path = "status.podIP"
    value: Any = item
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "false" if path in {"spec.hostNetwork", "spec.unschedulable"} else ""
    return str(value)


def parse_fields(text: str, key: str) -> Predicate | None:
    """Parse ``fieldSelector`` for the collection ``key``; ``None`` if it selects everything."""
    clauses = _clauses(text, key)
    if not clauses:
        return None
    return lambda item: all(
        (_value_at(item, name) == value) != negated for name, value, negated in clauses
    )


def stated_field(text: str, key: str, paths: Collection[str]) -> tuple[str, str] | None:
    """Return the first of ``paths`` for which ``fieldSelector`` requires a value, and the value."""
    clauses = _clauses(text, key)
    return next(((name, to) for name, to, no in clauses if not no and name in paths), None)


def _clauses(text: str, key: str) -> list[tuple[str, str, bool]]:
    clauses: list[tuple[str, str, bool]] = []
    for part in filter(None, text.split(",")):
        negated = "!=" in part
        name, separator, value = part.partition("!=" if negated else "=")
        if not separator:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        allowed = ("metadata.name", "metadata.namespace", *_FIELDS.get(key, "").split())
        if name not in allowed:
            raise bad_request(f"field label not supported: {name}")
        clauses.append((name, value.removeprefix("="), negated))
    return clauses
