"""How a text is reduced before it is recorded: to named fields, properties or lines. Pure.

Each reading says what is kept of it. Readings contain whole objects of other tenants, whose
variables, arguments and annotations must not be recorded.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import Any

from nettests.model.json_text import read_json
from nettests.model.yaml_text import read_yaml

Keep = Callable[[str], str]
"""Reduces a text; raises what ``read_json`` and wrong types raise."""
KEEP = True
Kept = bool | dict[str, Any]
"""Fields by name, each with what is kept below it; for a list, of each item."""
KEPT: Mapping[str, Any] = read_yaml(
    (files("nettests.rules") / "kept.yaml").read_text("utf-8"), "kept.yaml"
)[0]
"""What is kept of objects, and names of properties."""
SCHEMA = "Settings"
"""Its presence shows a policy's schema, even if nothing in it is kept."""


def fields(value: Any, kept: Kept) -> Any:
    """Reduce a value to these fields."""
    if kept is KEEP or value is None:
        return value
    if isinstance(value, list):
        return [fields(item, kept) for item in value]
    if isinstance(value, dict) and isinstance(kept, dict):
        return {key: fields(value[key], below) for key, below in kept.items() if key in value}
    return None


def one_object(kept: Kept) -> Keep:
    """Keep these fields of one object."""

    def keep(text: str) -> str:
        return json.dumps(fields(read_json(text), kept))

    return keep


def items(kept: Kept) -> Keep:
    """Keep these fields of the items of a list."""
    return one_object({"items": kept})


def lines(pattern: str) -> Keep:
    """Keep what a pattern matches, each match on its own line."""

    def keep(text: str) -> str:
        return "".join(f"{match[0]}\n" for match in re.finditer(pattern, text))

    return keep


def named(value: Any, names: frozenset[str]) -> Any:
    """Return the properties with these names on any level, and the objects around them."""
    if isinstance(value, list):
        below = [named(item, names) for item in value]
        return [item for item in below if item is not None]
    if not isinstance(value, dict):
        return None
    reduced: dict[str, Any] = {}
    for key, item in value.items():
        if key in names and _plain(item):
            reduced[key] = item
        elif (below := named(item, names)) or key == SCHEMA:
            reduced[key] = below or {}
    return reduced


def _plain(value: Any) -> bool:
    if isinstance(value, list):
        return not any(isinstance(item, dict | list) for item in value)
    return not isinstance(value, dict)


def flags(command: str, names: Iterable[str]) -> list[str]:
    """Return these flags of a command line or script, each with its value."""
    # samples: --proxy-mode=kernelspace, --source-vip 10.244.2.2, --resolv-conf=""
    value = r"(?:\"[^\"]*\"|'[^']*'|[^\s;\"']+)"
    pattern = rf"--(?:{'|'.join(names)})(?![\w-])(?:[= ](?!-){value}?)?[\"',;]?"
    return [word.strip() for word in re.findall(pattern, command)]
