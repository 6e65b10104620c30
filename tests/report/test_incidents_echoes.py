"""What a loss brings about beside what shows it: one incident, and a second fault stays one of its own."""

from collections.abc import Callable
from dataclasses import replace

from nettests.judge.advice import STEPS
from nettests.model.observation import OVERLOADED, Attempt
from nettests.model.words import Outcome, Verdict
from nettests.report.incidents import find_incidents
from nettests.report.results import CheckResult, Incident, run_singly
from tests.report.sweep import FLOWS, swept

NODE = "win-2"


def lost(result: CheckResult, *answers: bool) -> CheckResult:
    """Return a result of which these attempts were answered, or not."""
    seen = result.observation
    assert seen is not None
    first = seen.attempts[0]

    def attempt(number: int, answered: bool) -> Attempt:
        outcome = first.outcome if answered else Outcome.TIMED_OUT
        return replace(first, number=number, outcome=outcome)

    attempts = tuple(attempt(number, each) for number, each in enumerate(answers, 1))
    if any(answers):
        seen = replace(seen, attempts=attempts, agreed=False)
        return replace(result, verdict=Verdict.FLAKY, observation=seen)
    seen = replace(seen, attempts=attempts, outcome=Outcome.TIMED_OUT)
    return replace(result, verdict=Verdict.FAIL, observation=seen)


def found(of: Callable[[int, CheckResult], CheckResult]) -> tuple[Incident, ...]:
    """Return the incidents where members that reach the node from others, numbered, ended as given."""
    results = swept(flows=FLOWS)
    checks = tuple(run_singly(results.checks))
    to_it = [
        each.id
        for each in checks
        if each.check and each.check.target.node == NODE and each.check.source.node != NODE
    ]
    return find_incidents(
        [of(to_it.index(each.id), each) if each.id in to_it else each for each in checks],
        results.facts,
    )


def some(number: int, result: CheckResult) -> CheckResult:
    """Return every third member with one answer of three lost."""
    return result if number % 3 else lost(result, True, False, True)


def test_a_check_that_lost_all_of_few_attempts_is_an_echo_of_the_loss() -> None:
    """It is red, and stands in the incident of its node's loss, not beside it as a Service that is dead."""

    def of(number: int, result: CheckResult) -> CheckResult:
        return lost(result, False, False) if number == 1 else some(number, result)

    (incident,) = found(of)
    assert incident.cause.partition(":")[0].endswith("are lost now and then")


def test_three_checks_of_one_flow_that_lost_all_are_echoes_if_the_loss_is_great_enough() -> None:
    """All of two attempts, thrice, is what a loss of one in three does once in a thousand times; of three attempts it is not."""

    def silent(attempts: int) -> Callable[[int, CheckResult], CheckResult]:
        def of(number: int, result: CheckResult) -> CheckResult:
            few = number in {1, 2, 4}
            return lost(result, *[False] * attempts) if few else some(number, result)

        return of

    assert ["lost now and then" in each.cause for each in found(silent(2))] == [True]
    assert len(found(silent(9))) > 1


def test_a_channel_to_the_same_node_that_breaks_is_an_echo_too() -> None:
    """The loss befalls the harness's own connections there; what they would have shown is not another cause."""

    why = "control channel port-forward: port-forward to probe-windows-1-2 was cut"
    results = swept(flows=FLOWS)
    checks = tuple(run_singly(results.checks))
    from_it = next(each.id for each in checks if each.check and each.check.source.node == NODE)
    to_it = [each.id for each in checks if each.check and each.check.target.node == NODE and each.check.source.node != NODE]  # fmt: skip
    struck = [
        replace(each, verdict=Verdict.UNKNOWN, observation=None, distrust=why)
        if each.id == from_it
        else some(to_it.index(each.id), each)
        if each.id in to_it
        else each
        for each in checks
    ]
    (incident,) = find_incidents(struck, results.facts)
    assert incident.cause.partition(":")[0].endswith("are lost now and then")


def test_what_loss_does_not_bring_about_stays_a_cause_of_its_own() -> None:
    """Twenty attempts without an answer are no accident where one of nine is lost."""

    def of(number: int, result: CheckResult) -> CheckResult:
        return lost(result, *[False] * 20) if number == 1 else some(number, result)

    assert len(found(of)) == 2


def test_probes_that_were_overloaded_show_no_loss() -> None:
    """What they lost meanwhile cannot be judged: the incident says so, and never that packets are lost."""

    def of(number: int, result: CheckResult) -> CheckResult:
        struck = lost(result, True, False, False)
        if number % 3 or struck.observation is None:
            return result
        why = f"{OVERLOADED}: its other answers took 4.0 s in the median"
        seen = replace(struck.observation, trusted=False, distrust=why)
        return replace(struck, verdict=Verdict.UNKNOWN, observation=seen, distrust=why)

    (incident,) = found(of)
    assert incident.cause.startswith("Probes were overloaded")
    assert incident.next_step == STEPS["overload"]


def test_what_made_no_attempt_is_no_echo() -> None:
    """A red check at the lossy node that sent nothing lost nothing: it keeps a place of its own."""

    def of(number: int, result: CheckResult) -> CheckResult:
        if number != 1 or result.observation is None:
            return some(number, result)
        empty = replace(result.observation, attempts=(), outcome=Outcome.DEVIATES)
        return replace(result, verdict=Verdict.FAIL, observation=empty)

    assert len(found(of)) == 2


def through_proxy(of: Callable[[int, CheckResult], CheckResult]) -> tuple[Incident, ...]:
    """Return the incidents where members of Pods on the node that dial Services, numbered, ended as given."""
    results = swept(flows=FLOWS)
    checks = [*run_singly(results.checks)]
    dialling = [
        each.id
        for each in checks
        if each.check
        and each.check.flow == "pod-to-service-clusterip"
        and each.check.source.node == NODE
    ]
    return find_incidents(
        [of(dialling.index(each.id), each) if each.id in dialling else each for each in checks],
        results.facts,
    )


def test_few_members_that_lost_some_or_all_of_a_proxy_s_connections_are_its_loss() -> None:
    """Where others of it are green nothing else explains them, and each alone would say nothing."""

    def of(number: int, result: CheckResult) -> CheckResult:
        if number not in {0, 3, 4}:
            return result
        return lost(result, False, False) if number == 0 else lost(result, False, True)

    (incident,) = (found := through_proxy(of))[:1]
    assert len(found) == 1, [each.cause for each in found]
    assert incident.cause.startswith(
        f"Packets through the Service proxy of {NODE} are lost now and then: 4 of 13 attempts"
    )


def test_services_that_lose_connections_after_they_answered_are_not_late() -> None:
    """A wait that met an endpoint that has gone each time ended without an answer: its rules were there."""

    def of(number: int, result: CheckResult) -> CheckResult:
        if number < 3:
            return lost(result, True, False)
        check, seen = result.check, result.observation
        assert check is not None
        assert seen is not None
        late = (
            f"Service {check.target.service} did not answer probe-windows-1-2 on {NODE} within 34 s"
        )
        return replace(result, verdict=Verdict.FAIL, observation=replace(seen, late=late))

    (incident,) = (found := through_proxy(of))[:1]
    assert len(found) == 1, [each.cause for each in found]
    assert incident.cause.partition(":")[0].endswith("are lost now and then")
    assert NODE in incident.cause
