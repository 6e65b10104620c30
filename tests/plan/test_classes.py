"""Classes: what is run by default, what waits to be enabled, and how that is said."""

from dataclasses import replace

import pytest

from nettests.errors import PlanError
from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass
from nettests.plan import build, load, read_classes
from nettests.resources import suites_path
from tests.plan.clusters import mixed, without

FLOW = next(f for f in load([suites_path()]).flows if f.name == "pod-to-pod-ip")


def plan(check_class: CheckClass, *enabled: CheckClass, facts: ClusterFacts | None = None) -> Plan:
    """Return the plan of one flow as if it were of that class."""
    flow = replace(FLOW, check_class=check_class, required=False)
    return build(facts or mixed(), [flow], frozenset(enabled))


@pytest.mark.parametrize("one", [c for c in CheckClass if c is not CheckClass.DEFAULT])
def test_a_class_is_skipped_until_it_is_enabled(one: CheckClass) -> None:
    """Each check of the class is a skip that names the option, and with the option it is a check."""
    probed, left = plan(one, one), plan(one)
    assert [check.id for check in probed.checks] == [skip.id for skip in left.skips]
    assert (probed.skips, left.checks, left.pods) == ((), (), ())
    assert {skip.reason.rpartition(": ")[2] for skip in left.skips} == {f"--enable={one.value}"}
    assert {check.check_class for check in probed.checks} == {one}


def test_enabling_one_class_enables_no_other() -> None:
    """What a user has not named stays skipped."""
    assert plan(CheckClass.DISRUPTIVE, CheckClass.COSTLY, CheckClass.EXPOSED).checks == ()


def test_the_default_class_needs_no_option() -> None:
    """What most flows are is run by default."""
    assert plan(CheckClass.DEFAULT).skips == ()


def test_what_cannot_be_run_anyway_keeps_its_own_reason() -> None:
    """An option that would not help is not named."""
    skips = plan(CheckClass.COSTLY, facts=without(mixed(), "windows-1")).skips
    reasons = {skip.id: skip.reason for skip in skips}
    assert reasons["pod-to-pod-ip/windows"] == "the cluster has no Windows node"


def test_only_flows_of_the_default_class_are_required() -> None:
    """Of the shipped flows those that every run needs are run in every run."""
    required = [flow for flow in load([suites_path()]).flows if flow.required]
    assert {flow.check_class for flow in required} == {CheckClass.DEFAULT}


def test_classes_are_read_from_lists_and_repetitions() -> None:
    """One option with commas says the same as several."""
    both = frozenset({CheckClass.COSTLY, CheckClass.EXPOSED})
    assert read_classes(["costly,exposed"]) == read_classes(["exposed", "costly"]) == both
    assert read_classes([]) == frozenset()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("costy", "did you mean 'costly'?"),
        ("default", "classes: costly, exposed, disruptive, packets"),
        ("costly,", "classes: costly, exposed, disruptive, packets"),
    ],
)
def test_a_class_that_there_is_not_is_refused(text: str, hint: str) -> None:
    """The error names the near miss, or all classes that can be enabled."""
    with pytest.raises(PlanError) as caught:
        read_classes([text])
    assert hint in caught.value.hint
