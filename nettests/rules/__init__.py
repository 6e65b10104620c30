"""Documented rules of configuration: which readings each needs, and what it makes of them.

``RULES`` is the one table: the label of an ``INSPECT`` case names its rule. ``probes.inspect`` takes the
readings and writes them down; ``parse.inspection`` looks the rule up and calls it. A rule is a pure
function of recorded text: it finds that something conforms or deviates, or that it cannot be read.
"""

from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    Rule,
    UnreadableError,
)
from nettests.rules.table import RULES

__all__ = ["RULES", "Evidence", "Finding", "NothingThereError", "Rule", "UnreadableError"]
