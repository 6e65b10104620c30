"""Replace one token or keep it: a word, a number, a version, or a name of several parts. Pure.

``texts`` calls it for everything that is neither an address nor an identifier by its form. A name of several parts is
kept if the project uses it as a whole or composes it itself (``probe-windows-1-1``), otherwise replaced.
"""

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from nettests.export.pseudonyms import Kind, Pseudonyms
from nettests.export.vocabulary import Vocabulary
from nettests.model.dns_names import DEFAULT_DOMAIN

# A number of eight hexadecimal digits is an error code of Windows, or an address in disguise.
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
# samples: aaaaaaaa, xxxx: what fills a packet
_FILLING = re.compile(r"(.)\1+")
_USUAL = f".{DEFAULT_DOMAIN}"
_LABELS = frozenset({"svc", "pod", "default", "kubernetes", "in-addr", "arpa", "ip6", "localhost"})
"""Labels of domain names that are the same in every cluster."""
LONG_NUMBER = 9
"""So many digits in a row are no port, size or build."""


@dataclass(slots=True)
class Names:
    """Gives tokens their pseudonyms; ``own`` are the names that a run gave to its objects."""

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
        """Return a token, replaced if it has to be."""
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
        return self._name(token) if re.search(r"[\d-]", token) else self._word(token)

    def _number(self, token: str) -> str:
        """Return a number; a long one, which may be an account, as another one."""
        return re.sub(
            rf"(?<!\.)\d{{{LONG_NUMBER},}}", lambda match: self.pseudonyms.number(match[0]), token
        )

    def _word(self, token: str) -> str:
        return (
            token if len(token) == 1 and token.isascii() else self.pseudonyms.name(token, Kind.WORD)
        )

    def _name(self, token: str) -> str:
        """Return a name of several parts; the parts at its beginning that are known stay (``kube-proxy-name-1``)."""
        parts = token.split("-")
        for end in range(len(parts) - 1, 0, -1):
            beginning = "-".join(parts[:end])
            if beginning.lower() in self.own or (
                end > 1 and beginning.lower() in self.vocabulary.names
            ):
                return f"{beginning}-{self.other('-'.join(parts[end:]))}"
        return self.pseudonyms.name(token, Kind.NAME)

    def _dashed(self, match: re.Match[str]) -> str:
        """Return a name that is an address: a Pod's record, or a node of a cloud."""
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
        """Return a name with dots: a field's, or a domain name, label by label."""
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
            return label  # a namespace or Service of Kubernetes' own
        return self.pseudonyms.name(label, Kind.NAME)
