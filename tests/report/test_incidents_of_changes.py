"""Services that a run changed: what only changes bring to light is not blamed on their kind, nor on a node's whole proxy."""

from dataclasses import replace

from nettests.model.check import Check
from nettests.model.words import Outcome, Question
from nettests.report import Results
from nettests.report.incidents import find_incidents
from tests.report.test_incidents import LINUX, WIN, broken, holding

CHANGED = ("service-after-churn", "service-endpoints-changed")


def with_changes(quiet: Results) -> Results:
    """Return a quiet run in which checks of two flows changed their Services first, beside those that did not."""
    alike = [
        one for one in quiet.checks if one.check and one.check.flow == "pod-to-service-clusterip"
    ]
    added = []
    for flow in CHANGED:
        for one in alike:
            assert one.check is not None
            name = f"{flow}/{one.id.partition('/')[2]}"
            action = replace(one.check.action, question=Question.CHURN)
            check = replace(one.check, id=name, flow=flow, action=action, controls=())
            added.append(replace(one, id=name, check=check))
    return holding(quiet, [*quiet.checks, *added])


def test_changes_that_no_node_follows_are_one_incident(quiet: Results) -> None:
    """All that changed is answered by former backends, and nothing else is wrong: that is the cause, not each flow."""

    def struck(check: Check) -> bool:
        return check.flow in CHANGED

    (found,) = broken(with_changes(quiet), struck, outcome=Outcome.CONNECTED).incidents
    assert found.traits == {"changed": "Services"}
    assert found.cause == "Connections to Services that were changed do not behave as documented"


def test_changes_that_one_node_does_not_follow_name_its_proxy(quiet: Results) -> None:
    """Other Services are answered through it: it is no proxy that does nothing."""

    def struck(check: Check) -> bool:
        return check.flow in CHANGED and check.source.node == WIN

    (found,) = broken(with_changes(quiet), struck).incidents
    assert found.traits == {"changed": "Services", "service-proxy": WIN}
    assert found.cause == (
        f"Connections to Services that were changed through the Service proxy of {WIN} get no answer"
    )


def test_one_kind_of_change_that_a_node_does_not_follow_is_named_with_its_proxy(
    quiet: Results,
) -> None:
    """It follows other changes: the flow says which it does not."""

    def struck(check: Check) -> bool:
        return check.flow == CHANGED[0] and check.source.node == LINUX

    (found,) = broken(with_changes(quiet), struck).incidents
    assert found.traits == {
        "changed": "Services",
        "flow": CHANGED[0],
        "service-proxy": LINUX,
    }
    assert found.cause == (
        f"Checks of {CHANGED[0]} through the Service proxy of {LINUX} get no answer"
    )


def test_who_still_answers_after_a_change_is_named(quiet: Results) -> None:
    """The incident says on which node, and the former backend, which is what has to be looked for in its rules."""

    def struck(check: Check) -> bool:
        return check.flow in CHANGED and check.source.node == WIN

    run = broken(with_changes(quiet), struck, outcome=Outcome.CONNECTED)
    stale = []
    for one in run.checks:
        if one.check and struck(one.check) and one.observation:
            seen = replace(
                one.observation, stale="the Service was changed", backends=("server-linux-1-2",)
            )
            stale.append(replace(one, observation=seen))
        else:
            stale.append(one)
    (found,) = find_incidents(stale, run.facts)
    assert found.cause == (
        f"Connections to Services that were changed through the Service proxy of {WIN} "
        "are still answered by server-linux-1-2 after a change"
    )
