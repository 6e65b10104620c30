"""The words of a judgement: ``<subject> - <what> - expected X, observed Y``, then why.

Used by ``verdicts``. One line each, enough to act on without the evidence.
"""

from nettests.model.check import Check
from nettests.model.expectation import AppliedLimitation, Expectation
from nettests.model.observation import Observation

UNSPECIFIED = "unspecified"


def expected_text(expectation: Expectation) -> str:
    """Return the expected outcome in words."""
    if expectation.undecided:
        return f"undecided: {expectation.undecided}"
    return str(expectation.expected) if expectation.expected else UNSPECIFIED


def observed_text(observation: Observation) -> str:
    """Return the observed outcome in words, with the address that the server saw and the backends that answered."""
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
    head = f"{check.title} - {check.flow} - expected {expected}, observed {observed}"
    return " ".join(f"{head}: {why}".split()) if why else head


def last_detail(observation: Observation) -> str:
    """Return the text of the last failed attempt, for a negative result; ignored attempts do not count."""
    negative = [
        attempt
        for attempt in observation.attempts
        if not (attempt.outcome.positive or attempt.overloaded)
    ]
    return negative[-1].detail if negative else ""


def _runs(words: list[str]) -> list[str]:
    """Shorten repetitions: ``connected ×3``."""
    runs: list[tuple[str, int]] = []
    for word in words:
        if runs and runs[-1][0] == word:
            runs[-1] = (word, runs[-1][1] + 1)
        else:
            runs.append((word, 1))
    return [word if count == 1 else f"{word} ×{count}" for word, count in runs]


def documented(limitation: AppliedLimitation | None, how: str = "as documented by") -> str:
    """Return the entry and its sources, or that the documents leave the outcome open."""
    if limitation is None:
        return "the documents leave it open"
    sources = "; ".join(str(source) for source in limitation.sources)
    return f"{how} {limitation.id} ({sources})"
