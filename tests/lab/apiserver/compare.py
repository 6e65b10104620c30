"""What of a recorded answer an answer must equal: headers, ``Status`` bodies, texts, shapes."""

import json
from collections.abc import Mapping
from typing import Any

from tests.lab.apiserver.shapes import cut_to, parse_cut, settled, shape

Json = dict[str, Any]


def compare_headers(recorded: list[list[str]], answered: Mapping[str, str]) -> list[str]:
    """Return the headers that say something else."""
    complaints = []
    for name, value in recorded:
        if name in {"Content-Type", "Location", "Warning", "X-Content-Type-Options"}:
            got = answered.get(name)
            if got != value:
                complaints.append(f"{name}: {got!r}, not {value!r}")
    return complaints


def compare_bodies(row: Json, text: str) -> list[str]:
    """Return what differs between a recorded body and an answer."""
    recorded = row["body"]
    if row["truncated"]:
        if not text.lstrip().startswith("{"):
            return ["the answer is not JSON"]
        cut = parse_cut(recorded)
        return _shape_complaints(cut, cut_to(cut, json.loads(text)), whole=False)
    if isinstance(recorded, str):
        return _text_complaints(recorded, text)
    answered = json.loads(text)
    if recorded.get("kind") == "Status":
        want, got = _settle_messages(recorded), _settle_messages(answered)
        return [] if want == got else [f"{got}, not {want}"]
    return _shape_complaints(recorded, answered)


def _settle_messages(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _settle_messages(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_settle_messages(item) for item in value]
    return settled(value) if isinstance(value, str) else value


def _text_complaints(recorded: str, answered: str) -> list[str]:
    """Texts are compared by their words: numbers and times in them are those of one moment."""
    if recorded.startswith("[+]"):
        known = set(recorded.splitlines())
        extra = [line for line in answered.splitlines() if line not in known]
        return [f"health checks that no real server has: {extra}"] if extra else []

    def words(text: str) -> list[str]:
        if text.lstrip().startswith("{"):
            return sorted(shape(json.loads(text)))
        return ["".join("#" if c.isdigit() else c for c in word) for word in text.split()]

    want, got = words(recorded), words(answered)
    alike = [collapse(word) for word in want] == [collapse(word) for word in got]
    return [] if alike else [f"{answered!r}, not {recorded!r}"]


def collapse(word: str) -> str:
    """Return text in which runs of digits, written ``#``, have one length."""
    while "##" in word:
        word = word.replace("##", "#")
    return word


# Paths that only some objects of a kind have: what a cluster's nodes are made of is its own.
_OWN = (
    "status.allocatable",
    "status.capacity",
    "status.images",
    "status.runtimeHandlers",
    "status.resources",
)


def _shape_complaints(recorded: Any, answered: Any, *, whole: bool = True) -> list[str]:
    want, got = shape(recorded), shape(answered)
    missing = sorted(path for path in want - got if not path.strip(".").startswith(_OWN))
    extra = sorted(path for path in got - want if not path.strip(".").startswith(_OWN))
    complaints = [f"missing {', '.join(missing)}"] if missing else []
    if extra and whole:
        complaints.append(f"not recorded {', '.join(extra)}")
    return complaints


def alike(recorded: Json, answered: Json) -> bool:
    """Tell whether two objects have the same shape."""
    return not _shape_complaints(recorded, answered)
