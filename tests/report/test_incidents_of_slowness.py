"""Answers that are all late are one incident, named by what tells them from the others."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.model.check import Check
from nettests.model.words import Outcome, Placement, Protocol, Question, VantageKind, Verdict
from nettests.report import Results
from nettests.report.incidents import find_incidents
from nettests.report.incidents.traits import is_named_outside, queries_cluster_dns
from nettests.report.results import CheckResult, run_singly
from tests.report.sweep import swept
from tests.report.test_incidents import LINUX, OTHER_WIN, WIN, hash_of, holding, losing

SLOW = "every answer took 2.0 s or more"


def delayed(results: Results, struck: Callable[[Check], bool]) -> Results:
    """Return the results with each check late that is measured for its time, among those that the delay befalls."""

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if not one.ran or check is None or seen is None or one.verdict is not Verdict.PASS:
            return one
        measured = check.source.kind is VantageKind.POD and check.action.question is Question.REACH
        if not measured or check.action.size is not None or not struck(check):
            return one
        attempts = tuple(replace(attempt, elapsed=2.4) for attempt in seen.attempts)
        slow = replace(seen, attempts=attempts, slow=SLOW)
        return replace(one, verdict=Verdict.FLAKY, observation=slow)

    return holding(results, [of(one) for one in results.checks])


def test_what_is_late_on_all_paths_alike_is_one_incident(quiet: Results) -> None:
    """Commands on nodes and many connections in a row are not measured, and contradict nothing."""

    def struck(check: Check) -> bool:
        return check.action.protocol is Protocol.TCP and check.placement is Placement.OTHER_NODE

    (found,) = delayed(quiet, struck).incidents
    assert found.cause in {
        "Packets between nodes are answered only after 2.4 s or more",
        "TCP packets are answered only after 2.4 s or more",
    }
    assert "delays packets" in found.next_step


def test_what_is_late_at_one_node_is_named_with_it(quiet: Results) -> None:
    """The node whose paths are late stands out, though others of its checks are not measured."""

    def struck(check: Check) -> bool:
        ends = {check.source.node, check.target.node}
        return WIN in ends and check.placement is Placement.OTHER_NODE

    found = delayed(quiet, struck).incidents[0]
    assert WIN in found.cause
    assert found.cause.endswith("are answered only after 2.4 s or more")


def test_names_that_wait_are_of_the_dns_and_not_of_the_way(quiet: Results) -> None:
    """Where few checks that look a name up waited for it, and all of them go outside, packets out of the cluster are not late."""

    def struck(check: Check) -> bool:
        return queries_cluster_dns(check) and is_named_outside(check)

    (found,) = delayed(quiet, struck).incidents
    assert found.cause == "Queries to the cluster DNS are answered only after 2.4 s or more"


@pytest.mark.parametrize("counted", ["at once", "in long trains", "late", "never"])
def test_lookups_that_wait_beside_prompt_queries_of_one_type_are_told_from_a_late_dns(
    quiet: Results, counted: str
) -> None:
    """A replica that ignores queries for IPv6 addresses delays all who send both, and loses no query for IPv4 alone."""
    results = delayed(quiet, queries_cluster_dns)
    counting = [one for one in results.checks if one.flow == "dns-loss" and one.ran]
    assert counting

    def of(one: CheckResult) -> CheckResult | None:
        if one not in counting or not one.observation or counted == "at once":
            return one
        train = replace(one.observation.attempts[0], elapsed=2.4)
        attempts = (replace(train, tries=24 if counted == "in long trains" else 1),)
        late = replace(one, observation=replace(one.observation, attempts=attempts))
        return late if counted in {"late", "in long trains"} else None

    kept = [kept for one in results.checks if (kept := of(one))]
    found = holding(quiet, kept).incidents[0]
    if counted in {"at once", "in long trains"}:
        assert found.cause.startswith("Lookups in the cluster DNS take 2.4 s or more; queries for ")
        assert "answered sooner, and none of " in found.cause
        assert "-type=AAAA" in found.next_step
    else:
        assert found.cause == "Queries to the cluster DNS are answered only after 2.4 s or more"


@pytest.mark.parametrize("seconds", [15.0, 0.1])
def test_queries_sent_again_while_all_names_are_late_are_not_lost(
    quiet: Results, seconds: float
) -> None:
    """Resolvers repeat a query whose answer is late; one whose other answers are prompt lost a packet."""
    results = delayed(quiet, queries_cluster_dns)
    again = {one.id for one in results.checks if one.verdict is Verdict.FLAKY}
    again = set(sorted(again)[:4])

    def of(one: CheckResult) -> CheckResult:
        if one.id not in again or one.observation is None:
            return one
        attempts = tuple(replace(each, elapsed=seconds) for each in one.observation.attempts)
        resent = "a query to the name server that is lost is sent again after 5 s"
        seen = replace(one.observation, attempts=attempts, slow=None, resent=resent)
        return replace(one, observation=seen)

    found = holding(quiet, [of(one) for one in results.checks]).incidents
    assert found[0].cause.startswith("Lookups in the cluster DNS take 2.4 s or more")
    assert len(found) == (1 if seconds > 1 else 2)


def test_what_times_out_beside_late_answers_belongs_to_them(quiet: Results) -> None:
    """A path that is so slow that some answers outlast the client's patience loses nothing."""

    def struck(check: Check) -> bool:
        return check.action.protocol is Protocol.TCP and check.placement is Placement.OTHER_NODE

    results = delayed(quiet, struck)
    late = [one for one in results.checks if one.verdict is Verdict.FLAKY]

    def of(one: CheckResult) -> CheckResult:
        if one is not late[0] or one.observation is None:
            return one
        first = one.observation.attempts[0]
        silent = replace(first, outcome=Outcome.TIMED_OUT, elapsed=5.0)
        seen = replace(one.observation, slow=None, agreed=False, attempts=(first, silent))
        return replace(one, observation=seen)

    (found,) = holding(results, [of(one) for one in results.checks]).incidents
    assert late[0].id in found.checks


def test_what_gives_up_on_a_late_way_belongs_to_it(quiet: Results) -> None:
    """A payload takes several answers of the way, and its client gives up before: it is no second cause."""

    def struck(check: Check) -> bool:
        ends = {check.source.node, check.target.node}
        return (check.action.protocol, ends) == (Protocol.TCP, {WIN, OTHER_WIN})

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        sized = check is not None and struck(check) and check.action.size is not None
        if not one.ran or seen is None or not sized:
            return one
        return replace(
            one, verdict=Verdict.UNKNOWN, observation=replace(seen, outcome=Outcome.TIMED_OUT)
        )

    results = delayed(quiet, struck)
    given_up = holding(results, [of(one) for one in results.checks])
    before, after = results.incidents[0], given_up.incidents[0]
    assert after.cause == before.cause
    assert {one.partition("/")[0] for one in {*after.checks} - {*before.checks}} >= {
        "payload-pod-to-pod"
    }


@pytest.mark.parametrize(
    ("waited", "belongs"),
    [(2.0, True), (4.5, True), (5.0, False), (30.0, False)],
    ids=["an impatient run", "just so", "as a probe dials", "a patient run"],
)
def test_who_gave_up_is_measured_by_how_long_it_waited(
    quiet: Results, waited: float, *, belongs: bool
) -> None:
    """An answer takes two round trips, so a client that waited twice as long as others' answers took would have had one."""

    def struck(check: Check) -> bool:
        ends = {check.source.node, check.target.node}
        return (check.action.protocol, ends) == (Protocol.TCP, {WIN, OTHER_WIN})

    results = delayed(quiet, struck)
    (silent,) = [
        one
        for one in results.checks
        if one.flow == "node-to-pod" and one.check and struck(one.check)
    ][:1]
    seen = silent.observation
    assert seen is not None
    attempts = tuple(
        replace(one, outcome=Outcome.TIMED_OUT, elapsed=waited) for one in seen.attempts
    )
    gone = replace(
        silent,
        verdict=Verdict.UNKNOWN,
        observation=replace(seen, outcome=Outcome.TIMED_OUT, attempts=attempts),
    )
    first = holding(results, [gone if one is silent else one for one in results.checks]).incidents[
        0
    ]
    assert (silent.id in first.checks) is belongs


def test_what_is_wrong_leads_before_as_much_that_is_not_known(quiet: Results) -> None:
    """Of two incidents of as many checks the one that fails comes first."""
    verdicts = {
        (WIN, "pod-port-forward"): Verdict.UNKNOWN,
        (LINUX, "pod-node-selector"): Verdict.FAIL,
    }

    def of(one: CheckResult) -> CheckResult:
        node = one.check.source.node if one.check else None
        verdict = verdicts.get((node or "", one.flow))
        if not one.ran or one.observation is None or verdict is None:
            return one
        seen = replace(one.observation, outcome=Outcome.FAILS_TO_START)
        return replace(one, verdict=verdict, observation=seen)

    found = holding(quiet, [of(one) for one in quiet.checks]).incidents
    assert [len(one.checks) for one in found] == [2, 2]
    assert [one.traits["on-node"] for one in found] == [LINUX, WIN]


def test_two_slow_nodes_are_two_incidents() -> None:
    """Each with the checks that cross it, and with how late those are."""
    swept_twelve = swept(flows=("pod-to-pod-ip",))
    late = {"win-3": 2.4, "linux-4": 1.6}

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if check is None or seen is None or check.source.node == check.target.node:
            return one
        seconds = max(late.get(node or "", 0) for node in (check.source.node, check.target.node))
        attempts = tuple(replace(attempt, elapsed=seconds) for attempt in seen.attempts)
        slow = replace(seen, attempts=attempts, slow=SLOW)
        return replace(one, verdict=Verdict.FLAKY, observation=slow) if seconds else one

    results = [of(one) for one in run_singly(swept_twelve.checks)]
    found = find_incidents(results, swept_twelve.facts)
    assert {incident.cause for incident in found} == {
        "Packets between win-3 and other nodes are answered only after 2.4 s or more",
        "Packets between linux-4 and other nodes are answered only after 1.6 s or more",
    }


def test_names_that_wait_beside_prompt_ones_are_lost_queries(quiet: Results) -> None:
    """One of several replicas is gone: a late name, a lost one and a denied one are one incident."""

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        asks = check is not None and one.ran and queries_cluster_dns(check)
        if not asks or seen is None or one.verdict is not Verdict.PASS or not seen.outcome.positive:
            return one
        first, fate = replace(seen.attempts[0], elapsed=5.2), hash_of(one.id) % 4
        waiting = replace(seen, attempts=(first,), slow=SLOW)
        if fate == 0:
            return replace(one, verdict=Verdict.FLAKY, observation=waiting)
        return replace(losing(one), verdict=Verdict.FLAKY) if fate == 1 else one

    (found,) = holding(quiet, [of(one) for one in quiet.checks]).incidents
    assert found.cause.startswith("Queries to the cluster DNS are lost now and then")
    assert "one of several may not answer" in found.next_step
