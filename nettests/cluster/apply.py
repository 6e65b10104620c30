"""Create the objects of a run, find them by their labels, and delete single objects.

At the end of a run only what it created is removed; ``collect`` removes what dead runs left. An
object is deleted if it carries the run's labels and a UID that this process created. The run's own
namespace is deleted as a whole, unless another run holds it. Pods that no kubelet has acted on have
started nothing, and a silent kubelet would never confirm their deletion: they are deleted at once.
``wait`` waits for Pods.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from nettests.cluster.connection import FOREGROUND, Answer, ApiError, ApiRequest, Connection
from nettests.cluster.owner_marks import Ownership, holder_of, read_lease, run_of
from nettests.errors import ClusterError
from nettests.model.json_text import Object
from nettests.model.labels import RUN_LABEL
from nettests.model.pod_problem import is_unacknowledged
from nettests.model.workload import Workload

POLL_SECONDS = 0.2
LONGEST_POLL_SECONDS = 2.0
"""On a real cluster a namespace takes some ten seconds to be removed."""
ACCOUNT_SECONDS = 15.0

COLLECTIONS: dict[str, tuple[str, str]] = {
    **{kind.value: (kind.prefix, kind.plural) for kind in Workload},
    "Pod": ("/api/v1", "pods"),
    "Service": ("/api/v1", "services"),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1", "networkpolicies"),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases"),
}
"""The kinds that a run creates in its namespace. In an existing namespace they are removed in this
order: workloads before their Pods, which they would recreate, the NetworkPolicy after its Pods, and
the Lease last, as it says that the run is alive."""


OPTIONAL = frozenset({*Workload, "NetworkPolicy"})
"""Kinds that a run creates only if it may also list and delete them."""
_NONE_THERE = frozenset({403, 404})
"""Statuses of a list of such a kind: not allowed, or the cluster is older than the kind."""
_OWNED = {"EndpointSlice": ("/apis/discovery.k8s.io/v1", "endpointslices")}
"""The kinds that are removed with their owner, a Service of the run."""


def path_of(item: Object) -> str:
    """Return the collection that an object is created in."""
    if item["kind"] == "Namespace":
        return "/api/v1/namespaces"
    if item["kind"] == "Secret":  # only in the run's own namespace, and removed with it
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
    """Create an object; a Pod waits for the default ServiceAccount of a new namespace."""
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
    """Send a dry-run creation, and return the answer, whatever it is.

    Like ``create``, wait for the default ServiceAccount of a new namespace.
    """
    deadline = time.monotonic() + ACCOUNT_SECONDS
    while True:
        answer = connection.answer(
            ApiRequest("POST", path_of(item), query={"dryRun": "All"}, body=item)
        )
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
    """Delete exactly this object, by its UID; no error if it is gone.

    A Lease is deleted only in the version that was read: another run may have taken it over, which
    keeps its UID. A workload remains until its Pods are gone, so waiting for it waits for them.
    """
    meta = item["metadata"]
    version = meta["resourceVersion"] if item["kind"] == "Lease" else None
    first = FOREGROUND if item["kind"] in set(Workload) else None
    try:
        connection.delete(
            f"{path_of(item)}/{meta['name']}", uid=meta["uid"], version=version, propagation=first
        )
    except ApiError as error:
        if error.status != 409:  # 409: another object has that name
            raise


def wait_gone(left: Callable[[], list[Object]], what: str, seconds: float) -> None:
    """Wait until nothing is ``left``; ``ClusterError`` if something is after ``seconds``."""
    deadline, pause = time.monotonic() + seconds, POLL_SECONDS
    while items := left():
        if time.monotonic() > deadline:
            names = ", ".join(item["metadata"]["name"] for item in items)
            raise ClusterError(
                f"{what} {names} is still terminating after {seconds:.0f} s",
                hint=f"it goes by itself; `kubectl describe {what}` says what holds it",
            )
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_POLL_SECONDS)


Key = tuple[str, str, str]


@dataclass(slots=True)
class CreatedObjects:
    """What a run created: UIDs by kind, namespace and name, as soon as they are known.

    After a lost answer the object may exist without a known UID: name and marks identify it.
    """

    _uids: dict[Key, set[str | None]] = field(default_factory=dict)

    def call(self, item: Object) -> None:
        """Remember an object that is about to be created."""
        self._uids.setdefault(_key(item), set()).add(None)

    def take(self, stored: Object, sent: Object) -> None:
        """Remember the UID of a created object."""
        uids = self._uids.setdefault(_key(sent), set())
        uids.discard(None)
        uids.add(stored["metadata"].get("uid"))

    def any_of(self, kind: str) -> bool:
        """Whether the run created an object of that kind, or tried to."""
        return any(created_kind == kind for created_kind, _, _ in self._uids)

    def holds(self, item: Object) -> bool:
        """Whether the run created this object, or its owner."""
        own_uids = self._uids.get(_key(item), set())
        if None in own_uids or item["metadata"]["uid"] in own_uids:
            return True
        every = {uid for uids in self._uids.values() for uid in uids}
        owners = [owner["uid"] for owner in item["metadata"].get("ownerReferences") or ()]
        return bool(owners) and every.issuperset(owners)


def _key(item: Object) -> Key:
    meta = item["metadata"]
    return item["kind"], meta.get("namespace", ""), meta["name"]


def delete_run(
    connection: Connection,
    marks: Ownership,
    created: CreatedObjects,
    *,
    wait: float,
    namespace: str | None = None,
) -> None:
    """Delete the run's namespaces, or its objects in an existing ``namespace``, and wait.

    ``ClusterError`` for what still exists after ``wait`` seconds, or now belongs to another run.
    """
    if namespace is not None:
        _delete_objects(connection, marks, created, namespace, wait)
        return

    def delete(item: Object) -> str:
        """Delete a namespace, or only the run's objects if another run holds it; return that."""
        name = item["metadata"]["name"]
        lease = read_lease(connection, name)
        if lease is None or holder_of(lease) == marks.run:
            delete_object(connection, item)
            return ""
        _delete_objects(connection, marks, created, name, wait)
        return holder_of(lease)

    namespaces = _namespaces(connection, marks, created)
    with ThreadPoolExecutor(connection.bounds.requests_open, "delete") as pool:
        holders = list(pool.map(delete, namespaces))
    names = [item["metadata"]["name"] for item in namespaces]
    taken = {name: holder for name, holder in zip(names, holders, strict=True) if holder}
    wait_gone(
        lambda: [
            item
            for item in _namespaces(connection, marks, created)
            if item["metadata"]["name"] not in taken
        ],
        "namespace",
        wait,
    )
    if taken:
        others = ", ".join(f"{name} is run {run}'s now" for name, run in taken.items())
        raise ClusterError(f"namespace {others}, and stays with what that one put into it")


def _namespaces(connection: Connection, marks: Ownership, created: CreatedObjects) -> list[Object]:
    namespaces = ({"kind": "Namespace", **item} for item in owned_namespaces(connection, marks.run))
    return [item for item in namespaces if Ownership.of(item) == marks and created.holds(item)]


def _delete_objects(
    connection: Connection, marks: Ownership, created: CreatedObjects, namespace: str, wait: float
) -> None:
    for kind in COLLECTIONS:
        if kind in OPTIONAL and not created.any_of(kind):
            continue
        left = partial(_objects, connection, marks, created, kind, namespace)
        delete = partial(_deleted, connection, left)
        delete()
        # A Lease that was renewed between read and deletion still exists: try again.
        wait_gone(delete if kind == "Lease" else left, kind.lower(), wait)


def _deleted(connection: Connection, left: Callable[[], list[Object]]) -> list[Object]:
    remaining = left()
    if remaining:  # an interrupted run may have left hundreds of Services
        with ThreadPoolExecutor(connection.bounds.requests, "delete") as pool:
            list(pool.map(partial(delete_object, connection), remaining))
    return remaining


def _objects(
    connection: Connection, marks: Ownership, created: CreatedObjects, kind: str, namespace: str
) -> list[Object]:
    return [
        item
        for item in owned_objects(connection, kind, marks.run, namespace)
        if Ownership.of(item) == marks
        and (created.holds(item) if kind != "Lease" else holder_of(item) == marks.run)
    ]


def delete_unacknowledged(
    connection: Connection, marks: Ownership, created: CreatedObjects, namespace: str
) -> None:
    """Delete Pods that no kubelet has acted on at once, unless one has accepted them meanwhile."""
    with suppress(ClusterError):  # the later removal reports what is left
        for pod in owned_objects(connection, "Pod", marks.run, namespace):
            if Ownership.of(pod) == marks and created.holds(pod) and is_unacknowledged(pod):
                seen = {key: pod["metadata"][key] for key in ("uid", "resourceVersion")}
                connection.request(
                    "DELETE",
                    f"{path_of(pod)}/{pod['metadata']['name']}",
                    body={"gracePeriodSeconds": 0, "preconditions": seen},
                )
