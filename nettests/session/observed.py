"""What a waiting test reads back: the observation of its check, from the journal's raw answers.

The reading side of a run, in whatever process; it parses and adds what distrusts the answers.
"""

from dataclasses import replace

from nettests.model.check import Check
from nettests.model.observation import Observation
from nettests.model.words import Outcome
from nettests.parse import observe
from nettests.session.journal import Finished

PATIENCE = 3600.0
"""Seconds that a test waits at most; a writer that died is noticed at once."""


def observed(check: Check, finished: Finished) -> Observation:
    """Return the observation of a check that was not skipped, distrusted where the journal says so."""
    if not finished.raws:
        return Observation(
            check=check.id,
            outcome=Outcome.PROBE_FAILED,
            agreed=True,
            attempts=(),
            trusted=False,
            distrust=finished.distrust or "nothing was asked",
        )
    observation = replace(observe(check, finished.raws), late=finished.late, resent=finished.resent)
    if finished.distrust is None:
        return observation
    return replace(observation, trusted=False, distrust=finished.distrust)
