"""Which roles' Pods need not have both IP families of a cluster, by the limitations that decide there. Pure."""

from collections.abc import Iterable, Mapping

from nettests.model.check import Check
from nettests.model.expectation import Expectation

RULE = "pod-families"
"""The rule of configuration that asks whether Pods have both."""


def documented(
    checks: Iterable[Check], expectations: Mapping[str, Expectation]
) -> Mapping[str, str]:
    """Return the limitation that says so, or leaves it open, by role.

    Where the run does not ask for the families of Pods nothing is known, and no role is named.
    """
    found: dict[str, str] = {}
    for check in checks:
        limitation = expectations[check.id].limitation
        asks = check.ask.case is not None and check.ask.case.label == RULE
        if asks and limitation is not None and check.source.role is not None:
            found[check.source.role] = limitation.id
    return found
