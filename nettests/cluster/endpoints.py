"""Wait until the EndpointSlices of a namespace hold the pods that stand behind its Services.

List and watch, like ``wait``. What a node's kube-proxy makes of the slices is not known here: that
shows only when the node is asked.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.wait import PAUSE_SECONDS, SLICE_SECONDS
from nettests.errors import ClusterError

Object = dict[str, Any]
Wanted = Mapping[str, frozenset[str]]
"""By Service the pods that have to be among its endpoints."""

SERVICE_LABEL = "kubernetes.io/service-name"


def wait_for_endpoints(
    connection: Connection,
    namespace: str,
    ready: Wanted,
    *,
    seconds: float,
) -> dict[str, frozenset[str]]:
    """Return by Service the pods that are no ready endpoints after ``seconds``; nothing when all are.

    ``ClusterError`` where slices cannot be read at all: without the permission, or before Kubernetes 1.21.
    """
    path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    deadline = time.monotonic() + seconds
    lacking = dict(ready)
    while lacking and (left := deadline - time.monotonic()) > 0:
        try:
            lacking = _follow(connection, path, ready, min(SLICE_SECONDS, left))
        except ApiError as error:
            if error.status in {401, 403, 404}:
                raise
            time.sleep(PAUSE_SECONDS)
        except ClusterError:  # the watch was cut; the next list says whether the server is there
            time.sleep(PAUSE_SECONDS)
    return lacking


def _follow(
    connection: Connection, path: str, ready: Wanted, seconds: float
) -> dict[str, frozenset[str]]:
    """List, then watch for at most ``seconds`` or until nothing is lacking; return what is."""
    listed = connection.get(path)
    slices = {item["metadata"]["name"]: item for item in listed["items"]}
    lacking = missing(slices.values(), ready)
    if not lacking:
        return lacking
    version = listed["metadata"]["resourceVersion"]
    for event in connection.watch(path, seconds=seconds, resourceVersion=version):
        if event["type"] == "ERROR":
            break  # expired: list again
        if event["type"] == "BOOKMARK":
            continue
        name = event["object"]["metadata"]["name"]
        if event["type"] == "DELETED":
            slices.pop(name, None)
        else:
            slices[name] = event["object"]
        lacking = missing(slices.values(), ready)
        if not lacking:
            break
    return lacking


def missing(slices: Iterable[Object], ready: Wanted) -> dict[str, frozenset[str]]:
    """Return by Service the wanted pods that no slice of it holds as ready; Services without any left out."""
    held: dict[str, set[str]] = {}
    for item in slices:
        service = (item["metadata"].get("labels") or {}).get(SERVICE_LABEL, "")
        for endpoint in item.get("endpoints") or ():
            # An absent condition counts as ready (discovery.k8s.io/v1, EndpointConditions).
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                held.setdefault(service, set()).add(
                    (endpoint.get("targetRef") or {}).get("name", "")
                )
    lacking = {service: pods - held.get(service, set()) for service, pods in ready.items()}
    return {service: frozenset(pods) for service, pods in lacking.items() if pods}
