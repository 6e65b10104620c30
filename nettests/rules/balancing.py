"""Load balancers that a Windows node should have, by Services and EndpointSlices.

Used by the rules about HNS load balancers: frontends, backends, DSR. Objects are read before and
after the node; those that change meanwhile are not judged. Sources: the API documentation of
traffic policies and endpoint conditions, KEP-1669 (terminating endpoints), and
``pkg/proxy/winkernel`` where documents are silent. A load balancer that depends on what kube-proxy
did before is not ``settled``: it may exist or not.
"""

import ipaddress
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from nettests.model.grouping import grouped
from nettests.model.json_text import Object
from nettests.model.labels import RUN_LABEL, SERVICE_NAME_LABEL
from nettests.model.permission import LIST_ALL_SERVICES, LIST_ALL_SLICES
from nettests.rules import reduction
from nettests.rules.evidence import Evidence, name_of
from nettests.rules.readings import ApiObjects, Request
from nettests.rules.reduction import KEPT

OTHER_PROXY_LABEL = "service.kubernetes.io/service-proxy-name"
PRESERVED = "preserve-destination"
"""The annotation that keeps the load balancer's address as destination at local backends."""
FAMILIES = {"IPv4": 4, "IPv6": 6}
MOST_BACKENDS = 64
"""Old builds support no more; a separate rule checks whether more are programmed."""
SERVICES = ApiObjects(
    name="services",
    request=lambda _facts, _node: Request(path="/api/v1/services"),
    permission=LIST_ALL_SERVICES,
    keep=reduction.items(KEPT["service"]),
)
SERVICES_AFTER = replace(SERVICES, name="services-after")
SLICES = ApiObjects(
    name="endpoint-slices",
    request=lambda _facts, _node: Request(path="/apis/discovery.k8s.io/v1/endpointslices"),
    permission=LIST_ALL_SLICES,
    keep=reduction.items(KEPT["slice"]),
)
SLICES_AFTER = replace(SLICES, name="endpoint-slices-after")


def unchanged(evidence: Evidence, *, of_runs: bool = False) -> list[Object]:
    """Return Services unchanged between readings, with endpoints; ``of_runs`` includes runs'."""
    after = {name_of(service): service for service in evidence.items(SERVICES_AFTER)}
    before_slices, after_slices = by_service(evidence, SLICES), by_service(evidence, SLICES_AFTER)
    stable = []
    for service in evidence.items(SERVICES):
        name = name_of(service)
        same = _spec_and_status(service) == _spec_and_status(after.get(name, {})) and (
            _listed_endpoints(before_slices.get(name, []))
            == _listed_endpoints(after_slices.get(name, []))
        )
        if same and (of_runs or RUN_LABEL not in (service["metadata"].get("labels") or {})):
            stable.append(service)
    return stable


def by_service(evidence: Evidence, reading: ApiObjects) -> dict[str, list[Object]]:
    """Group a reading's EndpointSlices by Service."""
    return grouped((service_of(item), item) for item in evidence.items(reading))


def _spec_and_status(service: Object) -> object:
    return service.get("spec"), service.get("status") or {}


def _listed_endpoints(slices: Iterable[Object]) -> list[object]:
    return sorted(
        (
            str((endpoint_slice.get("endpoints"), endpoint_slice.get("ports")))
            for endpoint_slice in slices
        ),
        key=str,
    )


Frontend = tuple[str, int, str]
"""Address (empty for a NodePort), port and protocol."""
CLUSTER_IP, NODE_PORT, EXTERNAL_IP, INGRESS = "ClusterIP", "NodePort", "externalIP", "load balancer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A load balancer that a Service port needs on one node, in one family."""

    service: str
    front: Frontend
    family: int
    kind: str
    backends: frozenset[str]
    ports: frozenset[int]
    """Backends listen on one of these ports."""
    direct: bool | None
    """Whether it uses DSR; ``None`` if the node's setting decides."""
    settled: bool
    """Whether the API objects alone determine its existence and backends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Endpoint:
    address: str
    port: int
    here: bool
    ready: bool
    serving: bool
    terminating: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The node; ``local`` and ``remote`` are addresses of HNS endpoints."""

    name: str
    local: frozenset[str]
    remote: frozenset[str]
    knows_dsr: bool | None = True
    """Whether HNS supports DSR, which policy Local and the annotation need; ``None`` if unknown."""


def wanted_balancers(service: Object, slices: Iterable[Object], node: Node) -> Iterator[Wanted]:
    """Yield the load balancers that a Service needs; none if kube-proxy ignores it."""
    spec = service["spec"]
    listed = list(slices)
    for address in _cluster_ips(service):
        family = ipaddress.ip_address(address).version
        of_family = [
            endpoint_slice for endpoint_slice in listed if _family_of(endpoint_slice) == family
        ]
        for port in spec.get("ports") or []:
            yield from _Port(service, port, address, of_family, node).wanted_balancers()


def service_of(item: Object) -> str:
    """Return the Service of an EndpointSlice."""
    metadata = item["metadata"]
    return f"{metadata['namespace']}/{(metadata.get('labels') or {}).get(SERVICE_NAME_LABEL)}"


def _cluster_ips(service: Object) -> list[str]:
    spec, labels = service["spec"], service["metadata"].get("labels") or {}
    if spec.get("type") == "ExternalName" or OTHER_PROXY_LABEL in labels:
        return []
    listed = spec.get("clusterIPs") or [spec.get("clusterIP")]
    return [str(address) for address in listed if address and address != "None"]


def _family_of(item: Object) -> int:
    if "addressType" in item:
        return FAMILIES.get(str(item["addressType"]), 0)
    first = next(
        (address for endpoint in item.get("endpoints") or [] for address in endpoint["addresses"]),
        "",
    )
    return ipaddress.ip_address(first).version if first else 4


class _Port:
    def __init__(
        self, service: Object, port: Object, address: str, slices: list[Object], node: Node
    ) -> None:
        self._spec = service["spec"]
        self._port = port
        self._name = name_of(service)
        self._address = address
        self._node = node
        self._family = ipaddress.ip_address(address).version
        self._outer_local = bool(node.knows_dsr) and (
            self._spec.get("externalTrafficPolicy") == "Local"
        )
        self._inner_local = self._spec.get("internalTrafficPolicy") == "Local"
        annotations = service["metadata"].get("annotations") or {}
        self._preserved = bool(node.knows_dsr) and annotations.get(PRESERVED) == "true"
        self._open = node.knows_dsr is None and (
            self._spec.get("externalTrafficPolicy") == "Local"
            or annotations.get(PRESERVED) == "true"
        )
        listed = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
        self._ingress = self._of_family(
            ingress["ip"]
            for ingress in listed
            if ingress.get("ip") and ingress.get("ipMode") != "Proxy"
        )
        self._external = self._of_family(self._spec.get("externalIPs") or [])
        self._endpoints = list(_endpoints(slices, port, node.name))

    def wanted_balancers(self) -> Iterator[Wanted]:
        used, outward = self._used()
        in_hns = self._node.local | self._node.remote
        usable = [endpoint for endpoint in used if not endpoint.here or endpoint.address in in_hns]
        every = frozenset(endpoint.address for endpoint in usable)
        local = every & self._node.local
        number, protocol = int(self._port["port"]), self._port.get("protocol", "TCP")
        ports = frozenset(endpoint.port for endpoint in self._endpoints)
        few = len(every) <= MOST_BACKENDS
        # for a local Pod that HNS lists as remote, it depends on what kube-proxy created first
        borrowed = any(
            endpoint.here and endpoint.address not in self._node.local for endpoint in usable
        )
        narrow = local if self._outer_local or self._preserved else every
        fronts: list[tuple[str, str, int, frozenset[str], bool | None, bool]] = [
            (CLUSTER_IP, self._address, number, local if self._inner_local else every, None, True)
        ]
        if self._port.get("nodePort"):
            node_port = int(self._port["nodePort"])
            fronts.append((NODE_PORT, "", node_port, narrow, self._outer_local, outward))
        for address in self._external:
            backends = local if self._outer_local else every
            fronts.append((EXTERNAL_IP, address, number, backends, self._outer_local, outward))
        for address in self._ingress:
            direct = self._outer_local or self._preserved
            fronts.append((INGRESS, address, number, narrow, direct, True))
        for kind, address, front, backends, direct, settled in fronts:
            yield Wanted(
                service=self._name,
                front=(address, front, protocol),
                family=self._family,
                kind=kind,
                backends=backends,
                ports=ports,
                direct=direct,
                settled=settled and few and not borrowed and not self._open,
            )

    def _used(self) -> tuple[list[_Endpoint], bool]:
        """Return the endpoints in use, and whether external clients certainly reach them."""
        candidates = [
            endpoint for endpoint in self._endpoints if endpoint.here or not self._outer_local
        ]
        counted = [endpoint for endpoint in candidates if endpoint.ready or endpoint.terminating]
        leaving = bool(self._ingress) and all(endpoint.terminating for endpoint in counted)
        silent = bool(self._ingress) and not any(endpoint.serving for endpoint in candidates)
        used = []
        for endpoint in self._endpoints:
            if self._inner_local and self._outer_local and not endpoint.here:
                continue
            if silent or ((leaving or endpoint.ready) and endpoint.serving):
                used.append(endpoint)
        return used, not leaving and not silent

    def _of_family(self, addresses: Iterable[str]) -> list[str]:
        return [
            str(address)
            for address in addresses
            if ipaddress.ip_address(address).version == self._family
        ]


def _endpoints(slices: Collection[Object], port: Object, node: str) -> Iterator[_Endpoint]:
    """Yield each address and port once; a terminating endpoint does not replace another one."""
    endpoints: dict[tuple[str, int], _Endpoint] = {}
    for item in slices:
        number = _number(item, port)
        if number is None:
            continue
        for endpoint in item.get("endpoints") or []:
            conditions = endpoint.get("conditions") or {}
            candidate = _Endpoint(
                address=str(endpoint["addresses"][0]),
                port=number,
                here=endpoint.get("nodeName") == node,
                ready=conditions.get("ready", True) is not False,
                serving=conditions.get("serving", True) is not False,
                terminating=conditions.get("terminating") is True,
            )
            if (candidate.address, number) not in endpoints or not candidate.terminating:
                endpoints[candidate.address, number] = candidate
    yield from endpoints.values()


def _number(item: Object, port: Object) -> int | None:
    """Return the endpoint port number for a Service port, ``None`` if the slice omits it."""
    for slice_port in item.get("ports") or []:
        same = (slice_port.get("name") or "") == (port.get("name") or "")
        if (
            same
            and slice_port.get("protocol", "TCP") == port.get("protocol", "TCP")
            and slice_port.get("port")
        ):
            return int(slice_port["port"])
    return None
