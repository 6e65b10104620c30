"""Node pools whose Pods need not have both IP families of a cluster, by limitation. Pure."""

from collections.abc import Iterable, Mapping

from nettests.model.check import Check
from nettests.model.expectation import Expectation

RULE = "pod-families"
"""The rule of configuration that tests whether Pods have both."""


def documented(
    checks: Iterable[Check], expectations: Mapping[str, Expectation]
) -> Mapping[str, str]:
    """Return the limitation that says so, or leaves it open, by node pool.

    Where the run does not request the families of Pods nothing is known, and no node pool is named.
    """
    limitations: dict[str, str] = {}
    for check in checks:
        limitation = expectations[check.id].limitation
        actions = check.action.case is not None and check.action.case.label == RULE
        if actions and limitation is not None and check.source.pool is not None:
            limitations[check.source.pool] = limitation.id
    return limitations
