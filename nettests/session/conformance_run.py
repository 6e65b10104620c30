"""Conformance of a finished run: the inputs of a report, and its documents on disk. I/O only.

For ``nettests conformance``, which trusts no verdict of a journal: it resolves expectations and
computes verdicts again like ``rejudge``, with the date of the run.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from nettests import __version__, expect
from nettests.conformance.assessment import JudgedRun, assess
from nettests.conformance.conformance_report import ConformanceReport, Digest, Digests
from nettests.conformance.report_page import YAML, document, documents
from nettests.conformance.vendor_files import VendorFiles
from nettests.conformance.vendor_profile import require_known_claims
from nettests.conformance.verification import Mismatch, mismatches, read_report
from nettests.errors import PathError
from nettests.expect import Manifest
from nettests.judge import judge_run
from nettests.model import limits
from nettests.model.history import History
from nettests.model.journal_records import ManifestFile, expectations_of_members
from nettests.model.run_folder import JOURNAL
from nettests.outside_files import path_error, read_bytes, text_of
from nettests.plan import Flow, build, load
from nettests.private import make_folder, write_text
from nettests.report.build import build_from
from nettests.resources import suites_path
from nettests.session.blueprint import read_manifests
from nettests.session.journal import read_journal, understood
from nettests.session.rejudge import recorded


def report_of(directory: Path, files: VendorFiles) -> ConformanceReport:
    """Judge a recorded run by the shipped and the vendor's manifests; may raise ``NettestsError``."""
    shipped = load([suites_path()]).declared
    flows = load([suites_path(), *files.suites])
    require_known_claims(files.profile, flows.declared, flows.declared - shipped)
    manifests, digests = read_manifests(files.limitations)
    journal = directory / JOURNAL
    records = read_journal(journal)
    with understood(journal):
        run = _judged(History.of(records), journal, manifests, flows.flows, files)
    return assess(files.profile, run, _digests(journal, files, digests))


def _judged(
    history: History,
    journal: Path,
    manifests: Sequence[Manifest],
    flows: Sequence[Flow],
    files: VendorFiles,
) -> JudgedRun:
    run = recorded(history, journal)
    day = (history.end.finished if history.end else history.begin.started)[:10]
    expectations = expect.resolve(run.checks, run.facts, manifests, today=date.fromisoformat(day))
    observed = [check for check in run.checks if run.observed(check)]
    judgements = judge_run(observed, expectations, run.observations, run.not_run)
    # The journal's own expectations and verdicts are discarded.
    planned = {
        name: replace(
            record,
            expectation=expectations[name],
            others=expectations_of_members(record.check, expectations),
        )
        if name in expectations
        else record
        for name, record in history.planned.items()
    }
    verdicts = {judgement.check: judgement for judgement in judgements}
    judged = replace(history, planned=planned, judged=verdicts)
    vendor_manifests = {str(path) for path in files.limitations}
    return JudgedRun(
        results=build_from(judged, run.observations),
        plan=build(run.facts, flows),
        before=run.verdicts,
        own_entries=frozenset(
            entry.id
            for manifest in manifests
            if manifest.file in vendor_manifests
            for entry in manifest.limitations
        ),
        nettests=__version__,
    )


def _digests(journal: Path, files: VendorFiles, manifests: Sequence[ManifestFile]) -> Digests:
    names = {str(path): files.name(path) for path in files.limitations}
    return Digests(
        journal=Digest(file=JOURNAL, sha256=_sha256(journal)),
        profile=Digest(file=files.file, sha256=files.sha256),
        manifests=tuple(
            Digest(file=names.get(each.file, each.file), sha256=each.sha256, own=each.file in names)
            for each in manifests
        ),
        suites=tuple(
            Digest(file=files.name(path), sha256=_sha256(path), own=True)
            for path in files.suite_modules()
        ),
    )


def _sha256(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, limits.JOURNAL_BYTES)).hexdigest()


BESIDE = "the document that this report gives"


def publish(report: ConformanceReport, folder: Path) -> Path:
    """Write all documents; return the folder, or ``PathError`` if it cannot be written."""
    with path_error(folder, "written", "name a folder of your own with --to"):
        make_folder(folder)
        for name, text in documents(report).items():
            write_text(folder / name, text)
    return folder


def published(file: Path) -> Mapping[str, Any]:
    """Return the data of a published report, untrusted."""
    return read_report(_text(file), str(file))


def compared(file: Path, report: ConformanceReport) -> tuple[Mismatch, ...]:
    """Return where a published report differs from the recomputed one: data, text, other documents.

    Documents missing beside it are no difference: the YAML document alone is the report.
    """
    differences = list(mismatches(published(file), document(report)))
    for name, text in documents(report).items():
        path = file if name == YAML else file.parent / name
        if path.is_file() and _text(path) != text and not (name == YAML and differences):
            differences.append(Mismatch(place=path.name, stated="another text", recomputed=BESIDE))
    return tuple(differences)


def _text(file: Path) -> str:
    hint = f"name its {YAML}, as nettests conformance wrote it"
    return text_of(file, "report", hint, refusal=PathError, most=limits.JSON_BYTES)
