"""Which ordered pairs of a fleet's nodes are tested: all pairs of a small fleet, a different part each run of a large one.

Part of planning's cells. Above the limit the pairs form a regular graph: every node has equally many peers as a
source and as a target, so that a node that is broken in either direction shows in every run, and a pair within some
runs. The same nodes and the same seed give the same pairs, in any process. Pure.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence

from nettests.bounds.amounts import Bounds
from nettests.model.facts import NodeFacts
from nettests.model.words import OS

ALL_PAIRS = 100
"""With at most this many nodes every ordered pair is tested: 9,900."""
PEERS = 8
"""With more nodes, each has this many peers as a source and this many as a target."""

ALL_PEERS = 16
"""The same for NodePorts, whose rules are on the target node (its clients differ only by their paths, which tests of
Pods cover), and for payloads, which cost more than a request of a few bytes."""

WATCHERS = Bounds().watchers
"""The most nodes of a node pool that watch a Service that changes."""


def watchers(first: NodeFacts, pool: Sequence[NodeFacts], seed: int) -> tuple[NodeFacts, ...]:
    """Return the nodes of a node pool that watch, in the order of the pool; its ``first`` is always one of them."""
    others = [node for node in pool if node.name != first.name]
    if len(others) >= WATCHERS:
        shuffled = random.Random(seed)  # noqa: S311 - which nodes watch is no secret
        chosen = set(shuffled.sample(range(len(others)), WATCHERS - 1))
        others = [node for place, node in enumerate(others) if place in chosen]
    return (first, *others)


def peers(
    nodes: Sequence[NodeFacts], seed: int, most: int = ALL_PAIRS
) -> Iterator[tuple[NodeFacts, NodeFacts]]:
    """Yield ordered pairs of different nodes, by source and then by target, in the order of the nodes.

    With at most ``most`` nodes these are all pairs.
    """
    many = len(nodes)
    chosen = None if many <= most else _regular(many, seed)
    for source in range(many):
        for target in chosen[source] if chosen else range(many):
            if target != source:
                yield nodes[source], nodes[target]


def _regular(many: int, seed: int) -> list[list[int]]:
    """Return the peers of each node: those at a few distances ahead in a shuffled ring of all nodes."""
    shuffled = random.Random(seed)  # noqa: S311 - which pairs are tested is no secret
    ring = list(range(many))
    shuffled.shuffle(ring)
    ahead = shuffled.sample(range(1, many), PEERS)
    peers: list[list[int]] = [[] for _ in ring]
    for place, node in enumerate(ring):
        peers[node] = sorted(ring[(place + distance) % many] for distance in ahead)
    return peers


def ring(nodes: Sequence[NodeFacts], seed: int) -> Iterator[tuple[NodeFacts, NodeFacts]]:
    """Yield each node with one other, so that each is a source once and a target once; another run has other pairs.

    Nodes of one system are neighbours, so that the same systems are paired in every run.
    """
    shuffled = random.Random(seed)  # noqa: S311 - which pairs are tested is no secret
    order: list[NodeFacts] = []
    for os in OS:
        alike = [node for node in nodes if node.os is os]
        shuffled.shuffle(alike)
        order += alike
    if len(order) > 1:
        yield from zip(order, (*order[1:], order[0]), strict=True)


def others(nodes: Sequence[NodeFacts], seed: int) -> Iterator[tuple[NodeFacts, NodeFacts]]:
    """Yield, if there are few nodes, each pair that the ring leaves out, in one direction: for tests where either direction shows the pair.

    Each node is about as often a source as a target, and another seed reverses pairs.
    """
    if len(nodes) > ALL_PEERS:
        return
    met = {frozenset((node.name, other.name)) for node, other in ring(nodes, seed)}
    for place, node in enumerate(nodes):
        for further, other in enumerate(nodes[place + 1 :], start=place + 1):
            if {node.name, other.name} not in met:
                forwards = (place + further + seed) % 2
                yield (node, other) if forwards else (other, node)


def hosts(nodes: Sequence[NodeFacts], seed: int) -> Iterator[tuple[NodeFacts, NodeFacts]]:
    """Yield the ring of the nodes whose own network is tested: all nodes, or in a large fleet some of each system, others in each run."""
    if len(nodes) <= ALL_PAIRS:
        yield from ring(nodes, seed)
        return
    shuffled = random.Random(seed)  # noqa: S311 - which nodes are tested is no secret
    places = shuffled.sample(range(len(nodes)), len(nodes))
    of_system: Counter[OS] = Counter()
    turns: list[tuple[int, int]] = []
    for place in places:
        turns.append((of_system[nodes[place].os], place))
        of_system[nodes[place].os] += 1
    chosen = sorted(place for _, place in sorted(turns)[:ALL_PEERS])
    yield from ring([nodes[place] for place in chosen], seed)


def share(many: int, most: int = ALL_PAIRS) -> tuple[int, int]:
    """Return how many ordered pairs of different nodes are tested, and how many there are."""
    every = many * (many - 1)
    return (every if many <= most else many * PEERS), every
