"""Recorded runs without a cluster: real plans and real expectations, behaviour that a test states, judged by the judge.

What is compared went through ``results.json`` and back, so that every test reads what runs write.
"""

from collections.abc import Callable, Iterable
from functools import cache

from nettests.compare.reading import read_results
from nettests.compare.recorded import RecordedRun
from nettests.judge import judge_run
from nettests.model.check import Check
from nettests.model.expectation import Expectation, Expected
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import ManifestFile
from nettests.model.observation import Attempt, ControlResult, Observation
from nettests.model.verdict import Judgement
from nettests.model.words import Distribution, Outcome, Verdict
from nettests.report import Results, render_json
from nettests.report.incidents import find_incidents
from nettests.report.members import member_results
from nettests.report.results import CheckResult, Coverage, RunInfo, run_singly
from tests.manifests.shipped import expectations, planned

Behaves = Callable[[Check, Expectation], Expected]
MANIFEST = ManifestFile(file="manifests/limitations/base.yaml", sha256="3f" * 32)


def as_expected(check: Check, expectation: Expectation) -> Expected:
    """Behave as documented, and as claimed where documents leave it open."""
    return expectation.expected or expectation.claim


def but(flow: str, outcome: Outcome, *words: str) -> Behaves:
    """Behave as documented, but for the checks of a flow whose ids hold the words."""

    def behaves(check: Check, expectation: Expectation) -> Expected:
        if check.flow == flow and all(word in check.id for word in words):
            return Expected(outcome=outcome)
        return as_expected(check, expectation)

    return behaves


def results(
    facts: ClusterFacts,
    behaves: Behaves = as_expected,
    *,
    run_id: str = "20261124-090000-ab12",
    flows: Iterable[str] = (),
    manifests: tuple[ManifestFile, ...] = (MANIFEST,),
) -> Results:
    """Return the results of a run on these facts, of all flows or of those that are named."""
    wanted = set(flows)
    checks = [one for one in planned(facts) if not wanted or one.flow in wanted]
    expected = expectations(facts)
    seen = {one.id: _seen(one, expected[one.id], behaves) for check in checks for one in check.each}
    judged = zip(checks, judge_run(checks, expected, seen), strict=True)
    found = tuple(_result(check, told, expected, seen) for check, told in judged)
    return Results(
        run=RunInfo(
            run_id=run_id,
            started="2026-11-24T09:00:00+00:00",
            nettests="0.1.0",
            context="staging",
            server="https://127.0.0.1:6443",
            manifests=manifests,
            complete=True,
            exit_code=0,
        ),
        facts=facts,
        counts={verdict: sum(one.verdict is verdict for one in found) for verdict in Verdict},
        coverage=Coverage(due=len(found), ran=len(found), skipped=0, not_judged=0),
        checks=found,
        incidents=find_incidents([*run_singly(found)], facts),
    )


def recorded(made: Results) -> RecordedRun:
    """Return results as ``nettests diff`` reads them from their document."""
    return read_results(render_json(made), made.run.run_id)


@cache
def quiet_run(facts: ClusterFacts) -> RecordedRun:
    """Return a run in which everything is as documented."""
    return recorded(results(facts))


def _seen(check: Check, expectation: Expectation, behaves: Behaves) -> Observation:
    does = behaves(check, expectation)
    spread = does.distribution or check.claim.distribution
    backends = check.target.backends
    answering = backends if spread is Distribution.SEVERAL_BACKENDS else backends[:1]
    attempt = Attempt(
        number=1, outcome=does.outcome, detail="", started=1.0, elapsed=0.02, channel="exec"
    )
    proofs = dict.fromkeys((*(one.proves for one in check.controls), "vantage", "target"))
    return Observation(
        check=check.id,
        outcome=does.outcome,
        agreed=True,
        attempts=(attempt, attempt, attempt),
        controls=tuple(ControlResult(proves=one, ok=True, detail="") for one in proofs),
        source_seen=does.source_seen,
        backends=answering,
        distribution=does.distribution,
        channel="exec",
    )


def _result(
    check: Check,
    told: Judgement,
    expected: dict[str, Expectation],
    seen: dict[str, Observation],
) -> CheckResult:
    return CheckResult(
        id=check.id,
        flow=check.flow,
        suite=check.suite,
        verdict=told.verdict,
        message=told.message,
        ran=True,
        check=check,
        expectation=expected[check.id],
        observation=seen.get(check.id),
        expected=told.expected,
        observed=told.observed,
        next_step=told.next_step,
        limitation_id=told.limitation,
        members=member_results(
            check,
            told,
            expected,
            ran=True,
            observed=lambda one: seen.get(one.id),
            raws=lambda _: (),
            distrust=lambda _: "",
        ),
    )
