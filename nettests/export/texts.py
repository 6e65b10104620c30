"""Anonymise one text: addresses, identifiers, names and unknown words are replaced. Pure.

JSON is processed as data, any other text word by word. A token that is neither a known word, nor a number, nor of a
known form is replaced, by the same pseudonym in every text, so that equal tokens stay equal. It does not matter which
tool printed the text. ``names`` handles names of several parts.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from nettests.export.names import Names
from nettests.export.pseudonyms import Kind, Pseudonyms, read_address

_DEEPEST = 80
_LONG_NUMBER = 10**10
"""A larger number is not taken for a count."""
_HEX = "0-9A-Fa-f"
_TOKENS = re.compile(
    # samples: %5Bfd00%3A%3A1%5D, a%20b
    rf"(?P<coded>[\w.~+%-]*%[{_HEX}]{{2}}[\w.~+%-]*)"
    # sample: 0563cc3d-6c5f-4727-8071-225e52e6590a
    rf"|(?P<guid>(?<![\w-])[{_HEX}]{{8}}-(?:[{_HEX}]{{4}}-){{3}}[{_HEX}]{{12}}(?![\w-]))"
    # samples: 00-15-5D-01-02-03, 00:15:5d:01:02:03, 0015.5d01.0203
    rf"|(?P<mac>(?<![\w:.-])(?:[{_HEX}]{{2}}(?P<joint>[:-])(?:[{_HEX}]{{2}}(?P=joint)){{4}}[{_HEX}]{{2}}"
    rf"|[{_HEX}]{{4}}\.[{_HEX}]{{4}}\.[{_HEX}]{{4}})(?![\w-]|[:.][{_HEX}]))"
    # samples: 2026-11-25T16:47:37.123456+00:00, 16:47:37.12; no address begins so
    r"|(?P<time>(?<![\w:.])(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:\d\d)?(?![\w:]))"
    # samples: fd00:10:244::5, ::ffff:10.0.0.1, fe80::1/64
    rf"|(?P<v6>(?<![\w.])(?:[{_HEX}]{{0,4}}:){{2,8}}(?:[{_HEX}]{{0,4}}|(?:\d{{1,3}}\.){{3}}\d{{1,3}})(?![\w:])(?:/\d{{1,3}}(?!\w))?)"
    # samples: 10.244.1.5, 10.244.0.0/16, 10.0.0.1. at the end of a sentence
    r"|(?P<v4>(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)(?:/\d{1,2}(?!\w))?)"
    r"|(?P<token>\w(?:[\w.-]*\w)?)"
)
# samples: web-10.0.0.1, x_10.0.0.1, 10.0.0.1_x
_WITHIN = re.compile(r"(?<!\d)(?<!\d\.)(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)")
# samples: 1:2:3, 10:20
_COUNTED = re.compile(r"\d{0,2}(?::\d{0,2})*")
# samples: \n, \t, \u00e4 of a text within a text
_ESCAPE = re.compile(r"u[0-9a-fA-F]{4}|[nrtbf]")
# samples: the folders of homes on Linux and macOS, C:\\Users\\, /Users/
_HOME = re.compile(r"(?:[/]home[/]|[\\/]Users[\\/]{1,8})$", re.IGNORECASE)
_NOBODY = frozenset({"public", "default", "containeradministrator", "containeruser"})
"""Homes that every Windows has."""


@dataclass(slots=True)
class Texts:
    """Anonymises texts; one for a whole run."""

    names: Names
    pseudonyms: Pseudonyms
    _read: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """Return a text, anonymised."""
        anonymous = self._read.get(text)
        if anonymous is None:
            anonymous = self._read[text] = self._as_json(text)
        return anonymous

    def value(self, value: Any, depth: int = _DEEPEST) -> Any:
        """Return plain data, such as a record or an API object, anonymised."""
        if isinstance(value, str):
            return self.text(value)
        if depth <= 0 or value is None or isinstance(value, bool | float):
            return value if depth > 0 or value is None else "left out: nested too deep"
        if isinstance(value, int):
            return int(self.pseudonyms.number(str(value))) if value >= _LONG_NUMBER else value
        if isinstance(value, Mapping):
            return {
                self.text(str(key)): self.value(inner, depth - 1) for key, inner in value.items()
            }
        return [self.value(inner, depth - 1) for inner in value]

    def _as_json(self, text: str) -> str:
        if text.lstrip()[:1] in {"{", "["}:
            try:
                read = json.loads(text)
            except (ValueError, RecursionError):
                return self._words(text)
            anonymous = self.value(read)
            return text if anonymous == read else json.dumps(anonymous, ensure_ascii=False)
        return self._words(text)

    def _words(self, text: str) -> str:
        return _TOKENS.sub(self._other, text)

    def _other(self, matched: re.Match[str]) -> str:
        text = matched[0]
        match matched.lastgroup:
            case "coded":
                return self._coded(text)
            case "guid":
                return self.pseudonyms.identifier(text)
            case "mac":
                return self.pseudonyms.mac(text)
            case "time":
                return text
            case "v6":
                return self._address(text)
            case "v4":
                # sample: 010.244.001.005
                return self._address(re.sub(r"(?<!\d)0+(?=\d)", "", text))
            case _:
                return self._token(matched)

    def _coded(self, text: str) -> str:
        plain = unquote(text)
        return (
            quote(self._words(plain), safe="")
            if plain != text
            else self._words(text.replace("%", " "))
        )

    def _address(self, text: str) -> str:
        bare, slash, prefix = text.partition("/")
        address = read_address(bare)
        if address is None:
            # Four numbers that are no address, as a version; or colons that join something else.
            if set(text) <= set("0123456789./") or _COUNTED.fullmatch(text):
                return text
            return self.pseudonyms.identifier(text)
        addresses = self.pseudonyms.addresses
        bits = min(int(prefix), address.max_prefixlen) if slash else address.max_prefixlen
        other = addresses.network(address, bits)
        if other == address:
            return text
        self.pseudonyms.note(Kind.ADDRESS, str(address))
        return f"{other}/{prefix}" if slash else str(other)

    def _token(self, matched: re.Match[str]) -> str:
        token, before = matched[0], matched.string[max(0, matched.start() - 16) : matched.start()]
        if (within := _WITHIN.search(token)) and not self.names.knows(token):
            start, end = within.span()
            parts = (token[:start], self._address(within[0]), token[end:])
            return f"{self._words(parts[0])}{parts[1]}{self._words(parts[2])}"
        if _HOME.search(before) and token.lower() not in _NOBODY:
            return self.pseudonyms.name(token, Kind.USER)
        if before.endswith("\\") and not self.names.knows(token):
            escape = _ESCAPE.match(token)
            if escape and escape.end() < len(token):
                return f"{escape[0]}{self._words(token[escape.end() :])}"
            if escape:
                return token
        return self.names.other(token)
