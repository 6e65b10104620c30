"""The objects of checks that start a Pod: the case's Pod, or the workload that creates it. Pure.

``starting`` creates and removes them.
"""

import json
from collections.abc import Iterator
from copy import deepcopy

from nettests.model.check import Action, Case, Plan
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.json_text import Object
from nettests.model.labels import POD_LABEL, PURPOSE_LABEL
from nettests.model.workload import WORDS, Workload, workload_of
from nettests.plan.images import started
from nettests.probes import stateful, workloads
from nettests.probes.examine import case_of, in_namespace
from nettests.probes.objects import Blank, outfitted


def manifest_for(action: Action, node: NodeFacts, blank: Blank, name: str) -> Object:
    """Return the object to create: the case's Pod, or the workload that creates it."""
    case = case_of(action)
    item = pod(case, node, blank, name)
    kind = workload_of(json.loads(case.object))
    if kind is None or case.then is None:
        item["metadata"]["labels"][POD_LABEL] = name
        return item
    return workloads.around(item, kind, case.then, action.target.service or "")


def pod_of(manifest: Object) -> Object:
    """Return the Pod that an object is or creates; only a StatefulSet's Pod has a known name."""
    kind = workload_of(manifest)
    if kind is None:
        return manifest
    if kind is Workload.STATEFUL_SET:
        return stateful.member(manifest)
    return {"apiVersion": "v1", "kind": "Pod", **workloads.template_of(manifest)}


def pod(case: Case, node: NodeFacts, blank: Blank, name: str) -> Object:
    """Return the case's Pod for ``node``, with what every Pod of a run has."""
    item = deepcopy(in_namespace(case, blank.namespace))
    item["metadata"]["name"] = name
    labels = item["metadata"].get("labels") or {}
    item["metadata"]["labels"] = {**labels, **blank.labels, PURPOSE_LABEL: "start"}
    spec = item["spec"]
    if spec.setdefault("os", {"name": node.os.value}) is None:
        del spec["os"]
    spec.setdefault("restartPolicy", "Never")
    spec.setdefault("terminationGracePeriodSeconds", 1)
    return outfitted(item, node, blank)


def pods_of(plan: Plan, facts: ClusterFacts, blank: Blank) -> list[Object]:
    """Return the short-lived objects of single checks in the plan's order: Pods and workloads.

    A run numbers them in order of creation.
    """
    return [
        manifest_for(action, facts.node(action.source.node or ""), blank, name)
        for number, action in enumerate(_actions(plan), 1)
        for name in names_of_many(number, action.connections)
    ]


def _actions(plan: Plan) -> Iterator[Action]:
    for check in plan.checks:
        yield from started(*check.actions)


def names_of_many(number: int, pods: int) -> list[str]:
    """Return the names of the Pods of one action."""
    if pods == 1:
        return [f"start-{number}"]
    return [f"start-{number}-{ordinal:02}" for ordinal in range(1, pods + 1)]


def kind_of(case: Case) -> Workload | None:
    """Return the workload that a case tests; ``None`` if it tests a Pod."""
    worked = case.then is not None and case.then.how in WORDS
    return workload_of(json.loads(case.object)) if worked else None


def names_of(item: Object) -> tuple[str, str, str]:
    """Return a Pod's namespace and name, and its first container's name."""
    metadata = item["metadata"]
    return metadata["namespace"], metadata["name"], first_container(item)


def first_container(item: Object) -> str:
    """Return the name of a Pod's first container."""
    return str(item["spec"]["containers"][0]["name"])
