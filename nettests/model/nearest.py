"""Hints for a mistyped word: the nearest valid words, or all of them. Pure."""

import difflib
from collections.abc import Iterable

CUTOFF = 0.5
"""Lowest ``difflib`` similarity of a word and a possible misspelling."""


def nearest(
    word: str, words: Iterable[str], *, what: str = "valid", otherwise: str = "", most: int = 1
) -> str:
    """Return a hint with the nearest valid words, ``most`` of them.

    If none is near: ``otherwise``, or all valid words in their order, after ``what``.
    """
    listed = [*words]
    near = difflib.get_close_matches(word, listed, most, CUTOFF)
    if near:
        return meant(near)
    return otherwise or f"{what}: {', '.join(listed)}"


def meant(words: Iterable[str]) -> str:
    """Return a hint with the words that a user may have meant."""
    return f"did you mean {' or '.join(map(repr, words))}?"
