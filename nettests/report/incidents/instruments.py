"""Instruments that are not understood: their checks are unknown, whatever the network does.

Beside ``evidence`` and ``phrases``. The reason of the check or of its control names instrument and node; one incident has
those of one node pool, whose nodes are of a kind.
"""

from collections.abc import Iterator, Sequence

from nettests.judge.distrust import Instrument, instrument
from nettests.report.incidents.settings import listed
from nettests.report.incidents.traits import Kind, Trait
from nettests.report.results import CheckResult


def reasons(result: CheckResult) -> Iterator[str]:
    """Yield why a check cannot be judged, and why its controls failed."""
    yield result.distrust
    if result.observation is not None:
        yield from (control.detail for control in result.observation.controls if not control.ok)


def distrusted(result: CheckResult) -> Instrument | None:
    """Return the instrument without which a check cannot be judged, if that is the reason."""
    return next(filter(None, map(instrument, reasons(result))), None)


def trait_of(result: CheckResult) -> Trait | None:
    """Return the instrument and the node pool in which it is not understood, if that is why a check is unknown."""
    lacking, check = distrusted(result), result.check
    if lacking is None or check is None:
        return None
    sources = (action.source for action in check.actions if action.source.node == lacking.node)
    pool = next((source.pool for source in sources), None)
    return Trait(Kind.INSTRUMENT, f"{lacking.name} of {pool or lacking.node}")


def cause(results: Sequence[CheckResult]) -> str:
    """Return which instrument is not understood on which nodes, and what was read on the first of them."""
    lacking = [each for each in map(distrusted, results) if each is not None]
    first, nodes = lacking[0], sorted({each.node for each in lacking})
    return f"{first.name} on {listed(nodes)} {first.how}"
