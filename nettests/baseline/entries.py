"""The baseline file: YAML, validated, every error with file, line and key; written as a whole.

An entry names a check, the accepted result, and the facts under which it was accepted. No document
supports it, unlike a limitation, so it has a reason and an expiry date.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from nettests.compare.known_facts import OF_CLUSTER, OF_NODE, Dependency
from nettests.compare.recorded import Seen
from nettests.model.document import Document, read_document
from nettests.model.labels import document_version
from nettests.model.nearest import nearest
from nettests.model.words import Verdict
from nettests.model.yaml_text import write_yaml
from nettests.resources import schema_of

API_VERSION = document_version("v1alpha1")
KIND = "Baseline"
ENDS = ("source", "target")
SUBJECTS = ("check", "node", "flow")
"""The keys for an entry's subject."""
SEEN = ("outcome", "source_seen", "distribution")
"""The keys of observations, as in ``results.json``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What was accepted of one check. ``seen`` is empty if attempts disagreed or members decide.

    ``members`` are those that deviated, with verdicts; ``facts`` are values under which it holds.
    Instead of a check, a ``node`` accepts all that deviates only there, a ``flow`` (pattern) all in
    it.
    """

    check: str = ""
    node: str = ""
    flow: str = ""
    verdict: Verdict | None = None
    seen: Seen = field(default_factory=Seen)
    members: Mapping[str, Verdict] = field(default_factory=dict)
    facts: Mapping[Dependency, tuple[str, ...]] = field(default_factory=dict)
    run: str = ""
    reason: str
    expires: date

    @property
    def subject(self) -> str:
        """The subject, unique in a file."""
        return self.check or (f"node {self.node}" if self.node else f"flow {self.flow}")

    def expired(self, today: date) -> bool:
        """Whether its last day is over."""
        return self.expires < today


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedOn:
    """A cluster whose runs were accepted: its name, and the digest of its facts (decision 0005)."""

    name: str
    facts_digest: str = ""

    def __str__(self) -> str:
        return f"{self.name} (facts {short(self.facts_digest)})" if self.facts_digest else self.name


def short(digest: str) -> str:
    """Return a short form of a digest."""
    return digest.rpartition(":")[2][:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """One file of entries, at most one per subject, and the clusters that they were accepted on."""

    file: str
    entries: tuple[Entry, ...] = ()
    clusters: tuple[AcceptedOn, ...] = ()


def read_baseline(text: str, file: str) -> Baseline:
    """Return the baseline in ``text``; ``ManifestError`` names file, line, key and nearest key."""
    document = read_document(text, file, schema_of("baseline"))
    entries = [_entry(document, index, data) for index, data in enumerate(document.data["entries"])]
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        first = seen.setdefault(entry.subject, index)
        if first != index:
            raise document.error(
                ("entries", index, next(key for key in SUBJECTS if getattr(entry, key))),
                f"{entry.subject} is listed twice, first in line {document.line(('entries', first))}",
            )
    clusters = tuple(
        AcceptedOn(name=cluster["name"], facts_digest=cluster.get("factsDigest", ""))
        for cluster in document.data.get("clusters", ())
    )
    return Baseline(file=file, entries=tuple(entries), clusters=clusters)


def render_baseline(baseline: Baseline) -> str:
    """Return the text of the file, with entries sorted by subject."""
    digests = {"name": "name", "factsDigest": "facts_digest"}
    clusters = [
        {key: value for key, name in digests.items() if (value := getattr(cluster, name))}
        for cluster in baseline.clusters
    ]
    entries = sorted(baseline.entries, key=lambda entry: entry.subject)
    head = {"apiVersion": API_VERSION, "kind": KIND, **({"clusters": clusters} if clusters else {})}
    return write_yaml({**head, "entries": [_data(entry) for entry in entries]})


def _data(entry: Entry) -> dict[str, Any]:
    data = {
        **{key: getattr(entry, key) for key in SUBJECTS},
        "verdict": entry.verdict and entry.verdict.value,
        **{key: getattr(entry.seen, key) for key in SEEN},
        "members": {label: verdict.value for label, verdict in entry.members.items()},
        "facts": {
            str(fact): values[0] if len(values) == 1 else list(values)
            for fact, values in entry.facts.items()
        },
        "run": entry.run,
    }
    filled = {key: value for key, value in data.items() if value}
    return {**filled, "reason": entry.reason, "expires": entry.expires.isoformat()}


def _entry(document: Document, index: int, data: Any) -> Entry:
    path = ("entries", index)
    try:
        expires = date.fromisoformat(data["expires"])
    except ValueError as error:
        raise document.error((*path, "expires"), f"no such date: {data['expires']}") from error
    subjects = {key: data[key] for key in SUBJECTS if key in data}
    if len(subjects) != 1:
        raise document.error(path, f"an entry has one of {', '.join(SUBJECTS)}")
    if ("verdict" in data) is not ("check" in data):
        raise document.error(
            path, "a check has the verdict that is accepted; a node or a flow has none"
        )
    return Entry(
        **subjects,
        verdict=Verdict(data["verdict"]) if "verdict" in data else None,
        seen=Seen(**{key: data.get(key) for key in SEEN}),
        members={label: Verdict(word) for label, word in data.get("members", {}).items()},
        facts={
            _fact(document, (*path, "facts", name), name): (value,)
            if isinstance(value, str)
            else tuple(value)
            for name, value in data.get("facts", {}).items()
        },
        run=data.get("run", ""),
        reason=data["reason"],
        expires=expires,
    )


def _fact(document: Document, path: tuple[str | int, ...], name: str) -> Dependency:
    side, _, rest = name.partition(" ")
    if side in ENDS and rest in OF_NODE:
        return Dependency(rest, side)
    if name in OF_CLUSTER:
        return Dependency(name)
    names = [*OF_CLUSTER, *(f"{end} {fact}" for end in ENDS for fact in OF_NODE)]
    raise document.error(path, f"no such fact: {name!r}", hint=nearest(name, names))
