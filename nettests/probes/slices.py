"""EndpointSlices that the run makes itself, of Services without selector.

Made by ``deploy`` once the pods have addresses; kube-proxy reads them like those of the controller. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nettests.model.check import ServiceObject
from nettests.model.facts import Address
from nettests.model.service import ByHand
from nettests.probes.deployment import StandingPod
from nettests.probes.objects import (
    PROBE_HTTP,
    SERVER_CLIENTIP,
    SERVER_HOSTNAME,
    SERVER_UDP,
    Blank,
)

Object = dict[str, Any]

SERVICE_LABEL = "kubernetes.io/service-name"
MANAGED_LABEL = "endpointslice.kubernetes.io/managed-by"
MANAGER = "nettests.dev"
_SERVER = (
    {"name": "hostname", "port": SERVER_HOSTNAME, "protocol": "TCP"},
    {"name": "clientip", "port": SERVER_CLIENTIP, "protocol": "TCP"},
    {"name": "udp", "port": SERVER_UDP, "protocol": "UDP"},
)
_HOSTNAMES = {"server": SERVER_HOSTNAME, "probe": PROBE_HTTP}
"""Where pods answer who they are, by their purpose."""


def slices(
    services: Iterable[ServiceObject],
    stored: Mapping[str, Object],
    pods: Mapping[str, StandingPod],
    blank: Blank,
) -> Iterator[Object]:
    """Yield the slices of the Services that have no selector, of those of their pods that stand.

    ``stored`` are the Services as the API has them: a slice goes with the one that owns it.
    """
    for service in services:
        if service.settings.by_hand is None or service.name not in stored:
            continue
        owner = stored[service.name]
        standing = [pods[name] for name in service.backends if name in pods]
        if service.settings.by_hand is ByHand.PLAIN:
            yield from _by_family(owner, "all", standing, list(_SERVER), blank)
            continue
        for pod in standing:
            ports = [{**_SERVER[0], "port": _HOSTNAMES[pod.purpose]}]
            yield from _by_family(owner, pod.purpose, [pod], ports, blank)


def _by_family(
    service: Object, label: str, pods: list[StandingPod], ports: list[Object], blank: Blank
) -> Iterator[Object]:
    """Yield a slice for each family: a slice holds addresses of one."""
    name, uid = service["metadata"]["name"], service["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Service", "name": name, "uid": uid}
    for version in (4, 6):
        endpoints = [
            _endpoint(pod, address)
            for pod in pods
            for address in pod.addresses
            if address.version == version
        ]
        if endpoints:
            yield {
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": {
                    "name": f"{name}-{label}-ipv{version}",
                    "namespace": blank.namespace,
                    "labels": {**blank.labels, SERVICE_LABEL: name, MANAGED_LABEL: MANAGER},
                    "ownerReferences": [owner],
                },
                "addressType": f"IPv{version}",
                "endpoints": endpoints,
                "ports": ports,
            }


def _endpoint(pod: StandingPod, address: Address) -> Object:
    return {
        "addresses": [str(address)],
        "conditions": {"ready": True},
        "nodeName": pod.node,
        "targetRef": {"kind": "Pod", "name": pod.name},
    }
