"""A part of a plan has the objects that the part needs, and never one that the plan itself left out."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts
from nettests.model.permission import standing
from nettests.plan import build, load
from nettests.plan.selection import select
from nettests.resources import suites_path
from tests.facts import PROFILES, cluster_facts

FLOWS = load([suites_path()]).flows
READ_ONLY = tuple(str(one) for own in (True, False) for one in standing(own_namespace=own))


def clusters() -> list[ClusterFacts]:
    """Each profile, by somebody who may do everything and by somebody who may only read."""
    whole = [cluster_facts(name) for name in PROFILES]
    return [*whole, *(replace(facts, denied=READ_ONLY) for facts in whole)]


CLUSTERS = clusters()
PLANS: dict[int, Plan] = {}


def ids_of(plan: Plan) -> set[str]:
    """Return the ids of all checks and skips."""
    return {check.id for check in plan.checks} | {skip.id for skip in plan.skips}


@pytest.mark.parametrize("number", range(len(CLUSTERS)))
def test_selecting_everything_is_the_plan_itself(number: int) -> None:
    """Also for who may create nothing: a selection brings no Pod that the plan left out."""
    facts = CLUSTERS[number]
    plan = PLANS[number] = build(facts, FLOWS)
    assert select(plan, facts, ids_of(plan)) == plan


@settings(max_examples=20)
@given(st.data())
def test_a_part_needs_no_more_than_the_whole(data: st.DataObject) -> None:
    """Checks, skips, Pods and Services of a selection are among those of the plan."""
    number = data.draw(st.sampled_from([0, len(CLUSTERS) - 1]))
    facts = CLUSTERS[number]
    plan = PLANS[number] = PLANS.get(number) or build(facts, FLOWS)
    ids = data.draw(st.sets(st.sampled_from(sorted(ids_of(plan)))))
    part = select(plan, facts, ids)
    assert ids_of(part) == ids
    assert set(part.pods) <= set(plan.pods)
    whole = {one.name: one for one in plan.services}
    for service in part.services:
        # A headless Service of everybody selects the servers that the part has.
        assert set(service.backends) <= set(whole[service.name].backends)
        assert replace(service, backends=()) == replace(whole[service.name], backends=())
