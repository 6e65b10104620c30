"""Facts × flows → Plan, in order: node pools → cells → questions → skips → controls → needs.

Each stage has a module, runs once and passes all results on. Nothing is dropped: a check that
cannot run here becomes a skip with the reason. Same facts, same flows: same ids in the same order.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TypeVar

from nettests.model.check import Action, Check, Plan, Skip
from nettests.model.check_id import LEFT_OUT
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass
from nettests.plan.actions import action
from nettests.plan.applies import sift
from nettests.plan.checks import with_members
from nettests.plan.controls import Topology
from nettests.plan.flow import Flow
from nettests.plan.ipv6_alone import of_use
from nettests.plan.node_pools import choose_pools
from nettests.plan.places import places
from nettests.plan.questions import Candidate, questions
from nettests.plan.selection import objects_of

T = TypeVar("T")


def build(
    facts: ClusterFacts,
    flows: Iterable[Flow],
    enabled: Collection[CheckClass] = (),
) -> Plan:
    """Return everything that a run of ``flows`` will do on a cluster with these facts.

    Checks of classes other than ``default`` that are not ``enabled`` are skips.
    """
    node_pools = choose_pools(facts)
    placed, without_nodes = _separated(places(flows, node_pools, facts))
    probed = [
        (candidate, action(candidate, node_pools, facts)) for candidate in questions(placed, facts)
    ]
    possible, left_out = _separated(sift(probed, facts, enabled))
    topology = Topology(node_pools=of_use(node_pools, facts), facts=facts)
    checks = _checks(possible, topology)
    left_out = _one_per_id(left_out, {check.id for check in checks})
    pods, services = objects_of(checks, node_pools, facts)
    return Plan(
        checks=tuple(sorted(checks, key=lambda check: check.id)),
        skips=tuple(sorted((*without_nodes, *left_out), key=lambda skip: skip.id)),
        pods=pods,
        services=services,
    )


def _checks(possible: Iterable[tuple[Candidate, Action]], topology: Topology) -> list[Check]:
    """Return one check for all candidates with the same id: they are its members."""
    by_id: dict[str, list[tuple[Candidate, Action]]] = {}
    for candidate, question in possible:
        by_id.setdefault(candidate.id, []).append((candidate, question))
    return [with_members(members, topology) for members in by_id.values()]


def _one_per_id(skips: Iterable[Skip], planned: Collection[str]) -> list[Skip]:
    """Return one skip per id: members of a check share it.

    If other members of the check can run, the skip gets a separate id.
    """
    by_id: dict[str, Skip] = {}
    for skip in skips:
        name = f"{skip.id}/{LEFT_OUT}" if skip.id in planned else skip.id
        by_id.setdefault(name, replace(skip, id=name))
    return list(by_id.values())


def _separated(candidates: Iterable[T | Skip]) -> tuple[list[T], list[Skip]]:
    kept: list[T] = []
    skips: list[Skip] = []
    for candidate in candidates:
        if isinstance(candidate, Skip):
            skips.append(candidate)
        else:
            kept.append(candidate)
    return kept, skips
