"""The preview of a bundle before it is sent: its contents, the replaced words, and its texts. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nettests.export.pseudonyms import Kind, Pseudonyms
from nettests.model.journal_records import (
    Answer,
    Calibrated,
    Done,
    Event,
    Pulled,
    Reading,
    Record,
)
from nettests.parse.unread import VARYING, Unread

_SAID = {
    Kind.ADDRESS: "IP addresses (who shares a subnet still does; the last part of each stays)",
    Kind.MAC: "MAC addresses (their maker stays)",
    Kind.ID: "GUIDs, digests and other identifiers",
    Kind.NODE: "names of nodes",
    Kind.NAMESPACE: "the namespace",
    Kind.ZONE: "zones",
    Kind.CONTEXT: "the context of the kubeconfig",
    Kind.DOMAIN: "the cluster's domain",
    Kind.USER: "names of users in paths",
    Kind.NAME: "other names: of Pods, Services, hosts, domains, images, clouds",
    Kind.WORD: "words of free texts that are not known to be harmless",
    Kind.NUMBER: "long numbers, such as accounts",
}
_STAYS = (
    "versions, builds and settings of Kubernetes, Windows and the network plugin",
    "ids, expectations and verdicts of the shipped checks, and when they ran",
    "words of Kubernetes, of systems and their tools, and of nettests",
    "ports, sizes and times; addresses that are nobody's, such as 127.0.0.1 and documentation ranges",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """How much of a kind was replaced: so many different things, in so many places."""

    kind: Kind
    things: int
    places: int


def replaced(pseudonyms: Pseudonyms) -> tuple[Replaced, ...]:
    """Return what was replaced, in the order of ``Kind``."""
    return tuple(
        Replaced(kind=kind, things=pseudonyms.distinct(kind), places=pseudonyms.counts[kind])
        for kind in Kind
        if pseudonyms.counts[kind]
    )


def readme(counted: Sequence[Replaced], *, checks: int, version: str) -> str:
    """Return the text that explains a bundle to whoever opens it."""
    lines = [
        "A run of nettests under other names: see docs/guides/telling-the-project.md.",
        "",
        f"Made by nettests {version}. Its answers give the same verdicts: {checks} checks.",
        "All files are plain text: journal.jsonl holds every command and answer, one JSON object a line;",
        "verdicts.json the verdicts; unread.txt the texts that no parser knows. Nothing here tells which name",
        "stands for what, and nobody has a list of it. Diagnostics of the run are left out.",
        "",
        "Replaced:",
        *(
            f"  {replaced.things:6} in {replaced.places:7} places: {_SAID[replaced.kind]}"
            for replaced in counted
        ),
        "",
        "Left as it is:",
        *(f"  {line}" for line in _STAYS),
        "",
    ]
    return "\n".join(lines)


def unread_text(texts: Iterable[Unread]) -> str:
    """Return the texts that no parser knows, each with who said it and how many checks it left unknown."""
    return "".join(
        f"{unread.tool} on {unread.client_os}, {len(unread.checks)} checks, such as {unread.checks[0]}\n  {unread.text}\n"
        for unread in texts
    )


def texts_of(records: Iterable[Record]) -> Iterator[str]:
    """Yield the free texts of the bundle, each wording once: texts that differ only in numbers and names are left out."""
    seen: set[str] = set()
    for record in records:
        for text in _free(record):
            for line in text.splitlines():
                wording = VARYING.sub("#", line.strip())
                if wording and wording not in seen:
                    seen.add(wording)
                    yield line.strip()


def _free(record: Record) -> tuple[str, ...]:
    """Return the texts of a record that somebody else wrote."""
    match record:
        case Answer(raw=raw):
            return (" ".join(raw.command), raw.stdout, raw.stderr, raw.error or "")
        case Calibrated(calibration=answer):
            return (" ".join(answer.command), answer.stdout, answer.stderr, answer.error or "")
        case Reading(reading=read):
            return (" ".join(read.command), read.stdout, read.stderr, read.error or "")
        case Event():
            return (record.text,)
        case Done():
            return (record.distrust or "", record.skip or "", record.late or "")
        case Pulled(pull=pull):
            return (pull.image, pull.problem)
        case _:
            return ()


def said(kind: Kind) -> str:
    """Return what a kind of replaced things is called."""
    return _SAID[kind]


__all__ = ["Replaced", "readme", "replaced", "said", "texts_of", "unread_text"]
