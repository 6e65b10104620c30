"""Checks that cannot be judged, whatever the network does: instruments that are not understood, Pods that end or never start.

Beside ``evidence`` and ``phrases``. The reason of the check or of its control names what is lacking, and its node. One incident
has the instrument of one node pool, whose nodes are of a kind.

Beside ``evidence``. Nothing tells what they share but where they are red, so another check that is green there
contradicts nothing, and whatever else explains as many of them comes first.

Beside ``evidence``. What a rule read is what is wrong, word for word, and nothing has to be inferred from packets:
that others conform contradicts nothing, so the trait is of red checks alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nettests.judge.distrust import Instrument, instrument, last_ending
from nettests.judge.not_started import not_started
from nettests.model.calibration import NOT_UNDERSTOOD
from nettests.model.visible import cut
from nettests.model.words import Outcome, Question, Verdict
from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import Kind, Trait
from nettests.report.results import CheckResult

REASON_LENGTH = 120


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


def cause(of: Mapping[Kind, str], results: Sequence[CheckResult]) -> str:
    """Return why nothing was seen that could be judged; empty if that is not so."""
    if Kind.INSTRUMENT in of:
        return _not_understood(results)
    if Kind.NOT_STARTED in of:
        return _not_started_cause(of[Kind.NOT_STARTED], results)
    if Kind.GONE_POD in of:
        how = next(filter(None, (last_ending(result.distrust) for result in results)), "")
        return f"Pod {of[Kind.GONE_POD]} was deleted or started again during the run{how}"
    return ""


def _not_understood(results: Sequence[CheckResult]) -> str:
    """Return which instrument is not understood on which nodes, and what was read on the first of them."""
    lacking = [each for each in map(distrusted, results) if each is not None]
    first, nodes = lacking[0], sorted({each.node for each in lacking})
    return f"{first.name} on {listed(nodes)} {first.how}"


def _not_started_cause(node: str, results: Sequence[CheckResult]) -> str:
    """Return which Pods did not start on a node, with the most frequent reason; a single one by name, if others started."""
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
    """Return why most of these checks are not trusted, for the end of a sentence; empty where they differ."""
    # sample: attempt 1: PowerShell left out what is below '@{AddressPrefix=10.244.3.0/24; GatewayAd'
    reasons = Counter(
        re.sub(r"^attempt \d+: ", "", result.distrust).partition(" '")[0]
        for result in results
        if result.distrust
    )
    most = reasons.most_common(1)
    return cut(most[0][0], REASON_LENGTH) if most and 2 * most[0][1] > len(results) else ""


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


CLUSTER = "the cluster"
"""Whose the settings are that belong to no node."""
_NAMED = 4
"""So many names stand in a sentence."""


def deviations(red: Sequence[CheckResult]) -> Iterator[Evidence]:
    """Yield, for each rule of configuration that is not met, whose settings it read."""
    for result in red:
        check, seen = result.check, result.observation
        if check is None or seen is None or check.action.question is not Question.INSPECT:
            continue
        if result.verdict is Verdict.FAIL and seen.outcome is Outcome.DEVIATES:
            trait = Trait(Kind.SETTINGS, check.source.node or CLUSTER)
            yield Evidence(check=result.id, traits=frozenset({trait}), red=True)


def rules_of(results: Sequence[CheckResult]) -> tuple[str, ...]:
    """Return the names of the rules that these checks are about, in their order."""
    cases = (result.check.action.case for result in results if result.check)
    return tuple(dict.fromkeys(case.label for case in cases if case))


def listed(names: Sequence[str]) -> str:
    """Return names as the end of a sentence; of many the first, and how many there are beside."""
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
