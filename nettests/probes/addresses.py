"""The addresses of a check's target, and those needed to interpret its answer. Pure.

Checks name objects by node pool; here they become addresses, ports and names of deployed objects. A
missing object raises ``NotStandingError`` with the reason that deployment recorded.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from nettests.errors import NettestsError
from nettests.model.check import Action, Target
from nettests.model.dns_names import DOMAIN_ENDING
from nettests.model.facts import Address, ClusterFacts
from nettests.model.service import LOAD_BALANCER, ByHand
from nettests.model.target_kinds import Location, Naming, Owner
from nettests.model.words import OS, Family, Question, VantageKind
from nettests.plan.node_pools import host_probe, server
from nettests.probes.deployment import Deployment, StandingPod, StandingService
from nettests.probes.endpoint import (
    CLIENT_IP,
    WHOAMI,
    Endpoint,
    of_host_port,
    of_name_server,
    of_pod,
    of_service,
    port_of_name,
)
from nettests.probes.objects import (
    HOSTPORT_BOUND,
    NODE_CLOSED,
    NODE_UDP,
    POD_CLOSED,
    SERVICE_HOSTNAME,
    SERVICE_UDP,
)
from nettests.probes.sources_seen import seen_of

SUBDOMAIN = "servers"
"""The headless Service that gives server pods DNS names."""


class NotStandingError(NettestsError):
    """An object that the action needs does not exist."""


class NotOfferedError(NotStandingError):
    """The cluster does not offer what the action tests: there is nothing to probe."""


def domain_of(facts: ClusterFacts) -> str:
    """Return the cluster domain; raises ``NotStandingError`` if it is unknown."""
    if facts.cluster_domain.value is None:
        raise NotStandingError(
            f"the cluster's DNS domain is not known: {facts.cluster_domain.origin}",
            hint="state facts.clusterDomain in the cluster profile",
        )
    return facts.cluster_domain.value


_OfService = Literal[
    Location.CLUSTER_IP,
    Location.SERVICE_NAME,
    Location.LOAD_BALANCER,
    Location.SERVICE_EXTERNAL_IP,
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """Facts and deployment, looked up by a check's terms."""

    facts: ClusterFacts
    deployment: Deployment

    def endpoint(self, action: Action) -> Endpoint:
        """Return the endpoint to which ``action`` is sent."""
        target, family = action.target, action.family
        self._require_on_node(action)
        match target.descriptor.location:
            case Location.POD_ADDRESS | Location.POD_NAME:
                return self._pod(target, family)
            case Location.POD_CLOSED_PORT | Location.NODE_CLOSED_PORT:
                return self._closed(target, family)
            case Location.NODE_ADDRESS:
                return self._node(target, family)
            case Location.NODE_PORT:
                return self._node_port(target, family)
            case Location.HEALTH_CHECK_PORT:
                return self._health_check_port(target, family)
            case Location.HOST_PORT | Location.HOST_PORT_BOUND:
                return self._host_port(target, family)
            case (
                Location.CLUSTER_IP
                | Location.SERVICE_NAME
                | Location.LOAD_BALANCER
                | Location.SERVICE_EXTERNAL_IP
            ) as location:
                service, host = self._at(location, target, family)
                return self._of_service(service, host)
            case (Location.HEADLESS_NAME | Location.KUBERNETES_NAME | Location.NO_NAME) as location:
                return Endpoint(host=self.name(target), hostname_port=port_of_name(location))
            case (Location.DNS_SERVICE | Location.DNS_POD) as location:
                return self._name_server(location, action)
            case Location.EXTERNAL_ADDRESS | Location.EXTERNAL_NAME | Location.EXISTING_SERVICE:
                return self._of_others(target)
            case Location.NOWHERE:
                raise NotStandingError(f"nothing is sent to a target of kind {target.kind.value}")
            case location:
                assert_never(location)

    def _at(
        self, location: _OfService, target: Target, family: Family
    ) -> tuple[StandingService, str]:
        """Return a target's Service and the host to dial, if the cluster offers it."""
        match location:
            case Location.CLUSTER_IP:
                service = self._complete(target)
                return service, str(of_family(service.addresses, family))
            case Location.SERVICE_NAME:
                return self.service(target.service), self.name(target)
            case Location.LOAD_BALANCER:
                service = self.service(target.service)
                self._require_balancer(service)
                return service, str(of_family(service.balanced, family))
            case Location.SERVICE_EXTERNAL_IP:
                service = self.service(target.service)
                return service, str(of_family(service.external, family))

    def _require_on_node(self, action: Action) -> None:
        """Raise if a Pod without which the target's node does not answer is not Ready.

        A Windows node forwards NodePorts only while a Pod of its network runs on it ("Kubernetes on
        Windows, common problems": my Windows node cannot access NodePort).
        """
        node = self.facts.node(action.target.node) if action.target.node else None
        if node is None:
            return
        forwards = action.target.descriptor.owner is Owner.NODE_PORT and node.os is OS.WINDOWS
        lacking = [host_probe(node)] if action.answered_on_host else []
        lacking += [server(node)] if forwards else []
        for name in lacking:
            if name in self.deployment.problems:
                self.pod(name)

    def _complete(self, target: Target) -> StandingService:
        """Return the target's Service; raise if a backend or its load balancer is missing.

        That would be a different test: fewer backends, or ClusterIP rules that need the balancer.
        """
        if len(target.backends) > 1:
            for name in target.backends:
                self.pod(name)
        service = self.service(target.service)
        if target.settings is not None and target.settings.type == LOAD_BALANCER:
            self._require_balancer(service)
        return service

    def _health_check_port(self, target: Target, family: Family) -> Endpoint:
        service = self.service(target.service)
        if service.health_check_port is None:
            raise NotStandingError(f"Service {service.name} has no health check port")
        return Endpoint(host=self._host(target, family), health_port=service.health_check_port)

    def _require_balancer(self, service: StandingService) -> None:
        declined = self.deployment.declined.get(service.name)
        if declined is not None:
            raise NotOfferedError(declined)
        if not service.balanced:
            raise self._missing("load balancer of Service", service.name)

    def _of_service(self, service: StandingService, host: str) -> Endpoint:
        """Return a Service's own ports; for headless and ExternalName ones, the target's ports."""
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
            return of_pod(behind[0], host)
        by = settings.behind if settings is not None else "server"
        if by == "node":
            # It answers with its machine's name, not a pod's: only that it answers can be tested.
            return Endpoint(host=host, clientip_port=SERVICE_HOSTNAME, udp_port=SERVICE_UDP)
        if settings is not None and settings.by_hand is ByHand.MIXED_TARGET_PORTS:
            return Endpoint(host=host, hostname_port=SERVICE_HOSTNAME)
        endpoint = replace(of_service(host), client_path=CLIENT_IP if by == "probe" else WHOAMI)
        if settings is not None and settings.type == LOAD_BALANCER:
            return replace(endpoint, udp_port=None)
        return endpoint

    def name(self, target: Target) -> str:
        """Return the name to look up."""
        external = self.facts.external_target
        if target.descriptor.naming is Naming.OUTSIDE and not target.name_form:
            return (external.name if external else None) or ""
        form = target.name_form or ""
        return form.format(
            service=target.service,
            namespace=self.deployment.namespace,
            domain=domain_of(self.facts) if DOMAIN_ENDING in form else "",
            pod=target.pod,
            pod_address=self._dashed(target.pod),
            subdomain=SUBDOMAIN,
            external=(external.name if external else None) or "",
        )

    def _dashed(self, pod: str | None) -> str:
        if pod is None:
            return ""
        return str(self.pod(pod).addresses[0]).replace(".", "-").replace(":", "-")

    def context(self, action: Action) -> dict[str, str]:
        """Return the addresses needed to classify the client address that a server saw."""
        source = self.facts.node(action.source.node) if action.source.node else None
        target = self.facts.node(action.target.node) if action.target.node else None
        addresses: dict[str, str] = {}
        if action.source.kind is VantageKind.POD:
            addresses["client-pod"] = _joined(self.pod(action.source.probe).addresses)
        if source is not None:
            addresses["client-node"] = _joined(seen_of(source))
        if target is not None:
            addresses["target-node"] = _joined(seen_of(target))
        vips = [node.kube_proxy.source_vip.value for node in (source, target) if node is not None]
        if any(vips):
            addresses["source-vip"] = _joined(vip for vip in dict.fromkeys(vips) if vip is not None)
        if action.source.kind is VantageKind.EXTERNAL:
            addresses["cluster"] = self._cluster()
        resolved = self._resolved(action.target) if action.question is Question.RESOLVE else ()
        if resolved:
            addresses["resolved"] = _joined(resolved)
        return addresses

    def _pod(self, target: Target, family: Family) -> Endpoint:
        pod = self.pod(target.pod)
        by_name = target.descriptor.by_name
        return of_pod(pod, self.name(target) if by_name else str(of_family(pod.addresses, family)))

    def _closed(self, target: Target, family: Family) -> Endpoint:
        if target.descriptor.owner is Owner.POD:
            host = str(of_family(self.pod(target.pod).addresses, family))
            return Endpoint(host=host, hostname_port=POD_CLOSED)
        return Endpoint(host=self._host(target, family), hostname_port=NODE_CLOSED)

    def _name_server(
        self, location: Literal[Location.DNS_SERVICE, Location.DNS_POD], action: Action
    ) -> Endpoint:
        """Return the cluster DNS at its Service or its first pod: to look up a name, or to send queries."""
        match location:
            case Location.DNS_SERVICE:
                address = self.facts.dns_address.value
            case Location.DNS_POD:
                address = next(iter(self.facts.dns_pods.value or ()), None)
        if address is None:
            raise NotStandingError("the cluster's DNS has no known address")
        name, server = self.name(action.target), str(address)
        if action.question is Question.RESOLVE:
            return Endpoint(host=name, server=server)
        return of_name_server(server, name)

    def _cluster(self) -> str:
        """Return all networks of the cluster: addresses of nodes and pods, source VIPs."""
        stated = [str(network) for network in self.facts.pod_cidrs.value or ()]
        for node in self.facts.nodes:
            stated += map(str, (*node.addresses, *node.pod_cidrs))
            vip = node.kube_proxy.source_vip.value
            stated += [str(vip)] if vip else []
        pods = self.deployment.pods.values()
        return ",".join(dict.fromkeys(stated + [str(a) for pod in pods for a in pod.addresses]))

    def _resolved(self, target: Target) -> tuple[Address, ...]:
        """Return the addresses that the target's name may resolve to; empty for external names."""
        reached = target.descriptor
        if reached.owner is Owner.CLUSTER:
            address = self.facts.kubernetes_address.value
            if address is None or reached.naming is Naming.ABSENT:
                return ()
            return (address,)
        if reached.owner is Owner.PODS:
            return tuple(
                address for name in target.backends for address in self.pod(name).addresses
            )
        if target.service is not None:
            service = self.service(target.service)
            if service.settings is not None and service.settings.headless:
                return tuple(a for name in service.backends for a in self.pod(name).addresses)
            return service.addresses
        return self.pod(target.pod).addresses if target.pod is not None else ()

    def pod(self, name: str | None) -> StandingPod:
        """Return a pod by name; raises ``NotStandingError``."""
        try:
            return self.deployment.pods[name or ""]
        except KeyError:
            raise self._missing("pod", name) from None

    def service(self, name: str | None) -> StandingService:
        """Return a Service by name; raises if it, or every backend, is missing."""
        try:
            service = self.deployment.services[name or ""]
        except KeyError:
            declined = self.deployment.declined.get(name or "")
            if declined is not None:
                raise NotOfferedError(declined) from None
            raise self._missing("Service", name) from None
        if self.deserted(service.name):
            self.pod(service.backends[0])
        return service

    def require(self, target: Target) -> None:
        """Raise if the target's Pod or Service is missing; for callers that need no endpoint."""
        if target.pod in self.deployment.problems:
            self.pod(target.pod)
        if target.service in {*self.deployment.problems, *self.deployment.services}:
            self.service(target.service)

    def deserted(self, name: str) -> bool:
        """Whether ``name`` is a Service without any existing backend, which never answers."""
        service = self.deployment.services.get(name)
        backends = service.backends if service else ()
        return bool(backends) and not self.deployment.pods.keys() & set(backends)

    def _missing(self, kind: str, name: str | None) -> NotStandingError:
        why = self.deployment.problems.get(name or "", "it was not deployed")
        return NotStandingError(f"{kind} {name} does not stand: {why}")

    def _host(self, target: Target, family: Family) -> str:
        if target.descriptor.loopback:
            return _loopback(family)
        node = self.facts.node(target.node or "")
        return str(of_family(node.addresses, family, f" of {node.name}"))

    def _node_port(self, target: Target, family: Family) -> Endpoint:
        ports = self.service(target.service).node_ports
        if not ports:
            raise NotStandingError(f"Service {target.service} has no node ports")
        return Endpoint(
            host=self._host(target, family),
            hostname_port=ports["hostname"],
            clientip_port=ports["clientip"],
            udp_port=ports.get("udp"),  # load-balanced Services have only TCP
            client_path=WHOAMI,
        )

    def _host_port(self, target: Target, family: Family) -> Endpoint:
        of_family(self.pod(target.pod).addresses, family)  # unclaimed ports are another question
        host = self._host(target, family)
        if target.descriptor.location is Location.HOST_PORT:
            return of_host_port(host)
        return Endpoint(host=host, hostname_port=HOSTPORT_BOUND)

    def _node(self, target: Target, family: Family) -> Endpoint:
        """Return a node's ports; over TCP the kubelet's, where even a TLS error means connected."""
        return Endpoint(
            host=self._host(target, family),
            clientip_port=self.facts.node(target.node or "").kubelet_port,
            udp_port=NODE_UDP,
        )

    def _of_others(self, target: Target) -> Endpoint:
        """Return the endpoint of an existing Service or of the external target."""
        external = self.facts.external_target
        if target.existing is not None:
            return Endpoint(host=str(target.existing.address), clientip_port=target.existing.port)
        host = None
        if external is not None:
            host = self.name(target) if target.descriptor.by_name else external.address
        if external is None or not host:
            raise NotStandingError("the cluster profile declares no such external target")
        return Endpoint(host=str(host), clientip_port=external.tcp_port, udp_port=external.udp_port)


def _loopback(family: Family) -> str:
    match family:
        case Family.IPV4:
            return "127.0.0.1"
        case Family.IPV6:
            return "::1"
        case _:
            assert_never(family)


def of_family(addresses: tuple[Address, ...], family: Family, whose: str = "") -> Address:
    """Return the first address of a family; ``NotStandingError`` names ``whose`` is missing."""
    for address in addresses:
        if address.version == family.version:
            return address
    listed = _joined(addresses) or "none"
    raise NotStandingError(f"there is no {family} address{whose} among {listed}")


def _joined(addresses: Iterable[Address]) -> str:
    return ",".join(str(address) for address in addresses)
