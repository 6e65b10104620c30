"""The Service rules of one node: which table it has, what is withheld, and whether it changed.

Shared by both systems. A rendered ruleset that equals the one in force is not loaded again, so that
a resync neither costs anything nor undoes what a person changed by hand.
"""

from collections.abc import Callable

from nettests.lab.topology import ServiceTable

PROTOCOLS = frozenset({"TCP", "UDP"})
"""What is load-balanced; SCTP is not supported on Windows, where HNS shows an object of it, and not emulated on Linux."""

Withheld = Callable[[str], bool]
"""Says of a Service port's ``key`` whether its rules are missing on the node."""


def nothing_withheld(_key: str) -> bool:
    """Program every Service."""
    return False


class ServiceRules:
    """Remembers the table and what is withheld from it."""

    def __init__(self) -> None:
        self._table: ServiceTable = ()
        self._withheld: Withheld = nothing_withheld

    def replace(self, table: ServiceTable) -> ServiceTable:
        """Take a new table; return what to program."""
        self._table = table
        return self._programmed()

    def withhold(self, withheld: Withheld) -> ServiceTable:
        """Leave out the Service ports that ``withheld`` names; return what to program."""
        self._withheld = withheld
        return self._programmed()

    def _programmed(self) -> ServiceTable:
        return tuple(one for one in self._table if not self._withheld(one.key))


def carried(table: ServiceTable) -> ServiceTable:
    """Return the Service ports of the protocols that rules are made for."""
    return tuple(service for service in table if service.protocol in PROTOCOLS)
