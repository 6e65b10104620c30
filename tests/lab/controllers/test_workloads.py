"""What Deployments, ReplicaSets and DaemonSets want: pure functions."""

from typing import Any

import pytest

from nettests.lab.controllers.workloads import (
    deployment_status,
    reconcile_daemon_set,
    reconcile_replica_set,
    replica_set_of,
)
from nettests.lab.faults.control_plane import settled

Json = dict[str, Any]

TEMPLATE: Json = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c"}]}}


def owner(kind: str, **spec: Any) -> Json:
    """A workload with the template above."""
    return {
        "metadata": {"name": "w", "namespace": "ns", "uid": f"uid-{kind}", "generation": 3},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE, **spec},
    }


def born(made: Json, name: str, *, ready: bool = True) -> Json:
    """A created pod as the API would list it."""
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {**made, "metadata": {**made["metadata"], "name": name}, "status": status}


def node(name: str, **spec: Any) -> Json:
    """A Linux node."""
    return {"metadata": {"name": name, "labels": {"kubernetes.io/os": "linux"}}, "spec": spec}


def test_missing_replicas_are_created() -> None:
    """Pods carry the template, a generated name and their owner."""
    made = reconcile_replica_set(owner("ReplicaSet", replicas=2), [])
    assert len(made.create) == 2
    assert made.create[0]["metadata"]["generateName"] == "w-"
    assert made.create[0]["metadata"]["ownerReferences"][0]["uid"] == "uid-ReplicaSet"


def test_surplus_replicas_go_unready_ones_first() -> None:
    """Scaling down takes what serves nobody."""
    one = reconcile_replica_set(owner("ReplicaSet", replicas=2), []).create[0]
    pods = [born(one, "good"), born(one, "bad", ready=False)]
    made = reconcile_replica_set(owner("ReplicaSet", replicas=1), pods)
    assert [pod["metadata"]["name"] for pod in made.delete] == ["bad"]


def test_pods_that_leave_or_ended_are_replaced() -> None:
    """They do not count."""
    one = reconcile_replica_set(owner("ReplicaSet", replicas=2), []).create[0]
    leaving = born(one, "leaving")
    leaving["metadata"]["deletionTimestamp"] = "now"
    ended = {**born(one, "ended"), "status": {"phase": "Failed"}}
    assert len(reconcile_replica_set(owner("ReplicaSet"), [leaving, ended]).create) == 1


def test_pods_of_others_are_left_alone() -> None:
    """Labels are not enough: the owner decides."""
    strange = {"metadata": {"name": "s", "labels": {"app": "a"}}, "spec": {}}
    made = reconcile_replica_set(owner("ReplicaSet", replicas=0), [strange])
    assert (made.create, made.delete) == ((), ())


def test_a_deployments_replica_set_is_named_by_its_template() -> None:
    """The same template gives the same name, another one another."""
    first, again = (replica_set_of(owner("Deployment", replicas=2)) for _ in range(2))
    other = replica_set_of(owner("Deployment", template={**TEMPLATE, "spec": {"containers": []}}))
    assert first == again
    assert first["metadata"]["name"] != other["metadata"]["name"]
    label = first["spec"]["selector"]["matchLabels"]["pod-template-hash"]
    assert first["metadata"]["name"] == f"w-{label}"
    assert first["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] == label


def test_a_deployment_is_available_when_enough_replicas_are_ready() -> None:
    """Its status adds up those of its ReplicaSets."""
    deployment = owner("Deployment", replicas=2)
    current = {**replica_set_of(deployment), "status": {"replicas": 2, "readyReplicas": 2}}
    status = deployment_status(deployment, [current])
    assert (status["readyReplicas"], status["updatedReplicas"]) == (2, 2)
    assert status["conditions"][0]["status"] == "True"
    assert deployment_status(deployment, [])["conditions"][0]["status"] == "False"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ["a"]),
        ({"nodeSelector": {"kubernetes.io/os": "windows"}}, []),
        ({"tolerations": [{"operator": "Exists"}]}, ["a", "tainted"]),
    ],
)
def test_a_daemon_set_has_a_pod_on_every_node_that_admits_it(
    spec: Json, expected: list[str]
) -> None:
    """Selectors and taints count; the pod is pinned by affinity."""
    template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], **spec}}
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    nodes = [node("a"), node("tainted", taints=[taint])]
    made = reconcile_daemon_set(owner("DaemonSet", template=template), nodes, [])
    pinned = [
        pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
            "nodeSelectorTerms"
        ][0]["matchFields"][0]["values"]
        for pod in made.create
    ]
    assert pinned == [[name] for name in expected]
    assert made.status["desiredNumberScheduled"] == len(expected)


def test_a_daemon_set_follows_its_nodes() -> None:
    """A pod whose node is gone is deleted; the others stay."""
    daemon = owner("DaemonSet")
    pods = [
        born(pod, f"p{index}")
        for index, pod in enumerate(reconcile_daemon_set(daemon, [node("a"), node("b")], []).create)
    ]
    made = reconcile_daemon_set(daemon, [node("a")], pods)
    assert [pod["metadata"]["name"] for pod in made.delete] == ["p1"]
    assert made.create == ()
    assert made.status["numberReady"] == 1


def of(daemon: Json, nodes: list[Json]) -> list[Json]:
    """The pods of a daemon set on these nodes, as they were made for its present template."""
    made = reconcile_daemon_set(daemon, nodes, []).create
    return [born(pod, f"p{index}") for index, pod in enumerate(made)]


NEW_TEMPLATE: Json = {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": "new"}]}}


def test_an_edited_daemon_set_replaces_one_pod_after_the_other() -> None:
    """The next goes once the first's successor is Ready; one that serves nobody goes at once."""
    nodes = [node("a"), node("b")]
    pods = of(owner("DaemonSet"), nodes)
    edited = owner("DaemonSet", template=NEW_TEMPLATE)
    first = reconcile_daemon_set(edited, nodes, pods)
    assert [pod["metadata"]["name"] for pod in first.delete] == ["p0"]
    assert first.status["updatedNumberScheduled"] == 0
    (successor,) = reconcile_daemon_set(edited, nodes, pods[1:]).create
    waiting = [born(successor, "new", ready=False), pods[1]]
    assert reconcile_daemon_set(edited, nodes, waiting).delete == ()
    then = reconcile_daemon_set(edited, nodes, [born(successor, "new"), pods[1]])
    assert [pod["metadata"]["name"] for pod in then.delete] == ["p1"]
    assert then.status["updatedNumberScheduled"] == 1
    idle = [born(successor, "new", ready=False), born(pods[1], "p1", ready=False)]
    assert [p["metadata"]["name"] for p in reconcile_daemon_set(edited, nodes, idle).delete] == [
        "p1"
    ]


def test_a_node_gets_its_new_daemon_pod_when_the_old_one_has_gone() -> None:
    """Two of them would want the same ports of the host."""
    nodes = [node("a")]
    (leaving,) = of(owner("DaemonSet"), nodes)
    leaving["metadata"]["deletionTimestamp"] = "now"
    edited = owner("DaemonSet", template=NEW_TEMPLATE)
    assert reconcile_daemon_set(edited, nodes, [leaving]).create == ()
    assert len(reconcile_daemon_set(edited, nodes, []).create) == 1


@pytest.mark.parametrize(
    ("state", "restarts", "ready", "done"),
    [("running", 0, True, True), ("running", 0, False, False), ("terminated", 0, False, True)],
)
def test_a_rollout_ends_with_its_last_pod_or_the_first_that_fails(
    state: str, restarts: int, ready: bool, done: bool
) -> None:
    """Pods of the former template count for nothing, whatever their state."""
    nodes = [node("a")]
    edited = {
        **owner("DaemonSet", template=NEW_TEMPLATE),
        "status": {"desiredNumberScheduled": 1},
    }
    assert not settled(edited, of(owner("DaemonSet"), nodes))
    (pod,) = of(edited, nodes)
    conditions = [{"type": "Ready", "status": str(ready)}]
    containers = [{"state": {state: {}}, "restartCount": restarts}]
    pod["status"] = {"conditions": conditions, "containerStatuses": containers}
    assert settled(edited, [pod]) is done
