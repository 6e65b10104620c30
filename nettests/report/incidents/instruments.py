"""Instruments that are not understood: their checks are unknown, whatever the network does.

Beside ``evidence`` and ``phrases``. The reason of the check or of its control names instrument and node; one incident has
those of one node pool, whose nodes are of a kind.
"""

from collections.abc import Sequence

from nettests.judge.distrust import Instrument, instrument
from nettests.model.calibration import NOT_UNDERSTOOD
from nettests.report.incidents.settings import listed
from nettests.report.results import CheckResult


def distrusted(result: CheckResult) -> Instrument | None:
    """Return the instrument without which a check cannot be judged, if that is the reason of it or of its control.

    It missed its calibration, or printed for this check what no parser knows.
    """
    seen, check = result.observation, result.check
    controls = seen.controls if seen else ()
    reasons = (result.distrust, *(control.detail for control in controls if not control.ok))
    texts = [each for each in seen.attempts if each.unread] if seen and not seen.trusted else []
    unread = (
        Instrument(each.unread, node, f"{NOT_UNDERSTOOD}: {each.detail}")
        for each in texts
        if check and (node := check.source.node or check.target.node)
    )
    return next(filter(None, (*map(instrument, reasons), *unread)), None)


def cause(results: Sequence[CheckResult]) -> str:
    """Return which instrument is not understood on which nodes, and what was read on the first of them."""
    lacking = [each for each in map(distrusted, results) if each is not None]
    first, nodes = lacking[0], sorted({each.node for each in lacking})
    return f"{first.name} on {listed(nodes)} {first.how}"
