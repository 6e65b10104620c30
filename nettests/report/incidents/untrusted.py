"""Checks that cannot be judged, whatever the network does: unknown instruments, failing Pods.

Beside ``evidence`` and ``phrases``. The reason of the check or its control names what is missing,
and its node. An instrument is one incident per node pool, whose nodes are alike.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from nettests.judge.distrust import Instrument, instrument, last_ending, not_started
from nettests.model.calibration import NOT_UNDERSTOOD
from nettests.model.visible import cut
from nettests.report.incidents.traits import Kind
from nettests.report.results import CheckResult

REASON_LENGTH = 120


def distrusted(result: CheckResult) -> Instrument | None:
    """Return the distrusted instrument that makes a check or its control unusable.

    It failed its calibration, or printed something that no parser knows.
    """
    seen, check = result.observation, result.planned
    controls = seen.controls if seen else ()
    reasons = (result.distrust, *(control.detail for control in controls if not control.ok))
    texts = [each for each in seen.attempts if each.unread] if seen and not seen.trusted else []
    unread = (
        Instrument(each.unread, node, f"{NOT_UNDERSTOOD}: {each.detail}")
        for each in texts
        if (node := check.source.node or check.target.node)
    )
    return next(filter(None, (*map(instrument, reasons), *unread)), None)


def cause(of: Mapping[Kind, str], results: Sequence[CheckResult]) -> str:
    """Return why nothing could be judged; empty if something could."""
    if Kind.INSTRUMENT in of:
        return _not_understood(results)
    if Kind.NOT_STARTED in of:
        return _not_started_cause(of[Kind.NOT_STARTED], results)
    if Kind.GONE_POD in of:
        how = next(filter(None, (last_ending(result.distrust) for result in results)), "")
        return f"Pod {of[Kind.GONE_POD]} was deleted or restarted during the run{how}"
    return ""


def _not_understood(results: Sequence[CheckResult]) -> str:
    lacking = [each for each in map(distrusted, results) if each is not None]
    first, nodes = lacking[0], sorted({each.node for each in lacking})
    how = first.how.replace(f": {first.name}: ", ": ", 1)
    return f"{first.name} on {listed(nodes)} {how}"


def _not_started_cause(node: str, results: Sequence[CheckResult]) -> str:
    failures = {failure for result in results if (failure := not_started(result.distrust))}
    pods, reasons = (
        {failure.pod for failure in failures},
        Counter(failure.reason for failure in failures),
    )
    why = f": {reasons.most_common(1)[0][0]}" if reasons else ""
    if len(pods) == 1 and not any(failure.of_node for failure in failures):
        return f"Pod {pods.pop()} of the run does not start on {node}{why}"
    return f"Pods of the run do not start on {node}{why}"


def shared_reason(results: Sequence[CheckResult]) -> str:
    """Return why most of these checks are not trusted, for a sentence; empty if they differ."""
    # sample: attempt 1: PowerShell left out what is below '@{AddressPrefix=10.244.3.0/24; GatewayAd'
    reasons = Counter(
        re.sub(r"^attempt \d+: ", "", result.distrust).partition(" '")[0]
        for result in results
        if result.distrust
    )
    most = reasons.most_common(1)
    return cut(most[0][0], REASON_LENGTH) if most and 2 * most[0][1] > len(results) else ""


_NAMED = 4
"""Names listed in a sentence."""


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence; the first few, and how many more there are."""
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
