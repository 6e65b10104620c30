"""Incidents of configuration rules that are not met. Pure.

Beside ``evidence``. A rule states the fault itself; nothing is inferred from packets, and
conforming nodes contradict nothing, so only red checks have these traits.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nettests.model.words import Outcome, Question, Verdict
from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import Kind, Trait
from nettests.report.results import CheckResult

_TOLD_BY_PACKETS = frozenset({Kind.NEW_PODS, Kind.DNS})
"""Traits that a check without a path of its own may still have."""


def without_path(
    red: Mapping[str, CheckResult], evidence: Iterable[Evidence]
) -> Iterator[Evidence]:
    """Yield the flow and node of each red check that only its own case decided."""
    for clue in evidence:
        kinds = {trait.kind for trait in clue.traits}
        if not clue.red or Kind.RULE not in kinds or kinds & _TOLD_BY_PACKETS:
            continue
        check = red[clue.check].planned
        if check.source.node:
            traits = {Trait(Kind.FLOW, check.flow), Trait(Kind.ON_NODE, check.source.node)}
            yield Evidence(check=clue.check, traits=frozenset(traits), red=True)


CLUSTER = "the cluster"
"""Owner of settings that belong to no node."""


def deviations(red: Sequence[CheckResult]) -> Iterator[Evidence]:
    """Yield, for each configuration rule that is not met, whose settings it inspected."""
    for result in red:
        check, seen = result.planned, result.observation
        failed = result.verdict is Verdict.FAIL and check.action.question is Question.INSPECT
        if failed and seen is not None and seen.outcome is Outcome.DEVIATES:
            trait = Trait(Kind.SETTINGS, check.source.node or CLUSTER)
            yield Evidence(check=result.id, traits=frozenset({trait}), red=True)


def rules_of(results: Sequence[CheckResult]) -> tuple[str, ...]:
    """Return the names of the rules that these checks are about, in order."""
    cases = (result.planned.action.case for result in results)
    return tuple(dict.fromkeys(case.label for case in cases if case))
