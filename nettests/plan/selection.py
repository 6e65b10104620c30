"""Part of a plan: which flows, checks and skips are selected, and the objects that they need. Pure.

A pattern is a name with ``*`` and ``?`` as in a shell; with ``!`` in front it excludes what it
matches. ``declarations`` uses it for flows, ``session.blueprint`` for the checks of a plan. ``build``
and ``select`` derive objects in the same way: selecting everything gives the plan itself, and
nothing is deployed that no selected check needs.
"""

import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from nettests.errors import PlanError
from nettests.model.check import Check, Plan, ProbePod, ServiceObject
from nettests.model.facts import ClusterFacts
from nettests.model.nearest import meant, nearest
from nettests.model.words import CheckClass
from nettests.plan.needs import pods_for, services_for
from nettests.plan.node_pools import NodePools, choose_pools
from nettests.plan.permissions import may_look_on_hosts, may_stand


def nodes_of(check: Check, pods: Mapping[str, str], facts: ClusterFacts) -> frozenset[str]:
    """Return the nodes of source, target and backends, and of the cluster's DNS if it is used.

    ``pods`` are the nodes of a run's Pods, by Pod name (``nodes_by_pod``).
    """
    named = {check.source.node, check.target.node}
    behind = {pods.get(name) for name in (*check.target.backends, check.target.pod or "")}
    names = _of_dns(facts) if check.queries_dns else set()
    return frozenset(name for name in (*named, *behind, *names) if name)


def nodes_by_pod(pods: Iterable[ProbePod]) -> dict[str, str]:
    """Return the node of each Pod of a plan."""
    return {pod.name: pod.node for pod in pods}


def _of_dns(facts: ClusterFacts) -> set[str]:
    """Return the nodes whose Pod CIDRs contain the DNS Pods, if nodes have Pod CIDRs."""
    return {
        node.name
        for node in facts.nodes
        for address in facts.dns_pods.value or ()
        if any(address in network for network in node.pod_cidrs)
    }


def select(plan: Plan, facts: ClusterFacts, ids: Collection[str]) -> Plan:
    """Return the part of a plan with these ids and what it needs; unknown ids are ignored.

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


EXCLUDED = "!"
MANY = 20
"""Names that a hint does not list any more."""
NEAR = 3
"""How many near misses an error names."""


def chosen_of(names: Iterable[str], patterns: Sequence[str], error: str) -> frozenset[str]:
    """Return the names that a pattern and no ``!`` pattern matches; without patterns, all.

    ``PlanError``, beginning with ``error``, for a pattern without a match, and if nothing is left.
    """
    listed = sorted(names)
    kept = frozenset[str]() if any(not p.startswith(EXCLUDED) for p in patterns) else {*listed}
    left_out: set[str] = set()
    for pattern in patterns:
        matching = {name for name in listed if fnmatchcase(name, pattern.removeprefix(EXCLUDED))}
        if not matching:
            raise PlanError(f"{error} {pattern!r}", hint=_mended(pattern, listed))
        if pattern.startswith(EXCLUDED):
            left_out |= matching
        else:
            kept |= matching
    if listed and not kept - left_out:
        raise PlanError(f"nothing matches all of {' '.join(patterns)}", hint="leave less out")
    return frozenset(kept - left_out)


def _mended(pattern: str, names: Sequence[str]) -> str:
    if "," in pattern:
        return f"repeat the option for each one: {' and '.join(pattern.split(','))}"
    return near(pattern, names)


def near(pattern: str, names: Sequence[str]) -> str:
    """Return a hint with the names that are most similar to a pattern."""
    word = pattern.strip("!*")
    holding = [name for name in names if word and word in name][:NEAR]
    if holding:
        return meant(holding)
    ids = any("/" in name for name in names)
    many = f"`nettests {'plan' if ids else 'list flows'}` lists them" if len(names) > MANY else ""
    return nearest(word, names, what="there are", otherwise=many, most=NEAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Checks by patterns of their ids, and by the result of an earlier ``run``.

    ``again`` has the ids to repeat with the members, or none to repeat them all. With the earlier
    run's ``seed``, checks have the same members.
    """

    patterns: tuple[str, ...] = ()
    run: str = ""
    again: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seed: int | None = None
    sample: int | None = None
    """How many members of each check of a class other than ``default`` are run."""

    def require_flows(self, flows: Iterable[str]) -> None:
        """Raise ``PlanError``, before planning, for a pattern that no check of ``flows`` matches."""
        listed = sorted(flows)
        for pattern in self.patterns:
            start = re.split(r"[*?[]", pattern.removeprefix(EXCLUDED))[0]
            if not any(flow.startswith(start) or start.startswith(f"{flow}/") for flow in listed):
                raise PlanError(
                    f"--check: no flow has a check that matches {pattern!r}",
                    hint=near(start.partition("/")[0], listed),
                )

    def of(self, plan: Plan, facts: ClusterFacts) -> Plan:
        """Return the chosen part of a plan with what it needs; ``PlanError`` if that is nothing."""
        if not self.patterns and not self.run and self.sample is None:
            return plan
        ids = [*(check.id for check in plan.checks), *(skip.id for skip in plan.skips)]
        chosen = chosen_of(ids, self.patterns, "--check: this cluster has no check that matches")
        if self.run:
            chosen &= self.again.keys()
            if not chosen:
                raise PlanError(
                    f"no check that failed in {self.run} is planned here",
                    hint="is it the same cluster, with the same --enable, --flow and --suite?",
                )
        checks = tuple(
            self._narrowed(check, facts.fleet.seed) for check in plan.checks if check.id in chosen
        )
        return select(replace(plan, checks=checks), facts, chosen)

    def _narrowed(self, check: Check, seed: int) -> Check:
        wanted = {*self.again.get(check.id, ()), *self._sampled(check, seed)}
        members = tuple(member for member in check.members if member.label in wanted)
        return replace(check, members=members or check.members)

    def _sampled(self, check: Check, seed: int) -> Sequence[str]:
        """Return the members that the run's seed chooses; none if all are run."""
        labels = [member.label for member in check.members]
        optional = check.check_class is not CheckClass.DEFAULT
        if self.run or not optional or self.sample is None or self.sample >= len(labels):
            return ()
        return random.Random(f"{seed} {check.id}").sample(labels, self.sample)  # noqa: S311 - no secret
