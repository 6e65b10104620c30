"""Anonymise the records of a run. Pure.

Nodes, zones and the cluster's domain are read from its facts first, and the run's own names from its plan, so that
each gets a pseudonym of its kind wherever it appears; then every text of every record is processed (``texts``).
Diagnostics are left out: no verdict depends on them, and their texts are the least predictable.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from nettests.export.names import Names, Vocabulary
from nettests.export.pseudonyms import AddressMap, Kind, Pseudonyms
from nettests.export.texts import Texts
from nettests.model.dns_names import DEFAULT_DOMAIN
from nettests.model.facts import ClusterFacts
from nettests.model.journal_lines import data_of, record_of
from nettests.model.journal_records import Diagnostics, Discovered, Planned, Record, Unknown
from nettests.redaction import Redactor

_BY_SHAPE = Redactor()
_EVERYBODY_S = frozenset({DEFAULT_DOMAIN, "default", "other"})
_OWN_FIELDS = ("probe", "pod", "service", "backends", "former")
"""Fields of a plan's vantages and targets that hold names which the run gives to its objects."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """Anonymises the records of one run."""

    texts: Texts

    @classmethod
    def of(cls, records: Iterable[Record], vocabulary: Vocabulary, key: bytes) -> Self:
        """Return the renaming of a run; ``key`` decides addresses and identifiers, and is kept by nobody."""
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
        """What was replaced."""
        return self.texts.pseudonyms

    def renamed(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the anonymised records, without diagnostics and records of unknown kinds."""
        for record in records:
            if not isinstance(record, Diagnostics | Unknown):
                yield record_of(self.data(data_of(record)))

    def data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record's anonymised data; its kind and fields are the project's own words."""
        anonymous: dict[str, Any] = self.texts.value(_BY_SHAPE.value(data, leave=("record",)))
        return {**anonymous, "record": data["record"]}


def _register(names: Names, facts: ClusterFacts) -> None:
    """Give the names in the facts their pseudonyms, unless a name is a common default."""
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
    """Yield the names that a plan's record gives to Pods and Services."""
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
