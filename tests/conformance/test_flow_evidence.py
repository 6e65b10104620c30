"""What a run shows of one flow: every way in which a part of a claim is not shown is named, and none passes in silence."""

from dataclasses import replace

import pytest

from nettests.conformance.assessment import JudgedRun
from nettests.conformance.conformance_report import Gap, Statistics
from nettests.conformance.flow_evidence import (
    Anonymous,
    Evidence,
    FlowEvidence,
    added,
    flow_evidence,
)
from nettests.model.check import Skip
from nettests.model.expectation import Expected
from nettests.model.words import Outcome, Verdict
from nettests.report.results import CheckResult
from tests.compare.runs import but
from tests.conformance.claimed import ECHO, FACTS, PODS, SOURCES, judged, with_checks

FLEET = "pod-to-pod-ip"
FIRST = f"{PODS}/linux-1/linux-1/other-node/tcp"


def shown(run: JudgedRun, flow: str = PODS) -> FlowEvidence:
    """Return what a run shows of a flow."""
    return flow_evidence(
        flow, Evidence.of(run.results, run.plan, run.own_entries, Anonymous.of(FACTS))
    )


def gaps(found: FlowEvidence) -> list[tuple[Gap, int]]:
    """Return the kinds of what is missing, with how many checks each has."""
    return [(one.gap, len(one.checks)) for one in found.missing]


def turned(verdict: Verdict, check: str = FIRST, **more: object) -> JudgedRun:
    """Return a run in which one check came to this verdict."""
    return with_checks(
        judged(flows_run=[PODS]),
        lambda one: replace(one, verdict=verdict, **more) if one.id == check else one,  # type: ignore[arg-type]
    )


def test_a_flow_that_works_has_nothing_missing() -> None:
    """All of its checks passed, and each is counted once."""
    found = shown(judged(flows_run=[PODS]))
    assert found.statistics == Statistics(passed=12)
    assert (found.failed, found.missing, found.limitations) == ((), (), ())


def test_a_shipped_limitation_is_no_gap_and_is_named() -> None:
    """The documents said so before, and the published manifests are everybody's."""
    found = shown(judged(flows_run=[SOURCES]), SOURCES)
    assert found.statistics.limited
    assert found.statistics.passed
    assert found.missing == ()
    assert found.limitations == ("dsr-source-ip-non-dsr",)


def test_a_limitation_of_the_vendors_own_is_a_gap() -> None:
    """Whoever documents that a claim does not hold has not shown that it does."""
    run = judged(flows_run=[SOURCES], own=["dsr-source-ip-non-dsr"])
    found = shown(run, SOURCES)
    assert gaps(found) == [(Gap.OWN_LIMITATION, found.statistics.limited)]
    assert found.missing[0].reason == "dsr-source-ip-non-dsr"


def test_an_own_entry_that_leaves_open_is_a_gap_too() -> None:
    """``unspecified`` would excuse everything else."""
    run = turned(Verdict.RECORDED)
    entries = with_checks(
        replace(run, own_entries=frozenset({"acme-open"})),
        lambda one: (
            replace(
                one,
                expectation=one.expectation
                and replace(one.expectation, entries=("acme-open",), expected=None),
            )
            if one.id == FIRST
            else one
        ),
    )
    assert gaps(shown(entries)) == [(Gap.OWN_LIMITATION, 1)]


def test_a_check_that_deviates_is_named_without_what_is_of_the_site() -> None:
    """Expected and observed stay, addresses go."""
    run = judged(but(PODS, Outcome.TIMED_OUT, "windows-1/linux-1", "tcp"), flows_run=[PODS])
    found = shown(run)
    assert [one.check for one in found.failed] == [f"{PODS}/windows-1/linux-1/other-node/tcp"]
    assert found.failed[0].verdict is Verdict.FAIL
    assert found.failed[0].observed == "timed_out"
    assert found.statistics == Statistics(passed=11, failed=1)
    seen = "replied, source = client-node (172.30.0.13), one-backend (server-linux-1-1)"
    located = shown(turned(Verdict.FAIL, observed=seen))
    assert located.failed[0].observed == "replied, source = client-node, one-backend"


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY])
def test_every_deviation_fails(verdict: Verdict) -> None:
    """A limitation that was lifted is a document that is wrong; a flaky path is none that works."""
    assert [one.verdict for one in shown(turned(verdict)).failed] == [verdict]


@pytest.mark.parametrize(
    ("verdict", "gap", "column"),
    [
        (Verdict.SKIPPED, Gap.SKIPPED, "skipped"),
        (Verdict.UNKNOWN, Gap.UNKNOWN, "unknown"),
        (Verdict.KNOWN_BUG, Gap.KNOWN_BUG, "known_bugs"),
    ],
)
def test_what_shows_nothing_is_a_gap(verdict: Verdict, gap: Gap, column: str) -> None:
    """It is counted where it belongs, and never as passed."""
    found = shown(turned(verdict, limitation_id="some-bug"))
    assert gaps(found) == [(gap, 1)]
    assert found.missing[0].checks == (FIRST,)
    assert getattr(found.statistics, column) == 1
    assert found.statistics.passed == 11


def test_reasons_are_those_of_the_run_without_names_of_nodes() -> None:
    """A skip in the words of its run, what could not be judged by its distrust or its unknown fact."""
    node = FACTS.nodes[0].name
    assert shown(turned(Verdict.SKIPPED, message=f"{node} has no MTU")).missing[0].reason == (
        f"{FACTS.nodes[0].pool} node 1 has no MTU"
    )
    assert shown(turned(Verdict.UNKNOWN, distrust="exec hung")).missing[0].reason == "exec hung"
    run = turned(Verdict.UNKNOWN, message=f"a → b, TCP - {PODS} - expected x, observed y")
    assert shown(run).missing[0].reason == "expected x, observed y"
    undecided = with_checks(
        run,
        lambda one: replace(
            one, expectation=one.expectation and replace(one.expectation, undecided="DSR: unknown")
        ),
    )
    assert shown(undecided).missing[0].reason == "DSR: unknown"


def test_one_reason_is_told_once_with_all_its_checks() -> None:
    """Checks of the same reason stand together, in order."""
    run = with_checks(
        judged(flows_run=[PODS]),
        lambda one: (
            replace(one, verdict=Verdict.SKIPPED, message="no node") if "udp" in one.id else one
        ),
    )
    (missing,) = shown(run).missing
    assert len(missing.checks) == 6
    assert list(missing.checks) == sorted(missing.checks)


def test_a_check_that_the_run_left_out_is_missed() -> None:
    """``-k`` and a journal from which it was taken leave nothing behind but the plan."""
    run = with_checks(judged(flows_run=[PODS]), lambda one: None if one.id == FIRST else one)
    found = shown(run)
    assert gaps(found) == [(Gap.NOT_PLANNED, 1)]
    assert found.missing[0].checks == (FIRST,)
    assert found.statistics == Statistics(passed=11, not_planned=1)


def test_a_flow_that_was_not_run_is_missed_whole() -> None:
    """All that belongs to it on this cluster is named."""
    found = shown(judged(flows_run=[SOURCES]))
    assert gaps(found) == [(Gap.NOT_PLANNED, 12)]
    assert found.statistics == Statistics(not_planned=12)


def test_a_flow_without_any_check_here_is_missed_too() -> None:
    """An empty set shows nothing."""
    run = judged(flows_run=[PODS])
    bare = replace(
        run, plan=replace(run.plan, checks=tuple(c for c in run.plan.checks if c.flow != SOURCES))
    )
    found = shown(bare, SOURCES)
    assert gaps(found) == [(Gap.NOT_PLANNED, 0)]
    assert found.missing[0].reason == "there is no check of it on this cluster"


def test_a_check_that_claims_less_than_planned_is_a_gap() -> None:
    """A journal in which a claim was lowered to what was seen passes for nothing."""
    run = judged(flows_run=[PODS])

    def lowered(one: CheckResult) -> CheckResult:
        if one.id != FIRST or one.check is None:
            return one
        return replace(one, check=replace(one.check, claim=Expected(outcome=Outcome.TIMED_OUT)))

    found = shown(with_checks(run, lowered))
    assert gaps(found) == [(Gap.PLANNED_OTHERWISE, 1)]
    assert found.missing[0].checks == (FIRST,)


def test_members_that_were_skipped_or_not_judged_do_not_hide_behind_a_pass() -> None:
    """A check of the fleet is as good as its worst member, and a skip ranks below a pass."""

    def spoilt(verdict: Verdict) -> JudgedRun:
        return with_checks(
            judged(flows_run=[FLEET]),
            lambda one: replace(
                one, members=(replace(one.members[0], verdict=verdict), *one.members[1:])
            ),
        )

    skipped = shown(spoilt(Verdict.SKIPPED), FLEET)
    assert {one.gap for one in skipped.missing} == {Gap.SKIPPED}
    assert "nodes were skipped" in skipped.missing[0].reason
    assert {one.gap for one in shown(spoilt(Verdict.UNKNOWN), FLEET).missing} == {Gap.UNKNOWN}
    assert all(one.verdict is Verdict.FLAKY for one in shown(spoilt(Verdict.FLAKY), FLEET).failed)
    assert shown(judged(flows_run=[FLEET]), FLEET).missing == ()


def test_a_flow_whose_claim_no_check_met_is_a_gap() -> None:
    """All limited is as documented, and shows nothing of the claim."""
    run = with_checks(
        judged(flows_run=[ECHO]), lambda one: one if one.verdict is Verdict.LIMITED else None
    )
    kept = {one.id for one in run.results.checks}
    alone = replace(
        run, plan=replace(run.plan, checks=tuple(c for c in run.plan.checks if c.id in kept))
    )
    found = shown(alone, ECHO)
    assert gaps(found) == [(Gap.NOT_MET, 1)]
    assert found.missing[0].reason == "no check met what the flow claims: 1 limited"


def test_a_member_that_cannot_be_run_is_named_beside_its_check() -> None:
    """The plan gives it an id of its own; it is neither missed twice nor forgotten."""
    run = judged(flows_run=[FLEET])
    first = run.results.checks[0].id
    left = Skip(id=f"{first}/left-out", flow=FLEET, reason="the node is cordoned")
    planned = replace(run, plan=replace(run.plan, skips=(*run.plan.skips, left)))
    assert shown(planned, FLEET).missing == ()
    skip = CheckResult(id=left.id, flow=FLEET, verdict=Verdict.SKIPPED, message=left.reason)
    both = replace(planned, results=replace(run.results, checks=(*run.results.checks, skip)))
    assert gaps(shown(both, FLEET)) == [(Gap.SKIPPED, 1)]


def test_statistics_add_up() -> None:
    """Column by column; what is judged is what behaved in some way."""
    both = added([Statistics(passed=1, skipped=2), Statistics(passed=3, failed=1, unknown=4)])
    assert both == Statistics(passed=4, skipped=2, failed=1, unknown=4)
    assert both.judged == 5
