"""Round-robin over the backends of Services, with affinity for clients.

After ``LoadBalancerRR`` of ``pkg/proxy/winuserspace``. A client of a Service with ClientIP affinity gets the
backend it had, if it is still there and the client was not away for longer than the Service's time-out.
"""

import time
from dataclasses import dataclass, field

from nettests.lab.topology import Backend, ServicePort, ServiceTable


@dataclass(slots=True)
class _Service:
    backends: tuple[Backend, ...]
    affinity: int | None
    """Seconds for which a client keeps its backend; ``None`` without affinity."""
    position: int = 0
    kept: dict[str, tuple[Backend, float]] = field(default_factory=dict)
    """Each client's backend, and when it last connected."""


class RoundRobin:
    """The backends of a node's Services, by the key of their ports."""

    def __init__(self) -> None:
        self._services: dict[str, _Service] = {}

    def take(self, table: ServiceTable) -> None:
        """Replace the table; a Service whose backends did not change goes on where it was."""
        self._services = {port.key: self._renewed(port) for port in table}

    def next(self, key: str, client: str, *, anew: bool = False) -> Backend | None:
        """Return the backend for a client's next connection; with ``anew`` not the one it had."""
        service = self._services.get(key)
        if service is None or not service.backends:
            return None
        now = time.monotonic()
        if service.affinity is not None and not anew and client in service.kept:
            backend, requested = service.kept[client]
            if backend in service.backends and now - requested < service.affinity:
                service.kept[client] = backend, now
                return backend
        backend = service.backends[service.position % len(service.backends)]
        service.position += 1
        if service.affinity is not None:
            service.kept[client] = backend, now
        return backend

    def _renewed(self, port: ServicePort) -> _Service:
        affinity = port.affinity_timeout if port.client_ip_affinity else None
        old = self._services.get(port.key)
        if old is None:
            return _Service(port.backends, affinity)
        unchanged = old.backends == port.backends
        return _Service(port.backends, affinity, old.position if unchanged else 0, old.kept)
