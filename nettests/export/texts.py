"""Anonymise a run's records: addresses, identifiers, names and unknown words in every text. Pure.

Nodes, zones and the cluster's domain are read from a run's facts first, and its own names from its
plan, so that each gets a pseudonym of its kind everywhere. JSON is processed as data, other texts
token by token. A token that is not a known word, a number, or of a known form gets the same
pseudonym in every text. ``names`` handles names of several parts. Diagnostics are left out: no
verdict needs them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote, unquote

from nettests.export.names import Names, Vocabulary
from nettests.export.pseudonyms import AddressMap, Kind, Pseudonyms, read_address
from nettests.model.codec import data_of, record_of
from nettests.model.dns_names import DEFAULT_DOMAIN
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import Diagnostics, Discovered, Planned, Record, Unknown
from nettests.redaction import Redactor
from nettests.resources import lines_of

_DEEPEST = 80
_LONG_NUMBER = 10**10
"""From this on, a number is not a count."""
_HEX = "0-9A-Fa-f"
_TOKENS = re.compile(
    "|".join(lines_of("nettests.export", "tokens.txt")).replace("[H]", f"[{_HEX}]")
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
"""Home directories that every Windows has."""


@dataclass(slots=True)
class Texts:
    """Anonymises texts; one instance per run."""

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
            # Four numbers that are no address (a version), or colons between other things.
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


_BY_SHAPE = Redactor()
_EVERYBODY_S = frozenset({DEFAULT_DOMAIN, "default", "other"})
_OWN_FIELDS = ("probe", "pod", "service", "backends", "former")
"""Fields of a plan's vantages and targets with names of the run's objects."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """Anonymises the records of one run."""

    texts: Texts

    @classmethod
    def of(cls, records: Iterable[Record], vocabulary: Vocabulary, key: bytes) -> Self:
        """Return the renaming of a run; ``key``, which is not stored, decides addresses and ids."""
        pseudonyms = Pseudonyms(key, AddressMap(key), taken=vocabulary.names)
        names = Names(vocabulary, pseudonyms)
        for record in records:
            match record:
                case Discovered():
                    _register(names, record.facts)
                case Planned():
                    names.own.update(_object_names(data_of(record)))
        return cls(Texts(names, pseudonyms))

    @property
    def pseudonyms(self) -> Pseudonyms:
        """The pseudonyms, which know what was replaced."""
        return self.texts.pseudonyms

    def renamed(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the anonymised records, without diagnostics and unknown kinds."""
        for record in records:
            if not isinstance(record, Diagnostics | Unknown):
                yield record_of(self.data(data_of(record)))

    def data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record's anonymised data; its kind and field names are the project's own."""
        anonymous: dict[str, Any] = self.texts.value(_BY_SHAPE.value(data, leave=("record",)))
        return {**anonymous, "record": data["record"]}


def _register(names: Names, facts: ClusterFacts) -> None:
    domain = (facts.cluster_domain.value or "").lower()
    if domain and domain not in _EVERYBODY_S:
        names.domains.add(domain)
        names.pseudonyms.register(domain, Kind.DOMAIN)
    named: list[tuple[str, Kind]] = [
        (facts.context, Kind.CONTEXT),
        (facts.namespace, Kind.NAMESPACE),
    ]
    for node in facts.nodes:
        named += [(node.name, Kind.NODE), (node.hostname, Kind.NODE)]
        named.append((node.zone.value or "", Kind.ZONE))
    for name, kind in named:
        if name and not names.knows(name):
            names.pseudonyms.register(name, kind)


def _object_names(data: Any) -> Iterator[str]:
    """Yield the names of Pods and Services in a plan's record."""
    if isinstance(data, Mapping):
        for key, inner in data.items():
            if key in _OWN_FIELDS:
                given = [inner] if isinstance(inner, str) else inner or ()
                yield from (name.lower() for name in given if isinstance(name, str))
            elif key == "id" and isinstance(inner, str):
                yield from inner.lower().split("/")
            else:
                yield from _object_names(inner)
    elif isinstance(data, list | tuple):
        for inner in data:
            yield from _object_names(inner)
