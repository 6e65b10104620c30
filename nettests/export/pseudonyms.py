"""Pseudonyms: always the same for the same name, address or identifier; counts per kind. Pure.

Names are numbered as they appear (``node-1``); identifiers keep their form (``mac``, ``guid`` …).
The mapping exists only in this object; only counts are written. Addresses of one subnet remain in
one subnet by Crypto-PAn (Xu, Fan, Ammar, Moon 2002): a keyed function of the preceding bits decides
whether a bit is flipped. Two properties are kept: the kind of address (private, link-local,
documentation …), as rules depend on it, and the last bits, as the first or second address is a
gateway's.
"""

import hmac
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Self

Address = IPv4Address | IPv6Address
KEPT_BITS = {4: 8, 6: 16}
"""How many last bits of an address are kept, by IP version."""
_PUBLIC = (
    *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"),
    *("::/96", "ff00::/8"),
)
"""Addresses that identify nobody: they are kept."""
_EVERYBODY_S = tuple(
    ip_network(text)
    for text in (
        *("192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"),
        # Azure's wire server: it is the same in every cluster, and rules are about it.
        "168.63.129.16/32",
    )
)
"""Also kept, inside ranges that are replaced: their neighbours then share no prefix with them."""
_KINDS = (
    *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15"),
    *("fe80::/64", "fc00::/8", "fd00::/8", "2000::/3"),
)
"""Ranges with a special meaning: their first bits are kept, and the rest is replaced."""
_MAPPED = tuple(ip_network(text) for text in ("::ffff:0:0/96", "64:ff9b::/96"))
"""IPv6 addresses whose last bits are an IPv4 address: mapped ones, and NAT64."""


@dataclass(frozen=True)
class AddressMap:
    """The pseudonyms of addresses by ``key``; equal keys give equal pseudonyms."""

    key: bytes
    _seen: dict[Address, Address] = field(default_factory=dict, compare=False)

    def address(self, address: Address) -> Address:
        """Return the pseudonym of an address; an address that identifies nobody is kept."""
        if address not in self._seen:
            self._seen[address] = self._other(address)
        return self._seen[address]

    def network(self, address: Address, prefix: int) -> Address:
        """Return the pseudonym of the address before ``/prefix``; zero host bits stay zero."""
        bits = address.max_prefixlen - prefix
        mask = ~((1 << bits) - 1)
        other = self.address(address)
        if int(address) & ~mask:
            return other
        return type(address)(int(other) & mask)

    def _other(self, address: Address) -> Address:
        for network in _MAPPED:
            if address in network:
                inner = self.address(IPv4Address(int(address) & 0xFFFF_FFFF))
                return IPv6Address(int(network.network_address) | int(inner))
        if _is_everybody_s(address):
            return address
        other = self._flipped(address)
        while _is_everybody_s(other):  # again, so that the mapping stays unique
            other = self._flipped(other)
        return other

    def _flipped(self, address: Address) -> Address:
        value, length = int(address), address.max_prefixlen
        flipped = 0
        for place in range(length - KEPT_BITS[address.version]):
            before = value >> (length - place)
            if self._paths.keeps(address.version, place, before):
                continue
            position = f"{address.version}/{place}/{before:x}".encode()
            flipped |= (hmac.digest(self.key, position, "sha256")[0] & 1) << (length - 1 - place)
        return type(address)(value ^ flipped)

    @cached_property
    def _paths(self) -> "_Paths":
        return _Paths.of()


@dataclass(frozen=True, slots=True)
class _Paths:
    """Which bits are kept: those that lead to a special range, and all in a public one."""

    ways: frozenset[tuple[int, int, int]]
    public: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls) -> Self:
        ways: set[tuple[int, int, int]] = set()
        public: list[tuple[int, int, int]] = []
        for text in (*_PUBLIC, *_KINDS, *map(str, _MAPPED)):
            network = ip_network(text)
            value, length = int(network.network_address), network.max_prefixlen
            ways |= {
                (network.version, place, value >> (length - place))
                for place in range(network.prefixlen)
            }
            if text in _PUBLIC:
                public.append(
                    (network.version, network.prefixlen, value >> (length - network.prefixlen))
                )
        return cls(frozenset(ways), tuple(public))

    def keeps(self, version: int, place: int, before: int) -> bool:
        """Whether the bit at ``place`` after the bits ``before`` is kept."""
        return (version, place, before) in self.ways or any(
            version == of and place >= length and before >> (place - length) == first
            for of, length, first in self.public
        )


def _is_everybody_s(address: Address) -> bool:
    return any(address in network for network in _EVERYBODY_S)


def read_address(text: str) -> Address | None:
    """Return the address in a text, or ``None``."""
    try:
        return ip_address(text)
    except ValueError:
        return None


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
    """Another name with several parts or digits: of a Pod, a host, an image."""
    WORD = "word"
    """A word in free text that is not known to be harmless."""
    NUMBER = "number"


@dataclass(slots=True)
class Pseudonyms:
    """The pseudonyms so far."""

    key: bytes
    addresses: AddressMap
    taken: frozenset[str] = frozenset()
    """Names that may be kept elsewhere, and are not used as pseudonyms."""
    counts: Counter[Kind] = field(default_factory=Counter)
    """How often each kind was replaced."""
    _given: dict[str, str] = field(default_factory=dict)
    _numbers: Counter[Kind] = field(default_factory=Counter)
    _distinct: dict[Kind, set[str]] = field(default_factory=dict)

    def distinct(self, kind: Kind) -> int:
        """Return how many different things of a kind were replaced."""
        return len(self._distinct.get(kind, ()))

    def originals(self, kind: Kind) -> tuple[str, ...]:
        """Return what was replaced; for the owner of the run only."""
        return tuple(sorted(self._distinct.get(kind, ())))

    def note(self, kind: Kind, original: str) -> None:
        """Count a replacement."""
        self.counts[kind] += 1
        self._distinct.setdefault(kind, set()).add(original)

    def register(self, name: str, kind: Kind) -> None:
        """Give a name its pseudonym in advance, with its kind, wherever it appears first."""
        while name.lower() not in self._given:
            self._numbers[kind] += 1
            other = f"{kind.value}-{self._numbers[kind]}"
            if other not in self.taken:
                self._given[name.lower()] = other

    def given(self, name: str) -> str | None:
        """Return the pseudonym of a name, or ``None``."""
        other = self._given.get(name.lower())
        return None if other is None else _as_loud(other, name)

    def name(self, name: str, kind: Kind) -> str:
        """Return the pseudonym of a name; ``kind`` is used for a new one."""
        self.register(name, kind)
        other = self._given[name.lower()]
        met = other.rpartition("-")[0]
        self.note(Kind(met), name.lower())
        return _as_loud(other, name)

    def mac(self, text: str) -> str:
        """Return another MAC of the same vendor; an IPv4 address contained in it is replaced."""
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
        """Return another number with as many digits: long ones are accounts and subscriptions."""
        self.note(Kind.NUMBER, text)
        drawn = "".join(_DIGITS[byte % 10] for byte in self._digest("number", text) * 4)
        return f"1{drawn}"[: len(text)] if len(text) <= len(drawn) else "1" * len(text)

    def _digest(self, what: str, text: str) -> bytes:
        return hmac.digest(self.key, f"{what}/{text}".encode(), "sha256")


def _as_loud(other: str, name: str) -> str:
    """Return a pseudonym in capitals if the name was: Windows host names are."""
    return other.upper() if len(name) > 1 and name.isupper() else other


def _poured(digits: str, form: str) -> str:
    """Return digits in the form of a text: with its separators and capitals."""
    loud = any(character.isupper() for character in form)
    drawn = iter(digits.upper() if loud else digits)
    return "".join(
        next(drawn) if character in "0123456789abcdefABCDEF" else character for character in form
    )
