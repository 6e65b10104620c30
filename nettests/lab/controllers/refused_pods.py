"""What the status of a ReplicaSet, a Deployment or a DaemonSet tells of Pods that the API server refused. Pure.

Beside ``workloads``, whose statuses take it for granted that what is to be made is made. As ``pkg/controller/replicaset`` and
``pkg/controller/deployment`` do: a ReplicaSet has the condition ``ReplicaFailure`` with the first refusal for as long as its
Pods are refused, and its Deployment has the same one.
"""

from collections.abc import Sequence

from nettests.lab.client import Json

FAILURE = "ReplicaFailure"
REASON = "FailedCreate"
"""Of the condition, and of the event that each refusal is."""


def of_replica_set(replica_set: Json, status: Json, *, lacking: int, why: str, now: str) -> Json:
    """Return the status with what was refused: ``lacking`` Pods are not made, ``why`` is empty where none was refused."""
    old = _failure(replica_set)
    if not why and old is None:
        return status
    new = {
        "type": FAILURE,
        "status": "True",
        "lastTransitionTime": now,
        "reason": REASON,
        "message": why,
    }
    replicas = status["replicas"] - lacking
    return {
        **status,
        "replicas": replicas,
        "fullyLabeledReplicas": replicas,
        "conditions": [old or new] if why else [],
    }


def of_deployment(status: Json, current: str, replica_sets: Sequence[Json]) -> Json:
    """Return the status with the failure of a ReplicaSet: of the present template's first, by its name ``current``."""
    sets = sorted(replica_sets, key=lambda item: bool(item["metadata"]["name"] != current))
    failure = next((condition for condition in map(_failure, sets) if condition is not None), None)
    if failure is None:
        return status
    copied = {**failure, "lastUpdateTime": failure["lastTransitionTime"]}
    return {**status, "conditions": [*status["conditions"], copied]}


def of_daemon_set(status: Json, *, lacking: int) -> Json:
    """Return the status without the nodes whose Pods were refused; it has no condition of them."""
    return {**status, "currentNumberScheduled": status["currentNumberScheduled"] - lacking}


def _failure(replica_set: Json) -> Json | None:
    conditions = (replica_set.get("status") or {}).get("conditions") or ()
    return next((condition for condition in conditions if condition["type"] == FAILURE), None)
