"""Settings that deviate: rules of configuration that one node, or the cluster's objects, do not conform to.

Beside ``evidence``. What a rule read is what is wrong, word for word, and nothing has to be inferred from packets:
that others conform contradicts nothing, so the trait is of red checks alone.
"""

from collections.abc import Iterator, Sequence

from nettests.model.words import Outcome, Question, Verdict
from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import Kind, Trait
from nettests.report.results import CheckResult

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
