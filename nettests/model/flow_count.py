"""How many connections of one client were made of so many, and whether there were no more from a number on. Pure.

Made by ``parse.many_flows``; read by ``judge`` and reports. That single connections are lost on the way is another
question (``loss``): what runs out, a pool of ports or a table of flows, fails from a number on.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCount:
    """``connected`` of ``tried`` connections were answered, of ``wanted`` in all; where it ``ran_out`` no more were."""

    wanted: int
    tried: int
    connected: int
    ran_out: bool

    def __str__(self) -> str:
        """Return it for people: ``1,488 connections of 2,000, and none after that``."""
        if self.ran_out:
            return f"{self.connected:,} connections of {self.wanted:,}, and none after that"
        return f"{self.connected:,} of {self.tried:,} connected"
