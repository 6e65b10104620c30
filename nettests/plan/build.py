"""Facts × flows → Plan, one way: node pools → cells → questions → skips → controls → needs.

Each stage has a module, is entered once and hands all that it found to the next one. Nothing is dropped: what a
cluster does not have, and a due check that cannot be asked on it, leaves as a skip with the reason. Same facts, same
flows: same ids in the same order.
"""

from collections.abc import Collection, Iterable
from typing import TypeVar

from nettests.model.check import Plan, Skip
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass
from nettests.plan.applies import sift
from nettests.plan.asks import ask
from nettests.plan.cast import cast
from nettests.plan.checks import check
from nettests.plan.controls import Stage
from nettests.plan.flow import Flow
from nettests.plan.places import places
from nettests.plan.questions import questions
from nettests.plan.selection import objects_of

T = TypeVar("T")


def build(
    facts: ClusterFacts,
    flows: Iterable[Flow],
    enabled: Collection[CheckClass] = (),
) -> Plan:
    """Return all that a run of ``flows`` will do on a cluster with these facts.

    Checks of classes other than ``default`` that are not ``enabled`` are skips.
    """
    players = cast(facts)
    placed, without_nodes = _parted(places(flows, players, facts))
    asked = [(due, ask(due, players, facts)) for due in questions(placed, facts)]
    possible, left_out = _parted(sift(asked, facts, enabled))
    stage = Stage(cast=players, facts=facts)
    checks = [check(due, question, stage) for due, question in possible]
    pods, services = objects_of(checks, players, facts)
    return Plan(
        checks=tuple(sorted(checks, key=lambda check: check.id)),
        skips=tuple(sorted((*without_nodes, *left_out), key=lambda skip: skip.id)),
        pods=pods,
        services=services,
    )


def _parted(found: Iterable[T | Skip]) -> tuple[list[T], list[Skip]]:
    """Part what goes on to the next stage from what is skipped."""
    kept: list[T] = []
    skips: list[Skip] = []
    for one in found:
        if isinstance(one, Skip):
            skips.append(one)
        else:
            kept.append(one)
    return kept, skips
