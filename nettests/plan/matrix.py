"""The cells of a flow's matrix: which sources meet which targets, and where.

Used by ``questions``, the second stage of planning. A cell names nodes, not addresses or protocols;
``peers`` pairs the nodes of two node pools. A pair that this cluster cannot offer (such as another
node in a node pool of one) is a gap with its reason.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from nettests.model.check_id import EXTERNAL, SAMPLED, between
from nettests.model.facts import NodeFacts
from nettests.model.target_kinds import Owner, descriptor
from nettests.model.words import OS, Placement
from nettests.plan import peers
from nettests.plan.cell import Cell, Gap
from nettests.plan.flow import Backing, Flow, Matrix, Members
from nettests.plan.node_pools import NodePool, NodePools

OWN_SERVICES = 16
"""The most nodes of a pool that have their own Service for one flow: each Service costs rules, and
without DSR 64 ports, on every Windows node."""


def cells(flow: Flow, node_pools: NodePools) -> tuple[Cell | Gap, ...]:
    """Return the matrix of a flow over the node pools, in the order of the node pools' names."""
    placed = tuple(_RULES[flow.matrix](flow, node_pools))
    if descriptor(flow.target).owner is Owner.POD and descriptor(flow.target).named_by_headless:
        named = {node.name for node in node_pools.named_servers}
        placed = tuple(
            cell
            for cell in placed
            if isinstance(cell, Gap) or (cell.target and cell.target.name in named)
        )
    members = Counter(_check(cell) for cell in placed if isinstance(cell, Cell))
    return tuple(
        replace(cell, member_count=members[_check(cell)]) if isinstance(cell, Cell) else cell
        for cell in placed
    )


def _check(cell: Cell) -> tuple[str, str]:
    return cell.path, cell.suffix


def _turn(flow: Flow, *pools: NodePool) -> int:
    return peers.turn_of(flow.name, *(pool.name for pool in pools))


def _own(flow: Flow, pool: NodePool) -> Sequence[NodeFacts]:
    """Return the nodes of a pool to test alone: all, or fewer if each needs its own Service."""
    match flow.members:
        case Members.ONE:
            return pool.members[:1]
        case Members.FEW:
            return pool.few
        case _:
            return pool.members[:OWN_SERVICES] if flow.owns_services else pool.members


def _targets(flow: Flow, pool: NodePool) -> Sequence[NodeFacts]:
    """Return the nodes of a pool that are targets: all, or a few if each needs its own Service."""
    return pool.few if flow.owns_services else pool.members


def _others(
    flow: Flow, node_pools: NodePools, source: NodePool, target: NodePool
) -> Iterator[peers.Pair]:
    """Yield the pairs of different nodes, from one node pool to another or itself."""
    targets, turn = _targets(flow, target), _turn(flow, source, target)
    match flow.members:
        case Members.EACH_NODE | Members.FEW | Members.ONE:
            yield from peers.cover(source.members, targets, turn)
        case Members.EACH_PAIR | Members.EACH_PAIR_ONCE:
            once = flow.members is Members.EACH_PAIR_ONCE
            nodes, seed = node_pools.nodes, node_pools.seed
            yield from peers.every(source.members, targets, nodes, seed, turn, once=once)


def _elsewhere(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            yield from _between(flow, node_pools, source, target)
        yield from _left_out(node_pools, source, source.name)


def _between(
    flow: Flow, node_pools: NodePools, source: NodePool, target: NodePool
) -> Iterator[Cell | Gap]:
    pairs = list(_others(flow, node_pools, source, target))
    if not pairs:
        yield _lone(source)
    for node, other in pairs:
        yield Cell(source=node, target=other, placement=Placement.OTHER_NODE)


def _pairs(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            if source is target:
                yield from _at_own_node(flow, source)
            yield from _between(flow, node_pools, source, target)
        yield from _left_out(node_pools, source, source.name)


def _nearest(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        yield from _at_own_node(flow, pool)


def _at_own_node(flow: Flow, pool: NodePool) -> Iterator[Cell]:
    for node in _own(flow, pool):
        yield Cell(source=node, target=node, placement=Placement.SAME_NODE)


def _lone(pool: NodePool) -> Gap:
    return Gap(
        path=between(pool.name, pool.name, Placement.OTHER_NODE.value),
        reason=f"only one usable node in node pool {pool.name}: {pool.first.name}",
    )


def _own_node(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        pairs = [(node, node) for node in _own(flow, pool)]
        yield from _backed(flow, node_pools, pairs, Placement.SAME_NODE)
        yield from _unmet(flow, node_pools, pool, pool.name)


def _other_nodes(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            pairs = list(_others(flow, node_pools, source, target))
            if not pairs:
                yield _lone(source)
            yield from _backed(flow, node_pools, pairs, Placement.OTHER_NODE)
        yield from _left_out(node_pools, source, source.name)


def _nodes(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        owners = _own(flow, pool) if flow.backing is Backing.LOCAL else pool.members
        pairs = [(None, owner) for owner in owners]
        yield from _backed(flow, node_pools, pairs, Placement.OUTSIDE)
        yield from _unmet(flow, node_pools, pool, f"{EXTERNAL}/{pool.name}")


def _empty_nodes(_flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    """Yield a cell from every node to each node without Pods, with a small Pod as the backend."""
    no_windows = OS.WINDOWS.value in dict(node_pools.absent)  # that is reported as the reason
    if not node_pools.empty and not no_windows:
        words = "no Windows node is known to be cordoned and without Pods of its network"
        yield Gap(path=OS.WINDOWS.value, reason=words)
    for pool in node_pools.pools:
        for source in pool.members:
            behind = node_pools.many_backends.few
            backend = next((node for node in behind if node is not source), behind[0])
            for owner in node_pools.empty:
                yield Cell(
                    source=source, target=owner, placement=Placement.OTHER_NODE, backend=backend
                )


_ELSEWHERE = frozenset({Backing.ANYWHERE, Backing.ELSEWHERE})
"""Backings with backends in other node pools."""


def _backed(
    flow: Flow,
    node_pools: NodePools,
    pairs: Sequence[tuple[NodeFacts | None, NodeFacts]],
    placement: Placement,
) -> Iterator[Cell]:
    """Yield a cell for each pair and backend: on the address's owner, and on each pool elsewhere.

    If an attempt starts a process, pairs and backends are combined so that each of them occurs.
    """
    backends = [list(_backends(flow, node_pools, owner)) for _, owner in pairs]
    many = max(map(len, backends), default=0)
    if flow.is_process:
        chosen = [(turn % len(pairs), turn % many) for turn in range(max(len(pairs), many))]
    else:
        chosen = [(pair, backend) for pair in range(len(pairs)) for backend in range(many)]
    for pair, backend in chosen:
        if backend < len(backends[pair]):
            (source, owner), behind = pairs[pair], backends[pair][backend]
            yield Cell(source=source, target=owner, placement=placement, backend=behind)


def _backends(flow: Flow, node_pools: NodePools, owner: NodeFacts) -> Iterator[NodeFacts | None]:
    """Yield the nodes that back a NodePort at ``owner``, in the same order for all owners."""
    if flow.backing is Backing.NOWHERE:
        yield None
    if flow.backing in {Backing.ANYWHERE, Backing.LOCAL}:
        yield owner
    if flow.backing in _ELSEWHERE:
        for pool in node_pools.met_by(node_pools.named(owner.pool)):
            pairs = peers.cover((owner,), _targets(flow, pool), owner.member + _turn(flow, pool))
            yield from (node for _, node in islice(pairs, 1))


def _unmet(flow: Flow, node_pools: NodePools, pool: NodePool, path: str) -> Iterator[Gap]:
    if flow.backing in _ELSEWHERE:
        yield from _left_out(node_pools, pool, path)


def _left_out(node_pools: NodePools, source: NodePool, path: str) -> Iterator[Gap]:
    met = node_pools.met_by(source)
    left = [pool.name for pool in node_pools.pools if pool not in met]
    if left:
        reason = (
            f"of {len(node_pools.pools)} node pools {source.name} meets {len(met)}, one of each kind; "
            f"left out: {', '.join(left)}"
        )
        yield Gap(path=f"{path}/{SAMPLED}", reason=reason)


def _all_servers(source: NodePool, target: NodePool) -> Placement:
    alone = source is target and len(target.members) == 1
    return Placement.SAME_NODE if alone else Placement.OTHER_NODE


def _pools(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            placement = _all_servers(source, target)
            for node in _clients(flow, node_pools, source):
                yield Cell(source=node, target=None, placement=placement, backends=target)
        yield from _left_out(node_pools, source, source.name)


def _pools_at_nodes(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    """Yield cells in which each node of both pools is a client or the owner of the address."""
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            clients, owners = (_clients(flow, node_pools, pool) for pool in (source, target))
            placement = _all_servers(source, target)
            for number in range(max(len(clients), len(owners))):
                yield Cell(
                    source=clients[number % len(clients)],
                    # Not the first one, which has the backend that stays.
                    target=owners[(number + 1) % len(owners)],
                    placement=placement,
                    backends=target,
                )
        yield from _left_out(node_pools, source, source.name)


def _clients(flow: Flow, node_pools: NodePools, pool: NodePool) -> Sequence[NodeFacts]:
    """Return the nodes that dial a Service, or a sample of them if it changes."""
    if flow.question.changes_services:
        return peers.watchers(pool.members, node_pools.seed)
    return pool.members


def _many_backends(_flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        behind = node_pools.many_backends
        placement = _all_servers(source, behind)
        for node in source.members:
            yield Cell(source=node, target=None, placement=placement, many_backends=behind)


def _own_pool(_flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        placement = _all_servers(pool, pool)
        for node in pool.members:
            yield Cell(source=node, target=pool.first, placement=placement, of_source=True)


def _another(_flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    """Yield each node with another one, Linux preferred, whose Pod and Service it reaches."""
    for pool in node_pools.pools:
        for node in peers.watchers(pool.members, node_pools.seed):
            other = next((other for other in node_pools.nodes if other is not node), None)
            if other is None:
                yield Gap(path=pool.name, reason=f"only one usable node: {node.name}")
                continue
            yield Cell(source=node, target=other, placement=Placement.OTHER_NODE, of_source=True)


def _nodes_alone(
    placement: Placement, *, targets: bool = False, only: OS | None = None
) -> Callable[[Flow, NodePools], Iterator[Cell | Gap]]:
    """Return the rule of a matrix of single nodes, ``only`` of one OS, as ``targets`` or not."""

    def rule(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
        for pool in node_pools.pools:
            for node in _own(flow, pool) if only in {None, pool.os} else ():
                yield Cell(source=node, target=node if targets else None, placement=placement)

    return rule


def _from_outside(flow: Flow, node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        for node in _own(flow, pool):
            yield Cell(source=None, target=node, placement=Placement.OUTSIDE)


def _cluster(_flow: Flow, _node_pools: NodePools) -> Iterator[Cell | Gap]:
    yield Cell(source=None, target=None, placement=Placement.NOWHERE)


_RULES: dict[Matrix, Callable[[Flow, NodePools], Iterator[Cell | Gap]]] = {
    Matrix.PAIRS: _pairs,
    Matrix.ELSEWHERE: _elsewhere,
    Matrix.NEAREST: _nearest,
    Matrix.OWN_NODE: _own_node,
    Matrix.OTHER_NODES: _other_nodes,
    Matrix.NODES: _nodes,
    Matrix.EMPTY_NODES: _empty_nodes,
    Matrix.FROM_OUTSIDE: _from_outside,
    Matrix.POOLS: _pools,
    Matrix.POOLS_AT_NODES: _pools_at_nodes,
    Matrix.MANY_BACKENDS: _many_backends,
    Matrix.OWN_POOL: _own_pool,
    Matrix.ANOTHER: _another,
    Matrix.SOURCES: _nodes_alone(Placement.OUTSIDE),
    Matrix.WINDOWS_SOURCES: _nodes_alone(Placement.OUTSIDE, only=OS.WINDOWS),
    Matrix.NO_ENDPOINTS: _nodes_alone(Placement.NOWHERE),
    Matrix.EACH: _nodes_alone(Placement.NOWHERE, targets=True),
    Matrix.EACH_WINDOWS: _nodes_alone(Placement.NOWHERE, targets=True, only=OS.WINDOWS),
    Matrix.CLUSTER: _cluster,
}
