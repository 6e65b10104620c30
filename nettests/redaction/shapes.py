"""What secrets look like: after a name, in a URL, in a header, or alone (``shapes.txt``). Pure.

Every pattern begins with something rare and has no unbounded repetition: the work is linear in the
length of the text (``spans`` bounds it again). The groups ``s…`` of a pattern are hidden, or all of
it without such groups.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nettests.redaction.names import ADDRESS, KEYS, NAMES, VARIABLE, WORDS
from nettests.resources import lines_of, rows_of

LONGEST = 4096
"""The most characters of a value in one match; a longer one is hidden to the end of its word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One form of secrets; the pattern is only tried on texts with one of the ``hints``."""

    name: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    """In lower case; every shape has some."""
    confirmed: Callable[[str], bool] | None = None


def _shape(
    name: str,
    pattern: str,
    *hints: str,
    ignore_case: bool = False,
    confirmed: Callable[[str], bool] | None = None,
) -> Shape:
    flags = re.IGNORECASE if ignore_case else re.NOFLAG
    compiled = re.compile(pattern, flags)
    return Shape(name=name, pattern=compiled, hints=hints, confirmed=confirmed)


def _looks_random(word: str) -> bool:
    """Whether 40 characters are an AWS secret: mixed, not a hash, with high entropy."""
    if len(word) != 40 or re.fullmatch(r"[0-9a-f]+|[0-9A-F]+|.*[=_.-].*", word):
        return False
    kinds = (r"[a-z]", r"[A-Z]", r"\d")
    if not all(re.search(kind, word) for kind in kinds):
        return False
    counts = Counter(word).values()
    entropy = -sum(count / len(word) * math.log2(count / len(word)) for count in counts)
    return entropy > 4.2


_WORD_HINTS = ("pass", "pw", "psk", "secret", "cred", "connection")
_KEY_HINTS = (
    *("token", "authorization", "cookie", "jwt", "key", "certificate", "_pat", "salt", "otp"),
)

_PREFIXED = tuple(line.split(" ") for line in lines_of("nettests.redaction", "token_prefixes.txt"))
"""The first letters of tokens, and the patterns of the rest."""
_FRAGMENTS = {
    **dict(line.split(" ", 1) for line in lines_of("nettests.redaction", "fragments.txt")),
    "longest": str(LONGEST),
    "words": WORDS,
    "keys": KEYS,
    "names": NAMES,
    "variables": VARIABLE,
    "address": ADDRESS,
}
"""The replacements of ``<<name>>`` in ``shapes.txt``."""
_HINTS = {"<<word_hints>>": _WORD_HINTS, "<<key_hints>>": _KEY_HINTS}


def _filled(pattern: str) -> str:
    return re.sub(r"<<(\w+)>>", lambda match: _filled(_FRAGMENTS[match[1]]), pattern)


def _listed() -> Iterator[Shape]:
    for row in rows_of("nettests.redaction", "shapes.txt"):
        hints = (_HINTS.get(hint, (hint,)) for hint in row["hints"].split(" | "))
        yield _shape(
            row["name"],
            _filled(row["pattern"]),
            *(word for words in hints for word in words),
            ignore_case="case" in row,
            confirmed=_looks_random if "confirmed" in row else None,
        )


SHAPES: tuple[Shape, ...] = (
    *_listed(),
    # samples: ghp_…, hvs.…: those that the scanner lacks, or knows in some forms only
    *(
        _shape(f"{first}…", rf"(?<![A-Za-z0-9]){re.escape(first)}{rest}", first.lower())
        for first, rest in _PREFIXED
    ),
)
