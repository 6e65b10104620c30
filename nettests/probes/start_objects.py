"""The objects of checks that start a Pod: the case's Pod, or the workload that creates it. Pure.

``starting`` creates and removes them.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from nettests.model.check import Action, Afterwards, Case, Plan
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.labels import PURPOSE_LABEL
from nettests.model.workload import WORDS, Workload, workload_of
from nettests.parse import start
from nettests.plan.images import started
from nettests.probes import stateful, workloads
from nettests.probes.examine import case_of, in_namespace
from nettests.probes.isolation import policy_of
from nettests.probes.objects import Blank, outfitted

Object = dict[str, Any]
USES = frozenset({"exec", "log", "pod-proxy", "port-forward"})
"""Follow-up actions (``Afterwards.how``) that leave a Pod as it is."""


def shared_by(action: Action, node: NodeFacts, blank: Blank) -> str | None:
    """Return what identifies the Pod that checks with such an action share on a node.

    ``None`` if each has its own: the check changes the Pod or binds a policy to it, or the namespace
    is an existing one, against whose quotas a Pod counts until it is removed.
    """
    case = case_of(action)
    if blank.existing or case.then is None or case.then.how not in USES:
        return None
    alike = manifest_for(action, node, blank, "")
    return None if policy_of(alike) else json.dumps([alike, case.reasons])


def manifest_for(action: Action, node: NodeFacts, blank: Blank, name: str) -> Object:
    """Return the object to create: the case's Pod, or the workload that creates it."""
    case = case_of(action)
    item = pod(case, node, blank, name)
    kind = workload_of(json.loads(case.object))
    if kind is None or case.then is None:
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
    objects: list[Object] = []
    shared: set[str] = set()
    for action in _actions(plan):
        node = facts.node(action.source.node or "")
        if alike := shared_by(action, node, blank):
            if alike in shared:
                continue
            shared.add(alike)
        names = names_of_many(len(objects) + 1, action.connections)
        objects += [manifest_for(action, node, blank, name) for name in names]
    return objects


def _actions(plan: Plan) -> Iterator[Action]:
    for check in plan.checks:
        yield from started(*check.actions)


def names_of_many(number: int, pods: int) -> list[str]:
    """Return the names of the Pods of one action."""
    if pods == 1:
        return [f"start-{number}"]
    return [f"start-{number}-{ordinal:02}" for ordinal in range(1, pods + 1)]


def context_of(case: Case, node: NodeFacts) -> dict[str, str]:
    """Return what the record of a case is read with."""
    return {
        "reasons": "\n".join(case.reasons),
        "client-node": ",".join(map(str, node.addresses)),
        **({"then": case.then.how, "says": case.then.says} if case.then else {}),
        **({"kind": kind.value} if (kind := _kind(case)) else {}),
        **({start.WHOLE_LINE: "yes"} if case.then and case.then.whole_line else {}),
    }


def _kind(case: Case) -> Workload | None:
    worked = case.then is not None and case.then.how in WORDS
    return workload_of(json.loads(case.object)) if worked else None


def tool_of(case: Case) -> str:
    """Return the parser of the record of a case."""
    return "workload" if _kind(case) else "start"


def words_of(then: Afterwards | None) -> tuple[str, ...]:
    """Return the follow-up action as a record names it."""
    return (then.how, *then.words) if then else ()
