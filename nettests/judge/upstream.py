"""Names outside the cluster's domain: an answer about them is an answer of the cluster DNS's upstream.

A resolver that walks a search list ends outside the cluster: with the node's own suffixes, and with the bare name.
CoreDNS forwards those, and answers SERVFAIL, or nothing in time, if its upstream cannot be reached, as on a cluster
without internet access. The same holds for a partial name that Windows sends as it is. Such a name does not resolve
either; beside a control that resolves, this counts as a denial. A name that ends with a dot stays in the cluster's
domain, and never counts as such. nslookup on Windows sends the bare name first, and walks the suffixes only after a denial:
whatever keeps the denial back says nothing about the suffixes. Used by ``verdicts``.
"""

from dataclasses import replace

from nettests.model.check import Check
from nettests.model.expectation import Expected
from nettests.model.observation import Attempt, Observation
from nettests.model.target_kinds import Naming
from nettests.model.words import OS, Outcome, Resolver

NOT_FOUND = frozenset({Outcome.NXDOMAIN, Outcome.SERVFAIL, Outcome.TIMED_OUT})


def read_as_denied(check: Check, observation: Observation) -> Observation:
    """Return the observation with ``nxdomain`` if only the cluster DNS's upstream withheld that answer."""
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
    """Whether a name server outside the cluster is queried for the name, at first or in the end.

    The DNS client of Windows takes a name with a dot as it is, and only nslookup goes on to the suffixes
    (Kubernetes documentation, "DNS resolution on Windows nodes").
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
    """Return why nslookup never tried the suffixes with which a name should resolve, or nothing.

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
