"""The journal that a watch writes to, as the tests of runs give it one."""

from nettests.session.journal import Journal
from nettests.session.judging import Judging


def journal_of(judging: Judging) -> Journal:
    """Return the journal of a run's watch; that of a round has none."""
    assert isinstance(judging.journal, Journal)
    return judging.journal
