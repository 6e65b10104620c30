"""Diagnostics of a failing check, collected before clean-up: objects, events, logs, nodes' own state.

``subjects`` chooses what to look at (pure), ``steps`` says what is read of each subject, without its secrets
(``redaction``), ``collect`` reads it within limits and writes it down. The cluster is used through protocols; nothing
here judges, repairs or changes anything.
"""

from nettests.diagnose.collect import Collected, Collector, Written, index
from nettests.diagnose.steps import Item, Reader
from nettests.diagnose.subjects import Subject, Wanted, chosen, subjects_of

__all__ = [
    "Collected",
    "Collector",
    "Item",
    "Reader",
    "Subject",
    "Wanted",
    "Written",
    "chosen",
    "index",
    "subjects_of",
]
