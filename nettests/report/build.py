"""Journal records → ``Results``: gather, read the raw answers again, and leave no check out.

First step of reporting. It trusts the journal's verdicts and never judges; what was planned and has
no verdict becomes ``unknown`` with the reason that the journal gives. The raw answers are parsed
again, because the journal holds them unparsed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from nettests.model.check import Check, Skip
from nettests.model.codec import from_data
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.observation import Observation, Raw
from nettests.model.pull import Pull
from nettests.model.verdict import SUMMARY_ORDER, Judgement
from nettests.model.words import Verdict
from nettests.parse import observe
from nettests.report.digest import facts_digest
from nettests.report.exercised import exercised
from nettests.report.incidents import find_incidents
from nettests.report.latency import latencies
from nettests.report.results import (
    CheckResult,
    Convergence,
    Coverage,
    Diagnostics,
    Event,
    Results,
    RunInfo,
    UnusedLimitation,
    UsedLimitation,
)

Record = Mapping[str, Any]


@dataclass(slots=True)
class _Gathered:
    """The journal's records by kind; of those that may be repeated, the last one counts."""

    run: Record = field(default_factory=dict)
    end: Record = field(default_factory=dict)
    facts: ClusterFacts | None = None
    planned: dict[str, tuple[Check, Expectation]] = field(default_factory=dict)
    skips: dict[str, Skip] = field(default_factory=dict)
    raws: dict[str, list[Raw]] = field(default_factory=dict)
    done: dict[str, Record] = field(default_factory=dict)
    judged: dict[str, Judgement] = field(default_factory=dict)
    unused: tuple[UnusedLimitation, ...] = ()
    pulls: list[Pull] = field(default_factory=list)
    convergence: list[Convergence] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    diagnostics: list[Diagnostics] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """File one record; a kind that this version does not know is left alone."""
        match record.get("record"):
            case "run":
                self.run = record
            case "facts":
                self.facts = from_data(record["facts"], ClusterFacts)
            case "planned":
                check = from_data(record["check"], Check)
                self.planned[check.id] = (check, from_data(record["expectation"], Expectation))
            case "expected" if record["check"] in self.planned:
                check, _ = self.planned[record["check"]]
                self.planned[check.id] = (check, from_data(record["expectation"], Expectation))
            case "skip":
                skip = from_data(record["skip"], Skip)
                self.skips[skip.id] = skip
            case "raw":
                raw = from_data(record["raw"], Raw)
                self.raws.setdefault(raw.check, []).append(raw)
            case "done":
                self.done[record["check"]] = record
            case "judged":
                judgement = from_data(record["judgement"], Judgement)
                self.judged[judgement.check] = judgement
            case _:
                self._add_of_the_run(record)

    def _add_of_the_run(self, record: Record) -> None:
        """File a record that speaks of no single check."""
        match record.get("record"):
            case "limitations":
                self.unused = tuple(from_data(e, UnusedLimitation) for e in record["unused"])
            case "pull":
                self.pulls.append(from_data(record["pull"], Pull))
            case "convergence":
                self.convergence.append(from_data(dict(record), Convergence))
            case "event":
                self.events.append(from_data(dict(record), Event))
            case "diagnostics":
                self.diagnostics.append(from_data(dict(record), Diagnostics))
            case "end":
                self.end = record


def build_results(records: Iterable[Record]) -> Results:
    """Return what the journal's records say, also when the run broke off or never began."""
    journal = _Gathered()
    for record in records:
        journal.add(record)
    checks = (
        *(_planned_result(journal, check) for check in journal.planned),
        *(_skip_result(skip) for skip in journal.skips.values()),
    )
    return Results(
        run=_run_info(journal),
        facts=journal.facts,
        facts_digest=facts_digest(journal.facts) if journal.facts else None,
        counts=_counts(checks),
        coverage=_coverage(checks),
        exercised=exercised(checks, journal.facts),
        checks=checks,
        incidents=find_incidents(checks, journal.facts),
        limitations_used=_used(checks),
        limitations_unused=journal.unused,
        pulls=tuple(journal.pulls),
        convergence=tuple(sorted(journal.convergence, key=lambda c: (c.service, c.probe))),
        latencies=latencies(checks),
        events=tuple(journal.events),
        diagnostics=tuple(journal.diagnostics),
    )


def _planned_result(journal: _Gathered, check_id: str) -> CheckResult:
    check, expectation = journal.planned[check_id]
    judgement = journal.judged.get(check_id) or _unjudged(journal, check, expectation)
    raws = tuple(journal.raws.get(check_id, ()))
    return CheckResult(
        id=check.id,
        flow=check.flow,
        suite=check.suite,
        verdict=judgement.verdict,
        message=judgement.message,
        required=check.required,
        ran=check_id in journal.judged and judgement.verdict is not Verdict.SKIPPED,
        check=check,
        expectation=expectation,
        observation=_observation(check, raws, journal.done.get(check_id, {})),
        expected=judgement.expected,
        observed=judgement.observed,
        next_step=judgement.next_step,
        limitation_id=judgement.limitation,
        raws=raws,
        diagnostics=tuple(one for one in journal.diagnostics if check_id in one.checks),
    )


def _unjudged(journal: _Gathered, check: Check, expectation: Expectation) -> Judgement:
    """Return the stand-in for a verdict that the journal does not have."""
    done = journal.done.get(check.id)
    if done and done.get("skip"):
        return Judgement(
            check=check.id,
            verdict=Verdict.SKIPPED,
            message=done["skip"],
            expected="",
            observed="",
        )
    if done is None and check.id not in journal.raws:
        reason = "it was never asked: the run ended before its turn"
    elif done is None:
        reason = "its observation was cut off: the run ended before all answers were written"
    elif done.get("distrust"):
        reason = f"its answers cannot be trusted: {done['distrust']}"
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


def _observation(check: Check, raws: tuple[Raw, ...], done: Record) -> Observation | None:
    # Without an answer to the question itself there is nothing to read; controls alone say nothing.
    if not any(raw.purpose == "check" for raw in raws):
        return None
    seen = replace(observe(check, raws), late=done.get("late"), resent=done.get("resent"))
    if done.get("distrust"):
        return replace(seen, trusted=False, distrust=done["distrust"])
    return seen


def _skip_result(skip: Skip) -> CheckResult:
    return CheckResult(
        id=skip.id,
        flow=skip.flow,
        suite=skip.suite,
        verdict=Verdict.SKIPPED,
        message=skip.reason,
        required=skip.required,
    )


def _counts(checks: tuple[CheckResult, ...]) -> dict[Verdict, int]:
    seen = Counter(check.verdict for check in checks)
    return {verdict: seen[verdict] for verdict in SUMMARY_ORDER}


def _coverage(checks: tuple[CheckResult, ...]) -> Coverage:
    skipped = sum(check.verdict is Verdict.SKIPPED for check in checks)
    ran = sum(check.ran for check in checks)
    return Coverage(
        due=len(checks), ran=ran, skipped=skipped, not_judged=len(checks) - ran - skipped
    )


def _used(checks: tuple[CheckResult, ...]) -> tuple[UsedLimitation, ...]:
    limitations = {c.limitation.id: c.limitation for c in checks if c.limitation is not None}
    decided: dict[str, dict[Verdict, tuple[str, ...]]] = {one: {} for one in limitations}
    for check in checks:
        if check.limitation is not None:
            ids = decided[check.limitation.id]
            ids[check.verdict] = (*ids.get(check.verdict, ()), check.id)
    return tuple(
        UsedLimitation(limitation=limitations[one], checks=decided[one]) for one in sorted(decided)
    )


def _run_info(journal: _Gathered) -> RunInfo:
    run, end = journal.run, journal.end
    told = {
        "run_id": run.get("run_id", ""),
        "started": run.get("started", ""),
        "finished": end.get("finished", ""),
        "seconds": _seconds(run.get("started"), end.get("finished")),
        "nettests": run.get("nettests", ""),
        "context": run.get("context") or "",
        "server": run.get("server") or "",
        "cluster_profile": run.get("cluster_profile"),
        "argv": run.get("argv", ()),
        "suites": run.get("suites", ()),
        "manifests": run.get("manifests", ()),
        "exit_code": end.get("exit_code"),
        "complete": bool(end),
        "error": _start_error(journal),
    }
    return from_data(
        told, RunInfo
    )  # a journal is not trusted to hold texts where a run writes some


def _start_error(journal: _Gathered) -> str | None:
    """Return why there is nothing to report on; ``None`` when checks were planned or skipped."""
    if journal.planned or journal.skips:
        return None
    if journal.events:
        return journal.events[-1].text
    return "the run ended before a check was planned, and its journal does not say why"


def _seconds(started: str | None, finished: str | None) -> float | None:
    if not started or not finished:
        return None
    spent = datetime.fromisoformat(finished) - datetime.fromisoformat(started)
    return round(spent.total_seconds(), 1)
