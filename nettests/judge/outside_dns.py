"""Results of names that depend on a name server outside the cluster, which this cluster does not answer for.

The first stage of judging one check: what such a server withheld is no failure of the cluster.
"""

from dataclasses import replace

from nettests.model.check import Check
from nettests.model.expectation import Expected
from nettests.model.observation import Attempt, Observation
from nettests.model.target_kinds import Naming
from nettests.model.words import OS, Outcome, Resolver

NOT_FOUND = frozenset({Outcome.NXDOMAIN, Outcome.SERVFAIL, Outcome.TIMED_OUT})


def read_as_denied(check: Check, observation: Observation) -> Observation:
    """Read an outcome as ``nxdomain`` if only the cluster DNS's upstream withheld that answer."""
    if not _leaves_the_domain(check) or observation.outcome not in NOT_FOUND:
        return observation
    attempts = tuple(_denied(attempt) for attempt in observation.attempts)
    return replace(
        observation,
        outcome=Outcome.NXDOMAIN,
        attempts=attempts,
        agreed=len({attempt.outcome for attempt in attempts}) == 1,
    )


def _leaves_the_domain(check: Check) -> bool:
    """Whether a query for the name reaches a name server outside the cluster, at once or later.

    The DNS client of Windows takes a name with a dot as it is; only nslookup goes on to the
    suffixes (Kubernetes documentation, "DNS resolution on Windows nodes").
    """
    form, action = check.target.name_form or "", check.action
    if form.endswith("."):
        return False
    if check.target.descriptor.naming is Naming.ABSENT:
        return True
    final = (
        action.source.os is OS.WINDOWS and action.resolver is not Resolver.NSLOOKUP and "." in form
    )
    return final and check.target.descriptor.naming is Naming.CLUSTER and "{domain}" not in form


def _denied(attempt: Attempt) -> Attempt:
    return replace(attempt, outcome=Outcome.NXDOMAIN) if attempt.outcome in NOT_FOUND else attempt


BEFORE_THE_SUFFIXES = (
    "nslookup tries the bare name first and goes on to the suffixes after a denial alone, which the cluster's upstream did "
    "not give"
)


def kept_from_the_suffixes(
    check: Check, expected: Expected | None, observation: Observation
) -> str:
    """Return why nslookup never tried the suffixes that a name needs to resolve, or nothing.

    BIND's nslookup goes on only after NXDOMAIN (``bin/dig/dighost.c``).
    """
    form, action = check.target.name_form or "", check.action
    walks = action.source.os is OS.WINDOWS and action.resolver is Resolver.NSLOOKUP
    partial = "." in form.rstrip(".") and not form.endswith(".") and "{domain}" not in form
    if not walks or not partial or check.target.descriptor.naming is not Naming.CLUSTER:
        return ""
    if expected is None or expected.outcome is not Outcome.RESOLVED:
        return ""
    kept = {attempt.outcome for attempt in observation.attempts} <= {
        Outcome.SERVFAIL,
        Outcome.TIMED_OUT,
    }
    return BEFORE_THE_SUFFIXES if kept and observation.attempts else ""
