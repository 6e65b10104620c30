"""Observations where the documents leave the outcome open: known bugs, and outcomes they rule out.

Used by ``verdicts``; pure.
"""

from nettests.model.expectation import Expectation, Expected, KnownBug
from nettests.model.observation import Observation


def showing(expectation: Expectation, observation: Observation) -> tuple[KnownBug, ...]:
    """Return the known bugs of an open expectation that the observation shows, in order."""
    return tuple(bug for bug in expectation.known_bugs if _seen(bug.shows, observation))


def is_allowed(expectation: Expectation, observation: Observation) -> bool:
    """Whether the documents allow an outcome that they leave open.

    They never allow that no connection succeeds where only those beyond a number may fail.
    """
    if observation.flows is not None and not observation.flows.connected:
        return False
    return not expectation.among or observation.outcome in expectation.among


def _seen(shows: Expected, observation: Observation) -> bool:
    if not shows.outcome.positive:
        return any(attempt.outcome in shows.outcomes for attempt in observation.attempts)
    return (
        observation.outcome in shows.outcomes
        and shows.source_seen in {None, observation.source_seen, *observation.sources_seen}
        and shows.distribution in {None, observation.distribution}
    )
