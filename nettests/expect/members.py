"""The expectation of each member of a check, from the facts of its own nodes, and what most members have in common. Pure.

Used by ``resolve``. Thousands of members differ in few facts that conditions use, so members whose nodes agree in
these are resolved once.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from nettests.expect.condition import backend_placement, nat_exception
from nettests.model.check import Check
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts, NodeFacts


def of_members(
    check: Check, facts: ClusterFacts, resolve: Callable[[Check], Expectation]
) -> dict[str, Expectation]:
    """Return the expectation of every member, by id, and under the check's own id the one of most members."""
    kinds = {node.name: _kind(node) for node in facts.nodes}
    resolved: dict[object, Expectation] = {}
    expectations: dict[str, Expectation] = {}
    for member in check.each:
        key = (
            kinds.get(member.source.node or ""),
            kinds.get(member.target.node or ""),
            member.placement,
            backend_placement(member, facts),
            nat_exception(member, facts),
        )
        if key not in resolved:
            resolved[key] = resolve(member)
        expectations[member.id] = resolved[key]
    shared = {id(expectation): expectation for expectation in expectations.values()}
    often = Counter(map(id, expectations.values())).most_common(1)
    return {check.id: shared[often[0][0]], **expectations}


def _kind(node: NodeFacts) -> NodeFacts:
    """Return a node without its name and addresses, which no condition of a limitation reads."""
    return replace(
        node, name="", member=0, hostname="", addresses=(), pod_cidrs=(), taints=(), left_out=""
    )
