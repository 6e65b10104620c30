"""Recompute verdicts from a run's journal, without a cluster: the same answers, newer manifests.

Raw answers, facts and checks come from the journal, expectations from the current manifests.
``nettests rejudge`` writes a new journal: requests and answers are copied, and expectations,
verdicts and the end are replaced. It tests nothing and does not change the run's own journal.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from nettests import expect
from nettests.baseline.entries import Baseline
from nettests.baseline.matching import BaselineComparison
from nettests.errors import NettestsError
from nettests.expect import Manifest
from nettests.judge import judge_run
from nettests.judge.exit_status import of_run
from nettests.model.check import Check, Skip
from nettests.model.check_id import member_of
from nettests.model.exit_code import ExitCode
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.history import History
from nettests.model.journal_records import (
    Accepted,
    Begin,
    Diagnostics,
    Done,
    End,
    Judged,
    Limitations,
    ManifestFile,
    Planned,
    Record,
    Revised,
    expectations_of_members,
)
from nettests.model.observation import Observation
from nettests.model.run_folder import DIAGNOSTICS, JOURNAL
from nettests.model.verdict import Judgement, verdicts_of
from nettests.model.words import FailOn, Verdict
from nettests.outside_files import read_bytes
from nettests.parse import observation_of
from nettests.parse.doubts import Doubts
from nettests.private import make_folder, write_bytes
from nettests.session.baseline_comparison import accepted_record, comparison_of, ending
from nettests.session.blueprint import unused
from nettests.session.journal import Journal, read_journal, understood


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A run as its journal records it: facts, checks in their order, observations and verdicts.

    Checks that turned out not to apply while they were running are left out.
    """

    facts: ClusterFacts
    checks: tuple[Check, ...]
    observations: Mapping[str, Observation]
    """By check, or by member of a check."""
    verdicts: Mapping[str, Verdict]
    not_run: Mapping[str, str]
    """The members that turned out not to apply, and why."""

    def observed(self, check: Check) -> bool:
        """Whether a check, or one of its members, was observed."""
        return any(member.id in self.observations for member in check.each)


def recorded(history: History, journal: Path) -> Recorded:
    """Read a recorded run; ``NettestsError`` if its journal has no facts."""
    if history.facts is None:
        raise NettestsError(
            f"{journal} holds no facts of a cluster", hint="the run could not start; see its events"
        )
    doubts = Doubts.of(history.calibrations)
    planned = [
        record.check
        for record in history.planned.values()
        if record.check.id not in history.skipped
    ]
    return Recorded(
        facts=history.facts,
        checks=tuple(planned),
        observations={
            member.id: observation_of(
                member, history.done[member.id], history.answers(member.id), doubts
            )
            for check in planned
            for member in check.each
            if member.id in history.done and not history.done[member.id].skip
        },
        not_run={
            done.check: done.skip
            for done in history.done.values()
            if done.skip and member_of(done.check)
        },
        verdicts={
            check.id: history.judged[check.id].verdict
            for check in planned
            if check.id in history.judged
        },
    )


def rejudged(
    recorded: Recorded, manifests: Sequence[Manifest], *, today: date | None = None
) -> list[Judgement]:
    """Judge every recorded check by ``manifests``; a check that was not observed is ``unknown``.

    ``today`` is needed as soon as an entry has a review date.
    """
    expectations = expect.resolve(recorded.checks, recorded.facts, manifests, today=today)
    return judge_run(recorded.checks, expectations, recorded.observations, recorded.not_run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What decides the exit code besides the verdicts: the site's baseline, and ``--fail-on``."""

    baseline: Baseline | None = None
    fail_on: tuple[FailOn, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """A run judged again: verdicts before and after, by check, and the new exit code."""

    before: Mapping[str, Verdict]
    judgements: tuple[Judgement, ...]
    exit_code: int
    comparison: BaselineComparison | None = None
    """What the baseline covers of it."""

    @property
    def changed(self) -> tuple[Judgement, ...]:
        """The judgements whose verdict has changed."""
        return tuple(
            judgement
            for judgement in self.judgements
            if self.before.get(judgement.check) != judgement.verdict
        )


def judge_again(
    source: Path,
    target: Path,
    manifests: Sequence[Manifest],
    digests: Sequence[ManifestFile],
    *,
    today: date,
    held: Held = Held(),
) -> Rejudged:
    """Judge the run in ``source`` by ``manifests`` and write its new journal to ``target``.

    Checks that the run did not observe get no verdict; reports give the reason.
    """
    with understood(source / JOURNAL):
        records = read_journal(source / JOURNAL)
        history = History.of(records)
        run = recorded(history, source / JOURNAL)
        expectations = expect.resolve(run.checks, run.facts, manifests, today=today)
        observed = [check for check in run.checks if run.observed(check)]
        judgements = tuple(judge_run(observed, expectations, run.observations, run.not_run))
        now = {judgement.check: judgement.verdict for judgement in judgements}
        verdicts = verdicts_of([check.id for check in run.checks], history.skipped, now)
        shown = frozenset[Verdict]().union(*(judgement.shown for judgement in judgements))
        comparison: BaselineComparison | None = None
        make_folder(target)
        (target / JOURNAL).unlink(missing_ok=True)
        with Journal(target / JOURNAL) as journal:
            for record in records:
                _copy(journal, _with_copied_files(record, source, target), expectations, digests)
            journal.write(Limitations(unused=unused(manifests, expectations)))
            for judgement in judgements:
                journal.write(Judged(judgement=judgement))
            journal.event(f"judged again from the answers of {source.resolve().name}")
            if held.baseline is not None:
                comparison = comparison_of(target, held.baseline)
                for line in comparison.lines():
                    journal.event(line)
                journal.write(accepted_record(comparison, held.fail_on))
            counting, members = ending(comparison, held.fail_on, verdicts, shown)
            code = of_run(
                ExitCode.OK,
                counting,
                _required(history),
                others_failed=False,
                members=members,
                fail_on=held.fail_on,
            )
            if history.end:
                counts = Counter(verdict.value for verdict in verdicts.values())
                of_all = {verdict.value: counts[verdict.value] for verdict in Verdict}
                # The recorded end is kept, and with it the run's duration.
                journal.write(replace(history.end, exit_code=code, counts=of_all))
        return Rejudged(
            before=run.verdicts, judgements=judgements, exit_code=code, comparison=comparison
        )


def _with_copied_files(record: Record, source: Path, target: Path) -> Record:
    """Return a record that names its files from ``target``; copy them unless that is below the run.

    A journal is not trusted to name files outside the run's diagnostics.
    """
    if not isinstance(record, Diagnostics):
        return record
    if target.resolve().parent == source.resolve():
        folder = os.path.relpath(source.resolve() / record.folder, target.resolve())
        return replace(record, folder=folder)
    held = source.resolve() / DIAGNOSTICS
    for item in record.items:
        file = (source / record.folder / item.file).resolve()
        if file.is_file() and file.is_relative_to(held):
            copy = target / file.relative_to(source.resolve())
            make_folder(copy.parent)
            write_bytes(copy, read_bytes(file))
    return record


def _copy(
    journal: Journal,
    record: Record,
    expectations: Mapping[str, Expectation],
    digests: Sequence[ManifestFile],
) -> None:
    """Write a record unchanged, except expectations, verdicts and the end."""
    match record:
        case Judged() | Limitations() | End() | Revised() | Accepted():
            pass
        case Begin():
            journal.write(replace(record, manifests=tuple(digests)))
        case Planned() if record.check.id in expectations:
            expectation = expectations[record.check.id]
            unlike = expectations_of_members(record.check, expectations)
            journal.write(replace(record, expectation=expectation, others=unlike))
        case Done():
            journal.write(replace(record, judgement=None))
        case _:
            journal.write(record)


def _required(history: History) -> dict[str, set[str]]:
    """Return the checks and skips that were planned of each required flow, by flow."""
    planned: list[Check | Skip] = [record.check for record in history.planned.values()]
    required: defaultdict[str, set[str]] = defaultdict(set)
    for check_or_skip in [*planned, *history.skips.values()]:
        if check_or_skip.required:
            required[check_or_skip.flow].add(check_or_skip.id)
    return dict(required)
