"""Rollouts of Deployments from one ReplicaSet to the next, and statuses after refused Pods. Pure.

Like the Deployment controller with ``RollingUpdate``: the new set grows as far as ``maxSurge`` allows, old ones shrink as far
as ``maxUnavailable`` allows, Pods that are not Ready first (``pkg/controller/deployment/rolling.go``). There are no pauses,
deadlines, revisions or rollbacks, and empty sets stay. As in ``pkg/controller/replicaset`` and ``pkg/controller/deployment``,
a ReplicaSet and its Deployment have the condition ``ReplicaFailure`` with the first refusal of the API server while Pods are
refused. ``workloads`` handles the sets' Pods.
"""

import copy
import math
from collections.abc import Iterable, Sequence

from nettests.lab.client import Json
from nettests.lab.controllers.workloads import owner_of, template_hash

_HASH_LABEL = "pod-template-hash"
_FAILURE = "ReplicaFailure"
REFUSED = "FailedCreate"
"""The reason of the condition, and of the event for each refusal."""


def replica_set_of(deployment: Json) -> Json:
    """Return the ReplicaSet of the Deployment's current template."""
    metadata, spec = deployment["metadata"], deployment["spec"]
    template = copy.deepcopy(spec["template"])
    digest = template_hash(template)
    template.setdefault("metadata", {}).setdefault("labels", {})[_HASH_LABEL] = digest
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata['name']}-{digest}",
            "namespace": metadata["namespace"],
            "labels": dict(template["metadata"]["labels"]),
            "annotations": dict(metadata.get("annotations") or {}),
            "ownerReferences": [owner_of(deployment, "Deployment")],
        },
        "spec": {
            "replicas": spec.get("replicas", 1),
            "selector": {
                "matchLabels": {**spec["selector"].get("matchLabels", {}), _HASH_LABEL: digest}
            },
            "template": template,
        },
    }


def deployment_status(deployment: Json, replica_sets: Sequence[Json]) -> Json:
    """Return the Deployment's status, computed from those of its ReplicaSets."""
    current = replica_set_of(deployment)["metadata"]["name"]
    current_sets = [item for item in replica_sets if item["metadata"]["name"] == current]
    ready = _sum(replica_sets, "readyReplicas")
    wanted = deployment["spec"].get("replicas", 1)
    enough = ready >= wanted
    return {
        "observedGeneration": deployment["metadata"].get("generation", 1),
        "replicas": _sum(replica_sets, "replicas"),
        "updatedReplicas": _sum(current_sets, "replicas"),
        "readyReplicas": ready,
        "availableReplicas": ready,
        "conditions": [
            {
                "type": "Available",
                "status": str(enough),
                "reason": f"MinimumReplicas{'Available' if enough else 'Unavailable'}",
            }
        ],
    }


def _sum(items: Iterable[Json], field: str) -> int:
    return sum(int((item.get("status") or {}).get(field, 0)) for item in items)


def scales(
    deployment: Json, current: str, sets: Sequence[Json], *, rolling: bool = True
) -> dict[str, int]:
    """Return the replicas of each set by name; ``current`` is the set of the current template.

    If not ``rolling``, as for ``Recreate`` here, the new set gets all of them at once and the old ones none.
    """
    wanted = int(deployment["spec"].get("replicas", 1))
    old = [item for item in sets if item["metadata"]["name"] != current]
    replicas = {item["metadata"]["name"]: int(item["spec"].get("replicas", 1)) for item in sets}
    if not rolling or not any(replicas[item["metadata"]["name"]] for item in old):
        return {name: wanted if name == current else 0 for name in replicas}
    surge, unavailable = _limits(deployment, wanted)
    room = wanted + surge - sum(replicas.values())
    scaled = {**replicas, current: min(wanted, replicas[current] + max(room, 0))}
    least = wanted - unavailable
    ready = {item["metadata"]["name"]: _sum([item], "readyReplicas") for item in sets}
    lacking = replicas[current] - ready.get(current, 0)
    may_go = sum(replicas.values()) - least - lacking
    for item in old:  # Pods that are not Ready go first
        name = item["metadata"]["name"]
        idle = min(max(scaled[name] - ready[name], 0), max(may_go, 0))
        scaled[name] -= idle
        may_go -= idle
    spare = min(sum(ready.values()) - least, may_go)
    for item in old:
        name = item["metadata"]["name"]
        less = min(scaled[name], max(spare, 0))
        scaled[name] -= less
        spare -= less
    return scaled


def _limits(deployment: Json, wanted: int) -> tuple[int, int]:
    """Return ``maxSurge``, rounded up, and ``maxUnavailable``, rounded down; at least one is positive."""
    stated = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    surge = math.ceil(_number(stated.get("maxSurge", "25%"), wanted))
    unavailable = math.floor(_number(stated.get("maxUnavailable", "25%"), wanted))
    return surge, unavailable or (0 if surge else 1)


def _number(stated: int | str, wanted: int) -> float:
    text = str(stated)
    return wanted * int(text[:-1]) / 100 if text.endswith("%") else int(text)


def replica_set_with_refusals(
    replica_set: Json, status: Json, *, lacking: int, why: str, now: str
) -> Json:
    """Return the status with ``lacking`` Pods that were not created; ``why`` is the refusal, or empty."""
    old = _failure(replica_set)
    if not why and old is None:
        return status
    new = {"type": _FAILURE, "status": "True", "lastTransitionTime": now, "reason": REFUSED}
    replicas = status["replicas"] - lacking
    return {
        **status,
        "replicas": replicas,
        "fullyLabeledReplicas": replicas,
        "conditions": [old or {**new, "message": why}] if why else [],
    }


def deployment_with_refusals(status: Json, current: str, replica_sets: Sequence[Json]) -> Json:
    """Return the status with the failure of a ReplicaSet, preferably of ``current``, the set of the current template."""
    sets = sorted(replica_sets, key=lambda item: bool(item["metadata"]["name"] != current))
    failure = next((condition for condition in map(_failure, sets) if condition is not None), None)
    if failure is None:
        return status
    copied = {**failure, "lastUpdateTime": failure["lastTransitionTime"]}
    return {**status, "conditions": [*status["conditions"], copied]}


def daemon_set_with_refusals(status: Json, *, lacking: int) -> Json:
    """Return the status without the nodes whose Pods were refused; DaemonSets have no condition for that."""
    return {**status, "currentNumberScheduled": status["currentNumberScheduled"] - lacking}


def _failure(replica_set: Json) -> Json | None:
    conditions = (replica_set.get("status") or {}).get("conditions") or ()
    return next((condition for condition in conditions if condition["type"] == _FAILURE), None)
