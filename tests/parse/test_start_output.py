"""Output of a program in a new Pod that did not come shows nothing of the Pod."""

from nettests.model.words import Outcome
from tests.parse.test_start import READY, attempt


def test_a_program_that_printed_nothing_shows_nothing() -> None:
    """Its output may have been lost on the way: only another output than the one that is planned deviates."""
    for said, outcome in (("", Outcome.PROBE_FAILED), ("other", Outcome.DEVIATES)):
        then = {"exit_code": 0, "stdout": said, "stderr": ""}
        read = attempt({"status": READY, "then": then}, then="exec", says="witness")
        assert read.outcome is outcome
