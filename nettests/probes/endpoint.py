"""Endpoints: where a request of each kind is answered, on which port, and how it is spelled. Pure.

Used by ``addresses``, which finds the host; here are the ports of what a run deploys.
"""

from dataclasses import dataclass

from nettests.model.words import Protocol
from nettests.parse.answers import HEALTH
from nettests.probes.deployment import StandingPod
from nettests.probes.objects import (
    HOSTPORT_CLIENTIP,
    HOSTPORT_HOSTNAME,
    HOSTPORT_UDP,
    NODE_HTTP,
    NODE_UDP,
    PROBE_HTTP,
    PROBE_UDP,
    SERVER_CLIENTIP,
    SERVER_HOSTNAME,
    SERVER_UDP,
    SERVICE_CLIENTIP,
    SERVICE_HOSTNAME,
    SERVICE_UDP,
)

CLIENT_IP = "clientip"
"""Where ``agnhost netexec`` tells whom it saw."""
HEALTH_PATH = "healthz"
"""What is asked for at health check ports, which answer any path."""
WHOAMI = "whoami"
"""Where ``agnhost no-snat-test`` tells whom it saw, as ``address:port``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a question goes. A port is ``None`` where nothing answers that request.

    ``client_path`` is the HTTP path that tells whom the server saw: netexec's own, or the one of
    ``no-snat-test``, which serves nothing that must not be exposed. ``server`` is the name server that
    is asked for ``host``, where it is not the source's own. ``health_port`` answers one question alone:
    whether there are backends.
    """

    host: str
    hostname_port: int | None = None
    clientip_port: int | None = None
    udp_port: int | None = None
    client_path: str = CLIENT_IP
    server: str = ""
    health_port: int | None = None

    def path(self, request: str, protocol: Protocol) -> str:
        """Return how ``request`` is spelled for this server."""
        if request == HEALTH:
            return HEALTH_PATH
        told_by_http = protocol is Protocol.TCP and request == "clientip"
        return self.client_path if told_by_http else request

    def requests(self, protocol: Protocol) -> tuple[tuple[str, int], ...]:
        """Return what may be asked (``hostname``, ``clientip``) and on which port, in that order."""
        if self.health_port is not None:
            return ((HEALTH, self.health_port),) if protocol is Protocol.TCP else ()
        if protocol is Protocol.UDP:
            ports = (self.udp_port, self.udp_port) if self.hostname_port else (None, self.udp_port)
        else:
            ports = (self.hostname_port, self.clientip_port)
        pairs = zip(("hostname", "clientip"), ports, strict=True)
        return tuple((request, port) for request, port in pairs if port is not None)


_PODS = {
    "probe": (PROBE_HTTP, PROBE_HTTP, PROBE_UDP),
    "resolver": (PROBE_HTTP, PROBE_HTTP, PROBE_UDP),
    "server": (SERVER_HOSTNAME, SERVER_CLIENTIP, SERVER_UDP),
    "unready": (SERVER_HOSTNAME, SERVER_CLIENTIP, SERVER_UDP),
    "hostport": (SERVER_HOSTNAME, SERVER_CLIENTIP, SERVER_UDP),
    "node": (NODE_HTTP, None, NODE_UDP),
}

_FULL = frozenset({"probe", "resolver", "node"})
"""The purposes of pods that no ``no-snat-test`` stands beside."""


def of_pod(pod: StandingPod, host: str) -> Endpoint:
    """Return a pod's own ports, by what its purpose runs."""
    hostname, clientip, udp = _PODS[pod.purpose]
    return Endpoint(
        host=host,
        hostname_port=hostname,
        clientip_port=clientip,
        udp_port=udp,
        client_path=CLIENT_IP if pod.purpose in _FULL else WHOAMI,
    )


def of_service(host: str) -> Endpoint:
    """Return the ports of a Service in front of servers."""
    return Endpoint(
        host=host,
        hostname_port=SERVICE_HOSTNAME,
        clientip_port=SERVICE_CLIENTIP,
        udp_port=SERVICE_UDP,
        client_path=WHOAMI,
    )


def of_host_port(host: str) -> Endpoint:
    """Return the ports of its node that a pod of purpose ``hostport`` claims."""
    return Endpoint(
        host=host,
        hostname_port=HOSTPORT_HOSTNAME,
        clientip_port=HOSTPORT_CLIENTIP,
        udp_port=HOSTPORT_UDP,
        client_path=WHOAMI,
    )
