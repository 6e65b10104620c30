"""How many connections of one client were made of so many, and whether there were no more from a number on. Pure.

Made by ``parse.many_flows``; read by ``judge`` and reports. That single connections are lost on the way is another
question (``loss``): what runs out, a pool of ports or a table of flows, fails from a number on.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCount:
    """``connected`` of ``tried`` connections were answered, of ``wanted`` in all, ``before`` so many before the first that
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
