"""The Service rules of one node: which table it has, what is withheld, and whether it changed.

Shared by both systems. A rendered ruleset that equals the one in force is not loaded again, so that
a resync neither costs anything nor undoes what a person changed by hand.
"""

from collections.abc import Callable, Sequence

from nettests.lab.network.alterations import Alteration
from nettests.lab.topology import ServiceTable

PROTOCOLS = frozenset({"TCP", "UDP"})
"""What is load-balanced; SCTP is not supported on Windows, where HNS shows an object of it, and not emulated on Linux."""

Withheld = Callable[[str], bool]
"""Says of a Service port's ``key`` whether its rules are missing on the node."""


def nothing_withheld(_key: str) -> bool:
    """Program every Service."""
    return False


class ServiceRules:
    """Remembers the table, what is withheld from it, and what its proxy gets wrong."""

    def __init__(self) -> None:
        self._table: ServiceTable = ()
        self._withheld: Withheld = nothing_withheld
        self._alterations: tuple[Alteration, ...] = ()

    def replace(self, table: ServiceTable) -> ServiceTable:
        """Take a new table; return what to program."""
        self._table = table
        return self.programmed()

    def withhold(self, withheld: Withheld) -> ServiceTable:
        """Leave out the Service ports that ``withheld`` names; return what to program."""
        self._withheld = withheld
        return self.programmed()

    def alter(self, alterations: Sequence[Alteration]) -> ServiceTable:
        """Replace the alterations; return what to program."""
        self._alterations = tuple(alterations)
        return self.programmed()

    def programmed(self) -> ServiceTable:
        """Return what to program now."""
        table = self._table
        if self._withheld is not nothing_withheld:
            table = tuple(port for port in table if not self._withheld(port.key))
        for alteration in self._alterations:
            table = alteration(table)
        return table


def unchanged(old: ServiceTable, new: ServiceTable) -> ServiceTable:
    """Return ``new`` without the ports that ``old`` has with other endpoints."""
    before = {port.key: port.endpoints for port in old if port.endpoints}
    return tuple(port for port in new if before.get(port.key, port.endpoints) == port.endpoints)


def services_of(table: ServiceTable) -> set[tuple[str, str]]:
    """Return the Services of a table, by namespace and name."""
    return {(port.namespace, port.service) for port in table}


def carried(table: ServiceTable) -> ServiceTable:
    """Return the Service ports of the protocols that rules are made for."""
    return tuple(service for service in table if service.protocol in PROTOCOLS)
