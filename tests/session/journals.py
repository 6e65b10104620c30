"""The journal that a watch writes to, as the tests of runs give it one."""

from nettests.session.journal import Journal
from nettests.session.watch import Watch


def journal_of(watch: Watch) -> Journal:
    """Return the journal of a run's watch; that of a round has none."""
    assert isinstance(watch.journal, Journal)
    return watch.journal
