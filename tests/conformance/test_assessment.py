"""Features, levels and the report: as good as the worst claim, whatever happens to what is not claimed."""

from dataclasses import replace

import pytest

from nettests.conformance.assessment import assess, worst
from nettests.conformance.conformance_report import ConformanceReport, Result, Works
from nettests.conformance.vendor_profile import Level
from nettests.errors import NettestsError
from nettests.model.words import Outcome, Verdict
from tests.compare.runs import but
from tests.conformance.claimed import (
    DIGESTS,
    ECHO,
    PODS,
    SERVICES,
    SOURCES,
    claiming,
    judged,
    profile,
    report,
    with_checks,
)
from tests.facts import cluster_facts


def results_of(found: ConformanceReport) -> dict[str, str]:
    """Return the result of each feature."""
    return {one.name: one.result.value for one in found.features}


def test_a_run_as_documented_is_a_success() -> None:
    """Every claim was shown; what is limited by the shipped manifests is named."""
    found = report()
    assert found.result is Result.SUCCESS
    assert results_of(found) == {
        "Pod network": "success",
        "Services": "success",
        "Source addresses": "success",
    }
    assert found.features[2].limitations == ("dsr-source-ip-non-dsr",)
    assert found.date == "2026-11-24"
    assert found.judged == sum(one.statistics.judged for one in found.features) > 0


def test_a_core_feature_that_fails_fails_the_report() -> None:
    """Its neighbours keep their results."""
    found = report(judged(but(PODS, Outcome.TIMED_OUT, "windows-1/linux-1")))
    assert found.result is Result.FAILURE
    assert found.levels[Level.CORE].result is Result.FAILURE
    assert found.levels[Level.EXTENDED].result is Result.SUCCESS
    assert results_of(found)["Services"] == "success"
    assert len(found.features[0].failed) == 2


def test_an_extended_feature_that_fails_fails_the_report_too() -> None:
    """What is claimed is claimed."""
    found = report(judged(but(SOURCES, Outcome.TIMED_OUT, "linux-1/linux-1")))
    assert found.levels[Level.CORE].result is Result.SUCCESS
    assert found.result is Result.FAILURE


@pytest.mark.parametrize("flow", [ECHO, "node-to-pod"])
def test_what_is_not_claimed_fails_nothing(flow: str) -> None:
    """Unsupported and unclaimed flows may deviate: the report says so, and its result does not change."""
    found = report(judged(but(flow, Outcome.REFUSED)))
    assert found.result is Result.SUCCESS
    shown = {one.check.partition("/")[0] for one in found.unclaimed.failed}
    assert shown == ({"node-to-pod"} if flow == "node-to-pod" else set())
    assert (found.unsupported[0].works is Works.DEVIATES) is True


def test_claimed_and_unclaimed_flows_are_all_flows() -> None:
    """Each is named once: nothing falls between."""
    found = report()
    claimed = [flow for one in found.features for flow in one.flows]
    claimed += [flow for one in found.unsupported for flow in one.flows]
    assert sorted([*claimed, *found.unclaimed.flows]) == sorted(
        {one.flow for one in judged().results.checks} | {one.flow for one in judged().plan.skips}
    )


def test_what_is_unsupported_may_work_or_stay_unseen() -> None:
    """Both are told; all its flows have to pass for the first."""
    claims = profile(lambda data: data["features"][3].update(flows=["node-to-pod"]))
    assert report(claims=claims).unsupported[0].works is Works.WORKS
    unseen = report(judged(flows_run=[PODS, SERVICES, SOURCES]), claims)
    assert unseen.unsupported[0].works is Works.NOT_SHOWN
    two = profile(lambda data: data["features"][3].update(flows=["node-to-pod", ECHO]))
    assert report(claims=two).unsupported[0].works is Works.DEVIATES
    assert report().unsupported[0].works is Works.DEVIATES


def test_a_flow_that_was_not_run_leaves_its_level_partial() -> None:
    """A run with ``--flow`` shows what it ran, and no more."""
    found = report(judged(flows_run=[PODS, SOURCES]))
    assert results_of(found)["Services"] == "partial"
    assert found.levels[Level.CORE].result is Result.PARTIAL
    assert found.levels[Level.EXTENDED].result is Result.SUCCESS
    assert found.result is Result.PARTIAL


def test_a_run_that_judged_nothing_is_partial_and_says_so() -> None:
    """Nothing green without a check."""
    found = report(judged(flows_run=["node-to-pod"]))
    assert found.result is Result.PARTIAL
    assert found.judged == 0


def test_outside_of_what_is_supported_nothing_is_a_success() -> None:
    """However green the run is."""
    other = profile(lambda data: data.update(plugin="calico"))
    found = report(claims=other)
    assert {*results_of(found).values()} == {"success"}
    assert found.result is Result.PARTIAL


def test_a_run_that_broke_off_is_no_success() -> None:
    """Its journal has no end."""
    run = judged()
    info = replace(run.results.run, complete=False)
    found = report(replace(run, results=replace(run.results, run=info)))
    assert found.result is Result.PARTIAL
    assert not found.tested.complete


def test_a_run_that_could_not_start_is_an_error() -> None:
    """There is nothing to report on."""
    run = judged()
    with pytest.raises(NettestsError, match="could not start"):
        assess(profile(), replace(run, results=replace(run.results, facts=None)), DIGESTS)


def test_a_level_without_a_feature_is_not_reported() -> None:
    """Nobody claimed anything extended."""
    assert [*report(claims=claiming(PODS)).levels] == [Level.CORE]


def test_verdicts_that_the_run_gave_otherwise_are_counted() -> None:
    """They are of other manifests, or of a journal that was changed."""
    run = judged(flows_run=[PODS, SERVICES, SOURCES])
    before = {one.id: one.verdict for one in run.results.checks}
    assert report(replace(run, before=before)).tested.judged_otherwise == 0
    first = next(iter(before))
    assert report(replace(run, before={**before, first: Verdict.FAIL})).tested.judged_otherwise == 1
    passed = with_checks(run, lambda one: replace(one, ran=False))
    assert report(replace(passed, before=before)).tested.judged_otherwise == 0


def test_on_another_cluster_another_claim_holds() -> None:
    """With DSR on Windows Server 2022 the source address is shown without a limitation."""
    facts = cluster_facts("win2022-l2bridge-dsr")
    found = report(judged(facts=facts, flows_run=[PODS, SERVICES, SOURCES]))
    assert found.features[2].limitations == ()
    assert found.result is Result.SUCCESS
    assert found.not_covered == ("Windows build 17763",)


def test_the_worst_result_wins() -> None:
    """Of none nothing is shown."""
    assert worst([Result.SUCCESS, Result.PARTIAL]) is Result.PARTIAL
    assert worst([Result.PARTIAL, Result.FAILURE, Result.SUCCESS]) is Result.FAILURE
    assert worst([]) is Result.PARTIAL
