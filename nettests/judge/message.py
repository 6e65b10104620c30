"""The text of a judgement: ``<subject> - <what> - expected X, observed Y``, then why.

Used by ``verdicts``. One line each, enough to act on without the evidence.
"""

from dataclasses import replace

from nettests.model.check import Check
from nettests.model.expectation import AppliedLimitation, Expectation, Expected
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
    "nslookup asks for the bare name first, and tries the DNS suffixes only after the answer “no such name”, which the "
    "upstream server did not give"
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


UNSPECIFIED = "unspecified"
NOT_JUDGED = "cannot be judged: "


def expected_text(expectation: Expectation) -> str:
    """Return the expected outcome as text."""
    if expectation.undecided:
        return f"undecided: {expectation.undecided}"
    return str(expectation.expected) if expectation.expected else UNSPECIFIED


def observed_text(observation: Observation) -> str:
    """Return the observed outcome as text, with the source address seen and the backends."""
    outcomes = [attempt.outcome.value for attempt in observation.attempts]
    figure = observation.flows or observation.loss or observation.path_size or observation.figure
    if figure is not None:
        parts = [f"{observation.outcome.value}, {figure}"]
    elif observation.differing_ports:
        parts = [
            f"{port.outcome.value} at port {port.port}" for port in observation.differing_ports
        ]
    elif len(set(outcomes)) > 1:
        parts = [" then ".join(_runs(outcomes))]
    else:
        parts = [observation.outcome.value]
    if observation.source_seen is not None:
        parts.append(f"source = {observation.source_seen.value} ({observation.server_saw})")
    if observation.witnessed and all(witnessed.agree for witnessed in observation.witnessed):
        subjects = ", ".join(witnessed.subject.value for witnessed in observation.witnessed)
        parts.append(f"witnessed on the wire: {subjects}")
    if observation.distribution is not None:
        parts.append(f"{observation.distribution.value} ({', '.join(observation.backends)})")
    return ", ".join(parts)


def sentence(check: Check, expected: str, observed: str, why: str) -> str:
    """Return the message of a judgement."""
    if why.startswith(NOT_JUDGED):  # an untrusted observation proves nothing
        return " ".join(f"{check.title} - {check.flow} - {why}".split())
    head = f"{check.title} - {check.flow} - {_compared(expected, observed)}"
    return " ".join(f"{head}: {why}".split()) if why else head


_COMPARED = {
    (Outcome.CONFORMS, Outcome.CONFORMS): "as documented",
    (Outcome.CONFORMS, Outcome.DEVIATES): "not as documented",
    (Outcome.DEVIATES, Outcome.DEVIATES): "deviates, as expected",
    (Outcome.DEVIATES, Outcome.CONFORMS): "expected to deviate, and does not",
}
"""What is read or started, and compared with what documents say of it."""


def _compared(expected: str, observed: str) -> str:
    if expected == UNSPECIFIED:
        return f"observed {observed}"
    if words := _COMPARED.get((expected, observed)):
        return words
    wanted = {"conforms": "the documented result", "deviates": "a deviation"}.get(
        expected, expected
    )
    return f"expected {wanted}, observed {observed}"


def last_detail(observation: Observation) -> str:
    """Return the detail of the last failed attempt that was not ignored; empty if none failed."""
    negative = [
        attempt
        for attempt in observation.attempts
        if not (attempt.outcome.positive or attempt.overloaded)
    ]
    return negative[-1].detail if negative else ""


def _runs(words: list[str]) -> list[str]:
    runs: list[tuple[str, int]] = []
    for word in words:
        if runs and runs[-1][0] == word:
            runs[-1] = (word, runs[-1][1] + 1)
        else:
            runs.append((word, 1))
    return [word if count == 1 else f"{word} ×{count}" for word, count in runs]


def documented(limitation: AppliedLimitation | None, how: str = "as documented by") -> str:
    """Return the limitation's id and sources, or that the documents leave the outcome open."""
    if limitation is None:
        return "the documents leave it open"
    sources = "; ".join(str(source) for source in limitation.sources)
    return f"{how} {limitation.id} ({sources})"
