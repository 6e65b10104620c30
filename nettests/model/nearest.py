"""Hints for a mistyped word: the nearest known words, or all of them. Pure."""

import difflib
from collections.abc import Iterable

CUTOFF = 0.5
"""The least similarity, by ``difflib``, of a word and its possible misspelling."""


def nearest(
    word: str, words: Iterable[str], *, what: str = "valid", otherwise: str = "", most: int = 1
) -> str:
    """Return a hint that names the nearest known words, ``most`` of them.

    If none is near: ``otherwise``, or all known words in their order, after ``what``.
    """
    listed = [*words]
    near = difflib.get_close_matches(word, listed, most, CUTOFF)
    if near:
        return meant(near)
    return otherwise or f"{what}: {', '.join(listed)}"


def meant(words: Iterable[str]) -> str:
    """Return a hint that names the words that somebody may have meant."""
    return f"did you mean {' or '.join(map(repr, words))}?"
