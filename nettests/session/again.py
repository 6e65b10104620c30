"""A run judged again: its journal written anew, the same answers beside verdicts of today's manifests.

For ``nettests rejudge``. Records of what was asked and answered are copied as they stand; expectations,
verdicts and the end are replaced. The run's own journal is left alone.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from nettests import expect
from nettests.expect import Manifest
from nettests.model.expectation import Expectation
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from nettests.private import make_folder, write_bytes
from nettests.session.blueprint import Digest, unused
from nettests.session.head import JOURNAL
from nettests.session.journal import Journal, as_record, understood
from nettests.session.rejudge import Recorded, read_recorded, rejudged

Record = dict[str, Any]
ExitCode = Callable[[Mapping[str, Verdict], Mapping[str, Collection[str]]], int]
"""Decides the exit code from verdicts by check and the due checks of each required flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What became of a run: verdicts then and now, by check, and the exit code of those of now."""

    before: Mapping[str, Verdict]
    judgements: tuple[Judgement, ...]
    exit_code: int

    @property
    def changed(self) -> tuple[Judgement, ...]:
        """The judgements whose verdict is another one now."""
        return tuple(
            told for told in self.judgements if self.before.get(told.check) != told.verdict
        )


def judge_again(
    source: Path,
    target: Path,
    manifests: Sequence[Manifest],
    digests: Sequence[Digest],
    *,
    today: date,
    exit_code: ExitCode,
) -> Again:
    """Judge the run in the folder ``source`` by ``manifests`` and write its new journal to ``target``.

    Checks that the run did not observe get no verdict: the documents tell why, as they did.
    """
    with understood(source / JOURNAL):
        return _again(source, target, manifests, digests, today=today, exit_code=exit_code)


def _again(
    source: Path,
    target: Path,
    manifests: Sequence[Manifest],
    digests: Sequence[Digest],
    *,
    today: date,
    exit_code: ExitCode,
) -> Again:
    recorded = read_recorded(source / JOURNAL)
    expectations = expect.resolve(recorded.checks, recorded.facts, manifests, today=today)
    judgements = tuple(
        told
        for told in rejudged(recorded, manifests, today=today)
        if told.check in recorded.observations
    )
    records = _records(source / JOURNAL)
    verdicts = _verdicts(recorded, judgements, records)
    code = exit_code(verdicts, _required(records))
    make_folder(target)
    (target / JOURNAL).unlink(missing_ok=True)
    with Journal(target / JOURNAL) as journal:
        for record in records:
            _copy(journal, _moved(record, source, target), expectations, digests)
        journal.write("limitations", unused=unused(manifests, expectations))
        for told in judgements:
            journal.judged(told)
        journal.event(f"judged again from the answers of {source.resolve().name}")
        if any(record["record"] == "end" for record in records):
            counts = Counter(verdict.value for verdict in verdicts.values())
            journal.end(exit_code=code, counts={v.value: counts[v.value] for v in Verdict})
    return Again(before=recorded.verdicts, judgements=judgements, exit_code=code)


def _records(journal: Path) -> list[Record]:
    """Read the whole lines of a journal that was found readable."""
    lines = journal.read_bytes().splitlines(keepends=True)
    return [as_record(line, n) for n, line in enumerate(lines, start=1) if line.endswith(b"\n")]


def _moved(record: Record, source: Path, target: Path) -> Record:
    """Return a record whose files are named from the new folder; they are copied unless it stands in the run's.

    A journal is not trusted to name files outside the run's diagnostics.
    """
    if record["record"] != "diagnostics":
        return record
    if target.resolve().parent == source.resolve():
        folder = os.path.relpath(source.resolve() / record["folder"], target.resolve())
        return {**record, "folder": folder}
    held = source.resolve() / "diagnostics"
    for item in record["items"]:
        file = (source / record["folder"] / (item.get("file") or "")).resolve()
        if file.is_file() and file.is_relative_to(held):
            copy = target / file.relative_to(source.resolve())
            make_folder(copy.parent)
            write_bytes(copy, file.read_bytes())
    return record


def _copy(
    journal: Journal,
    record: Record,
    expectations: Mapping[str, Expectation],
    digests: Sequence[Digest],
) -> None:
    kind, rest = record["record"], {key: record[key] for key in record if key != "record"}
    match kind:
        case "judged" | "limitations" | "end" | "expected":  # all of them are written anew
            return
        case "run":
            rest["manifests"] = list(digests)
        case "planned" if rest["check"]["id"] in expectations:
            rest["expectation"] = expectations[rest["check"]["id"]]
    journal.write(kind, **rest)


def _verdicts(
    recorded: Recorded, judgements: Sequence[Judgement], records: Sequence[Record]
) -> dict[str, Verdict]:
    """Return a verdict for all that was due: skips, and checks that were never asked, included."""
    skipped = {r["skip"]["id"] for r in records if r["record"] == "skip"}
    skipped |= {r["check"] for r in records if r["record"] == "done" and r.get("skip")}
    return {
        **dict.fromkeys(skipped, Verdict.SKIPPED),
        **{check.id: Verdict.UNKNOWN for check in recorded.checks},
        **{told.check: told.verdict for told in judgements},
    }


def _required(records: Sequence[Record]) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for record in records:
        due = record.get("check" if record["record"] == "planned" else "skip")
        if isinstance(due, dict) and due.get("required"):
            found[due["flow"]].add(due["id"])
    return dict(found)
