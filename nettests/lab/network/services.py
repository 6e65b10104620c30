"""Service tables as the rules of a node need them. Pure; shared by both systems."""

from nettests.lab.topology import ServiceTable

PROTOCOLS = frozenset({"TCP", "UDP"})
"""What is load-balanced; SCTP is not supported on Windows, where HNS shows an object of it, and not emulated on Linux."""


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
