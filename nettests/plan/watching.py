"""Cells of Services that change: every node of a node pool watches, and all are members of one check.

Beside ``matrix``. Their ids name node pools, as those of other checks do; a stale rule on one node shows on that node
alone, whichever of its pool it is.
"""

from collections.abc import Iterator

from nettests.model.check_id import SAMPLED
from nettests.model.facts import NodeFacts
from nettests.model.words import Placement
from nettests.plan.cell import Cell, Gap
from nettests.plan.fleet import watchers
from nettests.plan.node_pools import NodePool, NodePools


def watched(node_pools: NodePools) -> Iterator[Cell | Gap]:
    """Yield every node pool to all servers of every node pool, from each watching node."""
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            for node in _watching(node_pools, source):
                yield _watching_cell(source, target, node, None, f"servers of {target.name}")
        yield from left_out(node_pools, source, source.name)


def watched_at_nodes(node_pools: NodePools) -> Iterator[Cell | Gap]:
    """Yield cells in which each node of both node pools is an end: as client, or as owner of the address."""
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            clients, owners = (_watching(node_pools, pool) for pool in (source, target))
            for number in range(max(len(clients), len(owners))):
                client = clients[number % len(clients)]
                # Not the first one, which has the backend that stays.
                owner = owners[(number + 1) % len(owners)]
                yield _watching_cell(source, target, client, owner, owner.name)
        yield from left_out(node_pools, source, source.name)


def every_node(node_pools: NodePools) -> Iterator[Cell | Gap]:
    """Yield each node of each node pool, with another node, Linux first, whose Pod and Service it reaches."""
    for pool in node_pools.pools:
        nodes = _watching(node_pools, pool)
        for node in nodes:
            other = next(
                (candidate for candidate in node_pools.nodes if candidate.name != node.name), None
            )
            if other is None:
                yield Gap(path=pool.name, reason=f"only one usable node: {node.name}")
                continue
            yield Cell(
                source=node,
                target=other,
                placement=Placement.OTHER_NODE,
                member=node.name,
                of_pool=True,
                beside=len(nodes),
            )


def _watching(node_pools: NodePools, pool: NodePool) -> tuple[NodeFacts, ...]:
    """Return the nodes of a node pool that watch changes: those of the fleet, and its first one in any case."""
    members = [node for node in node_pools.fleet if node.pool == pool.name]
    return watchers(pool.first, members, node_pools.seed)


def _watching_cell(
    source: NodePool, target: NodePool, client: NodeFacts, owner: NodeFacts | None, to: str
) -> Cell:
    alone = source is target and len(target.members) == 1
    return Cell(
        source=client,
        target=owner,
        placement=Placement.SAME_NODE if alone else Placement.OTHER_NODE,
        backends=target,
        member=f"{client.name} → {to}",
        of_pool=True,
    )


def left_out(node_pools: NodePools, source: NodePool, path: str) -> Iterator[Gap]:
    """Yield the node pools that the sampling rule leaves out for ``source``."""
    met = node_pools.met_by(source)
    left = [pool.name for pool in node_pools.pools if pool not in met]
    if left:
        reason = (
            f"of {len(node_pools.pools)} node pools {source.name} meets {len(met)}, one of each kind; "
            f"left out: {', '.join(left)}"
        )
        yield Gap(path=f"{path}/{SAMPLED}", reason=reason)
