"""Find the secrets in a text, and replace them by a mark. Pure.

A text is searched in overlapping windows of bounded length, so that the cost is linear in its length. All shapes
search the original text; their matches are hidden together.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from nettests.redaction.blocks import Span, keys, manifests, members, yaml_blocks
from nettests.redaction.scanner import expressions
from nettests.redaction.shapes import LONGEST, SHAPES, Shape

REDACTED = "[redacted]"
STEP = 8192
OVERLAP = 2048
"""A secret that is shorter, its name included, lies whole in some window."""
_WORD = re.compile(r"[^\s\"']+")


def redact(text: str) -> str:
    """Return a text without what looks like a secret."""
    spans = sorted(_secret_spans(text))
    if not spans:
        return text
    kept: list[str] = []
    end = 0
    for start, stop in spans:
        if start > end or not kept:
            kept += [text[end:start], REDACTED]
        end = max(end, stop)
    return "".join([*kept, text[end:]])


def _secret_spans(text: str) -> Iterator[Span]:
    small = text.lower()
    shapes, hints = _shapes()
    if "-----" in small:
        yield from keys(text)
    if "\n" in small and ":" in small:
        yield from yaml_blocks(text)
    if "kind" in small and "secret" in small:
        yield from manifests(text)
        yield from members(text)
    there = {hint for hint in hints if hint in small}
    yield from _by_shape(text, [shape for shape in shapes if not there.isdisjoint(shape.hints)])


@cache
def _shapes() -> tuple[tuple[Shape, ...], frozenset[str]]:
    kept = (
        Shape(name=name, pattern=pattern, hints=hints) for name, hints, pattern in expressions()
    )
    shapes = (*SHAPES, *kept)
    return shapes, frozenset(hint for shape in shapes for hint in shape.hints)


def _by_shape(text: str, shapes: Iterable[Shape]) -> Iterator[Span]:
    length, listed, word_end = len(text), tuple(shapes), 0
    for begin in range(0, length, STEP):
        end = min(begin + STEP + OVERLAP, length)
        for shape in listed:
            for match in shape.pattern.finditer(text, begin, end):
                if match.start() >= begin + STEP:
                    break  # the next window has it whole
                for start, stop in _hidden(shape, match):
                    cut = stop == end < length or stop - start >= LONGEST
                    if cut and stop > word_end:
                        rest = _WORD.match(text, stop)
                        word_end = rest.end() if rest else stop
                    yield start, max(stop, word_end) if cut else stop
        if end == length:
            return


def _hidden(shape: Shape, match: re.Match[str]) -> Iterator[Span]:
    """Yield what of a match is the secret: its groups ``s…``, or all of it."""
    groups = [name for name, value in match.groupdict().items() if name[0] == "s" and value]
    for span in [match.span(group) for group in groups] or [match.span()]:
        secret = match.string[slice(*span)]
        if secret != REDACTED and (shape.confirmed is None or shape.confirmed(secret)):
            yield span
