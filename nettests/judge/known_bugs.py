"""Which known bugs, among those that leave an outcome open, were observed, and which outcomes may be.

Used by ``verdicts`` if the documents expect nothing. An entry says how its bug shows (``when_present``). One failed
attempt of that form is enough, because a bug may be intermittent. ``verdicts`` checks trust and controls.
"""

from nettests.model.expectation import Expectation, Expected, KnownBug
from nettests.model.observation import Observation


def showing(expectation: Expectation, observation: Observation) -> tuple[KnownBug, ...]:
    """Return the bugs of an open expectation that were observed, in the order of their entries."""
    return tuple(bug for bug in expectation.known_bugs if _seen(bug.shows, observation))


def is_allowed(expectation: Expectation, observation: Observation) -> bool:
    """Whether an open outcome is one that the documents allow for.

    None allows that no connection at all succeeds where it names a number beyond which connections fail.
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
