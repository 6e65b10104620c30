"""EndpointSlices that the run itself creates for Services without selector. Pure.

``deploy`` creates them once the pods have addresses; kube-proxy treats them like the controller's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nettests.model.check import Plan, ServiceObject
from nettests.model.facts import Address, ClusterFacts
from nettests.model.json_text import Object
from nettests.model.labels import DOMAIN, SERVICE_NAME_LABEL
from nettests.model.service import ByHand
from nettests.model.words import Family
from nettests.probes.deployment import StandingPod
from nettests.probes.objects import (
    PROBE_HTTP,
    SERVER_CLIENTIP,
    SERVER_HOSTNAME,
    SERVER_UDP,
    Blank,
)

MANAGED_LABEL = "endpointslice.kubernetes.io/managed-by"
NOBODYS_ZONE = "nettests-elsewhere"
_SERVER = (
    {"name": "hostname", "port": SERVER_HOSTNAME, "protocol": "TCP"},
    {"name": "clientip", "port": SERVER_CLIENTIP, "protocol": "TCP"},
    {"name": "udp", "port": SERVER_UDP, "protocol": "UDP"},
)
_HOSTNAMES = {"server": SERVER_HOSTNAME, "probe": PROBE_HTTP}
"""The ports on which pods report their name, by purpose."""
_READY = MappingProxyType({"ready": True})
_TERMINATING = MappingProxyType({"ready": False, "serving": True, "terminating": True})


def slices(
    services: Iterable[ServiceObject],
    stored: Mapping[str, Object],
    pods: Mapping[str, StandingPod],
    blank: Blank,
    zones: Sequence[str] = (),
) -> Iterator[Object]:
    """Yield the EndpointSlices of Services without selector, for their pods that exist.

    ``stored`` are the Services as created, which own the slices; ``zones`` are the source nodes'.
    """
    purposes = {name: pod.purpose for name, pod in pods.items()}
    for service in services:
        if service.settings.by_hand is None or service.name not in stored:
            continue
        owner = stored[service.name]["metadata"]
        for part in _parts(service, purposes):
            for family in Family:
                endpoints = [
                    {**_endpoint(pods[name], address, part), **_hints(name, part, zones)}
                    for name in part.pods
                    for address in pods[name].addresses
                    if f"IPv{address.version}" == family
                ]
                if endpoints:
                    item = _slice(service.name, part, family, endpoints, blank)
                    item["metadata"]["ownerReferences"] = [_reference(owner)]
                    yield item


def zones_of(facts: ClusterFacts) -> tuple[str, ...]:
    """Return the nodes' zones, without duplicates."""
    return tuple(sorted({node.zone.value for node in facts.nodes if node.zone.value}))


def planned(plan: Plan, facts: ClusterFacts, blank: Blank) -> Iterator[Object]:
    """Yield the slices before anything exists: without addresses and the owner's uid."""
    purposes = {pod.name: pod.purpose for pod in plan.pods}
    for service in plan.services:
        if service.settings.by_hand is None:
            continue
        for part in _parts(service, purposes):
            for family in facts.families:
                yield _slice(service.name, part, family, [], blank)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One slice of a Service, per family: its pods, their ports, and their conditions."""

    label: str
    pods: tuple[str, ...]
    ports: tuple[Object, ...]
    terminating: bool = False
    near: str = ""
    """The pod whose hints name the clients' zones; those of the others name an unused zone."""


def _parts(service: ServiceObject, purposes: Mapping[str, str]) -> Iterator[_Part]:
    pods = tuple(name for name in service.backends if name in purposes)
    if service.settings.by_hand is not ByHand.MIXED_TARGET_PORTS:
        leaving = service.settings.by_hand is ByHand.TERMINATING
        near = service.backends[0] if service.settings.by_hand is ByHand.HINTED else ""
        yield _Part(label="all", pods=pods, ports=_SERVER, terminating=leaving, near=near)
        return
    for name in pods:
        port = {**_SERVER[0], "port": _HOSTNAMES[purposes[name]]}
        yield _Part(label=purposes[name], pods=(name,), ports=(port,))


def _slice(
    service: str, part: _Part, family: Family, endpoints: list[Object], blank: Blank
) -> Object:
    """Return the slice of one family, because a slice holds addresses of a single family."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{service}-{part.label}-{family.lower()}",
            "namespace": blank.namespace,
            "labels": {**blank.labels, SERVICE_NAME_LABEL: service, MANAGED_LABEL: DOMAIN},
        },
        "addressType": family.value,
        "endpoints": endpoints,
        "ports": [dict(port) for port in part.ports],
    }


def _reference(owner: Object) -> Object:
    name, uid = owner["name"], owner["uid"]
    return {"apiVersion": "v1", "kind": "Service", "name": name, "uid": uid}


def _hints(pod: str, part: _Part, zones: Sequence[str]) -> Object:
    if not part.near:
        return {}
    named = zones if pod == part.near else (NOBODYS_ZONE,)
    return {"hints": {"forZones": [{"name": zone} for zone in named]}}


def _endpoint(pod: StandingPod, address: Address, part: _Part) -> Object:
    return {
        "addresses": [str(address)],
        "conditions": dict(_TERMINATING if part.terminating else _READY),
        "nodeName": pod.node,
        "targetRef": {"kind": "Pod", "name": pod.name},
    }
