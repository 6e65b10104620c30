"""What secrets look like in a text: behind a name, in an address, in a header, or on their own (``shapes.txt``). Pure.

Every pattern begins with something rare and never with an unbounded repetition, and each repetition ends: the work is
linear in the length of the text (``spans`` bounds it again). The groups ``s…`` of a pattern are hidden; a pattern
without such a group is hidden whole.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nettests.redaction.names import ADDRESS, KEYS, NAMES, VARIABLE, WORDS
from nettests.resources import lines_of, rows_of

LONGEST = 4096
"""Characters of a value that one match may take; what is longer is hidden to the end of its word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One way for a secret to look; ``hints``, of which a text must hold one, spare it the pattern."""

    name: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    """In small letters; every shape has some."""
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
    """Whether 40 characters are an AWS secret: of all kinds, no hash, and hardly one twice."""
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
"""A token's own first letters, and the pattern of what follows them."""
_FRAGMENTS = {
    **dict(line.split(" ", 1) for line in lines_of("nettests.redaction", "fragments.txt")),
    "longest": str(LONGEST),
    "words": WORDS,
    "keys": KEYS,
    "names": NAMES,
    "variables": VARIABLE,
    "address": ADDRESS,
}
"""What ``<<name>>`` stands for in ``shapes.txt``."""
_HINTS = {"<<word_hints>>": _WORD_HINTS, "<<key_hints>>": _KEY_HINTS}


def _filled(pattern: str) -> str:
    """Return a pattern with the fragments that it names, which may name others."""
    return re.sub(r"<<(\w+)>>", lambda match: _filled(_FRAGMENTS[match[1]]), pattern)


def _listed() -> Iterator[Shape]:
    """Yield the shapes of ``shapes.txt``."""
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
    # samples: ghp_…, hvs.…: what the scanner lacks, or knows in some of its forms
    *(
        _shape(f"{first}…", rf"(?<![A-Za-z0-9]){re.escape(first)}{rest}", first.lower())
        for first, rest in _PREFIXED
    ),
)
