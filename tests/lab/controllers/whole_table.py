"""The table of Service ports as a node programs it, of all Services and slices at once."""

from collections.abc import Iterable

from nettests.lab.client import Json
from nettests.lab.client.informer import key_of
from nettests.lab.controllers.service_table import (
    node_addresses,
    owner_of,
    place_of,
    service_ports,
)
from nettests.lab.topology import Profile, ServiceTable


def service_table(
    services: Iterable[Json], slices: Iterable[Json], profile: Profile
) -> ServiceTable:
    """Return all Service ports with their backends, sorted by key."""
    by_service: dict[str, list[Json]] = {}
    for item in slices:
        owner = owner_of(item)
        if owner is not None:
            by_service.setdefault(owner, []).append(item)
    nodes = node_addresses(profile)
    ports = [
        port
        for service in services
        for port in service_ports(service, by_service.get(key_of(service), ()), nodes)
    ]
    return tuple(sorted(ports, key=place_of))
