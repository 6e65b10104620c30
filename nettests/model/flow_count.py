"""How many connections of one client succeeded, and whether all failed from some number on. Pure.

``parse.many_flows`` makes it; ``judge`` and reports read it. Losses of single connections are counted elsewhere
(``loss``): an exhausted resource, such as a pool of ports or a flow table, fails from some number on.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCount:
    """``connected`` of ``tried`` connections were answered, of ``wanted`` in all; ``before`` is how many before the first that
    was not; ``ran_out`` says whether that is where they end.
    """

    wanted: int
    tried: int
    connected: int
    before: int
    ran_out: bool

    def __str__(self) -> str:
        """Return it for people: ``connections fail from about number 1,001 on, of 2,000``."""
        if self.ran_out:
            return f"connections fail from about number {self.before + 1:,} on, of {self.wanted:,}"
        return f"{self.connected:,} of {self.tried:,} connected"
