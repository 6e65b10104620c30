"""What lies around a failing check, collected while it still stands: objects, events, logs, nodes' own state.

``subjects`` chooses what to look at (pure), ``redaction`` takes secrets out (pure), ``steps`` says what is read
of each subject, ``collect`` reads it within bounds and writes it down. The cluster is met through protocols;
nothing here judges, repairs or changes anything.
"""

from nettests.diagnose.collect import Collected, Collector, Written, index
from nettests.diagnose.redaction import Redactor
from nettests.diagnose.steps import Item, Reader
from nettests.diagnose.subjects import Subject, Wanted, chosen, subjects_of

__all__ = [
    "Collected",
    "Collector",
    "Item",
    "Reader",
    "Redactor",
    "Subject",
    "Wanted",
    "Written",
    "chosen",
    "index",
    "subjects_of",
]
