"""Endpoints: a target's host, and the port and path of each kind of request. Pure.

``addresses`` finds the host; the ports are those of the run's own servers.
"""

from dataclasses import dataclass
from typing import Literal, assert_never

import dns.message

from nettests.model.target_kinds import Location
from nettests.model.words import Protocol
from nettests.parse.netexec import HEALTH
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

DNS = 53
HTTPS = 443
"""The port of the Service ``kubernetes``; its answer to plain HTTP does not matter."""
NameAlone = Literal[Location.HEADLESS_NAME, Location.KUBERNETES_NAME, Location.NO_NAME]
"""Names that are only resolved, not connected to."""
CLIENT_IP = "clientip"
"""The path at which ``agnhost netexec`` reports the client that it saw."""
HEALTH_PATH = "healthz"
"""The path requested at health check ports, which answer any path."""
WHOAMI = "whoami"
"""The path at which ``agnhost no-snat-test`` reports the client that it saw, as ``address:port``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where requests go; a port is ``None`` if nothing answers that request.

    ``client_path`` is the HTTP path that reports the client's address: netexec's, or that of
    ``no-snat-test``, which is safe to expose. ``server`` is the name server that is queried for
    ``host``, if it is not the source's own. ``health_port`` only reports backends. ``query`` is what
    a name server at ``host`` is sent as a datagram: a message of RFC 1035, all in ASCII.
    """

    host: str
    hostname_port: int | None = None
    clientip_port: int | None = None
    udp_port: int | None = None
    client_path: str = CLIENT_IP
    server: str = ""
    health_port: int | None = None
    query: str = ""

    def path(self, request: str, protocol: Protocol) -> str:
        """Return the path of ``request`` at this server."""
        if request == HEALTH:
            return HEALTH_PATH
        match protocol:
            case Protocol.TCP:
                return self.client_path if request == "clientip" else request
            case Protocol.UDP | Protocol.ICMP:
                return request
            case _:
                assert_never(protocol)

    def requests(self, protocol: Protocol) -> tuple[tuple[str, int], ...]:
        """Return the possible requests (``hostname``, then ``clientip``) with their ports."""
        match protocol:
            case Protocol.TCP if self.health_port is not None:
                return ((HEALTH, self.health_port),)
            case Protocol.TCP:
                return _answered(self.hostname_port, self.clientip_port)
            case Protocol.UDP if self.query:
                return ((self.query, DNS),)
            case Protocol.UDP:
                return _answered(self.udp_port if self.hostname_port else None, self.udp_port)
            case Protocol.ICMP:
                return ()
            case _:
                assert_never(protocol)


def _answered(hostname: int | None, clientip: int | None) -> tuple[tuple[str, int], ...]:
    pairs = (("hostname", hostname), ("clientip", clientip))
    return tuple((request, port) for request, port in pairs if port is not None)


Ports = tuple[int | None, int | None, int | None]
"""The ports for ``hostname`` and ``clientip`` over TCP, and for both over UDP."""

_PROBE: Ports = (PROBE_HTTP, PROBE_HTTP, PROBE_UDP)
_NODE: Ports = (NODE_HTTP, None, NODE_UDP)
_SERVER: Ports = (SERVER_HOSTNAME, SERVER_CLIENTIP, SERVER_UDP)
_SERVICE: Ports = (SERVICE_HOSTNAME, SERVICE_CLIENTIP, SERVICE_UDP)
_HOST_PORT: Ports = (HOSTPORT_HOSTNAME, HOSTPORT_CLIENTIP, HOSTPORT_UDP)

_QUERY_ID = 0x6E74
"""Of two ASCII characters, as all of a query has to be."""
_FULL = {"probe": _PROBE, "resolver": _PROBE, "node": _NODE}
"""The pods that run no ``no-snat-test``, by purpose."""
_SERVERS = frozenset({"server", "unready", "hostport"})


def of_pod(pod: StandingPod, host: str) -> Endpoint:
    """Return a pod's own ports, by its purpose."""
    if pod.purpose in _SERVERS:
        return _endpoint(host, _SERVER, WHOAMI)
    return _endpoint(host, _FULL[pod.purpose], CLIENT_IP)


def of_service(host: str) -> Endpoint:
    """Return the ports of a Service in front of servers."""
    return _endpoint(host, _SERVICE, WHOAMI)


def of_host_port(host: str) -> Endpoint:
    """Return the host ports of a pod of purpose ``hostport``."""
    return _endpoint(host, _HOST_PORT, WHOAMI)


def _endpoint(host: str, ports: Ports, client_path: str) -> Endpoint:
    hostname, clientip, udp = ports
    return Endpoint(
        host=host,
        hostname_port=hostname,
        clientip_port=clientip,
        udp_port=udp,
        client_path=client_path,
    )


def of_name_server(host: str, name: str) -> Endpoint:
    """Return a name server that datagrams of one query are counted at.

    netexec sends any request as it is, from a new socket each time (``dialUDP`` in agnhost's ``netexec.go``, on both
    systems), so all queries may have one id.
    """
    query = dns.message.make_query(name, "A", id=_QUERY_ID).to_wire()
    return Endpoint(host=host, query=query.decode("ascii"))


def port_of_name(location: NameAlone) -> int:
    """Return the port to dial for a name that only has to resolve."""
    match location:
        case Location.HEADLESS_NAME:
            return SERVER_HOSTNAME
        case Location.KUBERNETES_NAME:
            return HTTPS
        case Location.NO_NAME:
            return SERVICE_HOSTNAME
