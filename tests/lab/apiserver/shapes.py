"""Comparison of answers: what of two JSON texts must be equal, and what only alike in shape.

The shape of a value is the set of its paths with the JSON type at each; all elements of a list share
one path. ``managedFields`` is left out: the lab does not keep them (its ``LIMITS.txt`` says so).
"""

import json
import re
from typing import Any

NOT_KEPT = frozenset({"managedFields"})

# what differs between two clusters: addresses with ports, uids, sandbox ids, times, versions in (…)
_VOLATILE = (
    (re.compile(r"\d+\.\d+\.\d+\.\d+(?=:\d+: connect)"), "<address>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<id>"),
    (re.compile(r"cni-[-0-9a-f]{32,36}"), "cni-<id>"),
    (re.compile(r"\(\d+\)"), "(<version>)"),
    (re.compile(r"\n@@ .*", re.DOTALL), "<difference>"),
    (re.compile(r"kube-api-access-\w{5}"), "kube-api-access-<random>"),
)


def settled(text: str) -> str:
    """Return a message with the parts replaced that no two clusters share."""
    for pattern, word in _VOLATILE:
        text = pattern.sub(word, text)
    return text


def shape(value: Any, path: str = "") -> set[str]:
    """Return the paths of a value, each with its type."""
    if isinstance(value, dict):
        found = {f"{path}:object"}
        for key, item in value.items():
            if key not in NOT_KEPT:
                found |= shape(item, f"{path}.{_key(key)}")
        return found
    if isinstance(value, list):
        found = {f"{path}:array"}
        for item in value:
            found |= shape(item, f"{path}[]")
        return found
    names = {bool: "bool", int: "number", float: "number", str: "string", type(None): "null"}
    return {f"{path}:{names[type(value)]}"}


def _key(key: str) -> str:
    return key.replace(".", "·")


def parse_cut(text: str) -> Any:
    """Parse JSON that was cut off by the recorder: what is whole is kept, the rest closed."""
    for end in range(len(text), 0, -1):
        if end < len(text) and text[end] not in ",}]":
            continue
        try:
            return json.loads(text[:end] + _closing(text[:end]))
        except json.JSONDecodeError:
            continue
    raise ValueError("nothing of the text can be parsed")


def _closing(text: str) -> str:
    stack: list[str] = []
    quoted = escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = quoted
        elif character == '"':
            quoted = not quoted
        elif not quoted and character in "{[":
            stack.append("}" if character == "{" else "]")
        elif not quoted and character in "}]":
            stack.pop()
    return ('"' if quoted else "") + "".join(reversed(stack))


def cut_to(recorded: Any, answered: Any) -> Any:
    """Return of ``answered`` only what a cut-off ``recorded`` reaches, key by key."""
    if isinstance(recorded, dict) and isinstance(answered, dict):
        return {key: cut_to(recorded[key], answered[key]) for key in answered if key in recorded}
    if isinstance(recorded, list) and isinstance(answered, list) and recorded:
        return [cut_to(recorded[0], item) for item in answered]
    return answered
