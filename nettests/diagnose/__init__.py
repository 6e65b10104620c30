"""Diagnostics of failing checks, collected before clean-up: objects, events, logs, node state.

``subjects`` chooses what to look at (pure), ``steps`` reads each subject, without secrets
(``redaction``), ``collect`` runs the steps within limits and writes files. The cluster is used
through protocols; nothing here judges or changes anything.
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
