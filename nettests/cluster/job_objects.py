"""Create or update the objects of a Job, and report which of them existed.

Others' objects are never changed: an object without our labels is kept if it has the same content,
and refused otherwise. ``nettests.job`` decides what the objects are.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from nettests.cluster.connection import ApiError, ApiRequest, Connection
from nettests.errors import ClusterError
from nettests.job.state import untolerated
from nettests.model.json_text import Object
from nettests.model.labels import MANAGED_BY_LABEL

REPLACED_SECONDS = 60.0
"""How long the removal of a replaced Job may take."""
POLL_SECONDS = 0.5
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_KINDS = {
    "/api/v1": ("Namespace", "ServiceAccount", "ConfigMap", "PersistentVolumeClaim", "Pod"),
    _RBAC: ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "/apis/batch/v1": ("Job", "CronJob"),
}
_COLLECTIONS = {kind: (api, f"{kind.lower()}s") for api, kinds in _KINDS.items() for kind in kinds}
_CONTENT = {
    "ClusterRole": "rules",
    "Role": "rules",
    "ClusterRoleBinding": "subjects",
    "RoleBinding": "subjects",
    "ConfigMap": "data",
    "CronJob": "spec",
}
"""The fields that are compared and replaced, by kind; other existing objects are not changed."""
_ANYBODYS = frozenset({"Namespace", "PersistentVolumeClaim"})
"""Kinds that anyone may have created for us."""


@dataclass(frozen=True, slots=True)
class Applied:
    """The result for one object: created, updated, replaced or unchanged."""

    what: str
    done: str


def path_of(kind: str, namespace: str = "", name: str = "") -> str:
    """Return the path of an object, or, without a name, of its collection."""
    prefix, plural = _COLLECTIONS[kind]
    place = f"/namespaces/{namespace}" if namespace else ""
    return f"{prefix}{place}/{plural}{f'/{name}' if name else ''}"


def apply(
    connection: Connection,
    items: Sequence[Object],
    *,
    replace: bool,
    say: Callable[[Applied], None],
) -> None:
    """Create missing objects and update ours, in order; ``ClusterError`` for the first refused.

    With ``replace`` the new Job replaces one that has ended.
    """
    created: list[str] = []
    for item in items:
        what = described(item)
        try:
            done = _applied(connection, item, replace=replace)
        except ApiError as error:
            before = f"; created before it: {', '.join(created)}" if created else ""
            raise ClusterError(
                f"{what} was refused: {error.message}{before}", hint=_next_step(item, error)
            ) from error
        if done == "created":
            created.append(what)
        say(Applied(what, done))


def require_namespace(connection: Connection, namespace: str) -> None:
    """Raise ``ClusterError`` if the namespace does not exist; pass if it may not be read."""
    try:
        connection.get(path_of("Namespace", name=namespace))
    except ApiError as error:
        if error.status == 404:
            raise no_namespace(namespace) from error
        if error.status != 403:
            raise


def no_namespace(namespace: str) -> ClusterError:
    """Return the error for a missing namespace."""
    return ClusterError(
        f"there is no namespace {namespace}",
        hint=f"name another with --namespace, or create it: kubectl create namespace {namespace}",
    )


def require_admitted(connection: Connection, namespace: str, template: Object) -> None:
    """Test a Job's Pod by a dry run: a Job is admitted even if its Pod will be refused.

    Pass without permission to create Pods: Kubernetes creates a Job's Pod itself.
    """
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template.get("metadata", {}), "generateName": "nettests-try-"},
        "spec": template["spec"],
    }
    try:
        connection.request("POST", path_of("Pod", namespace), query={"dryRun": "All"}, body=pod)
    except ApiError as error:
        # sample: pods is forbidden: User "x" cannot create resource "pods" in API group "" in the namespace "y"
        if 'cannot create resource "pods"' in error.message:
            return
        raise ClusterError(
            f"the Pod of this Job would be refused in namespace {namespace}: {error.message}",
            hint="no Job was created; see the namespace's Pod Security, ResourceQuotas and LimitRanges",
        ) from error


def keeping_taints(connection: Connection, template: Object) -> tuple[str, ...]:
    """Return the taints that keep a Job's Pod off every node; empty if it fits or unknown."""
    try:
        nodes = connection.get("/api/v1/nodes")["items"]
    except ApiError:
        return ()
    return untolerated(template["spec"], nodes)


def described(item: Object) -> str:
    """Return an object's kind and name, with its namespace if it has one."""
    metadata = item["metadata"]
    place = f" in {metadata['namespace']}" if metadata.get("namespace") else ""
    return f"{item['kind']} {metadata['name']}{place}"


def _applied(connection: Connection, item: Object, *, replace: bool) -> str:
    kind, metadata = item["kind"], item["metadata"]
    collection = path_of(kind, metadata.get("namespace", ""))
    path = f"{collection}/{metadata['name']}"
    try:
        connection.create(collection, item)
    except ApiError as error:
        # If it may not be created, an administrator may already have created it.
        there = found(connection, path, (403, 404)) if error.status in {403, 409} else None
        if there is None:
            raise
    else:
        return "created"
    if kind == "Job":
        _make_room(connection, path, there, replace=replace)
        connection.create(collection, item)
        return "replaced"
    field = _CONTENT.get(item["kind"])
    if item["kind"] in _ANYBODYS or (field is not None and there.get(field) == item.get(field)):
        return "unchanged"
    owner = item["metadata"]["labels"][MANAGED_BY_LABEL]
    if (there["metadata"].get("labels") or {}).get(MANAGED_BY_LABEL) != owner:
        raise ClusterError(
            f"{described(item)} exists already and is not ours: it has no label {MANAGED_BY_LABEL}",
            hint="take another --name or --namespace, or remove it",
        )
    if kind not in _CONTENT:
        return "unchanged"
    version = there["metadata"].get("resourceVersion", "")
    connection.request(
        "PUT", path, body={**item, "metadata": {**metadata, "resourceVersion": version}}
    )
    return "updated"


def found(connection: Connection, path: str, absent: Collection[int] = (404,)) -> Object | None:
    """Return the object at a path, ``None`` for an answer with one of the statuses ``absent``."""
    try:
        return connection.get(path)
    except ApiError as error:
        if error.status in absent:
            return None
        raise


def _make_room(connection: Connection, path: str, there: Object, *, replace: bool) -> None:
    """Delete a Job that has ended, with its Pods, and wait until it is gone."""
    name, uid = there["metadata"]["name"], there["metadata"]["uid"]
    conditions = (there.get("status") or {}).get("conditions") or ()
    ended = any(
        condition.get("type") in {"Complete", "Failed"} and condition.get("status") == "True"
        for condition in conditions
    )
    if not ended:
        raise ClusterError(
            f"the Job {name} exists already and has not ended",
            hint=f"follow it with `nettests job logs {name} --follow`, or take another --name",
        )
    if not replace:
        raise ClusterError(
            f"the Job {name} exists already and has ended",
            hint="fetch its report, then run it again with --replace; or take another --name",
        )
    body = {"propagationPolicy": "Background", "preconditions": {"uid": uid}}
    connection.request("DELETE", path, body=body)
    deadline = time.monotonic() + REPLACED_SECONDS
    while connection.answer(ApiRequest("GET", path)).status != 404:
        if time.monotonic() > deadline:
            raise ClusterError(
                f"the Job {name} is still terminating after {REPLACED_SECONDS:.0f} s",
                hint="`kubectl get job -o yaml` names the finalizer that holds it",
            )
        time.sleep(POLL_SECONDS)


def _next_step(item: Object, error: ApiError) -> str:
    kind = item["kind"]
    if error.status == 403 and kind in {"ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"}:
        return (
            "who gives a role needs its rights: let an administrator apply what "
            "`nettests job render` prints"
        )
    if error.status == 404 and kind in {"Job", "CronJob"}:
        return "does this API server serve batch/v1? Kubernetes does from 1.21 on"
    if error.status == 404 and item["metadata"].get("namespace"):
        return no_namespace(item["metadata"]["namespace"]).hint
    return error.hint
