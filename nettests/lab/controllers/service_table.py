"""The table of Service ports that a node programs, from Services and EndpointSlices. Pure.

As in kube-proxy (which may read Endpoints instead), headless and ExternalName Services have no rules, nor have Services
of another proxy. Endpoints are listed with their conditions, which the proxy of each system interprets, and an endpoint
with a node's own address is marked, because source rewriting depends on it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network

from nettests.lab.client import Json
from nettests.lab.controllers.endpoints import SERVICE_LABEL
from nettests.lab.topology import Address, Backend, Network, Profile, ServicePort

_PROTOCOLS = frozenset({"TCP", "UDP", "SCTP"})
_OTHER_PROXY = "service.kubernetes.io/service-proxy-name"
"""The label by which a Service requests another proxy than kube-proxy."""
_DEFAULT_AFFINITY_SECONDS = 10800
_VERSIONS = {"IPv4": 4, "IPv6": 6}
_PRESERVE_DESTINATION = "preserve-destination"
_OPTIMISATION = "winProxyOptimization"
_TOPOLOGY_AWARE = (
    "service.kubernetes.io/topology-mode",
    "service.kubernetes.io/topology-aware-hints",
)
"""The annotations from 1.27 on, and before; later versions read both."""


def node_addresses(profile: Profile) -> frozenset[str]:
    """Return the nodes' own addresses, as texts."""
    return frozenset(address for node in profile.nodes for address in node.addresses)


def place_of(port: ServicePort) -> tuple[str, int]:
    """Return the sort key of a port in a table."""
    return port.key, port.cluster_ip.version


def owner_of(item: Json) -> str | None:
    """Return ``namespace/name`` of a slice's Service; ``None`` if kube-proxy ignores the slice."""
    name = (item["metadata"].get("labels") or {}).get(SERVICE_LABEL)
    if name is None or item.get("addressType") not in _VERSIONS:
        return None
    return f"{item['metadata']['namespace']}/{name}"


def service_ports(
    service: Json, slices: Iterable[Json], nodes: Collection[str]
) -> Iterator[ServicePort]:
    """Yield the ports of one Service in each family; ``slices`` are the Service's, ``nodes`` the nodes' addresses."""
    if _OTHER_PROXY in (service["metadata"].get("labels") or {}):
        return
    service_slices = list(slices)
    for address in _cluster_ips(service["spec"]):
        of_family = [
            item for item in service_slices if _VERSIONS[item["addressType"]] == address.version
        ]
        yield from _ports(service, address, of_family, nodes)


def as_slices(endpoints: Json) -> Iterator[Json]:
    """Yield an Endpoints object as slices: one for each subset, without terminating endpoints."""
    metadata = endpoints["metadata"]
    owner = {"namespace": metadata["namespace"], "labels": {SERVICE_LABEL: metadata["name"]}}
    for subset in endpoints.get("subsets") or ():
        listed = [
            *((entry, True) for entry in subset.get("addresses") or ()),
            *((entry, False) for entry in subset.get("notReadyAddresses") or ()),
        ]
        for family, version in _VERSIONS.items():
            yield {
                "metadata": owner,
                "addressType": family,
                "endpoints": [
                    {
                        "addresses": [entry["ip"]],
                        "conditions": {"ready": ready, "serving": ready},
                        **({"nodeName": entry["nodeName"]} if entry.get("nodeName") else {}),
                    }
                    for entry, ready in listed
                    if ip_address(entry["ip"]).version == version
                ],
                "ports": subset.get("ports") or [],
            }


def _cluster_ips(spec: Json) -> list[Address]:
    """Return the Service's ClusterIPs; none if kube-proxy ignores the Service."""
    if spec.get("type") == "ExternalName":
        return []
    single = [spec["clusterIP"]] if spec.get("clusterIP") else []
    return [ip_address(text) for text in spec.get("clusterIPs") or single if text != "None"]


def _ports(
    service: Json, address: Address, slices: Sequence[Json], nodes: Collection[str]
) -> Iterator[ServicePort]:
    metadata, spec = service["metadata"], service["spec"]
    affinity = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
    for port in spec.get("ports") or ():
        protocol = port.get("protocol", "TCP")
        if protocol not in _PROTOCOLS:
            continue
        yield ServicePort(
            namespace=metadata["namespace"],
            service=metadata["name"],
            port_name=port.get("name", ""),
            protocol=protocol,
            cluster_ip=address,
            port=int(port["port"]),
            target_port=_target(port),
            node_port=port.get("nodePort"),
            client_ip_affinity=spec.get("sessionAffinity") == "ClientIP",
            affinity_timeout=int(affinity.get("timeoutSeconds", _DEFAULT_AFFINITY_SECONDS)),
            external_traffic_local=spec.get("externalTrafficPolicy") == "Local",
            internal_traffic_local=spec.get("internalTrafficPolicy") == "Local",
            endpoints=_endpoints(port, slices, nodes),
            ingress_addresses=_addresses(_ingress(service), address.version),
            external_addresses=_addresses(spec.get("externalIPs"), address.version),
            source_ranges=_networks(spec.get("loadBalancerSourceRanges"), address.version),
            preserve_destination=_annotations(service).get(_PRESERVE_DESTINATION) == "true",
            keep_optimised=_annotations(service).get(_OPTIMISATION, "").lower() != "disabled",
            health_check_port=spec.get("healthCheckNodePort"),
            topology_aware=_aware(service),
        )


def _addresses(texts: Iterable[str] | None, version: int) -> tuple[Address, ...]:
    addresses = map(ip_address, texts or ())
    return tuple(address for address in addresses if address.version == version)


def _networks(texts: Iterable[str] | None, version: int) -> tuple[Network, ...]:
    networks = (ip_network(text, strict=False) for text in texts or ())
    return tuple(network for network in networks if network.version == version)


def _annotations(service: Json) -> Mapping[str, str]:
    return service["metadata"].get("annotations") or {}


def _aware(service: Json) -> bool:
    """Whether the Service has an annotation for hints, without which kube-proxy ignores them."""
    annotations = _annotations(service)
    return any(annotations.get(name) in {"Auto", "auto"} for name in _TOPOLOGY_AWARE)


def _ingress(service: Json) -> list[str]:
    """Return the ingress addresses that nodes serve: no host names, and none with ``ipMode: Proxy``."""
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return [entry["ip"] for entry in ingress if entry.get("ip") and entry.get("ipMode") != "Proxy"]


def _target(port: Json) -> int | None:
    target = port.get("targetPort", port["port"])
    return target if isinstance(target, int) and target else None


def _endpoints(port: Json, slices: Sequence[Json], nodes: Collection[str]) -> tuple[Backend, ...]:
    """Return every address and port once; of duplicates the one that is not terminating."""
    backends: dict[tuple[str, int], Backend] = {}
    for item in slices:
        number = _port_number(item, port)
        if not number:
            continue
        for endpoint in item.get("endpoints") or ():
            for address in endpoint["addresses"][:1]:  # kube-proxy ignores the others
                backend = _endpoint(endpoint, ip_address(address), number, nodes)
                if (address, number) not in backends or not backend.terminating:
                    backends[address, number] = backend
    return tuple(sorted(backends.values(), key=_by_text))


def _endpoint(endpoint: Json, address: Address, port: int, nodes: Collection[str]) -> Backend:
    conditions = endpoint.get("conditions") or {}
    hints = (endpoint.get("hints") or {}).get("forZones") or ()
    # A missing condition is unknown, which the API defines as ready and not terminating.
    return Backend(
        address=address,
        port=port,
        node=endpoint.get("nodeName"),
        node_address=str(address) in nodes,
        ready=conditions.get("ready") is not False,
        serving=conditions.get("serving") is not False,
        terminating=conditions.get("terminating") is True,
        zones=tuple(hint["name"] for hint in hints),
        pod=str((endpoint.get("targetRef") or {}).get("uid", "")),
    )


def _by_text(backend: Backend) -> str:
    """Return the sort key: kube-proxy sorts endpoints as texts (``pkg/proxy/endpointslicecache.go``)."""
    host = f"[{backend.address}]" if backend.address.version == 6 else str(backend.address)
    return f"{host}:{backend.port}"


def _port_number(item: Json, port: Json) -> int | None:
    for slice_port in item.get("ports") or ():
        same = (slice_port.get("name") or "") == port.get("name", "")
        if same and slice_port.get("protocol", "TCP") == port.get("protocol", "TCP"):
            # kube-proxy ignores ports without a number
            number: int | None = slice_port.get("port")
            return number
    return None
