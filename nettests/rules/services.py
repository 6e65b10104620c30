"""Services and EndpointSlices as rules read them: before and after the node is read.

No rule is declared here; ``balancing`` says which load balancers Services take. Services that change between the
readings get the benefit of the doubt.
"""

from collections.abc import Iterable
from dataclasses import replace

from nettests.model.labels import RUN_LABEL, SERVICE_NAME_LABEL
from nettests.model.permission import LIST_ALL_SERVICES, LIST_ALL_SLICES
from nettests.rules import kept
from nettests.rules.balancing import OTHER_PROXY_LABEL, PRESERVED, service_of
from nettests.rules.evidence import Evidence, Object, name_of
from nettests.rules.kept import KEEP, NAMED, Kept
from nettests.rules.readings import ApiObjects, Request

SERVICE: Kept = {
    "metadata": {
        **NAMED,
        "labels": {RUN_LABEL: KEEP, OTHER_PROXY_LABEL: KEEP},
        "annotations": {PRESERVED: KEEP},
    },
    "spec": {
        "type": KEEP,
        "clusterIP": KEEP,
        "clusterIPs": KEEP,
        "externalIPs": KEEP,
        "externalTrafficPolicy": KEEP,
        "internalTrafficPolicy": KEEP,
        "healthCheckNodePort": KEEP,
        "ports": {
            "name": KEEP,
            "port": KEEP,
            "protocol": KEEP,
            "nodePort": KEEP,
        },
    },
    "status": {"loadBalancer": {"ingress": {"ip": KEEP, "ipMode": KEEP}}},
}
SLICE: Kept = {
    "metadata": {**NAMED, "labels": {SERVICE_NAME_LABEL: KEEP}},
    "addressType": KEEP,
    "endpoints": {
        "addresses": KEEP,
        "nodeName": KEEP,
        "conditions": {"ready": KEEP, "serving": KEEP, "terminating": KEEP},
    },
    "ports": {"name": KEEP, "port": KEEP, "protocol": KEEP},
}
SERVICES = ApiObjects(
    name="services",
    request=lambda _facts, _node: Request(path="/api/v1/services"),
    permission=LIST_ALL_SERVICES,
    keep=kept.items(SERVICE),
)
SERVICES_AFTER = replace(SERVICES, name="services-after")
SLICES = ApiObjects(
    name="endpoint-slices",
    request=lambda _facts, _node: Request(path="/apis/discovery.k8s.io/v1/endpointslices"),
    permission=LIST_ALL_SLICES,
    keep=kept.items(SLICE),
)
SLICES_AFTER = replace(SLICES, name="endpoint-slices-after")


def unchanged(evidence: Evidence, *, of_runs: bool = False) -> list[Object]:
    """Return the Services that are the same before and after, endpoints included; ``of_runs`` adds those of runs."""
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
    """Return the EndpointSlices of a reading by the Service that they belong to."""
    slices: dict[str, list[Object]] = {}
    for item in evidence.items(reading):
        slices.setdefault(service_of(item), []).append(item)
    return slices


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
