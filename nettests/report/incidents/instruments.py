"""Instruments that are not understood: their checks are unknown, whatever the network does.

Beside ``evidence`` and ``phrases``. The reason of the check or of its control names instrument and node; one incident has
those of one node pool, whose nodes are of a kind.
"""

from collections.abc import Sequence

from nettests.judge.distrust import Instrument, instrument
from nettests.report.incidents.settings import listed
from nettests.report.results import CheckResult


def distrusted(result: CheckResult) -> Instrument | None:
    """Return the instrument without which a check cannot be judged, if that is the reason of it or of its control."""
    controls = result.observation.controls if result.observation else ()
    reasons = (result.distrust, *(control.detail for control in controls if not control.ok))
    return next(filter(None, map(instrument, reasons)), None)


def cause(results: Sequence[CheckResult]) -> str:
    """Return which instrument is not understood on which nodes, and what was read on the first of them."""
    lacking = [each for each in map(distrusted, results) if each is not None]
    first, nodes = lacking[0], sorted({each.node for each in lacking})
    return f"{first.name} on {listed(nodes)} {first.how}"
