"""Wait until the EndpointSlices of a namespace hold the pods behind its Services.

Whether kube-proxy on a node has programmed them is not known here: that only shows on the node.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nettests.cluster.connection import Connection
from nettests.cluster.list_watch import states
from nettests.model.labels import SERVICE_NAME_LABEL

Object = dict[str, Any]
Wanted = Mapping[str, frozenset[str]]
"""By Service, the pods that have to be among its endpoints."""


def wait_for_endpoints(
    connection: Connection,
    namespace: str,
    ready: Wanted,
    *,
    seconds: float,
) -> dict[str, frozenset[str]]:
    """Return by Service the pods that are not ready endpoints after ``seconds``; empty if all are.

    ``ClusterError`` if slices cannot be read at all: without the permission, or before Kubernetes 1.21.
    """
    path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    lacking = dict(ready)
    if lacking:
        for slices in states(connection, path, seconds=seconds):
            lacking = missing(slices.values(), ready)
            if not lacking:
                break
    return lacking


def missing(slices: Iterable[Object], ready: Wanted) -> dict[str, frozenset[str]]:
    """Return by Service the wanted pods that none of its slices lists as ready; Services that lack none are left out."""
    held: dict[str, set[str]] = {}
    for item in slices:
        service = (item["metadata"].get("labels") or {}).get(SERVICE_NAME_LABEL, "")
        for endpoint in item.get("endpoints") or ():
            # An absent condition counts as ready (discovery.k8s.io/v1, EndpointConditions).
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                held.setdefault(service, set()).add(
                    (endpoint.get("targetRef") or {}).get("name", "")
                )
    lacking = {service: pods - held.get(service, set()) for service, pods in ready.items()}
    return {service: frozenset(pods) for service, pods in lacking.items() if pods}
