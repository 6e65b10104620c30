"""The cells of a flow's matrix: which sources meet which targets, and where.

Used by ``places``, the second stage of planning. A cell names nodes, not addresses or protocols. An ordinary pair
that this cluster cannot offer (such as another node in a node pool of one) is a gap with its reason.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from nettests.model.check_id import EXTERNAL, between
from nettests.model.facts import NodeFacts
from nettests.model.words import OS, Placement, Protocol
from nettests.plan.cell import Cell, Gap
from nettests.plan.fleet import ALL_PEERS, hosts, others, peers, ring
from nettests.plan.flow import Backing, Matrix
from nettests.plan.node_pools import NodePool, NodePools, server, service
from nettests.plan.watching import every_node, left_out, watched, watched_at_nodes


def cells(
    matrix: Matrix, node_pools: NodePools, backing: Backing = Backing.ANYWHERE
) -> tuple[Cell | Gap, ...]:
    """Return the matrix of a flow over the node pools, in the order of the node pools' names.

    ``backing`` narrows the matrices of NodePorts.
    """
    rule = _NODE_PORTS.get(matrix)
    return tuple(rule(node_pools, backing) if rule else _RULES[matrix](node_pools))


def _fleet(
    *targets: Callable[[NodePools], Iterator[Cell]],
) -> Callable[[NodePools], Iterator[Cell | Gap]]:
    """Return the cells of a matrix over the fleet; a system without a node in it is a gap."""

    def rule(node_pools: NodePools) -> Iterator[Cell | Gap]:
        for os in OS:
            usable = any(pool.os is os for pool in node_pools.pools)
            if usable and not any(node.os is os for node in node_pools.fleet):
                words = f"the fleet that was chosen holds no usable {os.words} node"
                yield Gap(path=os.value, reason=words)
        for cells_of in targets:
            yield from cells_of(node_pools)

    return rule


def _between(source: NodeFacts, target: NodeFacts, to: str) -> Cell:
    same = source.name == target.name
    return Cell(
        source=source,
        target=target,
        placement=Placement.SAME_NODE if same else Placement.OTHER_NODE,
        member=f"{source.name} → {to}",
    )


def _fleet_own(node_pools: NodePools) -> Iterator[Cell]:
    for node in node_pools.fleet:
        yield _between(node, node, node.name)


def _fleet_peers(node_pools: NodePools) -> Iterator[Cell]:
    for source, target in peers(node_pools.fleet, node_pools.seed):
        yield _between(source, target, target.name)


def _fleet_ring(node_pools: NodePools) -> Iterator[Cell]:
    for source, target in ring(node_pools.fleet, node_pools.seed):
        yield _between(source, target, target.name)


def _fleet_once(node_pools: NodePools) -> Iterator[Cell]:
    """Yield the ring, and, if there are few nodes, every other pair over TCP only."""
    yield from _fleet_ring(node_pools)
    for source, target in others(node_pools.fleet, node_pools.seed):
        yield replace(_between(source, target, target.name), protocols=(Protocol.TCP,))


def _fleet_hosts(node_pools: NodePools) -> Iterator[Cell]:
    for source, target in hosts(node_pools.fleet, node_pools.seed):
        yield _between(source, target, target.name)


def _fleet_some_peers(node_pools: NodePools) -> Iterator[Cell]:
    for source, target in peers(node_pools.fleet, node_pools.seed, ALL_PEERS):
        yield _between(source, target, target.name)


def _fleet_services(node_pools: NodePools) -> Iterator[Cell]:
    """Yield every node to the Services in front of the first nodes of the node pools, or of some of many."""
    for source in node_pools.fleet:
        own_pool = node_pools.named(source.pool)
        for pool in node_pools.met_by(own_pool):
            yield _between(source, pool.first, service(server(pool.first)))


def _fleet_own_pool(node_pools: NodePools) -> Iterator[Cell]:
    for source in node_pools.fleet:
        first = node_pools.named(source.pool).first
        yield _between(source, first, service(server(first)))


def _fleet_pool(node_pools: NodePools) -> Iterator[Cell]:
    """Yield every node to all servers of the node pool with many backends: session affinity is a rule of the source's node."""
    for source in node_pools.fleet:
        pool = node_pools.many_backends
        alone = pool.first is source and len(pool.members) == 1
        yield Cell(
            source=source,
            target=None,
            placement=Placement.SAME_NODE if alone else Placement.OTHER_NODE,
            backends=pool,
            member=source.name,
        )


def _fleet_cluster(node_pools: NodePools) -> Iterator[Cell]:
    for node in node_pools.fleet:
        yield Cell(source=node, target=None, placement=Placement.NOWHERE, member=node.name)


def _fleet_outside(node_pools: NodePools) -> Iterator[Cell]:
    for node in node_pools.fleet:
        yield Cell(source=node, target=None, placement=Placement.OUTSIDE, member=node.name)


def _pairs(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            if source is target:
                yield Cell(source=source.first, target=source.first, placement=Placement.SAME_NODE)
            yield _other(source, target)
        yield from left_out(node_pools, source, source.name)


def _other(source: NodePool, target: NodePool) -> Cell | Gap:
    node = _elsewhere(target, source.first)
    if node is None:
        return _lone(source)
    return Cell(source=source.first, target=node, placement=Placement.OTHER_NODE)


def _lone(pool: NodePool) -> Gap:
    return Gap(
        path=between(pool.name, pool.name, Placement.OTHER_NODE.value),
        reason=f"only one usable node in node pool {pool.name}: {pool.first.name}",
    )


def _elsewhere_only(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            yield _other(source, target)
        yield from left_out(node_pools, source, source.name)


def _own_node(node_pools: NodePools, backing: Backing) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        yield from _backends(node_pools, pool.first, pool.first, Placement.SAME_NODE, backing)
        if backing in _ELSEWHERE:
            yield from left_out(node_pools, pool, pool.name)


def _other_nodes(node_pools: NodePools, backing: Backing) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            owner = _elsewhere(target, source.first)
            if owner is None:
                yield _lone(source)
            else:
                yield from _backends(node_pools, source.first, owner, Placement.OTHER_NODE, backing)
        yield from left_out(node_pools, source, source.name)


def _nodes(node_pools: NodePools, backing: Backing) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        yield from _backends(node_pools, None, pool.first, Placement.OUTSIDE, backing)
        if backing in _ELSEWHERE:
            yield from left_out(node_pools, pool, f"{EXTERNAL}/{pool.name}")


def _empty_nodes(node_pools: NodePools) -> Iterator[Cell | Gap]:
    """Yield every node pool to the nodes without Pods; all use the pool whose Pods are light for backends."""
    no_windows = OS.WINDOWS.value in dict(node_pools.absent)  # which is the reason by itself
    if not node_pools.empty and not no_windows:
        words = "no Windows node is known to be cordoned and without Pods of its network"
        yield Gap(path=OS.WINDOWS.value, reason=words)
    for source in node_pools.pools:
        behind = node_pools.many_backends
        backend = _elsewhere(behind, source.first) or behind.first
        for owner in node_pools.empty:
            yield Cell(
                source=source.first,
                target=owner,
                placement=Placement.OTHER_NODE,
                backend=backend,
            )


_ELSEWHERE = frozenset({Backing.ANYWHERE, Backing.ELSEWHERE})
"""Backings that meet other node pools."""


def _backends(
    node_pools: NodePools,
    source: NodeFacts | None,
    owner: NodeFacts,
    placement: Placement,
    backing: Backing,
) -> Iterator[Cell]:
    """Yield one cell for a backend on the owner of the address, and one for each node pool elsewhere."""
    places: list[NodeFacts | None] = [None] if backing is Backing.NOWHERE else []
    if backing in {Backing.ANYWHERE, Backing.LOCAL}:
        places.append(owner)
    if backing in _ELSEWHERE:
        elsewhere = (
            _elsewhere(pool, owner) for pool in node_pools.met_by(node_pools.pool_of(owner))
        )
        places.extend(node for node in elsewhere if node is not None)
    for backend in places:
        yield Cell(source=source, target=owner, placement=placement, backend=backend)


def _pools(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        for target in node_pools.met_by(source):
            alone = source is target and len(target.members) == 1
            yield Cell(
                source=source.first,
                target=None,
                placement=Placement.SAME_NODE if alone else Placement.OTHER_NODE,
                backends=target,
            )
        yield from left_out(node_pools, source, source.name)


def _many_backends(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        alone = source is node_pools.many_backends and len(source.members) == 1
        yield Cell(
            source=source.first,
            target=None,
            placement=Placement.SAME_NODE if alone else Placement.OTHER_NODE,
            many_backends=node_pools.many_backends,
        )


def _sources(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for source in node_pools.pools:
        yield Cell(source=source.first, target=None, placement=Placement.OUTSIDE)


def _windows_sources(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        if pool.os is OS.WINDOWS:
            yield Cell(source=pool.first, target=None, placement=Placement.OUTSIDE)


def _from_outside(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        yield Cell(source=None, target=pool.first, placement=Placement.OUTSIDE)


def _own_pool(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        yield Cell(source=pool.first, target=pool.first, placement=Placement.SAME_NODE)


def _no_endpoints(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        yield Cell(source=pool.first, target=None, placement=Placement.NOWHERE)


def _cluster(_node_pools: NodePools) -> Iterator[Cell | Gap]:
    yield Cell(source=None, target=None, placement=Placement.NOWHERE)


def _each(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        yield Cell(source=pool.first, target=pool.first, placement=Placement.NOWHERE)


def _each_windows(node_pools: NodePools) -> Iterator[Cell | Gap]:
    for pool in node_pools.pools:
        if pool.os is OS.WINDOWS:
            yield Cell(source=pool.first, target=pool.first, placement=Placement.NOWHERE)


def _elsewhere(pool: NodePool, node: NodeFacts) -> NodeFacts | None:
    """Return the node pool's first member that is not ``node``."""
    return next((member for member in pool.members if member is not node), None)


_RULES: dict[Matrix, Callable[[NodePools], Iterator[Cell | Gap]]] = {
    Matrix.PAIRS: _pairs,
    Matrix.ELSEWHERE: _elsewhere_only,
    Matrix.POOLS: _pools,
    Matrix.WATCHED: watched,
    Matrix.WATCHED_AT_NODES: watched_at_nodes,
    Matrix.SOURCES: _sources,
    Matrix.WINDOWS_SOURCES: _windows_sources,
    Matrix.NEAREST: _own_pool,
    Matrix.NO_ENDPOINTS: _no_endpoints,
    Matrix.FROM_OUTSIDE: _from_outside,
    Matrix.CLUSTER: _cluster,
    Matrix.EMPTY_NODES: _empty_nodes,
    Matrix.MANY_BACKENDS: _many_backends,
    Matrix.EACH: _each,
    Matrix.EVERY_NODE: every_node,
    Matrix.EACH_WINDOWS: _each_windows,
    Matrix.FLEET_PAIRS: _fleet(_fleet_own, _fleet_peers),
    Matrix.FLEET_RING: _fleet(_fleet_ring),
    Matrix.FLEET_ONCE: _fleet(_fleet_once),
    Matrix.FLEET_HOSTS: _fleet(_fleet_hosts),
    Matrix.FLEET_NODE_PORTS: _fleet(_fleet_some_peers),
    Matrix.FLEET_PEERS: _fleet(_fleet_some_peers),
    Matrix.FLEET_OWN_POOL: _fleet(_fleet_own_pool),
    Matrix.FLEET_POOL: _fleet(_fleet_pool),
    Matrix.FLEET_SERVICES: _fleet(_fleet_services),
    Matrix.FLEET_OWN: _fleet(_fleet_own),
    Matrix.FLEET_CLUSTER: _fleet(_fleet_cluster),
    Matrix.FLEET_OUTSIDE: _fleet(_fleet_outside),
}
_NODE_PORTS: dict[Matrix, Callable[[NodePools, Backing], Iterator[Cell | Gap]]] = {
    Matrix.OWN_NODE: _own_node,
    Matrix.OTHER_NODES: _other_nodes,
    Matrix.NODES: _nodes,
}
