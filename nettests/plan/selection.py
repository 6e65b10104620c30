"""Part of a plan: the selected checks and skips, and the objects that they need.

``build`` and ``select`` derive objects in the same way, so that selecting everything gives the plan itself, and
nothing is deployed that no selected check needs.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from nettests.model.check import Check, Plan, ProbePod, ServiceObject
from nettests.model.facts import ClusterFacts
from nettests.plan.needs import pods_for, services_for
from nettests.plan.node_pools import NodePools, choose_pools
from nettests.plan.permits import may_look_on_hosts, may_stand


def select(plan: Plan, facts: ClusterFacts, ids: Collection[str]) -> Plan:
    """Return the part of a plan with the checks and skips in ``ids``, and what they need; unknown ids are ignored.

    ``facts`` are those that the plan was built from.
    """
    checks = tuple(check for check in plan.checks if check.id in ids)
    pods, services = objects_of(checks, choose_pools(facts), facts)
    return replace(
        plan,
        checks=checks,
        skips=tuple(skip for skip in plan.skips if skip.id in ids),
        pods=pods,
        services=services,
    )


def objects_of(
    checks: Iterable[Check], node_pools: NodePools, facts: ClusterFacts
) -> tuple[tuple[ProbePod, ...], tuple[ServiceObject, ...]]:
    """Return the Pods and Services that checks and their controls need, each by name."""
    actions = [action for check in checks for action in check.actions]
    pods = pods_for(
        actions, node_pools, may_stand=may_stand(facts), on_hosts=may_look_on_hosts(facts)
    )
    return pods, services_for(actions)
