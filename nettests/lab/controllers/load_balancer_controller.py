"""The load balancer of the lab's cloud: assigns addresses to Services and routes them to nodes.

Each Service of type LoadBalancer gets the first free address of the lab's range; its packets are routed to
one node, as by a load balancer that announces addresses on the nodes' network: to a node with a ready
backend if there is one, otherwise to any node, unless the traffic policy is Local. The node's service proxy
handles them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from ipaddress import ip_address

from nettests.lab.client import FAILURES, Client, Json
from nettests.lab.client.informer import Informer, work_after_changes
from nettests.lab.controllers.endpoints import SERVICE_LABEL
from nettests.lab.topology import Address, Profile

_LOG = logging.getLogger(__name__)

_GATHER = 0.02
_RETRY = 0.5
_MODE_SINCE = 30
"""``ipMode`` is set from 1.30 on (LoadBalancerIPMode)."""

Announce = Callable[[Mapping[Address, Address]], Awaitable[None]]


class LoadBalancerController:
    """Assigns addresses and announces them; ``announce`` always gets all of them."""

    def __init__(self, client: Client, profile: Profile, announce: Announce) -> None:
        self._client = client
        self._profile = profile
        self._announce = announce
        self._services = Informer(client, "/api/v1/services")
        self._slices = Informer(client, "/apis/discovery.k8s.io/v1/endpointslices")
        self._assigned: dict[str, Address] = {}
        self._announced: dict[Address, Address] = {}

    async def run(self) -> None:
        """Follow the API until cancelled."""
        informers = (self._services, self._slices)
        await work_after_changes(informers, _GATHER, self._work)

    async def _work(self) -> None:
        while True:
            try:
                await self._reconcile()
            except FAILURES as error:
                _LOG.info("load balancers: %s", error)
                await asyncio.sleep(_RETRY)
            else:
                return

    async def _reconcile(self) -> None:
        balanced = {
            key: service for key, service in self._services.objects.items() if _balanced(service)
        }
        for key in self._assigned.keys() - balanced.keys():
            del self._assigned[key]
        for key, service in sorted(balanced.items()):
            if key not in self._assigned:
                self._assigned[key] = _reported_address(service) or self._free()
            if _reported_address(service) != self._assigned[key]:
                await self._report(service, self._assigned[key])
        nodes = {key: self._node(service) for key, service in balanced.items()}
        wanted = {self._assigned[key]: node for key, node in nodes.items() if node is not None}
        if wanted != self._announced:
            await self._announce(wanted)
            self._announced = wanted

    def _free(self) -> Address:
        used = set(self._assigned.values())
        for address in self._profile.load_balancer_network.hosts():
            if address not in used:
                return address
        raise OSError(f"all addresses of {self._profile.load_balancer_network} are taken")

    async def _report(self, service: Json, address: Address) -> None:
        metadata = service["metadata"]
        entry: Json = {"ip": str(address)}
        if self._profile.minor >= _MODE_SINCE:
            entry["ipMode"] = "VIP"
        path = f"/api/v1/namespaces/{metadata['namespace']}/services/{metadata['name']}/status"
        await self._client.patch(path, {"status": {"loadBalancer": {"ingress": [entry]}}})

    def _node(self, service: Json) -> Address | None:
        backed = _nodes_of(service, self._slices.objects.values())
        addresses = {node.name: node.address for node in self._profile.nodes}
        local = service["spec"].get("externalTrafficPolicy") == "Local"
        candidates = [name for name in addresses if name in backed]
        if not candidates and not local:
            candidates = list(addresses)
        return addresses[candidates[0]] if candidates else None


def _balanced(service: Json) -> bool:
    """Whether the Service is for this load balancer: it has no class, and IPv4, the only family here."""
    spec = service["spec"]
    ours = spec.get("type") == "LoadBalancer" and not spec.get("loadBalancerClass")
    return ours and "IPv4" in (spec.get("ipFamilies") or ("IPv4",))


def _reported_address(service: Json) -> Address | None:
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return next((ip_address(entry["ip"]) for entry in ingress if entry.get("ip")), None)


def _nodes_of(service: Json, slices: Iterable[Json]) -> set[str]:
    metadata = service["metadata"]
    full_name = (metadata["namespace"], metadata["name"])

    def owner(metadata: Json) -> tuple[str, str | None]:
        return metadata["namespace"], (metadata.get("labels") or {}).get(SERVICE_LABEL)

    return {
        endpoint["nodeName"]
        for item in slices
        if owner(item["metadata"]) == full_name
        for endpoint in item.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready", True) and endpoint.get("nodeName")
    }
