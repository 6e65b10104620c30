"""A part of a plan: the selected checks and skips, and the objects that they need.

``build`` and ``select`` take the objects of checks from the same place, so that selecting everything gives
the plan itself: nothing stands in a run that its plan left out.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from nettests.model.check import Check, Plan, ProbePod, ServiceObject
from nettests.model.facts import ClusterFacts
from nettests.plan.cast import Cast, cast
from nettests.plan.needs import pods_for, services_for
from nettests.plan.permits import may_stand


def select(plan: Plan, facts: ClusterFacts, ids: Collection[str]) -> Plan:
    """Return the part of a plan that the checks and skips named by ``ids`` need; others are ignored.

    ``facts`` are those that the plan was built from.
    """
    checks = tuple(check for check in plan.checks if check.id in ids)
    pods, services = objects_of(checks, cast(facts), facts)
    return replace(
        plan,
        checks=checks,
        skips=tuple(skip for skip in plan.skips if skip.id in ids),
        pods=pods,
        services=services,
    )


def objects_of(
    checks: Iterable[Check], players: Cast, facts: ClusterFacts
) -> tuple[tuple[ProbePod, ...], tuple[ServiceObject, ...]]:
    """Return the Pods and Services that checks and their controls need, each by name."""
    asks = [ask for check in checks for ask in (check.ask, *(one.ask for one in check.controls))]
    return pods_for(asks, players, may_stand=may_stand(facts)), services_for(asks)
