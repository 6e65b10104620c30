"""Pseudonyms for everything but addresses: always the same one for the same name, and a count per kind. Pure.

Names are numbered in the order of their appearance (``node-1``); identifiers keep their form, derived from a key
(``mac``, ``guid`` …). The mapping exists only in this object; only the counts are written.
"""

import hmac
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address

from nettests.export.addresses import AddressMap

_LOCAL_BIT = 0x02
_DIGITS = "0123456789"


class Kind(StrEnum):
    """What was replaced."""

    ADDRESS = "address"
    MAC = "mac"
    ID = "id"
    NODE = "node"
    NAMESPACE = "namespace"
    ZONE = "zone"
    CONTEXT = "context"
    DOMAIN = "domain"
    USER = "user"
    NAME = "name"
    """Of something else, such as a Pod, a host or an image: it has several parts, or digits."""
    WORD = "word"
    """A word of a free text that is not known to be harmless."""
    NUMBER = "number"


@dataclass(slots=True)
class Pseudonyms:
    """The pseudonyms that were given so far."""

    key: bytes
    addresses: AddressMap
    taken: frozenset[str] = frozenset()
    """Names that something may have already, and keep."""
    counts: Counter[Kind] = field(default_factory=Counter)
    """How often something of a kind was replaced."""
    _given: dict[str, str] = field(default_factory=dict)
    _numbers: Counter[Kind] = field(default_factory=Counter)
    _distinct: dict[Kind, set[str]] = field(default_factory=dict)

    def distinct(self, kind: Kind) -> int:
        """Return how many different things of a kind were replaced."""
        return len(self._distinct.get(kind, ()))

    def originals(self, kind: Kind) -> tuple[str, ...]:
        """Return what was replaced; only the owner of the run may see it."""
        return tuple(sorted(self._distinct.get(kind, ())))

    def note(self, kind: Kind, original: str) -> None:
        """Count that something was replaced."""
        self.counts[kind] += 1
        self._distinct.setdefault(kind, set()).add(original)

    def register(self, name: str, kind: Kind) -> None:
        """Give a name its pseudonym beforehand, so that it has the right kind wherever it appears first."""
        while name.lower() not in self._given:
            self._numbers[kind] += 1
            other = f"{kind.value}-{self._numbers[kind]}"
            if other not in self.taken:
                self._given[name.lower()] = other

    def given(self, name: str) -> str | None:
        """Return the pseudonym of a name; ``None`` for one that has none yet."""
        other = self._given.get(name.lower())
        return None if other is None else _as_loud(other, name)

    def name(self, name: str, kind: Kind) -> str:
        """Return the pseudonym of a name; ``kind`` counts when it appears first."""
        self.register(name, kind)
        other = self._given[name.lower()]
        met = other.rpartition("-")[0]
        self.note(Kind(met), name.lower())
        return _as_loud(other, name)

    def mac(self, text: str) -> str:
        """Return another MAC: the vendor part stays; if it contained an IPv4 address, it contains the replaced one."""
        digits = re.sub(r"[^0-9a-fA-F]", "", text)
        octets = bytes.fromhex(digits)
        if not any(octets) or octets == b"\xff" * 6:
            return text
        self.note(Kind.MAC, digits.lower())
        if octets[0] & _LOCAL_BIT:
            other = octets[:2] + self.addresses.address(IPv4Address(octets[2:])).packed
        else:
            other = octets[:3] + self._digest("mac", digits.lower())[:3]
        return _poured(other.hex(), text)

    def identifier(self, text: str) -> str:
        """Return another GUID or hash of the same form."""
        small = text.lower()
        self.note(Kind.ID, small)
        digits = re.sub(r"^0x|[^0-9a-f]", "", small)
        other = b""
        while len(other) * 2 < len(digits):
            other += self._digest(f"id{len(other)}", digits)
        prefix = text[:2] if small.startswith("0x") else ""
        return prefix + _poured(other.hex(), text[len(prefix) :])

    def number(self, text: str) -> str:
        """Return another number of as many digits: long ones are accounts and subscriptions."""
        self.note(Kind.NUMBER, text)
        drawn = "".join(_DIGITS[byte % 10] for byte in self._digest("number", text) * 4)
        return f"1{drawn}"[: len(text)] if len(text) <= len(drawn) else "1" * len(text)

    def _digest(self, what: str, text: str) -> bytes:
        return hmac.digest(self.key, f"{what}/{text}".encode(), "sha256")


def _as_loud(other: str, name: str) -> str:
    """Return a name in capitals where the other one was: Windows spells host names so."""
    return other.upper() if len(name) > 1 and name.isupper() else other


def _poured(digits: str, form: str) -> str:
    """Return digits in the form of a text: its separators, and its capitals."""
    loud = any(character.isupper() for character in form)
    drawn = iter(digits.upper() if loud else digits)
    return "".join(
        next(drawn) if character in "0123456789abcdefABCDEF" else character for character in form
    )
