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
_DIGITS = r"(?:[_-]?\d{1,3})?"
_QUOTE = r"(?:\\{0,7}[\"']|\\{1,7}u0022|&quot;|&#34;)"
_SEPARATOR = rf"{_QUOTE}?[ \t]{{0,20}}(?::=|=>|[=:])"
_PROSE = r"(?!(?<=: )[A-Za-z][a-z]{1,30}[ \t][\w\"'])"
"""No secret of one word: ``fetch token: serviceaccounts "x" is forbidden``."""
_HARMLESS = r"(?!\[redacted\]|(?:true|false|null|none|nil|<nil>)(?![\w-]))"
_QUOTED = (
    rf'"(?P<s1>(?:[^"\\\r\n]|\\.|""){{1,{LONGEST}}})'
    rf"|'(?P<s2>(?:[^'\\\r\n]|\\.|''){{1,{LONGEST}}})"
    rf'|(?P<escape>\\{{1,7}})"(?P<s3>(?:(?!(?<!\\)(?P=escape)")[^\r\n]){{1,{LONGEST}}})'
    rf'|(?P<coded>\\{{1,7}}u0022|&quot;|&#34;)(?P<s4>(?:(?!(?P=coded))[^\r\n"]){{1,{LONGEST}}})'
    rf"|(?<==)\{{(?P<s5>[^}}\r\n]{{1,{LONGEST}}})\}}"
)
"""A value between quotes: its own kind of quote may stand in it escaped or doubled; in braces as ODBC has it."""
_KEY_NEXT = r"[\w. -]{1,40}[=:]"
_PLAIN = (
    r"[^\s\"',;&}\])\\]"
    r"|\\(?![\"'nrtu])"
    r"|[\"'](?=[^\s,;:}\])\"'\\])"
    rf"|;(?!{_KEY_NEXT})(?=[^\s;])"
    rf"|,(?!{_KEY_NEXT})(?=[^\s\"'{{\[])"
    r"|&(?![\w.-]{1,40}=)(?=\S)"
    r"|[)}\]](?=[\w!@#$%^*])"
)
"""A character of a value without quotes: a mark that ends most values is part of one where no other key follows."""
_SPACE = r"|[ \t]{1,3}(?!\s|[-/]{1,2}\w|[\w.-]{1,40}[\"']?[=:]|[|<>&#\"'{\[(]|\[redacted\])"
"""A space within a value: what follows it is no flag and no other key."""


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
_VARIABLE = rf"(?!(?:OLD)?PWD\b)(?=[\w.-]{{0,80}}(?:{VARIABLE}))[\w.-]{{1,160}}"
_ONE_WORD = rf"(?:{_QUOTED}|(?P<s9>(?:{_PLAIN}){{1,{LONGEST}}}))"
_BLANK = r"[ \t]{1,20}"

_PREFIXED = tuple(line.split(" ") for line in lines_of("nettests.redaction", "token_prefixes.txt"))
"""A token's own first letters, and the pattern of what follows them."""
_FRAGMENTS = {
    "address": ADDRESS,
    "blank": _BLANK,
    "digits": _DIGITS,
    "harmless": _HARMLESS,
    "key_next": _KEY_NEXT,
    "keys": KEYS,
    "longest": str(LONGEST),
    "names": NAMES,
    "one_word": _ONE_WORD,
    "plain": _PLAIN,
    "prose": _PROSE,
    "quote": _QUOTE,
    "quoted": _QUOTED,
    "separator": _SEPARATOR,
    "space": _SPACE,
    "variable": _VARIABLE,
    "words": WORDS,
}
"""What ``<<name>>`` stands for in ``shapes.txt``."""
_HINTS = {"<<word_hints>>": _WORD_HINTS, "<<key_hints>>": _KEY_HINTS}


def _listed() -> Iterator[Shape]:
    """Yield the shapes of ``shapes.txt``."""
    for row in rows_of("nettests.redaction", "shapes.txt"):
        hints = (_HINTS.get(hint, (hint,)) for hint in row["hints"].split(" | "))
        yield _shape(
            row["name"],
            re.sub(r"<<(\w+)>>", lambda match: _FRAGMENTS[match[1]], row["pattern"]),
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
