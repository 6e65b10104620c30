"""A finished run and a vendor's files → the input of a conformance report: the run judged again, and its current plan.

For ``nettests conformance``, which trusts no verdict of a journal: answers are read, expectations resolved and
verdicts computed as by ``rejudge``, with the date of the run. Reads only.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from nettests import __version__, expect
from nettests.conformance.assessment import JudgedRun
from nettests.conformance.conformance_report import Digest, Digests
from nettests.conformance.vendor_profile import require_known_claims
from nettests.expect import Manifest
from nettests.judge import judge_run
from nettests.model.expectation import Expectation
from nettests.model.history import History
from nettests.model.journal_records import ManifestFile, others
from nettests.model.run_folder import JOURNAL
from nettests.model.verdict import Judgement
from nettests.plan import Flow, build, load
from nettests.report.build import build_from
from nettests.resources import suites_path
from nettests.session.blueprint import read_manifests
from nettests.session.journal import read_journal, understood
from nettests.session.rejudge import recorded
from nettests.session.vendor_files import VendorFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a report is made of."""

    run: JudgedRun
    digests: Digests


def basis_of(directory: Path, files: VendorFiles) -> Basis:
    """Judge the run in a folder by the shipped manifests and the vendor's; ``NettestsError`` says what cannot be read."""
    shipped = load([suites_path()]).declared
    flows = load([suites_path(), *files.suites])
    require_known_claims(files.profile, flows.declared, flows.declared - shipped)
    manifests, digests = read_manifests(files.limitations)
    journal = directory / JOURNAL
    records = read_journal(journal)
    with understood(journal):
        run = _judged(History.of(records), journal, manifests, flows.flows, files)
    return Basis(run=run, digests=_digests(journal, files, digests))


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
    vendor_manifests = {str(path) for path in files.limitations}
    return JudgedRun(
        results=build_from(_with_judgements(history, expectations, judgements), run.observations),
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


def _with_judgements(
    history: History,
    expectations: dict[str, Expectation],
    judgements: Sequence[Judgement],
) -> History:
    """Return a history whose expectations and verdicts are these; nothing of those that it held stays."""
    planned = {
        name: replace(
            record,
            expectation=expectations[name],
            others=others(record.check, expectations),
        )
        if name in expectations
        else record
        for name, record in history.planned.items()
    }
    return replace(
        history, planned=planned, judged={judgement.check: judgement for judgement in judgements}
    )


def _digests(journal: Path, files: VendorFiles, manifests: Sequence[ManifestFile]) -> Digests:
    vendor_manifests = {str(path): path for path in files.limitations}
    return Digests(
        journal=Digest(file=JOURNAL, sha256=_sha256(journal)),
        profile=Digest(file=files.file, sha256=files.sha256),
        manifests=tuple(
            Digest(
                file=files.name(vendor_manifests[manifest.file])
                if manifest.file in vendor_manifests
                else manifest.file,
                sha256=manifest.sha256,
                own=manifest.file in vendor_manifests,
            )
            for manifest in manifests
        ),
        suites=tuple(
            Digest(file=files.name(path), sha256=_sha256(path), own=True)
            for path in files.suite_modules()
        ),
    )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
