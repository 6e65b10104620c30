"""What each rule of configuration needs to be allowed: its readings, and the requests that take them.

Joins ``parse`` (which rule needs which readings) with ``probes`` (how a reading is taken) for planning, which knows
neither. Pure.
"""

from nettests.plan.permits import Reads
from nettests.probes.readings import PERMISSIONS
from nettests.rules import RULES

READS: Reads = {
    name: tuple(
        dict.fromkeys(
            permission
            for reading in rule.readings
            if (permission := PERMISSIONS.get(reading)) is not None
        )
    )
    for name, rule in RULES.items()
}
"""By the rule's name, which is the label of its case."""
