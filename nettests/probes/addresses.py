"""Where a question goes, and which addresses are needed to read its answer. Pure.

Checks name objects by role; here they become addresses, ports and names of what stands. What does not
stand raises ``NotStandingError`` with the reason that deployment recorded.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from nettests.errors import NettestsError
from nettests.model.check import Ask, Target
from nettests.model.facts import Address, ClusterFacts, NodeFacts
from nettests.model.service import ByHand
from nettests.model.words import OS, Family, Protocol, Question, TargetKind, VantageKind
from nettests.probes.deployment import Deployment, StandingPod, StandingService
from nettests.probes.objects import (
    DEFAULT_DOMAIN,
    HOSTPORT_BOUND,
    HOSTPORT_CLIENTIP,
    HOSTPORT_HOSTNAME,
    HOSTPORT_UDP,
    NODE_CLOSED,
    NODE_HTTP,
    NODE_UDP,
    POD_CLOSED,
    PROBE_HTTP,
    PROBE_UDP,
    SERVER_CLIENTIP,
    SERVER_HOSTNAME,
    SERVER_UDP,
    SERVICE_CLIENTIP,
    SERVICE_HOSTNAME,
    SERVICE_UDP,
)

SUBDOMAIN = "servers"
"""The headless Service by which server pods have names."""
HTTPS = 443
"""Where the Service ``kubernetes`` answers; what it says to plain HTTP does not matter."""
LOOPBACK = {Family.IPV4: "127.0.0.1", Family.IPV6: "::1"}
CLIENT_IP = "clientip"
"""Where ``agnhost netexec`` tells whom it saw."""
WHOAMI = "whoami"
"""Where ``agnhost no-snat-test`` tells whom it saw, as ``address:port``."""


class NotStandingError(NettestsError):
    """An object that the question needs does not stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a question goes. A port is ``None`` where nothing answers that request.

    ``client_path`` is the HTTP path that tells whom the server saw: netexec's own, or the one of
    ``no-snat-test``, which serves nothing that must not be exposed. ``server`` is the name server that
    is asked for ``host``, where it is not the source's own.
    """

    host: str
    hostname_port: int | None = None
    clientip_port: int | None = None
    udp_port: int | None = None
    client_path: str = CLIENT_IP
    server: str = ""

    def path(self, request: str, protocol: Protocol) -> str:
        """Return how ``request`` is spelled for this server."""
        told_by_http = protocol is Protocol.TCP and request == "clientip"
        return self.client_path if told_by_http else request

    def requests(self, protocol: Protocol) -> tuple[tuple[str, int], ...]:
        """Return what may be asked (``hostname``, ``clientip``) and on which port, in that order."""
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


_NAMED_KUBERNETES = {
    TargetKind.KUBERNETES_SERVICE,
    TargetKind.DNS_SERVICE,
    TargetKind.DNS_POD,
}


_DIALLED_NAMES = {
    TargetKind.HEADLESS_NAME: SERVER_HOSTNAME,
    TargetKind.KUBERNETES_SERVICE: HTTPS,
    TargetKind.NO_NAME: SERVICE_HOSTNAME,
}
"""Names that only a resolver is asked for, and the port at which they are dialled to make it look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """Facts and deployment, looked up by the words of a check."""

    facts: ClusterFacts
    deployment: Deployment

    def endpoint(self, ask: Ask) -> Endpoint:
        """Return where ``ask`` goes."""
        target, family = ask.target, ask.family
        match target.kind:
            case TargetKind.POD_IP | TargetKind.OWN_IP:
                pod = self.pod(target.pod)
                found = _of_pod(pod, str(of_family(pod.addresses, family)))
            case TargetKind.POD_NAME:
                found = _of_pod(self.pod(target.pod), self.name(target))
            case TargetKind.POD_CLOSED_PORT | TargetKind.NODE_CLOSED_PORT:
                found = self._closed(target, family)
            case TargetKind.DNS_SERVICE | TargetKind.DNS_POD:
                found = Endpoint(host=self.name(target), server=str(self._name_server(target)))
            case kind if kind in _DIALLED_NAMES:
                found = Endpoint(host=self.name(target), hostname_port=_DIALLED_NAMES[kind])
            case TargetKind.NODEPORT:
                owner = self.facts.node(target.node or "")
                found = self._node_port(target, str(of_family(owner.addresses, family)))
            case TargetKind.NODEPORT_LOCALHOST:
                found = self._node_port(target, LOOPBACK[family])
            case TargetKind.HOSTPORT | TargetKind.HOSTPORT_BOUND | TargetKind.HOSTPORT_LOCALHOST:
                found = self._host_port(target, family)
            case TargetKind.NODE_IP:
                found = self._node(target, family)
            case TargetKind.EXTERNAL_IP | TargetKind.EXTERNAL_NAME:
                found = self._external(target)
            case TargetKind.SERVICE_CLUSTERIP:
                service = self._complete(target)
                found = self._of_service(service, str(of_family(service.addresses, family)))
            case _:  # the forms of a Service's name
                found = self._of_service(self.service(target.service), self.name(target))
        return found

    def _complete(self, target: Target) -> StandingService:
        """Return the target's Service; in front of fewer backends than meant it is another question."""
        if len(target.backends) > 1:
            for name in target.backends:
                self.pod(name)
        return self.service(target.service)

    def _of_service(self, service: StandingService, host: str) -> Endpoint:
        """Return a Service's own ports; a name that leads past it leads to its target's ports."""
        settings = service.settings
        if settings is not None and settings.external_name:
            external = self.facts.external_target
            return Endpoint(
                host=host,
                clientip_port=external.tcp_port if external else None,
                udp_port=external.udp_port if external else None,
            )
        behind = [self.pod(name) for name in service.backends if name in self.deployment.pods]
        if settings is not None and settings.headless and behind:
            return _of_pod(behind[0], host)
        by = settings.behind if settings is not None else "server"
        if by == "node":
            # It answers with its machine's name, which is no pod's: that it answers is all it tells.
            return Endpoint(host=host, clientip_port=SERVICE_HOSTNAME, udp_port=SERVICE_UDP)
        if settings is not None and settings.by_hand is ByHand.TWO_NUMBERS:
            return Endpoint(host=host, hostname_port=SERVICE_HOSTNAME)
        return replace(_of_service(host), client_path=CLIENT_IP if by == "probe" else WHOAMI)

    def name(self, target: Target) -> str:
        """Return the name that a resolver is asked for."""
        external = self.facts.external_target
        if target.kind is TargetKind.EXTERNAL_NAME and not target.name_form:
            return (external.name if external else None) or ""
        return (target.name_form or "").format(
            service=target.service,
            namespace=self.deployment.namespace,
            domain=self.facts.cluster_domain.value or DEFAULT_DOMAIN,
            pod=target.pod,
            pod_address=self._dashed(target.pod),
            subdomain=SUBDOMAIN,
            external=(external.name if external else None) or "",
        )

    def _dashed(self, pod: str | None) -> str:
        """Return a pod's address as DNS labels spell it: ``10-244-1-5``."""
        if pod is None:
            return ""
        return str(self.pod(pod).addresses[0]).replace(".", "-").replace(":", "-")

    def context(self, ask: Ask) -> dict[str, str]:
        """Return the addresses that are needed to read whom the server saw."""
        source = self.facts.node(ask.source.node) if ask.source.node else None
        target = self.facts.node(ask.target.node) if ask.target.node else None
        found: dict[str, str] = {}
        if ask.source.kind is VantageKind.POD:
            found["client-pod"] = _joined(self.pod(ask.source.probe).addresses)
        if source is not None:
            found["client-node"] = _joined(seen_of(source))
        if target is not None:
            found["target-node"] = _joined(seen_of(target))
        vips = [node.kube_proxy.source_vip.value for node in (source, target) if node is not None]
        if any(vips):
            found["source-vip"] = _joined(vip for vip in dict.fromkeys(vips) if vip is not None)
        if ask.source.kind is VantageKind.EXTERNAL:
            found["cluster"] = self._cluster()
        own = self._own(ask.target) if ask.question is Question.RESOLVE else ()
        if own:
            found["resolved"] = _joined(own)
        return found

    def _closed(self, target: Target, family: Family) -> Endpoint:
        if target.kind is TargetKind.POD_CLOSED_PORT:
            addresses, port = self.pod(target.pod).addresses, POD_CLOSED
        else:
            addresses, port = self.facts.node(target.node or "").addresses, NODE_CLOSED
        return Endpoint(host=str(of_family(addresses, family)), hostname_port=port)

    def _name_server(self, target: Target) -> Address:
        """Return the address of the cluster's DNS: its Service's, or that of its first pod."""
        if target.kind is TargetKind.DNS_SERVICE:
            address = self.facts.dns_address.value
        else:
            address = next(iter(self.facts.dns_pods.value or ()), None)
        if address is None:
            raise NotStandingError("the cluster's DNS has no known address")
        return address

    def _cluster(self) -> str:
        """Return all networks of the cluster: its nodes' addresses, its pods and their nodes' VIPs."""
        stated = [str(network) for network in self.facts.pod_cidrs.value or ()]
        for node in self.facts.nodes:
            stated += map(str, (*node.addresses, *node.pod_cidrs))
            vip = node.kube_proxy.source_vip.value
            stated += [str(vip)] if vip else []
        pods = self.deployment.pods.values()
        return ",".join(dict.fromkeys(stated + [str(a) for pod in pods for a in pod.addresses]))

    def _own(self, target: Target) -> tuple[Address, ...]:
        """Return the addresses that a name of ``target`` may resolve to; nobody knows the outside's."""
        if target.kind in _NAMED_KUBERNETES:
            address = self.facts.kubernetes_address.value
            return () if address is None else (address,)
        if target.kind is TargetKind.HEADLESS_NAME:
            return tuple(one for name in target.backends for one in self.pod(name).addresses)
        if target.service is not None:
            service = self.service(target.service)
            if service.settings is not None and service.settings.headless:
                return tuple(a for name in service.backends for a in self.pod(name).addresses)
            return service.addresses
        return self.pod(target.pod).addresses if target.pod is not None else ()

    def pod(self, name: str | None) -> StandingPod:
        """Return the standing pod of that name."""
        try:
            return self.deployment.pods[name or ""]
        except KeyError:
            raise self._missing("pod", name) from None

    def service(self, name: str | None) -> StandingService:
        """Return the standing Service of that name."""
        try:
            return self.deployment.services[name or ""]
        except KeyError:
            raise self._missing("Service", name) from None

    def _missing(self, kind: str, name: str | None) -> NotStandingError:
        why = self.deployment.problems.get(name or "", "it was not deployed")
        return NotStandingError(f"{kind} {name} does not stand: {why}")

    def _node_port(self, target: Target, host: str) -> Endpoint:
        ports = self.service(target.service).node_ports
        if not ports:
            raise NotStandingError(f"Service {target.service} has no node ports")
        return Endpoint(
            host=host,
            hostname_port=ports["hostname"],
            clientip_port=ports["clientip"],
            udp_port=ports["udp"],
            client_path=WHOAMI,
        )

    def _host_port(self, target: Target, family: Family) -> Endpoint:
        self.pod(target.pod)  # a port that nobody claims is another question
        host = str(of_family(self.facts.node(target.node or "").addresses, family))
        if target.kind is TargetKind.HOSTPORT:
            return Endpoint(
                host=host,
                hostname_port=HOSTPORT_HOSTNAME,
                clientip_port=HOSTPORT_CLIENTIP,
                udp_port=HOSTPORT_UDP,
                client_path=WHOAMI,
            )
        local = target.kind is TargetKind.HOSTPORT_LOCALHOST
        return Endpoint(host=LOOPBACK[family] if local else host, hostname_port=HOSTPORT_BOUND)

    def _node(self, target: Target, family: Family) -> Endpoint:
        """TCP goes to the kubelet: any answer, a complaint about TLS included, means connected."""
        node = self.facts.node(target.node or "")
        return Endpoint(
            host=str(of_family(node.addresses, family)),
            clientip_port=node.kubelet_port,
            udp_port=NODE_UDP,
        )

    def _external(self, target: Target) -> Endpoint:
        external = self.facts.external_target
        host = None
        if external is not None:
            by_name = target.kind is TargetKind.EXTERNAL_NAME
            host = self.name(target) if by_name else external.address
        if external is None or not host:
            raise NotStandingError("the cluster profile declares no such external target")
        return Endpoint(host=str(host), clientip_port=external.tcp_port, udp_port=external.udp_port)


def of_family(addresses: tuple[Address, ...], family: Family) -> Address:
    """Return the first address of a family; ``NotStandingError`` if there is none."""
    version = 4 if family is Family.IPV4 else 6
    for address in addresses:
        if address.version == version:
            return address
    raise NotStandingError(f"there is no {family} address among {_joined(addresses) or 'none'}")


def seen_of(node: NodeFacts) -> tuple[Address, ...]:
    """Return the addresses that a server may see when the node itself is the source.

    Besides the node's own: on Linux the first two of its pod CIDR, which the pod bridge (``.1``) and
    Flannel's VXLAN interface (``.0``) hold; a pod never gets them. On Windows Antrea's gateway port has
    the first one.
    """
    if node.os is not OS.LINUX:
        return node.addresses + _gateway_port(node)
    return node.addresses + tuple(
        network.network_address + offset for network in node.pod_cidrs for offset in (1, 0)
    )


def _gateway_port(node: NodeFacts) -> tuple[Address, ...]:
    if node.cni_driver.value != "transparent":
        return ()
    return tuple(network.network_address + 1 for network in node.pod_cidrs)


def _of_pod(pod: StandingPod, host: str) -> Endpoint:
    hostname, clientip, udp = _PODS[pod.purpose]
    return Endpoint(
        host=host,
        hostname_port=hostname,
        clientip_port=clientip,
        udp_port=udp,
        client_path=CLIENT_IP if pod.purpose in _FULL else WHOAMI,
    )


def _of_service(host: str) -> Endpoint:
    return Endpoint(
        host=host,
        hostname_port=SERVICE_HOSTNAME,
        clientip_port=SERVICE_CLIENTIP,
        udp_port=SERVICE_UDP,
        client_path=WHOAMI,
    )


def _joined(addresses: Iterable[Address]) -> str:
    return ",".join(str(address) for address in addresses)
