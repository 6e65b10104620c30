"""Create the objects of a run, find them by their labels, and delete single objects.

``undo`` decides what is removed at the end of a run, ``collect`` what is removed of dead runs, ``wait`` waits for
Pods.
"""

import time
from collections.abc import Callable
from typing import Any

from nettests.cluster.connection import FOREGROUND, Answer, ApiError, Connection
from nettests.cluster.ownership import Ownership, run_of
from nettests.errors import ClusterError
from nettests.model.labels import RUN_LABEL
from nettests.model.workload import Workload

Object = dict[str, Any]

POLL_SECONDS = 0.2
ACCOUNT_SECONDS = 15.0

COLLECTIONS: dict[str, tuple[str, str]] = {
    **{kind.value: (kind.prefix, kind.plural) for kind in Workload},
    "Pod": ("/api/v1", "pods"),
    "Service": ("/api/v1", "services"),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1", "networkpolicies"),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases"),
}
"""The kinds that a run creates in its namespace; in an existing namespace they are removed one by one, in
this order: workloads before their Pods, which they would recreate, the NetworkPolicy once its Pods are
gone, and the Lease last, because it says that the run is alive."""


OPTIONAL = frozenset({*Workload, "NetworkPolicy"})
"""Kinds that a run creates only if it may also list and delete them: without that permission there are none."""
_NONE_THERE = frozenset({403, 404})
"""Statuses for a list of such a kind: it is not allowed, or the cluster is older than the kind."""
_OWNED = {"EndpointSlice": ("/apis/discovery.k8s.io/v1", "endpointslices")}
"""The kinds that are removed with their owner, a Service of the run."""


def path_of(item: Object) -> str:
    """Return the collection that an object is created in."""
    if item["kind"] == "Namespace":
        return "/api/v1/namespaces"
    if item["kind"] == "Secret":  # only in the run's own namespace, with which it is removed
        return f"/api/v1/namespaces/{item['metadata']['namespace']}/secrets"
    return collection(item["kind"], item["metadata"]["namespace"])


def collection(kind: str, namespace: str | None = None) -> str:
    """Return the path of all objects of a kind, in one namespace or in all."""
    prefix, plural = (COLLECTIONS | _OWNED)[kind]
    return f"{prefix}/namespaces/{namespace}/{plural}" if namespace else f"{prefix}/{plural}"


def create(connection: Connection, item: Object) -> Object:
    """Create an object, or return it if an earlier try of the same run created it."""
    try:
        return _create(connection, item)
    except ApiError as error:
        if error.status != 409 or error.reason != "AlreadyExists":
            raise
        existing = connection.get(f"{path_of(item)}/{item['metadata']['name']}")
        if run_of(existing) == run_of(item):
            return existing
        raise


def _create(connection: Connection, item: Object) -> Object:
    """Create an object; a pod waits for the default ServiceAccount of a new namespace."""
    deadline = time.monotonic() + ACCOUNT_SECONDS
    while True:
        try:
            return connection.create(path_of(item), item)
        except ApiError as error:
            # sample: error looking up service account x/default: serviceaccount "default" not found
            missing = error.status == 403 and "serviceaccount" in error.message
            if not missing or time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)


def dry_run(connection: Connection, item: Object) -> Answer:
    """Request an object to be created without being stored, and return the answer whatever it is.

    Like ``create`` it waits for the default ServiceAccount of a new namespace.
    """
    deadline = time.monotonic() + ACCOUNT_SECONDS
    while True:
        answer = connection.answer("POST", path_of(item), query={"dryRun": "All"}, body=item)
        missing = answer.status == 403 and "serviceaccount" in answer.text
        if not missing or time.monotonic() > deadline:
            return answer
        time.sleep(POLL_SECONDS)


def owned_namespaces(connection: Connection, run: str | None = None) -> list[Object]:
    """Return the namespaces that carry all marks of a run (of any run by default)."""
    return _owned(connection, "/api/v1/namespaces", run)


def owned_objects(
    connection: Connection, kind: str, run: str | None = None, namespace: str | None = None
) -> list[Object]:
    """Return the objects of a kind that carry all marks of a run, in one namespace or in all."""
    try:
        items = _owned(connection, collection(kind, namespace), run)
    except ApiError as error:
        if kind in OPTIONAL and error.status in _NONE_THERE:
            return []
        raise
    return [{"kind": kind, **item} for item in items]


def _owned(connection: Connection, path: str, run: str | None) -> list[Object]:
    selector = RUN_LABEL if run is None else f"{RUN_LABEL}={run}"
    return [
        item
        for item in connection.items(path, labelSelector=selector)
        if Ownership.of(item) is not None
    ]


def delete_object(connection: Connection, item: Object) -> None:
    """Delete exactly this object, by its uid; it is no error if it is already gone.

    A Lease is deleted only in the version that was read: another run may have taken it over, which keeps its uid.
    A workload stays until its Pods are gone: waiting for its end is waiting for theirs.
    """
    meta = item["metadata"]
    version = meta["resourceVersion"] if item["kind"] == "Lease" else None
    first = FOREGROUND if item["kind"] in set(Workload) else None
    try:
        connection.delete(
            f"{path_of(item)}/{meta['name']}", uid=meta["uid"], version=version, propagation=first
        )
    except ApiError as error:
        if error.status != 409:  # another object of that name
            raise


def wait_gone(left: Callable[[], list[Object]], what: str, seconds: float) -> None:
    """Wait until nothing is ``left``; ``ClusterError`` names what is still there after ``seconds``."""
    deadline = time.monotonic() + seconds
    while items := left():
        if time.monotonic() > deadline:
            names = ", ".join(item["metadata"]["name"] for item in items)
            raise ClusterError(
                f"{what} {names} is still terminating after {seconds:.0f} s",
                hint=f"it goes by itself; `kubectl describe {what}` says what holds it",
            )
        time.sleep(POLL_SECONDS)
