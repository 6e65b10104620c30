"""Many new Pods at once: what single ones do not show is a cause of its own, and what they show too is theirs."""

from dataclasses import replace

from nettests.model.check_id import member_id
from nettests.model.words import Verdict
from nettests.report import Results
from nettests.report.incidents import find_incidents
from nettests.report.results import CheckResult
from tests.report.test_incidents_of_new_pods import FLOW, WIN, late

SAID = "7 of 15 Pods made at once deviate (start-7-09 and 2 more); of start-7-09: it reached nothing for its first 6.0 s: Pod …"
LATE = "it reached nothing for its first 6.0 s: Pod …"


def crowds(results: Results) -> list[CheckResult]:
    """Return checks of many new Pods on each node, made like those of single ones, and green."""
    made = []
    for one in results.checks:
        if one.flow == FLOW and one.check and one.ran:
            name = member_id(f"new-pods-at-once/{one.check.source.pool}/thirty", one.id)
            check = replace(
                one.check,
                id=name,
                flow="new-pods-at-once",
                action=replace(one.check.action, connections=15),
            )
            made.append(replace(one, id=name, flow="new-pods-at-once", check=check))
    assert made
    return made


def there(one: CheckResult) -> bool:
    """Whether a check is about Pods on that node."""
    return one.check is not None and one.check.source.node == WIN


def test_only_many_pods_that_are_late_are_said_to_be_many(quiet: Results) -> None:
    """Single new Pods on the node are in time: what many of them lack is named with node and seconds."""
    many = [late(one, SAID) if there(one) else one for one in crowds(quiet)]
    (found,) = find_incidents([*quiet.checks, *many], quiet.facts)
    assert found.traits == {"many-new-pods": WIN}
    assert found.cause == (
        f"New Pods on {WIN} reach nothing for their first 6 s when many are made at once"
    )


def test_pods_that_are_late_also_alone_are_one_cause(quiet: Results) -> None:
    """Many are late because each is."""
    single = [late(one, LATE) if one.flow == FLOW and there(one) else one for one in quiet.checks]
    many = [late(one, SAID) if there(one) else one for one in crowds(quiet)]
    (found,) = find_incidents([*single, *many], quiet.facts)
    assert found.traits == {"new-pods": WIN}
    assert "at once" not in found.cause


def test_many_pods_in_time_clear_the_node(quiet: Results) -> None:
    """A green crowd is no sign of anything wrong with new Pods."""
    green = crowds(quiet)
    assert all(one.verdict is Verdict.PASS for one in green)
    assert not find_incidents([*quiet.checks, *green], quiet.facts)
