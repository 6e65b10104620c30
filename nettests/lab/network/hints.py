"""Topology hints: which backends a node's proxy keeps, after kube-proxy's ``CategorizeEndpoints``. Pure.

Hints count where the node has a zone, every backend has hints, and one of them is for that zone. Services with a
policy Local are left unchanged.
"""

from dataclasses import replace

from nettests.lab.topology import ServicePort, ServiceTable


def within_zone(table: ServiceTable, zone: str) -> ServiceTable:
    """Return the Service ports as a proxy that honours hints has them in ``zone``."""
    return tuple(_in_zone(port, zone) for port in table) if zone else table


def _in_zone(port: ServicePort, zone: str) -> ServicePort:
    local = port.external_traffic_local or port.internal_traffic_local
    near = tuple(backend for backend in port.backends if zone in backend.zones)
    hinted = port.topology_aware and all(backend.zones for backend in port.backends)
    return replace(port, endpoints=near) if hinted and near and not local else port
