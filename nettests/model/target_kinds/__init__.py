"""What is true of every target of a kind: whose it is, where it is found, what shows that it is there, how it is named.

One descriptor for each ``TargetKind``, and no other place lists the kinds: planning, probes, verdicts and reports
probe the descriptor. ``table`` is exhaustive, and so is every ``match`` over the words of a descriptor: a new kind,
or a new word, is a type error until each place that has to decide has decided. Targets are made in
``plan.targets`` and get their addresses in ``probes.addresses``.
"""

from nettests.model.target_kinds.descriptor import (
    Descriptor,
    Location,
    Naming,
    Owner,
    Proxy,
    ShownBy,
)
from nettests.model.target_kinds.table import descriptor

__all__ = ["Descriptor", "Location", "Naming", "Owner", "Proxy", "ShownBy", "descriptor"]
