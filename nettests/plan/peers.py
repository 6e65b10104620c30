"""Which nodes of two node pools meet as members of one check. Pure arithmetic, used by ``matrix``.

A flow over nodes gets a cover: each node of either pool is a source and a target, in as few members
as possible. A flow over ordered pairs gets all pairs, or in a large cluster a regular graph: every
node has equally many peers as source and as target, so a node that is broken in one direction shows
in every run, and a pair within a few runs. The same nodes give the same members in every run; only
the pairs of a large cluster depend on the run's seed.
"""

import random
import zlib
from collections.abc import Iterator, Sequence

from nettests.bounds.amounts import Bounds
from nettests.model.facts import NodeFacts

EVERY_PAIR = 32
"""Up to this many nodes, every ordered pair is tested: 992."""
PEERS = 8
"""With more nodes, each has this many peers as a source and this many as a target."""
WATCHERS = Bounds().watchers
"""The most nodes of a node pool that watch a changing Service."""

Pair = tuple[NodeFacts, NodeFacts]


def watchers(pool: Sequence[NodeFacts], seed: int) -> tuple[NodeFacts, ...]:
    """Return the nodes of a pool that watch, in the pool's order; the first one always does."""
    if len(pool) <= WATCHERS:
        return tuple(pool)
    shuffled = random.Random(seed)  # noqa: S311 - which nodes watch is no secret
    chosen = {0, *shuffled.sample(range(1, len(pool)), WATCHERS - 1)}
    return tuple(node for place, node in enumerate(pool) if place in chosen)


def turn_of(*words: str) -> int:
    """Return a flow's shift between sources and targets: differs by flow, not by run."""
    return zlib.crc32("/".join(words).encode())


def cover(sources: Sequence[NodeFacts], targets: Sequence[NodeFacts], turn: int) -> Iterator[Pair]:
    """Yield pairs of different nodes in which each source and each target occurs, by source.

    A node without another one to meet yields nothing.
    """
    alike = list(sources) == list(targets)
    shift = 1 + turn % max(1, len(targets) - 1) if alike else turn
    for number in range(max(len(sources), len(targets))):
        source = sources[number % len(sources)]
        at = [targets[(number + shift + further) % len(targets)] for further in (0, 1)]
        target = next((node for node in at if node.name != source.name), None)
        if target is not None:
            yield source, target


def every(
    sources: Sequence[NodeFacts],
    targets: Sequence[NodeFacts],
    nodes: Sequence[NodeFacts],
    seed: int,
    turn: int,
    *,
    once: bool = False,
) -> Iterator[Pair]:
    """Yield the ordered pairs of different nodes, by source: all, or those of a regular graph.

    The cover adds nodes that the graph leaves out. With ``once``, one direction of each pair is
    enough, as answers take the same path; each node is about equally often source and target.
    """
    chosen: set[tuple[str, str]] | None = None
    covered = {(source.name, target.name) for source, target in cover(sources, targets, turn)}
    if len(nodes) > EVERY_PAIR:
        chosen = {*graph(tuple(node.name for node in nodes), seed), *covered}
    for source in sources:
        for target in targets:
            names = (source.name, target.name)
            if source.name == target.name or (chosen is not None and names not in chosen):
                continue
            if not once or names in covered or _forwards(*names):
                yield source, target


def _forwards(source: str, target: str) -> bool:
    """Whether this is the direction in which a pair is tested once."""
    return (source < target) is bool(turn_of(*sorted((source, target))) % 2)


def graph(names: tuple[str, ...], seed: int) -> Iterator[tuple[str, str]]:
    """Yield each node paired with those at a few distances ahead in a shuffled ring."""
    shuffled = random.Random(seed)  # noqa: S311 - which pairs are tested is no secret
    ring = list(names)
    shuffled.shuffle(ring)
    ahead = shuffled.sample(range(1, len(ring)), PEERS)
    for place, name in enumerate(ring):
        for distance in ahead:
            yield name, ring[(place + distance) % len(ring)]
