"""The words that may stay in a bundle: those of the project's sources, and those that tools and systems print. Pure.

These words identify no cluster; every other word is replaced. Single words (``spec``) are known by themselves, names
of several parts only as a whole (``kube-system``): although ``kube`` and ``system`` are known, ``system-kube`` is
replaced.
"""

import errno
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Self

TOKEN = re.compile(r"\w(?:[\w.-]*\w)?")
"""A word or a name: letters, digits and what joins them."""
_LETTERS = re.compile(r"[^\W\d_]+")
# samples: lastTransitionTime → last Transition Time, IPAddress → IP Address, VSID
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# samples: cbr0, ipv4, vEthernet12
_NUMBERED = re.compile(r"([^\W\d_]+)\d{1,3}")
SHORTEST = 2
"""A single letter is no word: initials are not spelled out."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words in small letters, and names of several parts as wholes."""

    words: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Return the vocabulary of texts, and of what systems and HTTP say of errors."""
        words: set[str] = set()
        names: set[str] = set()
        for text in (
            *texts,
            *map(os.strerror, errno.errorcode),
            *(status.phrase for status in HTTPStatus),
        ):
            for token in set(TOKEN.findall(text)):
                small = token.lower()
                names.update((small, *small.split("_")))
                words.update(word for word in _LETTERS.findall(small) if len(word) >= SHORTEST)
        return cls(frozenset(words), frozenset(names))

    def knows(self, token: str) -> bool:
        """Whether a token is known: as a whole, or made of known words written together."""
        small = token.lower()
        return small in self.names or self.is_word(token)

    def is_word(self, token: str) -> bool:
        """Whether a token without separators is made of known words: ``Timeout``, ``lastTransitionTime``, ``cbr0``."""
        if _LETTERS.fullmatch(token):
            if token.lower() in self.words:
                return True
            humps = _HUMPS.findall(token)
            joined = len(humps) > 1 and "".join(humps) == token
            return joined and all(hump.lower() in self.words for hump in humps)
        numbered = _NUMBERED.fullmatch(token)
        return numbered is not None and numbered[1].lower() in self.words

    def made_of_words(self, parts: Iterable[str]) -> bool:
        """Whether each part is a known word, a number, or a single letter."""
        return all(
            part.isdigit() or len(part) == 1 or part.lower() in self.names or self.is_word(part)
            for part in parts
        )
