"""The text of a judgement: ``<subject> - <what> - expected X, observed Y``, then why.

The last stage of judging one check. One line each, enough to act on without the evidence.
"""

from collections.abc import Mapping

from nettests.judge.verdicts import NOT_JUDGED, Ruling
from nettests.model.check import Check
from nettests.model.expectation import Expectation
from nettests.model.observation import Observation
from nettests.model.verdict import Judgement
from nettests.model.words import Outcome

UNSPECIFIED = "unspecified"


def judgement_of(
    check: Check, expectation: Expectation, observation: Observation, ruling: Ruling, next_step: str
) -> Judgement:
    """Return the judgement that a ruling on a check comes to."""
    expected, observed = _expected_text(expectation), _observed_text(observation)
    limitation = expectation.limitation
    return Judgement(
        check=check.id,
        verdict=ruling.verdict,
        message=_sentence(check, expected, observed, ruling.why),
        expected=expected,
        observed=observed,
        limitation=ruling.limitation or (limitation.id if limitation else None),
        next_step=next_step,
    )


def _expected_text(expectation: Expectation) -> str:
    """Return the expected outcome as text."""
    if expectation.undecided:
        return f"undecided: {expectation.undecided}"
    return str(expectation.expected) if expectation.expected else UNSPECIFIED


def _observed_text(observation: Observation) -> str:
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


def _sentence(check: Check, expected: str, observed: str, why: str) -> str:
    """Return the message of a judgement."""
    if why.startswith(NOT_JUDGED):  # an untrusted observation proves nothing
        return " ".join(f"{check.title} - {check.flow} - {why}".split())
    head = f"{check.title} - {check.flow} - {_compared(expected, observed)}"
    return " ".join(f"{head}: {why}".split()) if why else head


_COMPARED: Mapping[tuple[str, str], str] = {
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


def _runs(words: list[str]) -> list[str]:
    runs: list[tuple[str, int]] = []
    for word in words:
        if runs and runs[-1][0] == word:
            runs[-1] = (word, runs[-1][1] + 1)
        else:
            runs.append((word, 1))
    return [word if count == 1 else f"{word} ×{count}" for word, count in runs]
