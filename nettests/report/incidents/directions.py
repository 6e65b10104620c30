"""Which of two directions between nodes is cut, where servers' logs tell it.

Beside ``find``: silence alone is the same for a question that is lost and for its answer. A datagram that arrived and was
not answered lost its answer; one that did not arrive was lost itself. Where all logs name the same direction,
an incident of the pair becomes one of that direction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nettests.parse.arrival import arrived
from nettests.report.incidents.search import Explanation
from nettests.report.incidents.traits import Kind, Trait
from nettests.report.results import CheckResult

_OF_PAIRS = {
    Kind.LINK: Kind.DIRECTION,
    Kind.DIRECTION: Kind.DIRECTION,
    Kind.POD_PAIR: Kind.POD_ROUTE,
    Kind.POD_ROUTE: Kind.POD_ROUTE,
}
"""What speaks of two nodes, and what speaks of one direction between them."""


def lost_directions(results: Sequence[CheckResult]) -> frozenset[str]:
    """Return the directions in which datagrams of these checks were lost, as far as servers' logs say: ``a → b``."""
    return frozenset(_lost(results))


def directed(explanation: Explanation, results: Sequence[CheckResult]) -> Explanation:
    """Return an explanation by a pair of nodes as one by the direction that is cut, where that is known."""
    ways = lost_directions(results)
    if len(ways) != 1:
        return explanation
    (way,) = ways
    traits = tuple(
        Trait(_OF_PAIRS[trait.kind], way) if trait.kind in _OF_PAIRS else trait
        for trait in explanation.traits
    )
    return replace(explanation, traits=traits)


def _lost(results: Sequence[CheckResult]) -> Iterator[str]:
    for result in results:
        has_arrived = arrived(result.raws)
        if has_arrived is None or result.check is None:
            continue
        start, end = result.check.source.node, result.check.target.node
        yield f"{end} → {start}" if has_arrived else f"{start} → {end}"
