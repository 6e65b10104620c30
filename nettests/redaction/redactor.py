"""Remove secrets from plain data, such as API objects and journal records. Pure.

Fields are checked first, because an object names its values; then texts. A text is redacted before
it is truncated: half a key cannot be recognised. Secrets of this process are registered, by
``cluster.credentials`` and by readers of webhook and proxy addresses, and removed by ``terminal``,
by writers of files and by every ``Redactor``. ``shapes`` recognises other secrets.
"""

import base64
import json
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from nettests.redaction.names import is_secret_field, is_secret_variable, takes_secret
from nettests.redaction.spans import REDACTED, redact

DEEPEST = 80
"""Deeper nesting does not concern networks."""
TOO_DEEP = "[left out: nested too deep]"
SHORTEST = 6
"""A shorter text has no room for a name and a secret."""
REMEMBERED = 1024
"""Results for texts up to this length are cached: a journal repeats most of them."""
SEALED = frozenset({"data", "stringData"})
"""The fields of a Secret with its content."""


@dataclass(frozen=True, slots=True)
class Redactor:
    """Removes secrets: registered ones, ``known`` ones, and what looks like one."""

    known: tuple[str, ...] = ()

    def text(self, text: str) -> str:
        """Return a text without what looks like a secret; JSON is processed as data."""
        return _text(self._without_known(text), DEEPEST)

    def value(self, value: Any, leave: Collection[str] = ()) -> Any:
        """Return plain data, such as an API object, without secrets.

        The fields in ``leave`` have names of the harness's own, which other records refer to.
        """
        return _Walk(self._without_known, leave).value(value, DEEPEST)

    def _without_known(self, text: str) -> str:
        text = str(text)  # an enum equals its value, which would confuse the cache
        return without_held(text, self.known)


@dataclass(frozen=True, slots=True)
class _Walk:
    """One walk through plain data; texts pass ``first`` before they are examined."""

    first: Callable[[str], str] = str
    leave: Collection[str] = ()

    def value(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return _text(self.first(value), depth)
        if not isinstance(value, dict | list | tuple):
            return value
        if depth <= 0:
            return TOO_DEEP
        if isinstance(value, dict):
            return self._fields(value, depth - 1)
        return self._items(value, depth - 1)

    def _fields(self, fields: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        name = fields.get("name")
        variable = "value" in fields and isinstance(name, str) and is_secret_variable(name)
        sealed = fields.get("kind") == "Secret"
        for key, value in fields.items():
            if key == "managedFields":
                continue  # long, and not about the network
            if key in self.leave:
                kept[key] = value
            elif sealed and key in SEALED and isinstance(value, dict):
                kept[key] = dict.fromkeys(map(str, value), REDACTED)
            elif isinstance(value, str):
                hidden = value and ((variable and key == "value") or is_secret_field(str(key)))
                kept[str(key)] = REDACTED if hidden else _text(self.first(value), depth)
            else:
                kept[str(key)] = self.value(value, depth)
        return kept

    def _items(self, items: Iterable[Any], depth: int) -> list[Any]:
        kept: list[Any] = []
        before: object = None
        for item in items:
            hidden = (
                isinstance(before, str) and isinstance(item, str) and takes_secret(before, item)
            )
            kept.append(REDACTED if hidden else self.value(item, depth))
            before = item
        return kept


def _text(text: str, depth: int) -> str:
    if len(text) < SHORTEST:
        return text
    return _remembered(text, depth) if len(text) <= REMEMBERED else _read(text, depth)


@lru_cache(maxsize=8192)
def _remembered(text: str, depth: int) -> str:
    return _read(text, depth)


def _read(text: str, depth: int) -> str:
    if text.lstrip()[:1] in {"{", "["}:
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            return redact(text)
        redacted = _Walk().value(read, depth)
        return text if redacted == read else json.dumps(redacted, ensure_ascii=False)
    return redact(text)


SHORTEST_SECRET = 4
"""Shorter ones are not registered: they would remove ordinary words."""

_lock = threading.Lock()
_held: tuple[str, ...] = ()


def register(*secrets: str | None) -> None:
    """Add secrets for the rest of the process; ignore those shorter than ``SHORTEST_SECRET``."""
    global _held  # noqa: PLW0603 - one register for the process is its purpose
    with _lock:
        new = (secret for secret in secrets if secret and len(secret) >= SHORTEST_SECRET)
        _held = tuple(dict.fromkeys((*_held, *new)))


def forget() -> None:
    """Empty the register, between tests."""
    global _held  # noqa: PLW0603 - see above
    _held = ()


def without_held(text: str, more: tuple[str, ...] = ()) -> str:
    """Return the text without registered secrets and ``more``: plain, in JSON, URLs or base64."""
    for form in _forms((*more, *_held)):
        if form in text:
            text = text.replace(form, REDACTED)
    return text


@lru_cache(maxsize=64)
def _forms(secrets: tuple[str, ...]) -> tuple[str, ...]:
    forms = [
        form
        for secret in secrets
        if len(secret) >= SHORTEST_SECRET
        for form in (
            secret,
            json.dumps(secret)[1:-1],
            quote(secret, safe=""),
            base64.b64encode(secret.encode()).decode(),
        )
    ]
    return tuple(sorted(dict.fromkeys(forms), key=len, reverse=True))
