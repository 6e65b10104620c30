"""Incidents of several causes at once: each is named by its own place."""

from dataclasses import replace

import pytest

from nettests.model.check import Action, Check
from nettests.model.measured import estimate
from nettests.model.words import Outcome, Protocol, TargetKind, Verdict
from nettests.report import Results
from nettests.report.incidents import find_incidents
from nettests.report.incidents.loss import lossy
from nettests.report.results import CheckResult, run_singly
from tests.report.sweep import swept
from tests.report.test_incidents import (
    LINUX,
    OTHER_LINUX,
    WIN,
    broken,
    crossed,
    holding,
    losing,
    on_path,
)


def test_a_loss_is_not_scoped_by_what_another_cause_silences(quiet: Results) -> None:
    """Where one node is cut off and a pair of others loses some packets, the loss names the pair."""

    def cut_off(check: Check) -> bool:
        return on_path(check) and any(WIN in pair and pair != (WIN, WIN) for pair in crossed(check))

    def of(one: CheckResult) -> CheckResult:
        pairs = crossed(one.check) if one.check else set()
        udp = one.check and one.check.action.protocol is Protocol.UDP
        return losing(one) if udp and pairs == {(LINUX, OTHER_LINUX)} else one

    results = broken(quiet, cut_off)
    incidents = holding(quiet, [of(one) for one in results.checks]).incidents
    (loss,) = [each.cause for each in incidents if "are lost now and then" in each.cause]
    assert {LINUX, OTHER_LINUX} <= {*loss.replace(":", "").split()}
    assert WIN not in loss


@pytest.mark.parametrize("cut", [{"win-4", "linux-3"}, {"win-3", "win-5"}])
@pytest.mark.parametrize("pair", [("win-1", "linux-1"), ("win-6", "win-7"), ("linux-2", "linux-4")])
def test_a_loss_that_few_checks_show_is_named_beside_greater_causes(
    pair: tuple[str, str], cut: set[str]
) -> None:
    """One node of twelve cut off and one pair: a loss counted by two checks elsewhere is no matter of their flow."""

    def silent(action: Action) -> bool:
        nodes = {action.source.node, action.target.node}
        way = (action.source.node, action.target.node)
        struck = way == pair and action.target.kind is TargetKind.POD_IP
        return struck or (len(nodes) > 1 and "win-2" in nodes) or nodes == cut

    def of(one: CheckResult) -> CheckResult:
        there = one.check and (one.check.source.node, one.check.target.node) == pair
        if not there or one.observation is None or one.verdict is Verdict.PASS:
            return one
        counted = replace(
            one.observation, outcome=Outcome.CONNECTED, loss=estimate(84, 2), attempts=()
        )
        return replace(one, verdict=Verdict.FLAKY, observation=counted)

    swept_twelve = swept(silent, flows=("pod-to-pod-ip",))
    results = [of(one) for one in run_singly(swept_twelve.checks)]
    (loss,) = [
        each
        for each in find_incidents(results, swept_twelve.facts)
        if "are lost now and then" in each.cause
    ]
    assert {*pair} <= {*loss.cause.replace(":", "").split()}
    assert cut.isdisjoint(loss.cause.split())


@pytest.mark.parametrize(
    ("pairs", "place"),
    [
        ([("linux-2", "win-1"), ("win-2", "win-1")], "between win-1 and other nodes"),
        ([("win-3", "linux-1"), ("win-3", "win-5")], "between win-3 and other nodes"),
        ([("win-3", "linux-1"), ("win-6", "win-5")], None),
    ],
)
def test_two_checks_that_lose_some_at_one_node_are_a_loss_there(
    pairs: list[tuple[str, str]], place: str | None
) -> None:
    """What no other cause explains is one incident if a node is common to both, and two checks if not."""

    def silent(action: Action) -> bool:
        way = (action.source.node, action.target.node)
        return way in pairs and action.protocol is Protocol.TCP

    def of(one: CheckResult) -> CheckResult:
        if one.observation is None or one.verdict is Verdict.PASS:
            return one
        (first, *_) = one.observation.attempts
        answered = tuple(
            replace(first, number=number, outcome=Outcome.CONNECTED) for number in (2, 3)
        )
        seen = replace(one.observation, agreed=False, attempts=(first, *answered), controls=())
        return replace(one, verdict=Verdict.FLAKY, observation=seen)

    swept_twelve = swept(silent, flows=("pod-to-pod-ip",))
    results = [of(one) for one in run_singly(swept_twelve.checks)]
    incidents = find_incidents(results, swept_twelve.facts)
    told = [each.cause for each in incidents if "are lost now and then" in each.cause]
    assert len(incidents) == (1 if place else 2)
    assert bool(told) is bool(place)
    assert place is None or (place in told[0] and "2 of 26 attempts" in told[0])


def test_a_path_that_loses_everything_loses_nothing_now_and_then(quiet: Results) -> None:
    """All of forty lost is a path that is cut: what explains that explains it, too."""
    result = next(each for each in quiet.checks if each.observation and each.check)
    assert result.observation
    for lost, some in ((40, False), (12, True), (0, False)):
        seen = replace(result.observation, loss=estimate(40, lost), attempts=())
        assert lossy(replace(result, observation=seen)) is some


DEAD = "server-windows-1-1"


def test_connections_that_a_dead_pod_takes_are_no_loss() -> None:
    """Of a Service's two Pods one answers nothing: connections to it belong to that Pod, beside a pair that loses some."""
    pair = ("win-2", "linux-1")

    def silent(action: Action) -> bool:
        dead = action.target.backends == (DEAD,) or action.target.pod == DEAD
        way = (action.source.node, action.target.node)
        return dead or (way == pair and action.target.kind is TargetKind.POD_IP)

    def of(result: CheckResult) -> CheckResult:
        seen, backends = result.observation, result.planned.target.backends
        if seen is None:
            return result
        if len(backends) > 1 and DEAD in backends:
            (first, *others) = seen.attempts
            taken = tuple(replace(each, outcome=Outcome.TIMED_OUT) for each in others[::2])
            attempts = (first, *others[1::2], *taken)
            answered = tuple(backend for backend in backends if backend != DEAD)
            seen = replace(seen, attempts=attempts, backends=answered, agreed=False)
            return replace(result, verdict=Verdict.FLAKY, observation=seen)
        if result.verdict is not Verdict.PASS and DEAD not in backends:
            counted = replace(
                seen, outcome=Outcome.CONNECTED, loss=estimate(84, 2), attempts=(), agreed=False
            )
            return replace(result, verdict=Verdict.FLAKY, observation=counted)
        return result

    flows = ("pod-to-pod-ip", "pod-to-service-clusterip", "service-distribution")
    swept_twelve = swept(silent, flows=flows)
    results = [
        of(each)
        for each in run_singly(swept_twelve.checks)
        if len(each.planned.target.backends) < 2 or DEAD in each.planned.target.backends
    ]
    dead, *others = find_incidents(results, swept_twelve.facts)
    assert {*dead.traits.values()} <= {DEAD, "win-1"}  # the only server there
    (loss,) = others
    assert "win-2 to linux-1 are lost now and then" in loss.cause


def test_a_silent_check_elsewhere_does_not_widen_a_loss() -> None:
    """One pair loses some TCP packets, and one node does not reach one Pod: these are two causes."""
    lossy_pair, silent_pair = ("win-1", "linux-1"), ("win-5", "linux-3")

    def silent(action: Action) -> bool:
        way = (action.source.node, action.target.node)
        return way in {lossy_pair, silent_pair} and action.protocol is Protocol.TCP

    def of(result: CheckResult) -> CheckResult:
        way = (result.planned.source.node, result.planned.target.node)
        if result.observation is None or result.verdict is Verdict.PASS or way != lossy_pair:
            return result
        counted = replace(
            result.observation, outcome=Outcome.CONNECTED, loss=estimate(84, 4), attempts=()
        )
        return replace(result, verdict=Verdict.FLAKY, observation=counted)

    swept_twelve = swept(silent, flows=("pod-to-pod-ip",))
    results = [of(each) for each in run_singly(swept_twelve.checks)]
    incidents = find_incidents(results, swept_twelve.facts)
    assert len(incidents) == 2
    (loss,) = [each.cause for each in incidents if "are lost now and then" in each.cause]
    assert "win-1 to linux-1" in loss
