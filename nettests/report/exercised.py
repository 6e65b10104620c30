"""Check results → nodes and ordered node pairs that trusted checks exercised, and those left out. Pure.

For the headline and every document: a run claims no more than it exercised. A check counts if it sends packets and
its answer is trusted, whatever its verdict; a pair is ordered, from source to target.
"""

from collections.abc import Iterable, Sequence
from itertools import product

from nettests.model.facts import ALL, ClusterFacts, FleetScope, NodeFacts
from nettests.model.words import OS, Verdict
from nettests.report.results import (
    CheckResult,
    Exercised,
    ExercisedNodes,
    ExercisedPairs,
    LeftOut,
)

NOT_TESTED = "no check exercised it"


def exercised(checks: Iterable[CheckResult], facts: ClusterFacts | None) -> Exercised:
    """Return which of the cluster's nodes and ordered pairs the checks exercised."""
    if facts is None:
        return Exercised()
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
    )


def _ends(checks: Iterable[CheckResult]) -> Iterable[tuple[str | None, str | None]]:
    for check in checks:
        if (
            not check.ran
            or check.check is None
            or check.verdict in {Verdict.UNKNOWN, Verdict.SKIPPED}
        ):
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
