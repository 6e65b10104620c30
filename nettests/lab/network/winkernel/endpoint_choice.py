"""Which endpoints of a Service port kube-proxy on Windows balances to, and at which port. Pure.

Readiness, termination and traffic policies decide, then whether HNS has an endpoint for the address.
``proxier`` makes load balancers of the choice.
"""

from collections.abc import Collection
from dataclasses import dataclass

from nettests.lab.network.thresholds import SwitchFeatures
from nettests.lab.network.winkernel.load_balancer import Host
from nettests.lab.topology import Address, Backend, ServicePort

Reference = tuple[str, Backend]
"""Id of the HNS endpoint, and its backend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The backends of one Service port on one node."""

    backends: tuple[Reference, ...]
    local: tuple[Reference, ...]
    """Backends with a local HNS endpoint, whatever node their EndpointSlice names."""
    internal_port: int
    """The port at which all are dialled."""
    outside: bool
    """A backend is a node or not a Pod: load balancers then rewrite sources to the node's own address."""
    remote: frozenset[Address]
    """Addresses of backends for which kube-proxy creates remote HNS endpoints."""
    borrowed: tuple[Backend, ...] = ()
    """Backends whose slice names this node, while HNS has only a remote endpoint for their address."""
    available: bool
    """Load balancers for clients from outside may be created; existing ones stay in any case."""


def choose(
    service: ServicePort,
    host: Host,
    remote: Collection[Address],
    features: SwitchFeatures,
    internal_port: int,
) -> Choice:
    """Choose among the endpoints; ``remote`` are the addresses of remote HNS endpoints.

    ``internal_port`` is the previous choice, or 0. Up to kube-proxy 1.33 it is kept, and starts as the
    Service's numeric target port; from 1.34 on the port of the last endpoint is used.
    """
    kept, available = _serving(service, host, features)
    backends: list[Reference] = []
    local: list[Reference] = []
    outside = False
    for endpoint in kept:
        if features.last_internal_port or not internal_port:
            internal_port = endpoint.port
        endpoint_id, here = host.endpoint_at(endpoint.address), is_here(endpoint, host)
        if endpoint.address.version == 6 and not features.required_families:
            # kube-proxy read only the first address of a local endpoint (before #115503)
            endpoint_id = None
        if (
            endpoint_id is None
            and endpoint.node_address
            and features.host_network_backends
            and here
        ):
            endpoint_id = str(endpoint.address)
        if endpoint_id is None and here and endpoint.address not in remote:
            # kubernetes/kubernetes#126795: HNS has no endpoint for the node's own address
            continue
        outside |= features.source_vip and not here and host.is_outside(endpoint.address)
        backends.append((endpoint_id or str(endpoint.address), endpoint))
        if endpoint_id is not None:
            local.append(backends[-1])
    local_addresses = {endpoint.address for _, endpoint in local}
    return Choice(
        backends=tuple(backends),
        local=tuple(local),
        internal_port=internal_port,
        outside=outside,
        remote=frozenset(endpoint.address for _, endpoint in backends) - local_addresses,
        borrowed=tuple(
            endpoint
            for _, endpoint in backends
            if is_here(endpoint, host) and endpoint.address not in local_addresses
        ),
        available=available,
    )


def is_here(endpoint: Backend, host: Host) -> bool:
    """Whether the endpoint's slice names this node, even if its address is elsewhere."""
    return endpoint.node == host.name


def _serving(
    service: ServicePort, host: Host, features: SwitchFeatures
) -> tuple[tuple[Backend, ...], bool]:
    outer = service.external_traffic_local and features.external_traffic_local
    inner = service.internal_traffic_local and features.internal_traffic_local
    if features.terminating_everywhere:
        return service.backends, True
    if not features.terminating_fallback:
        ready = (
            endpoint
            for endpoint in service.endpoints
            if endpoint.ready and (endpoint.serving or not features.skips_unserving)
        )
        return tuple(ready), True
    requested = [endpoint for endpoint in service.endpoints if not outer or is_here(endpoint, host)]
    balanced = bool(service.ingress_addresses)
    leaving = balanced and all(
        endpoint.terminating for endpoint in requested if endpoint.ready or endpoint.terminating
    )
    silent = balanced and not any(endpoint.serving for endpoint in requested)
    kept = tuple(
        endpoint
        for endpoint in service.endpoints
        if (is_here(endpoint, host) or not (inner and outer))
        and (
            silent
            or ((leaving or endpoint.ready) and (endpoint.serving or not features.skips_unserving))
        )
    )
    return kept, not leaving and not silent
