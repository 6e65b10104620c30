"""Several red checks of one flow on one node that have no path: Pods of their own that do not do what they must.

Beside ``evidence``. Nothing tells what they share but where they are red, so another check that is green there
contradicts nothing, and whatever else explains as many of them comes first.
"""

from collections.abc import Iterable, Iterator, Mapping

from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import Kind, Trait
from nettests.report.results import CheckResult

_TOLD_BY_PACKETS = frozenset({Kind.NEW_PODS, Kind.DNS})
"""What a check without a path of its own may be about all the same."""


def without_path(
    red: Mapping[str, CheckResult], evidence: Iterable[Evidence]
) -> Iterator[Evidence]:
    """Yield, for each red check that nothing but its own case decided, its flow and its node."""
    for clue in evidence:
        kinds = {trait.kind for trait in clue.traits}
        if not clue.red or Kind.RULE not in kinds or kinds & _TOLD_BY_PACKETS:
            continue
        check = red[clue.check].check
        if check is not None and check.source.node:
            traits = {Trait(Kind.FLOW, check.flow), Trait(Kind.ON_NODE, check.source.node)}
            yield Evidence(check=clue.check, traits=frozenset(traits), red=True)
