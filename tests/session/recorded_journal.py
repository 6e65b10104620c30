"""A run's journal as a file → what a run judged again is made of."""

from pathlib import Path

from nettests.model.history import History
from nettests.session.journal import read_journal, understood
from nettests.session.rejudge import Recorded, recorded


def read_recorded(journal: Path) -> Recorded:
    """Read a journal; ``NettestsError`` when it is not one, or no run began."""
    records = read_journal(journal)
    with understood(journal):
        return recorded(History.of(records), journal)
