"""Export a run as an anonymous bundle, and read a bundle as a run's folder.

For ``nettests export``, and for commands that accept a bundle instead of a run. Before it is
written, its verdicts are compared with those of the run, both by the shipped manifests.
``nettests.export`` decides what is replaced; no mapping is kept.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from nettests import __version__
from nettests.export.bundle import (
    README,
    UNREAD,
    VERDICTS,
    pack,
    readme,
    replaced,
    unpack,
    unread_text,
)
from nettests.export.names import Vocabulary
from nettests.export.pseudonyms import Pseudonyms
from nettests.export.texts import Renaming
from nettests.model import limits
from nettests.model.calibration import Instrument
from nettests.model.codec import data_of, encode
from nettests.model.history import History
from nettests.model.journal_records import Calibrated, Record
from nettests.model.run_folder import JOURNAL
from nettests.model.verdict import Judgement
from nettests.outside_files import path_error, read_bytes
from nettests.parse.doubts import known_answers
from nettests.parse.unread import Unread, unread_texts
from nettests.private import write_bytes
from nettests.resources import manifests_path, suites_path
from nettests.session.blueprint import read_manifests
from nettests.session.journal import read_journal, understood
from nettests.session.rejudge import recorded, rejudged

_PACKAGE = Path(__file__).resolve().parent.parent
_NAMES_OF_OTHERS = frozenset({"lab", "bugs"})
"""Folders of emulated clusters and of reported bugs: their names may also be those of a cluster."""
_SOURCES = frozenset({".py", ".yaml", ".j2", ".txt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A run that can be shared; ``pseudonyms``, which knows what was replaced, cannot."""

    records: tuple[Record, ...]
    pseudonyms: Pseudonyms
    judgements: tuple[Judgement, ...]
    """Of the bundle."""
    differing: tuple[tuple[Judgement, Judgement], ...]
    """What is judged differently: the judgement of the run, and that of the bundle."""
    unread: tuple[Unread, ...]

    def bundle(self) -> bytes:
        """Return the content of the bundle file."""
        counted = replaced(self.pseudonyms)
        verdicts = {judgement.check: judgement.verdict.value for judgement in self.judgements}
        texts = {
            README: readme(counted, checks=len(verdicts), version=__version__).encode(),
            JOURNAL: b"".join(encode(data_of(record)) for record in self.records),
            VERDICTS: json.dumps(verdicts, indent=1, ensure_ascii=False).encode() + b"\n",
            UNREAD: unread_text(self.unread).encode(),
        }
        summary = {
            "nettests": __version__,
            "replaced": {
                count.kind.value: {"things": count.things, "places": count.places}
                for count in counted
            },
            "differing": [after.check for _, after in self.differing],
            "unread": len(self.unread),
        }
        return pack(texts, summary)


def exported(
    folder: Path, *, today: date, keep: Iterable[str] = (), key: bytes | None = None
) -> Exported:
    """Return the run in a folder, made anonymous; ``keep`` are words that are not replaced.

    The key that replaces addresses is random and not kept: bundles of one cluster cannot be linked.
    """
    records = read_journal(folder / JOURNAL)
    with understood(folder / JOURNAL):
        kept = vocabulary([*keep, *tool_words(records)])
        renaming = Renaming.of(records, kept, key or secrets.token_bytes(32))
        renamed = tuple(renaming.renamed(records))
        before = _judged(records, folder / JOURNAL, today)
        after = _judged(renamed, folder / JOURNAL, today)
        history = History.of(renamed)
    return Exported(
        records=renamed,
        pseudonyms=renaming.pseudonyms,
        judgements=after,
        differing=tuple(
            (old, new)
            for old, new in zip(before, after, strict=True)
            if (old.verdict, old.limitation) != (new.verdict, new.limitation)
        ),
        unread=unread_texts(raw for raws in history.raws.values() for raw in raws),
    )


_SPEAKING = frozenset({Instrument.PING, Instrument.CURL, Instrument.CONNECT, Instrument.NETSH})
"""Instruments whose known answers identify nobody: about loopback, TEST-NET and port ranges."""


def tool_words(records: Iterable[Record]) -> Iterator[str]:
    """Yield tools' untrusted answers to known questions, in any language: their words are kept."""
    for record in records:
        if isinstance(record, Calibrated):
            for answer in known_answers(record.calibration):
                if answer.instrument in _SPEAKING and not answer.trusted:
                    yield answer.text


def _judged(records: Sequence[Record], journal: Path, today: date) -> tuple[Judgement, ...]:
    history = History.of(records)
    if history.facts is None and history.calibrations:
        return ()  # a journal of `nettests calibrate --local`
    run = recorded(history, journal)
    return tuple(rejudged(run, read_manifests()[0], today=today))


def vocabulary(keep: Iterable[str] = ()) -> Vocabulary:
    """Return the words that are not replaced: of this package, suites, manifests, and ``keep``."""
    return Vocabulary.of([*_sources(), *keep])


def _sources() -> Iterator[str]:
    for top in (_PACKAGE, suites_path(), manifests_path()):
        for path in sorted(top.rglob("*")):
            inside = path.relative_to(top)
            if path.suffix in _SOURCES and not _NAMES_OF_OTHERS & {*inside.parts}:
                yield str(Path(top.name) / inside)
                yield path.read_text("utf-8")


@contextmanager
def run_of(given: Path) -> Iterator[Path]:
    """Yield the folder of a run, or a temporary one with the content of a bundle."""
    if given.is_dir():
        yield given
        return
    with path_error(given):
        data = read_bytes(given, limits.BUNDLE_BYTES)
    members = unpack(data, str(given))
    with TemporaryDirectory(prefix="nettests-") as temporary:
        folder = Path(temporary) / given.stem
        folder.mkdir()
        write_bytes(folder / JOURNAL, members[JOURNAL])
        yield folder
