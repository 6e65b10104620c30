"""Target kinds: one descriptor for each, and no other place lists them.

A descriptor says who owns the target, where it is found, what proves that it exists, and how it is named; planning,
probes, verdicts and reports read it. ``kinds.yaml`` has a row for each kind, and every ``match`` over the words of a
descriptor is exhaustive: a new word is a type error until every place has decided, and a kind without a row an error of
every command. ``plan.targets`` makes targets, ``probes.addresses`` finds their addresses.
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
