"""What a StatefulSet wants: Pods that keep their names, one after the other. Pure.

Beside ``workloads``, whose pods have any name. As far as probes need it: ordinals from 0 on, ``OrderedReady``,
no volumes and no rolling update; a Pod that went is recreated under its name when the old one is gone.
"""

import copy
from collections.abc import Iterable

from nettests.lab.client import Json
from nettests.lab.controllers.workloads import Changes, is_ready, owned_by, pod_of

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"


def reconcile_stateful_set(item: Json, pods: Iterable[Json], *, identity: bool = True) -> Changes:
    """Return the next Pod to make or to remove; ``identity`` gives Pods host names and a subdomain."""
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
    labels = {**(metadata.get("labels") or {}), POD_NAME: name, POD_INDEX: index}
    pod["metadata"] = {**metadata, "name": name, "labels": labels}
    if identity:
        pod["spec"] |= {"hostname": name, "subdomain": item["spec"].get("serviceName", "")}
    return pod
