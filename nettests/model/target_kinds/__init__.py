"""Target kinds: one descriptor each, listed nowhere else.

A descriptor says who owns the target, where it is, what proves that it exists, and how it is named;
planning, probes, verdicts and reports read it. ``kinds.yaml`` has a row for each kind, and every
``match`` over a descriptor's words is exhaustive: a new word is a type error until all places
handle it, and a kind without a row fails on import. ``plan.targets`` makes targets,
``probes.addresses`` finds their addresses.
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
