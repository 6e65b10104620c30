"""The bundle file, written and read, and its preview: content, replaced words, texts. Pure.

It is a ZIP archive of plain texts with their digests. Nothing is unpacked to paths in the archive:
members are looked up by name, limited in size, and read into memory. Digests detect a truncated or
edited file; they do not prove who wrote it.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nettests.errors import NettestsError
from nettests.export.pseudonyms import Kind, Pseudonyms
from nettests.model import limits
from nettests.model.journal_records import (
    Answer,
    Calibrated,
    Done,
    Event,
    Pulled,
    Reading,
    Record,
)
from nettests.model.json_text import read_json
from nettests.model.labels import document_version
from nettests.model.limits import spelled
from nettests.model.run_folder import JOURNAL
from nettests.parse.unread import VARYING, Unread
from nettests.resources import lines_of

INDEX, README, VERDICTS, UNREAD = "bundle.json", "README.txt", "verdicts.json", "unread.txt"
MEMBERS = (README, INDEX, JOURNAL, VERDICTS, UNREAD)
API_VERSION = document_version("v1")
KIND = "Bundle"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every member: a bundle does not reveal when it was exported."""


class BrokenBundleError(NettestsError):
    """A file is not a bundle, or was changed."""

    def __init__(
        self, message: str, *, hint: str = "have it exported and sent again: nettests export RUN"
    ) -> None:
        super().__init__(message, hint=hint)


def pack(texts: Mapping[str, bytes], index_fields: Mapping[str, Any]) -> bytes:
    """Return a bundle of these members; ``index_fields`` are the index's other fields."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in texts.items()}
    index = {"apiVersion": API_VERSION, "kind": KIND, **index_fields, "sha256": digests}
    members = {**texts, INDEX: json.dumps(index, indent=2, ensure_ascii=False).encode() + b"\n"}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in MEMBERS:
            if name in members:
                info = zipfile.ZipInfo(name, _EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o600 << 16
                archive.writestr(info, members[name])
    return file.getvalue()


def unpack(data: bytes, name: str) -> Mapping[str, bytes]:
    """Return the members of a bundle by name; ``BrokenBundleError`` if invalid or changed."""
    most = min(
        max(limits.BUNDLE_EXPANDED_BYTES, limits.BUNDLE_RATIO * len(data)), limits.JOURNAL_BYTES
    )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = _members(archive, most)
    except BrokenBundleError as error:
        raise BrokenBundleError(f"{name} {error.message}") from error
    except Exception as error:  # whatever zipfile raises for damaged headers
        raise BrokenBundleError(
            f"{name} is not a bundle, or was cut short or damaged: {error}"
        ) from error
    digests = _digests(members, name)
    for member, digest in digests.items():
        if member not in members:
            raise BrokenBundleError(f"{name} lacks its {member}")
        if hashlib.sha256(members[member]).hexdigest() != digest:
            raise BrokenBundleError(
                f"{member} in {name} was changed since the bundle was made: its digest does not match",
            )
    if extra := sorted(set(members) - {*digests, INDEX}):
        raise BrokenBundleError(f"{name} holds {', '.join(extra)}, which its {INDEX} does not list")
    return members


def index_of(members: Mapping[str, bytes]) -> Mapping[str, Any]:
    """Return the index of an unpacked bundle."""
    index: dict[str, Any] = read_json(members[INDEX])
    return index


def _members(archive: zipfile.ZipFile, most: int) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    left = most
    for member in MEMBERS:
        if member in archive.NameToInfo:
            with archive.open(member) as file:
                members[member] = file.read(left + 1)
            left -= len(members[member])
            if left < 0:
                raise BrokenBundleError(f"expands to more than {spelled(most)}")
    return members


def _digests(members: Mapping[str, bytes], name: str) -> Mapping[str, str]:
    if INDEX not in members:
        raise BrokenBundleError(f"{name} is not a bundle of nettests: it has no {INDEX}")
    try:
        index = index_of(members)
        version, kind, digests = index["apiVersion"], index["kind"], dict(index["sha256"])
    except (ValueError, LookupError, TypeError) as error:
        raise BrokenBundleError(f"the {INDEX} in {name} cannot be read: {error}") from error
    if (version, kind) != (API_VERSION, KIND):
        raise BrokenBundleError(
            f"{name} is {kind} {version}, and this version of nettests reads {KIND} {API_VERSION}",
            hint="use the version of nettests that it names, or a newer one",
        )
    if not {JOURNAL, VERDICTS} <= set(digests):
        raise BrokenBundleError(f"the {INDEX} in {name} lists no {JOURNAL} or {VERDICTS}")
    return digests


SAID = {
    Kind[kind]: words
    for kind, _, words in (line.partition(": ") for line in lines_of("nettests.export", "said.txt"))
}
_STAYS = (
    "versions, builds and settings of Kubernetes, Windows and the network plugin",
    "ids, expectations and verdicts of the shipped checks, and when they ran",
    "words of Kubernetes, of systems and their tools, and of nettests",
    "ports, sizes and times; addresses that are nobody's, such as 127.0.0.1 and documentation ranges",
)


class Replaced(NamedTuple):
    """How many different things of a kind were replaced, in how many places."""

    kind: Kind
    things: int
    places: int


def replaced(pseudonyms: Pseudonyms) -> tuple[Replaced, ...]:
    """Return what was replaced, in the order of ``Kind``."""
    return tuple(
        Replaced(kind, pseudonyms.distinct(kind), pseudonyms.counts[kind])
        for kind in Kind
        if pseudonyms.counts[kind]
    )


def readme(counted: Sequence[Replaced], *, checks: int, version: str) -> str:
    """Return the text that explains a bundle to its reader."""
    return "\n".join(
        [
            "A run of nettests under other names: see docs/guides/telling-the-project.md.",
            "",
            f"Made by nettests {version}. Its answers give the same verdicts: {checks} checks.",
            "All files are plain text: journal.jsonl holds every command and answer, one JSON object a line;",
            "verdicts.json the verdicts; unread.txt the answers that are not understood. Nothing here tells which name",
            "stands for what, and nobody has a list of it. Diagnostics of the run are left out.",
            "",
            "Replaced:",
            *(f"  {counted_line(each)}" for each in counted),
            "",
            "Left as it is:",
            *(f"  {line}" for line in _STAYS),
            "",
        ]
    )


def counted_line(replaced: Replaced) -> str:
    """Return how many of a kind were replaced, in words."""
    return f"{replaced.things:6} in {replaced.places:7} places: {SAID[replaced.kind]}"


def unread_text(texts: Iterable[Unread]) -> str:
    """Return the answers that are not understood, with tool and number of checks left unknown."""
    return "".join(
        f"{unread.tool} on {unread.client_os}, {len(unread.checks)} checks, such as {unread.checks[0]}\n  {unread.text}\n"
        for unread in texts
    )


def texts_of(records: Iterable[Record]) -> Iterator[str]:
    """Yield the bundle's free texts, each wording once, regardless of numbers and names."""
    seen: set[str] = set()
    for record in records:
        for text in _free(record):
            for line in text.splitlines():
                wording = VARYING.sub("#", line.strip())
                if wording and wording not in seen:
                    seen.add(wording)
                    yield line.strip()


def _free(record: Record) -> tuple[str, ...]:
    match record:
        case Answer(raw=raw) | Calibrated(calibration=raw) | Reading(reading=raw):
            return (" ".join(raw.command), raw.stdout, raw.stderr, raw.error or "")
        case Event():
            return (record.text,)
        case Done():
            return (record.distrust or "", record.skip or "", record.late or "")
        case Pulled(pull=pull):
            return (pull.image, pull.problem)
        case _:
            return ()
