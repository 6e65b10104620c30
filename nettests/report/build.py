"""Turn journal records into ``Results``: every check with its observation and verdict.

The first step of reporting. It takes verdicts from the journal and never judges; a planned check
without a verdict becomes ``unknown`` with the reason in the journal. Raw answers are parsed here
only in a process that has nothing but the journal.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType

from nettests.model.check import Check, Skip
from nettests.model.expectation import Expectation
from nettests.model.history import History
from nettests.model.journal_records import Planned, Record
from nettests.model.observation import Observation
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER, Judgement
from nettests.model.words import Verdict
from nettests.parse import observation_of, observe
from nettests.parse.doubts import Doubts
from nettests.parse.unread import unread_texts
from nettests.report.exercised import exercised
from nettests.report.incidents import find_incidents
from nettests.report.instruments import instrument_rows
from nettests.report.members import latencies, member_results, paths
from nettests.report.results import (
    CheckResult,
    Coverage,
    Results,
    RunInfo,
    UsedLimitation,
    facts_digest,
    run_singly,
)
from nettests.report.rounds import rounds_of

_NONE: Mapping[str, Observation] = MappingProxyType({})


def build_results(
    records: Iterable[Record], observations: Mapping[str, Observation] = _NONE
) -> Results:
    """Build results from a journal's records, also if the run was aborted or never began.

    ``observations`` are those already judged, by check id, if this process has them.
    """
    return build_from(History.of(records), observations)


def build_from(history: History, observations: Mapping[str, Observation] = _NONE) -> Results:
    """Build results from the history of a run."""
    expectations = history.expectations()
    doubts = Doubts.of(history.calibrations)
    checks = (
        *(
            _planned_result(
                history,
                planned,
                lambda check: _observation(history, check, observations, doubts),
                expectations,
            )
            for planned in history.planned.values()
        ),
        *(_skip_result(skip) for skip in history.skips.values()),
    )
    seen = Counter(check.verdict for check in checks)
    skipped = sum(check.verdict is Verdict.SKIPPED for check in checks)
    ran = sum(check.ran for check in checks)
    return Results(
        run=_run_info(history),
        facts=history.facts,
        facts_digest=facts_digest(history.facts) if history.facts else None,
        counts={verdict: seen[verdict] for verdict in SUMMARY_ORDER},
        coverage=Coverage(
            due=len(checks), ran=ran, skipped=skipped, not_judged=len(checks) - ran - skipped
        ),
        exercised=exercised(run_singly(checks), history.facts),
        checks=checks,
        incidents=find_incidents([*run_singly(checks)], history.facts),
        limitations_used=_used(checks),
        limitations_unused=history.unused,
        pulls=tuple(history.pulls),
        convergence=tuple(sorted(history.convergence, key=lambda c: (c.service, c.probe))),
        latencies=latencies(run_singly(checks)),
        paths=paths(run_singly(checks)),
        rounds=rounds_of(history.rounds, _by_id(history)),
        events=tuple(history.events),
        diagnostics=tuple(history.diagnostics),
        instruments=instrument_rows(history.calibrations),
        unread=unread_texts(raw for raws in history.raws.values() for raw in raws),
    )


def _by_id(history: History) -> dict[str, Check]:
    planned = [record.check for record in history.planned.values()]
    return {member.id: member for check in planned for member in (check, *check.each)}


def _planned_result(
    history: History,
    planned: Planned,
    observed: Callable[[Check], Observation | None],
    expectations: Mapping[str, Expectation],
) -> CheckResult:
    check, expectation = planned.check, planned.expectation
    judgement = history.judged.get(check.id) or _unjudged(history, check, expectation)
    observation = observed(check)
    ran = check.id in history.judged and judgement.verdict is not Verdict.SKIPPED
    members = member_results(
        check,
        judgement,
        expectations,
        ran=ran,
        observed=observed,
        raws=lambda member_id: tuple(history.raws.get(member_id, ())),
        distrust=lambda member_id: _distrust(history, member_id),
    )
    about = {check.id, *(member.id for member in members if member.verdict in ATTENTION)}
    return CheckResult(
        id=check.id,
        flow=check.flow,
        suite=check.suite,
        verdict=judgement.verdict,
        message=judgement.message,
        required=check.required,
        ran=ran,
        check=check,
        expectation=expectation,
        observation=observation,
        expected=judgement.expected,
        observed=judgement.observed,
        next_step=judgement.next_step,
        limitation_id=judgement.limitation,
        distrust=(observation.distrust if observation else _distrust(history, check.id)) or "",
        raws=tuple(history.raws.get(check.id, ())),
        diagnostics=tuple(
            diagnostic
            for diagnostic in history.diagnostics
            if about.intersection(diagnostic.checks)
        ),
        accepted=history.accepted.get(check.id),
        excused=history.excused and check.id in history.accepted,
        members=members,
    )


def _unjudged(history: History, check: Check, expectation: Expectation) -> Judgement:
    done = history.done.get(check.id)
    if done and done.skip:
        return Judgement(
            check=check.id,
            verdict=Verdict.SKIPPED,
            message=done.skip,
            expected="",
            observed="",
        )
    if done and done.distrust:
        reason = f"its answers cannot be trusted: {done.distrust}"
    elif check.id not in history.raws:
        reason = "it was never run: the run ended before its turn"
    elif done is None:
        reason = "its observation was cut off: the run ended before all answers were written"
    else:
        reason = "it was observed but never judged: its worker ended first"
    limitation = expectation.limitation
    return Judgement(
        check=check.id,
        verdict=Verdict.UNKNOWN,
        message=f"{check.id}: {reason}",
        expected=str(expectation.expected) if expectation.expected else "not specified",
        observed="nothing that was judged",
        limitation=limitation.id if limitation else None,
        next_step="read the run's events for what ended it, then run again",
    )


def _distrust(history: History, check_id: str) -> str:
    done = history.done.get(check_id)
    return (done.distrust or "") if done else ""


def _observation(
    history: History, check: Check, observations: Mapping[str, Observation], doubts: Doubts
) -> Observation | None:
    """Return what a check observed; ``None`` if only controls were answered."""
    raws, done = history.answers(check.id), history.done.get(check.id)
    if not any(raw.purpose == "check" for raw in raws):
        return None
    if done is None:
        return observe(check, raws)
    return observations.get(check.id) or observation_of(check, done, raws, doubts)


def _skip_result(skip: Skip) -> CheckResult:
    return CheckResult(
        id=skip.id,
        flow=skip.flow,
        suite=skip.suite,
        verdict=Verdict.SKIPPED,
        message=skip.reason,
        required=skip.required,
    )


def _used(checks: tuple[CheckResult, ...]) -> tuple[UsedLimitation, ...]:
    limitations = {c.limitation.id: c.limitation for c in checks if c.limitation is not None}
    decided: dict[str, dict[Verdict, tuple[str, ...]]] = {
        limitation: {} for limitation in limitations
    }
    for check in checks:
        if check.limitation is not None:
            ids = decided[check.limitation.id]
            ids[check.verdict] = (*ids.get(check.verdict, ()), check.id)
    return tuple(
        UsedLimitation(limitation=limitations[limitation_id], checks=decided[limitation_id])
        for limitation_id in sorted(decided)
    )


def _run_info(history: History) -> RunInfo:
    begin, end = history.begin, history.end
    return RunInfo(
        run_id=begin.run_id,
        started=begin.started,
        finished=end.finished if end else "",
        seconds=_seconds(begin.started, end.finished if end else ""),
        nettests=begin.nettests,
        context=begin.context or "",
        server=begin.server or "",
        cluster_profile=begin.cluster_profile,
        argv=begin.argv,
        suites=begin.suites,
        manifests=begin.manifests,
        exit_code=end.exit_code if end else None,
        complete=end is not None,
        error=_start_error(history),
        requests=end.requests if end else {},
        stages=end.stages if end else {},
    )


def _start_error(history: History) -> str | None:
    if history.planned or history.skips:
        return None
    if history.events:
        return history.events[-1].text
    return "the run ended before a check was planned, and its journal does not say why"


def _seconds(started: str, finished: str) -> float | None:
    if not started or not finished:
        return None
    spent = datetime.fromisoformat(finished) - datetime.fromisoformat(started)
    return round(spent.total_seconds(), 1)
