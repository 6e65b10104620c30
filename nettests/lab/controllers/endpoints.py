"""Endpoints and EndpointSlices of Services, from selectors and the readiness of pods. Pure.

Follows the endpoint and EndpointSlice controllers as recorded from Kubernetes 1.36: one slice per
Service and IP family, ``ready``/``serving``/``terminating`` conditions, ``hostname`` for pods of a headless Service
whose ``subdomain`` is the Service's name, ``publishNotReadyAddresses``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nettests.lab.client import Json
from nettests.lab.client.informer import has_condition
from nettests.lab.controllers.workloads import owner_of

MANAGED_BY = "endpointslice-controller.k8s.io"
MANAGED_LABEL = "endpointslice.kubernetes.io/managed-by"
SERVICE_LABEL = "kubernetes.io/service-name"

_TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
_HEADLESS_LABEL = "service.kubernetes.io/headless"
_FINISHED = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Endpoint:
    """One pod behind a Service."""

    pod: Json
    address: str
    ready: bool
    serving: bool
    terminating: bool
    hostname: str | None


def selects_pod(service: Json, pod: Json) -> bool:
    """Whether the Service's selector (it must have one) matches the pod."""
    selector = service["spec"].get("selector") or {}
    labels = pod["metadata"].get("labels") or {}
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def families(service: Json) -> list[str]:
    """Return the IP families of a Service, that of ``clusterIP`` first."""
    return list(service["spec"].get("ipFamilies") or ("IPv4",))


def slice_of(service: Json, pods: Iterable[Json], family: str = "IPv4") -> Json:
    """Return the Service's EndpointSlice of one family, without its name."""
    metadata = service["metadata"]
    endpoints = _endpoints(service, pods, family)
    labels = {
        **(metadata.get("labels") or {}),
        MANAGED_LABEL: MANAGED_BY,
        SERVICE_LABEL: metadata["name"],
    }
    if service["spec"].get("clusterIP") == "None":
        labels[_HEADLESS_LABEL] = ""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": _trigger(service, endpoints),
            "ownerReferences": [owner_of(service, "Service")],
        },
        "addressType": family,
        "endpoints": [_slice_endpoint(endpoint) for endpoint in endpoints],
        "ports": _ports(service, [endpoint.pod for endpoint in endpoints], unnamed=True),
    }


def endpoints_of(service: Json, pods: Iterable[Json]) -> Json:
    """Return the Service's Endpoints object, of its first family; without endpoints it has no ``subsets``."""
    metadata = service["metadata"]
    endpoints = _endpoints(service, pods, families(service)[0])
    publish = bool(service["spec"].get("publishNotReadyAddresses"))
    ready = [e for e in endpoints if e.ready or (publish and not e.terminating)]
    unready = [e for e in endpoints if e not in ready and not e.terminating]
    subset: Json = {}
    if ready:
        subset["addresses"] = [_address(endpoint) for endpoint in ready]
    if unready:
        subset["notReadyAddresses"] = [_address(endpoint) for endpoint in unready]
    if subset:
        subset["ports"] = _ports(service, [e.pod for e in (*ready, *unready)], unnamed=False)
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {
                **(metadata.get("labels") or {}),
                "endpoints.kubernetes.io/managed-by": "endpoint-controller",
            },
            "annotations": _trigger(service, endpoints),
        },
        **({"subsets": [subset]} if subset else {}),
    }


def _trigger(service: Json, endpoints: Iterable[_Endpoint]) -> dict[str, str]:
    """Return the annotation of the last change: the Service's creation, or a change of a pod's readiness."""
    moments = [service["metadata"].get("creationTimestamp", "")]
    for endpoint in endpoints:
        moments.extend(
            condition.get("lastTransitionTime", "")
            for condition in endpoint.pod["status"].get("conditions") or ()
            if condition["type"] == "Ready"
        )
    return {_TRIGGER: max(moments)} if any(moments) else {}


def _endpoints(service: Json, pods: Iterable[Json], family: str) -> list[_Endpoint]:
    """Return the endpoints sorted by address, so that the same pods give the same object.

    Pods without an address of the family are left out.
    """
    publish = bool(service["spec"].get("publishNotReadyAddresses"))
    endpoints = []
    for pod in pods:
        status = pod.get("status", {})
        address = _address_of(status, family)
        if not address or status.get("phase") in _FINISHED or not selects_pod(service, pod):
            continue
        serving = has_condition(pod, "Ready")
        terminating = "deletionTimestamp" in pod["metadata"]
        endpoints.append(
            _Endpoint(
                pod=pod,
                address=str(address),
                ready=publish or (serving and not terminating),
                serving=serving,
                terminating=terminating,
                hostname=_hostname(service, pod),
            )
        )
    return sorted(
        endpoints, key=lambda endpoint: (endpoint.address, endpoint.pod["metadata"]["name"])
    )


def _address_of(status: Mapping[str, Json], family: str) -> str | None:
    single: list[Json] = [{"ip": status["podIP"]}] if status.get("podIP") else []
    every: Sequence[Json] = status.get("podIPs") or single  # type: ignore[assignment]
    wanted = family == "IPv6"
    return next((str(pod_ip["ip"]) for pod_ip in every if (":" in pod_ip["ip"]) is wanted), None)


def _hostname(service: Json, pod: Json) -> str | None:
    hostname = pod["spec"].get("hostname")
    in_domain = pod["spec"].get("subdomain") == service["metadata"]["name"]
    return str(hostname) if hostname and in_domain else None


def _slice_endpoint(endpoint: _Endpoint) -> Json:
    names = ("ready", "serving", "terminating")
    return {
        "addresses": [endpoint.address],
        "conditions": {name: getattr(endpoint, name) for name in names},
        "targetRef": _target(endpoint.pod),
        "nodeName": endpoint.pod["spec"]["nodeName"],
        **({"hostname": endpoint.hostname} if endpoint.hostname else {}),
    }


def _address(endpoint: _Endpoint) -> Json:
    return {
        "ip": endpoint.address,
        "nodeName": endpoint.pod["spec"]["nodeName"],
        "targetRef": _target(endpoint.pod),
        **({"hostname": endpoint.hostname} if endpoint.hostname else {}),
    }


def _target(pod: Json) -> Json:
    return {"kind": "Pod", **{key: pod["metadata"][key] for key in ("namespace", "name", "uid")}}


def _ports(service: Json, pods: Sequence[Json], *, unnamed: bool) -> list[Json]:
    """Return target ports; slices have a name for every port, Endpoints only for named ones.

    A named target port is looked up in the first pod; the pods of one workload agree about it, so
    that one slice suffices.
    """
    result = []
    for port in service["spec"].get("ports") or ():
        number = _target_port(port, pods)
        if number is None:
            continue
        entry: Json = {"port": number, "protocol": port.get("protocol", "TCP")}
        if unnamed or port.get("name"):
            entry["name"] = port.get("name", "")
        result.append(entry)
    return result


def _target_port(port: Json, pods: Sequence[Json]) -> int | None:
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target or int(port["port"])
    named = (
        int(container_port["containerPort"])
        for pod in pods
        for container in pod["spec"]["containers"]
        for container_port in container.get("ports") or ()
        if container_port.get("name") == target
    )
    return next(named, None)
