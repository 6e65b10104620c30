"""Which nodes and ordered node pairs the trusted checks exercised, and which not. Pure.

For the headline and every report: a run claims no more than it exercised. A check counts if it
sends packets and its answer is trusted, whatever its verdict; a pair runs from source to target.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from nettests.model.check import Check
from nettests.model.facts import ALL, ClusterFacts, FleetScope, NodeFacts
from nettests.model.grouping import grouped
from nettests.model.target_kinds import Owner
from nettests.model.words import OS, Question, VantageKind, Verdict
from nettests.report.results import (
    CheckResult,
    Exercised,
    ExercisedKind,
    ExercisedNodes,
    ExercisedPairs,
    LeftOut,
)

NOT_TESTED = "no check exercised it"


def exercised(checks: Iterable[CheckResult], facts: ClusterFacts | None) -> Exercised:
    """Return which of the cluster's nodes and ordered node pairs the checks exercised."""
    if facts is None:
        return Exercised()
    checks = tuple(checks)
    ends = list(_ends(checks))
    sources = {source for source, _ in ends if source}
    met = sources | {target for _, target in ends if target}
    pairs = {(source, target) for source, target in ends if source and target != source}
    present = [os for os in (OS.WINDOWS, OS.LINUX) if any(node.os is os for node in facts.nodes)]
    of = {os: [node for node in facts.nodes if node.os is os] for os in present}
    return Exercised(
        nodes=tuple(_nodes(os, of[os], met, sources, facts.fleet) for os in present),
        pairs=tuple(
            ExercisedPairs(
                source=source,
                target=target,
                exercised=sum(
                    (a.name, b.name) in pairs for a, b in product(of[source], of[target])
                ),
                possible=sum(a.name != b.name for a, b in product(of[source], of[target])),
            )
            for source, target in product(present, present)
        ),
        kinds=tuple(_kinds(checks, len(facts.nodes))),
    )


def _kinds(checks: Sequence[CheckResult], nodes: int) -> Iterator[ExercisedKind]:
    planned = grouped(
        (kind, result)
        for result in checks
        if result.check is not None and (kind := _kind(result.check))
    )
    for kind in _KINDS:
        trusted = [result.check for result in planned.get(kind, ()) if _is_trusted(result)]
        ends = {(check.source.node, check.target.node) for check in trusted if check is not None}
        if kind == LOSSES:  # losses count both ways: answers return over the same path
            ends |= {(target, source) for source, target in ends}
        pairs = {(source, target) for source, target in ends if None not in {source, target}}
        pairs = {pair for pair in pairs if len(set(pair)) == 2}
        between = kind in _BETWEEN_PODS
        if kind in planned:
            yield ExercisedKind(
                kind=kind,
                pairs=between,
                exercised=len(pairs) if between else len({source or to for source, to in ends}),
                possible=nodes * (nodes - 1) if between else nodes,
            )


LOSSES = "losses"
_BETWEEN_PODS = ("TCP", "UDP", "ICMP", "large payloads", LOSSES)
_KINDS = (
    *_BETWEEN_PODS,
    *("Services", "NodePorts", "names", "nodes themselves", "the outside", "new Pods", "settings"),
)


def _kind(check: Check) -> str:
    action, target = check.action, check.target.descriptor
    if not action.question.has_path:
        kind = "settings" if action.question is Question.INSPECT else "new Pods"
        return kind if check.source.node else ""
    between_pods = target.of_pod and check.source.kind is VantageKind.POD and not target.by_name
    if action.question is Question.LOSS:
        return LOSSES if between_pods else ""
    if action.question is Question.RESOLVE or target.by_name:
        return "names"
    if check.source.kind is VantageKind.NODE:
        return "nodes themselves"
    if between_pods:
        return "large payloads" if action.size else action.protocol.value.upper()
    if target.owner is Owner.NODE_PORT:
        return "NodePorts"
    if target.owner is Owner.OUTSIDE:
        return "the outside"
    return "Services" if target.owner is Owner.SERVICE else ""


def _is_trusted(result: CheckResult) -> bool:
    return result.ran and result.verdict not in {Verdict.UNKNOWN, Verdict.SKIPPED}


def _ends(checks: Iterable[CheckResult]) -> Iterable[tuple[str | None, str | None]]:
    for check in checks:
        if check.check is None or not _is_trusted(check):
            continue
        if check.check.action.question.has_path:
            yield check.check.source.node, check.check.target.node


def _nodes(
    os: OS, nodes: Sequence[NodeFacts], met: set[str], sources: set[str], fleet: FleetScope
) -> ExercisedNodes:
    names = [node.name for node in nodes]
    return ExercisedNodes(
        os=os,
        total=len(names),
        exercised=tuple(name for name in names if name in met),
        sources=tuple(name for name in names if name in sources),
        left_out=tuple(
            LeftOut(node=node.name, reason=_why(node, fleet))
            for node in nodes
            if node.name not in met
        ),
    )


def _why(node: NodeFacts, fleet: FleetScope) -> str:
    if not node.ready:
        return "not Ready"
    if not node.schedulable:
        return "cordoned"
    if node.left_out or fleet.chosen == ALL or node.name in fleet.nodes:
        return node.left_out or NOT_TESTED
    return f"not one of the nodes that were chosen ({fleet.chosen})"
