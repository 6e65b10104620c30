"""The table of Service ports that a node programs, from Services and EndpointSlices. Pure.

What kube-proxy makes of the same objects (of Endpoints too, where it reads those): headless and ExternalName Services have no rules, only ready
endpoints count (serving ones that terminate are used when nothing else is left, as since 1.26), and an
endpoint that is a node's own address is marked, because source rewriting depends on it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network

from nettests.lab.client import Json
from nettests.lab.controllers.endpoints import SERVICE_LABEL
from nettests.lab.topology import Address, Backend, Network, Profile, ServicePort, ServiceTable

_PROTOCOLS = frozenset({"TCP", "UDP"})
_DEFAULT_AFFINITY_SECONDS = 10800
_VERSIONS = {"IPv4": 4, "IPv6": 6}
_PRESERVE_DESTINATION = "preserve-destination"
_TOPOLOGY_AWARE = (
    "service.kubernetes.io/topology-mode",
    "service.kubernetes.io/topology-aware-hints",
)
"""From 1.27 on, and before; both are known to later versions."""


def service_table(
    services: Iterable[Json], slices: Iterable[Json], profile: Profile
) -> ServiceTable:
    """Return all Service ports with their backends, sorted by key."""
    by_service: dict[tuple[str, str], list[Json]] = {}
    for item in slices:
        labels = item["metadata"].get("labels") or {}
        if item.get("addressType") in _VERSIONS and SERVICE_LABEL in labels:
            owner = (item["metadata"]["namespace"], labels[SERVICE_LABEL])
            by_service.setdefault(owner, []).append(item)
    nodes = {address: node.name for node in profile.nodes for address in node.addresses}
    ports: list[ServicePort] = []
    for service in services:
        metadata = service["metadata"]
        own = by_service.get((metadata["namespace"], metadata["name"]), [])
        for address in _cluster_ips(service["spec"]):
            of_family = [item for item in own if _VERSIONS[item["addressType"]] == address.version]
            ports.extend(_ports(service, address, of_family, nodes))
    return tuple(sorted(ports, key=lambda port: (port.key, port.cluster_ip.version)))


def as_slices(endpoints: Json) -> Iterator[Json]:
    """Yield an Endpoints object in the words of slices: one for each subset, without what terminates."""
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
                        "conditions": {"ready": ready},
                        **({"nodeName": entry["nodeName"]} if entry.get("nodeName") else {}),
                    }
                    for entry, ready in listed
                    if ip_address(entry["ip"]).version == version
                ],
                "ports": subset.get("ports") or [],
            }


def _cluster_ips(spec: Json) -> list[Address]:
    """Return the Service's addresses, of one family or both; none if kube-proxy leaves it alone."""
    if spec.get("type") == "ExternalName":
        return []
    single = [spec["clusterIP"]] if spec.get("clusterIP") else []
    return [ip_address(text) for text in spec.get("clusterIPs") or single if text != "None"]


def _ports(
    service: Json, address: Address, slices: Sequence[Json], nodes: Mapping[str, str]
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
            node_port=port.get("nodePort"),
            client_ip_affinity=spec.get("sessionAffinity") == "ClientIP",
            affinity_timeout=int(affinity.get("timeoutSeconds", _DEFAULT_AFFINITY_SECONDS)),
            external_traffic_local=spec.get("externalTrafficPolicy") == "Local",
            internal_traffic_local=spec.get("internalTrafficPolicy") == "Local",
            require_dual_stack=spec.get("ipFamilyPolicy") == "RequireDualStack",
            backends=_backends(port, slices, nodes),
            ingress_addresses=_addresses(_ingress(service), address.version),
            external_addresses=_addresses(spec.get("externalIPs"), address.version),
            source_ranges=_networks(spec.get("loadBalancerSourceRanges"), address.version),
            preserve_destination=_annotations(service).get(_PRESERVE_DESTINATION) == "true",
            health_check_port=spec.get("healthCheckNodePort"),
            topology_aware=_aware(service),
        )


def _addresses(texts: Iterable[str] | None, version: int) -> tuple[Address, ...]:
    """Return the addresses of one family; each family's rules know only their own."""
    found = map(ip_address, texts or ())
    return tuple(address for address in found if address.version == version)


def _networks(texts: Iterable[str] | None, version: int) -> tuple[Network, ...]:
    found = (ip_network(text, strict=False) for text in texts or ())
    return tuple(network for network in found if network.version == version)


def _annotations(service: Json) -> Mapping[str, str]:
    return service["metadata"].get("annotations") or {}


def _aware(service: Json) -> bool:
    """Whether the Service asks for hints: kube-proxy looks for the annotation before it looks at them."""
    annotations = _annotations(service)
    return any(annotations.get(name) in {"Auto", "auto"} for name in _TOPOLOGY_AWARE)


def _ingress(service: Json) -> list[str]:
    """Return the addresses that nodes' proxies serve: not names, and not those of a proxying balancer."""
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return [entry["ip"] for entry in ingress if entry.get("ip") and entry.get("ipMode") != "Proxy"]


def _backends(port: Json, slices: Sequence[Json], nodes: Mapping[str, str]) -> tuple[Backend, ...]:
    ready: set[tuple[str, int, str | None]] = set()
    serving: set[tuple[str, int, str | None]] = set()
    zones: dict[str, tuple[str, ...]] = {}
    for item in slices:
        number = _port_number(item, port)
        if number is None:
            continue
        for endpoint in item.get("endpoints") or ():
            conditions = endpoint.get("conditions") or {}
            found = {(a, number, endpoint.get("nodeName")) for a in endpoint["addresses"]}
            hints = (endpoint.get("hints") or {}).get("forZones") or ()
            zones |= {a: tuple(hint["name"] for hint in hints) for a in endpoint["addresses"]}
            # "ready" missing means unknown, which the API says to take for true.
            if conditions.get("ready", True):
                ready |= found
            elif conditions.get("serving") and conditions.get("terminating"):
                serving |= found
    return tuple(
        Backend(
            address=ip_address(address),
            port=number,
            node=nodes.get(address, node),
            node_address=address in nodes,
            terminating=not ready,
            zones=zones[address],
        )
        for address, number, node in sorted(ready or serving, key=_by_address)
    )


def _by_address(found: tuple[str, int, str | None]) -> tuple[int, int]:
    return int(ip_address(found[0])), found[1]


def _port_number(item: Json, port: Json) -> int | None:
    for known in item.get("ports") or ():
        same = (known.get("name") or "") == port.get("name", "")
        if same and known.get("protocol", "TCP") == port.get("protocol", "TCP"):
            return int(known["port"])
    return None
