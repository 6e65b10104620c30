"""Match the nodes of two runs: by name, otherwise by position in the node pool. Pure.

A node that was upgraded in place keeps its name and may change its pool; one that was replaced has another name at
the same position. Nodes left over were added or removed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nettests.model.facts import ClusterFacts, NodeFacts

PAIR = " → "
"""Between the nodes of a member that is a pair of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedNodes:
    """Nodes of two runs: ``pairs`` in both, the others in one of them."""

    pairs: tuple[tuple[NodeFacts, NodeFacts], ...] = ()
    gone: tuple[NodeFacts, ...] = ()
    come: tuple[NodeFacts, ...] = ()

    @property
    def renamed(self) -> dict[str, str]:
        """Return the later name of each node that has another one."""
        return {old.name: new.name for old, new in self.pairs if old.name != new.name}

    def later(self, label: str) -> str:
        """Return a member's label of the earlier run in the names of the later one."""
        names = self.renamed
        return PAIR.join(names.get(part, part) for part in label.split(PAIR))


def join_nodes(before: ClusterFacts | None, after: ClusterFacts | None) -> JoinedNodes:
    """Return the nodes of two runs joined, in the earlier run's order."""
    old, new = _nodes(before), _nodes(after)
    by_name = {(node.name, node.os): node for node in new}
    joined = {
        node.name: by_name[node.name, node.os] for node in old if (node.name, node.os) in by_name
    }
    taken = {node.name for node in joined.values()}
    places = {(node.pool, node.member): node for node in new if node.name not in taken}
    for node in old:
        place = (node.pool, node.member)
        if node.name not in joined and place in places:
            joined[node.name] = places.pop(place)
    met = {node.name for node in joined.values()}
    return JoinedNodes(
        pairs=tuple((node, joined[node.name]) for node in old if node.name in joined),
        gone=tuple(node for node in old if node.name not in joined),
        come=tuple(node for node in new if node.name not in met),
    )


def _nodes(facts: ClusterFacts | None) -> tuple[NodeFacts, ...]:
    return facts.nodes if facts else ()


def pools(nodes: Iterable[NodeFacts]) -> dict[str, list[NodeFacts]]:
    """Return nodes by their pool."""
    by_pool: dict[str, list[NodeFacts]] = {}
    for node in nodes:
        by_pool.setdefault(node.pool, []).append(node)
    return by_pool
