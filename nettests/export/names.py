"""Keep or replace one token: a word, a number, a version, or a name of several parts. Pure.

Kept words are those of the project's sources, and those that tools and systems print: they identify
no cluster. Single words (``spec``) are known by themselves, names of several parts only as a whole
(``kube-system``), or if the project composes them (``probe-windows-1-1``), so ``system-kube`` is
replaced. ``texts`` calls this for all but addresses and identifiers.
"""

import errno
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import IPv4Address
from typing import Self

from nettests.export.pseudonyms import Kind, Pseudonyms
from nettests.model.dns_names import DEFAULT_DOMAIN

TOKEN = re.compile(r"\w(?:[\w.-]*\w)?")
"""A word or name: letters, digits and characters between them."""
_LETTERS = re.compile(r"[^\W\d_]+")
# samples: lastTransitionTime → last Transition Time, IPAddress → IP Address, VSID
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# samples: cbr0, ipv4, vEthernet12
_NUMBERED = re.compile(r"([^\W\d_]+)\d{1,3}")
SHORTEST = 2
"""A single letter is not a word: initials are not spelled out."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words in lower case, and names of several parts as wholes."""

    words: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Return the vocabulary of texts, and of errors of systems and HTTP."""
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
        """Whether a token is known: as a whole, or made of known words without separators."""
        small = token.lower()
        return small in self.names or self.is_word(token)

    def is_word(self, token: str) -> bool:
        """Whether a token is made of known words: ``Timeout``, ``lastTransitionTime``, ``cbr0``."""
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


# A number of eight hexadecimal digits is a Windows error code, or may be an address.
# samples: 1.33.5, 20348.3207, 2026-11-25, 0x800705b4, 100, I1125 (klog)
_NUMERIC = re.compile(
    r"[vIWEF]?\d+(?:[._-]\d+)*|0[xX](?:[0-9a-fA-F]{1,7}|[8-9a-fA-F][0-9a-fA-F]{7})"
)
# samples: 5ms, 1.5s, 1m30s, 512Mi, 0.120µs, 10Gbps
_MEASURE = re.compile(
    r"(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|s|m|h|d|[KMGTkmg]i?[Bb]?(?:it)?(?:ps|/s)?|B|b|x|th|st|nd|rd))+"
)
# samples: 20261125-164733-9fa8, nettests-20261125-164733-9fa8
_RUN = re.compile(r"(?:nettests-)?\d{8}-\d{6}-[0-9a-f]{4}")
# samples: v1.33.5-gke.1200, 5.15.0-1057-azure
_VERSION = re.compile(r"(v?\d+(?:\.\d+)+)([-_].*)")
# sample: c9aa64efee6f4c6c9ad4fe2ab426ce1bebaba8dc01584e1e852a4cdf4813460a
_HASH = re.compile(r"(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{8,}|0[xX][0-9a-fA-F]{8,}")
# samples: spec.containers, status.podIP, metadata.name
_FIELD = re.compile(
    r"(?:spec|status|metadata|securityContext|(?:init|ephemeral)?[cC]ontainers)\.[\w.]+"
)
# samples: 10-244-1-5, ip-10-0-1-5
_DASHED = re.compile(
    r"(?P<before>(?:[a-z]{1,4}-)?)(?P<address>\d{1,3}(?:-\d{1,3}){3})(?P<after>(?:-.*)?)"
)
# samples: aaaaaaaa, xxxx: padding of packets
_FILLING = re.compile(r"(.)\1+")
_USUAL = f".{DEFAULT_DOMAIN}"
_LABELS = frozenset({"svc", "pod", "default", "kubernetes", "in-addr", "arpa", "ip6", "localhost"})
"""Labels of domain names that are the same in every cluster."""
LONG_NUMBER = 9
"""From this many digits on, a number is no port, size or build."""


@dataclass(slots=True)
class Names:
    """Gives tokens their pseudonyms; ``own`` are the names of a run's objects."""

    vocabulary: Vocabulary
    pseudonyms: Pseudonyms
    own: set[str] = field(default_factory=set)
    domains: set[str] = field(default_factory=set)
    """The cluster's domain, if it is not the default one."""

    def knows(self, token: str) -> bool:
        """Whether a token is kept."""
        small = token.lower()
        if self.vocabulary.knows(token) or _RUN.fullmatch(token):
            return True
        parts = re.split(r"[-._]", token)
        if small in self.own or sum(not part.isdigit() for part in parts) == 1:
            return self.vocabulary.made_of_words(parts)
        return False

    def other(self, token: str) -> str:
        """Return a token, replaced if necessary."""
        if self.knows(token) or _MEASURE.fullmatch(token) or _FILLING.fullmatch(token):
            return token
        if self.pseudonyms.given(token) is not None:
            return self.pseudonyms.name(token, Kind.NAME)
        if _NUMERIC.fullmatch(token):
            return self._number(token)
        if _HASH.fullmatch(token):
            return self.pseudonyms.identifier(token)
        if versioned := _VERSION.fullmatch(token):
            return versioned[1] + re.sub(
                r"[^\W_]+", lambda match: self.other(match[0]), versioned[2]
            )
        if dashed := _DASHED.fullmatch(token):
            return self._dashed(dashed)
        if "." in token:
            return self._dotted(token)
        if "_" in token:
            return "_".join(self.other(part) if part else "" for part in token.split("_"))
        if re.search(r"[\d-]", token):
            return self._name(token)
        letter = len(token) == 1 and token.isascii()
        return token if letter else self.pseudonyms.name(token, Kind.WORD)

    def _number(self, token: str) -> str:
        """Return a number, with long digit sequences, which may be accounts, replaced."""
        return re.sub(
            rf"(?<!\.)\d{{{LONG_NUMBER},}}", lambda match: self.pseudonyms.number(match[0]), token
        )

    def _name(self, token: str) -> str:
        """Return a name of several parts; known first parts are kept (``kube-proxy-name-1``)."""
        parts = token.split("-")
        for end in range(len(parts) - 1, 0, -1):
            beginning = "-".join(parts[:end])
            if beginning.lower() in self.own or (
                end > 1 and beginning.lower() in self.vocabulary.names
            ):
                return f"{beginning}-{self.other('-'.join(parts[end:]))}"
        return self.pseudonyms.name(token, Kind.NAME)

    def _dashed(self, match: re.Match[str]) -> str:
        """Return a name that contains an address: a Pod's DNS record, or a cloud's node."""
        try:
            address = IPv4Address(match["address"].replace("-", "."))
        except ValueError:
            return self.pseudonyms.name(match[0], Kind.NAME)
        other = self.pseudonyms.addresses.address(address)
        self.pseudonyms.note(Kind.ADDRESS, str(address))
        after = match["after"].lstrip("-")
        rest = f"-{self.other(after)}" if after else ""
        return f"{match['before']}{str(other).replace('.', '-')}{rest}"

    def _dotted(self, token: str) -> str:
        """Return a name with dots: a field, or a domain name, label by label."""
        if _FIELD.fullmatch(token) and self.vocabulary.made_of_words(token.split(".")):
            return token
        for domain in self.domains:
            if token.lower().endswith(f".{domain}"):
                rest = token[: -len(domain) - 1]
                return f"{self._dotted(rest)}.{self.pseudonyms.name(domain, Kind.DOMAIN)}"
        if token.lower().endswith(_USUAL):
            return f"{self._dotted(token[: -len(_USUAL)])}{token[-len(_USUAL) :]}"
        labels = token.split(".")
        for end in range(len(labels) - 1, 1, -1):
            beginning = ".".join(labels[:end])
            if beginning.lower() in self.vocabulary.names:
                return ".".join([beginning, *map(self._label, labels[end:])])
        return ".".join(map(self._label, labels))

    def _label(self, label: str) -> str:
        if not label or label.lower() in _LABELS or (label.isdigit() and len(label) < 6):
            return label
        if _RUN.fullmatch(label) or label.lower() in self.own:
            return self.other(label)
        if dashed := _DASHED.fullmatch(label):
            return self._dashed(dashed)
        if "-" in label and label.lower() in self.vocabulary.names:
            return label  # a namespace or Service of Kubernetes
        return self.pseudonyms.name(label, Kind.NAME)
