"""Secrets over several lines: keys, certificates, and blocks of YAML. Pure.

One pass over the lines of a text each, which yields the places to hide.
"""

import re
from collections.abc import Iterator

from nettests.redaction.names import NAMES

Span = tuple[int, int]
KEY_LINES = 60
"""A key whose end is missing is hidden for so many lines; one whose beginning is missing as far back."""
# sample: -----BEGIN RSA PRIVATE KEY-----
_MARKER = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{1,40}-----")
# samples: password: |, "  tls.key: >-", - token: |2 # comment
_FIELD = re.compile(
    rf"[ \t]{{0,200}}(?:-[ \t]{{1,20}})?[\"']?[\w./-]{{0,80}}?(?:{NAMES}|\.dockerconfigjson|\bauth|tls\.key)"
    r"[\"']?[ \t]{0,20}:[ \t]{0,20}(?P<literal>[|>][+-]?\d?[+-]?)?[ \t]{0,20}(?:#[^\n]{0,200})?\r?\n",
    re.IGNORECASE,
)
# samples: "  secretName: x", "- key: value": what is nested, not a value
_NESTED = re.compile(r"\s{0,200}(?:-[ \t]{1,20})?[\"']?[\w./-]{1,80}[\"']?[ \t]{0,20}:(?:\s|$)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def keys(text: str) -> Iterator[Span]:
    """Yield PEM blocks, whole, or cut off at one end."""
    begun: int | None = None
    ended = 0
    for marker in _MARKER.finditer(text):
        if marker[1] == "BEGIN":
            if begun is not None:
                yield begun, _after(text, begun, marker.start())
            begun = marker.start()
        else:
            yield (_before(text, ended, marker.start()) if begun is None else begun), marker.end()
            begun, ended = None, marker.end()
    if begun is not None:
        yield begun, _after(text, begun, len(text))


def yaml_blocks(text: str) -> Iterator[Span]:
    """Yield the lines below a field that is called a secret, where they are its value."""
    held: int | None = None  # how deep the field stands
    literal = False
    for line in _LINE.finditer(text):
        start, end = line.span()
        if held is not None and line[0].strip():
            depth = _depth(line[0])
            if depth > held and (literal or not _NESTED.match(text, start, end)):
                yield start + depth, start + len(line[0].rstrip())
                continue
            held = None
        if field := _FIELD.fullmatch(text, start, end):
            held, literal = _depth(line[0]), field["literal"] is not None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _after(text: str, start: int, limit: int) -> int:
    end = start
    for _ in range(KEY_LINES):
        end = text.find("\n", end, limit) + 1
        if end == 0:
            return limit
    return end


def _before(text: str, floor: int, end: int) -> int:
    start = end
    for _ in range(KEY_LINES):
        start = text.rfind("\n", floor, start)
        if start < 0:
            return floor
    return start
