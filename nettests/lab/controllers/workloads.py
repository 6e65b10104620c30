"""Reconciliation of ReplicaSets, DaemonSets and StatefulSets: pods to create and to delete, status. Pure.

Only what system pods and probes need: a DaemonSet has one pod on every node that its template's selector and
tolerations admit, pinned by node affinity. Pods of an older template are replaced one after the other, each once the
others are Ready (``maxUnavailable: 1``, the default). A StatefulSet's Pods have ordinals from 0 on and are created one
after the other (``OrderedReady``), without volumes and rolling updates; a deleted Pod is recreated under its name.
Deployments are in ``rollouts``.
"""

import copy
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nettests.lab.client import Json
from nettests.lab.client.informer import has_condition
from nettests.lab.controllers.scheduling import selects, tolerates

HASH_OF_REVISION = "controller-revision-hash"
_POD_NAME = "statefulset.kubernetes.io/pod-name"
_POD_INDEX = "apps.kubernetes.io/pod-index"

_DAEMON_TOLERATIONS: tuple[Json, ...] = (
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The result of a reconciliation: objects to create, pods to delete, the owner's new status."""

    create: tuple[Json, ...] = ()
    delete: tuple[Json, ...] = ()
    status: Json


def owned_by(owner: Json, items: Iterable[Json]) -> list[Json]:
    """Return the items whose controller is ``owner``."""
    uid = owner["metadata"]["uid"]
    return [
        item
        for item in items
        if any(
            reference.get("controller") and reference["uid"] == uid
            for reference in item["metadata"].get("ownerReferences") or ()
        )
    ]


def template_hash(template: Json) -> str:
    """Return a short hash of a pod template."""
    text = json.dumps(template, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()[:10]


def reconcile_replica_set(replica_set: Json, pods: Iterable[Json]) -> Changes:
    """Return the changes that bring a ReplicaSet to its number of pods."""
    active_pods = [pod for pod in owned_by(replica_set, pods) if _counts(pod)]
    wanted = int(replica_set["spec"].get("replicas", 1))
    missing = max(wanted - len(active_pods), 0)
    surplus = sorted(active_pods, key=_keeping_order)[: max(len(active_pods) - wanted, 0)]
    name = replica_set["metadata"]["name"]
    pod = pod_of(replica_set, "ReplicaSet", f"{name}-")
    ready = sum(1 for item in active_pods if is_ready(item))
    return Changes(
        create=tuple(copy.deepcopy(pod) for _ in range(missing)),
        delete=tuple(surplus),
        status={
            "observedGeneration": replica_set["metadata"].get("generation", 1),
            "replicas": len(active_pods) + missing - len(surplus),
            "fullyLabeledReplicas": len(active_pods) + missing - len(surplus),
            "readyReplicas": ready,
            "availableReplicas": ready,
        },
    )


def _keeping_order(pod: Json) -> tuple[bool, int]:
    """Return the sort key for keeping pods: readiness, then the user's ``PodDeletionCost``."""
    annotations = pod["metadata"].get("annotations") or {}
    return is_ready(pod), int(annotations.get("controller.kubernetes.io/pod-deletion-cost", 0))


def reconcile_daemon_set(daemon: Json, nodes: Iterable[Json], pods: Iterable[Json]) -> Changes:
    """Return the changes that bring one pod to every node that admits the template, and none elsewhere."""
    template = _with_tolerations(daemon["spec"]["template"])
    wanted = {n["metadata"]["name"] for n in nodes if _admits(n, template)}
    every = owned_by(daemon, pods)
    active_pods = [pod for pod in every if _counts(pod)]
    placed = {_pinned_node(pod): pod for pod in active_pods}
    leaving = {_pinned_node(pod) for pod in every if "deletionTimestamp" in pod["metadata"]}
    digest = template_hash(daemon["spec"]["template"])
    new = sorted(wanted - placed.keys() - leaving)
    surplus = [pod for node, pod in placed.items() if node not in wanted]
    surplus += [pod for pod in active_pods if pod not in placed.values()]
    ready = sum(1 for node, pod in placed.items() if node in wanted and is_ready(pod))
    here = [placed[node] for node in sorted(wanted & placed.keys())]
    old = [pod for pod in here if _revision(pod) != digest]
    return Changes(
        create=tuple(_daemon_pod(daemon, template, node, digest) for node in new),
        delete=(*surplus, *_replaced(old, lacking=len(wanted) - ready)),
        status={
            "observedGeneration": daemon["metadata"].get("generation", 1),
            "desiredNumberScheduled": len(wanted),
            "currentNumberScheduled": len(wanted),
            "updatedNumberScheduled": len(here) - len(old),
            "numberMisscheduled": 0,
            "numberReady": ready,
            "numberAvailable": ready,
        },
    )


def _daemon_pod(daemon: Json, template: Json, node: str, digest: str) -> Json:
    prefix = f"{daemon['metadata']['name']}-"
    pod = pod_of({**daemon, "spec": {"template": template}}, "DaemonSet", prefix)
    pod["metadata"]["labels"] = {**pod["metadata"].get("labels", {}), HASH_OF_REVISION: digest}
    pod["spec"]["affinity"] = _affinity(node)
    return pod


def _revision(pod: Json) -> str:
    return str((pod["metadata"].get("labels") or {}).get(HASH_OF_REVISION, ""))


def _replaced(old: Sequence[Json], *, lacking: int) -> list[Json]:
    """Return the old Pods to delete now: those that are not Ready, otherwise one, if all others are Ready."""
    idle = [pod for pod in old if not is_ready(pod)]
    return idle or ([] if lacking else list(old[:1]))


def pod_of(owner: Json, kind: str, prefix: str) -> Json:
    """Return a pod of the owner's template with a generated name."""
    template = copy.deepcopy(owner["spec"]["template"])
    metadata = template.get("metadata") or {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **metadata,
            "generateName": prefix,
            "namespace": owner["metadata"]["namespace"],
            "ownerReferences": [owner_of(owner, kind)],
        },
        "spec": template["spec"],
    }


def owner_of(owner: Json, kind: str) -> Json:
    """Return the owner reference of a controller."""
    metadata, others = (
        owner["metadata"],
        {"Job": "batch/v1", "CronJob": "batch/v1", "Service": "v1"},
    )
    return {
        "apiVersion": others.get(kind, "apps/v1"),
        "kind": kind,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def reconcile_stateful_set(item: Json, pods: Iterable[Json], *, identity: bool = True) -> Changes:
    """Return the next Pod to create or delete; ``identity`` gives Pods host names and a subdomain."""
    owned_pods = {pod["metadata"]["name"]: pod for pod in owned_by(item, pods)}
    wanted = [f"{item['metadata']['name']}-{n}" for n in range(int(item["spec"]["replicas"]))]
    waiting = next((name for name in wanted if not is_ready(owned_pods.get(name) or {})), None)
    surplus = sorted(owned_pods.keys() - set(wanted), reverse=True)[:1]
    create: tuple[Json, ...] = ()
    if waiting is not None and waiting not in owned_pods:
        create = (_member(item, waiting, identity=identity),)
    ready = sum(1 for name in wanted if is_ready(owned_pods.get(name) or {}))
    return Changes(
        create=create,
        delete=tuple(
            owned_pods[n] for n in surplus if "deletionTimestamp" not in owned_pods[n]["metadata"]
        ),
        status={
            "observedGeneration": item["metadata"].get("generation", 1),
            "replicas": len(owned_pods) + len(create),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "currentReplicas": len(owned_pods) + len(create),
            "updatedReplicas": len(owned_pods) + len(create),
        },
    )


def _member(item: Json, name: str, *, identity: bool) -> Json:
    pod = copy.deepcopy(pod_of(item, "StatefulSet", ""))
    metadata = pod["metadata"]
    del metadata["generateName"]
    index = name.rpartition("-")[2]
    labels = {**(metadata.get("labels") or {}), _POD_NAME: name, _POD_INDEX: index}
    pod["metadata"] = {**metadata, "name": name, "labels": labels}
    if identity:
        pod["spec"] |= {"hostname": name, "subdomain": item["spec"].get("serviceName", "")}
    return pod


def _with_tolerations(template: Json) -> Json:
    changed = copy.deepcopy(template)
    spec = changed["spec"]
    tolerations = spec.get("tolerations") or []
    spec["tolerations"] = [*tolerations, *(t for t in _DAEMON_TOLERATIONS if t not in tolerations)]
    return changed


def _admits(node: Json, template: Json) -> bool:
    tolerations = template["spec"]["tolerations"]
    taints = [t for t in node["spec"].get("taints") or () if t["effect"] != "PreferNoSchedule"]
    tolerated = all(any(tolerates(t, taint) for t in tolerations) for taint in taints)
    return tolerated and selects(template, node)


def _affinity(node: str) -> Json:
    fields = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    required = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def _pinned_node(pod: Json) -> str:
    required = pod["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    return str(required["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])


def _counts(pod: Json) -> bool:
    finished = pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}
    return not finished and "deletionTimestamp" not in pod["metadata"]


def is_ready(pod: Json) -> bool:
    """Whether the pod is Ready."""
    return has_condition(pod, "Ready")
