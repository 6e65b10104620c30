"""Deployed objects: addresses of pods and Services, and the problems of those that failed.

``deploy`` makes it and ``addresses`` reads it. The readers of API objects are pure.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nettests.model.check import ServiceObject
from nettests.model.facts import Address
from nettests.model.json_text import Object
from nettests.model.pod_problem import last_ending
from nettests.model.service import ServiceSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingPod:
    """A Ready pod."""

    name: str
    node: str
    purpose: str
    addresses: tuple[Address, ...]
    host_addresses: tuple[Address, ...]
    uid: str = ""
    containers: tuple[str, ...] = ()
    """Container ids: a restart changes them."""
    ended: str = ""
    """How a container that was restarted had ended: exit code and end of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingService:
    """A Service with the API server's defaults; a headless one has no addresses."""

    name: str
    addresses: tuple[Address, ...]
    node_ports: Mapping[str, int]
    """By port name."""
    balanced: tuple[Address, ...] = ()
    """Its load balancer addresses."""
    external: tuple[Address, ...] = ()
    """Its ``externalIPs``."""
    health_check_port: int | None = None
    backends: tuple[str, ...] = ()
    settings: ServiceSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """All deployed objects by name, and the reasons for missing ones."""

    namespace: str
    pods: Mapping[str, StandingPod]
    services: Mapping[str, StandingService]
    problems: Mapping[str, str] = field(default_factory=dict)
    sentinel: str | None = None
    """The Service that was created once the API knew all endpoints of the others."""
    barren: Mapping[str, str] = field(default_factory=dict)
    """Why the first Pod did not start, for each node where none did in the Pod network."""
    remarks: tuple[str, ...] = ()
    """Minor problems of the deployment, for the journal."""
    declined: Mapping[str, str] = field(default_factory=dict)
    """Why this cluster does not offer something, by the Service that needs it."""


def standing_pod(pod: Object, purpose: str) -> StandingPod:
    """Read a Ready pod."""
    status = pod["status"]
    return StandingPod(
        name=pod["metadata"]["name"],
        node=pod["spec"]["nodeName"],
        purpose=purpose,
        addresses=_addresses(item["ip"] for item in status.get("podIPs") or []),
        host_addresses=_addresses(
            item["ip"] for item in status.get("hostIPs") or [{"ip": status["hostIP"]}]
        ),
        uid=pod["metadata"].get("uid") or "",
        containers=tuple(
            sorted(
                container.get("containerID") or ""
                for container in status.get("containerStatuses") or ()
            )
        ),
        ended=last_ending(pod),
    )


def standing_service(service: Object, planned: ServiceObject) -> StandingService:
    """Read a Service with the API server's defaults; backends and settings are the plan's."""
    spec = service["spec"]
    texts = spec.get("clusterIPs") or [spec.get("clusterIP", "None")]
    return StandingService(
        name=service["metadata"]["name"],
        addresses=_addresses(text for text in texts if text and text != "None"),
        node_ports={
            port["name"]: port["nodePort"]
            for port in spec.get("ports") or ()
            if port.get("nodePort")
        },
        balanced=_addresses(item["ip"] for item in ingress_of(service) if item.get("ip")),
        external=_addresses(spec.get("externalIPs") or ()),
        health_check_port=spec.get("healthCheckNodePort"),
        backends=planned.backends,
        settings=planned.settings,
    )


def ingress_of(service: Object) -> list[Object]:
    """Return a Service's load balancer ingress: entries with ``ip`` or ``hostname``."""
    status = (service.get("status") or {}).get("loadBalancer") or {}
    return list(status.get("ingress") or ())


def _addresses(texts: Iterable[str]) -> tuple[Address, ...]:
    return tuple(ipaddress.ip_address(text) for text in texts)
