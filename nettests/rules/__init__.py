"""Documented rules of configuration, each one value: what it is about, what it reads, what it demands, what to do.

A module holds the rules of one topic, with the readings that they share. ``RULES`` is the one table of them: the
label of an ``INSPECT`` case names its rule. Planning checks a rule's subjects and the permissions of its
readings; ``probes.configuration`` takes the readings and writes down what is kept of them; ``parse.inspection`` reads
what its demand finds; ``judge`` tells the remedy. Everything here is pure.
"""

from nettests.rules.evidence import Evidence, Finding, NothingThereError, UnreadableError
from nettests.rules.readings import reduced
from nettests.rules.rule import Rule
from nettests.rules.table import RULES

__all__ = [
    "RULES",
    "Evidence",
    "Finding",
    "NothingThereError",
    "Rule",
    "UnreadableError",
    "reduced",
]
