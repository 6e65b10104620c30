"""Where pods go, and the scheduler's words when they go nowhere."""

from typing import Any

import pytest

from nettests.lab.controllers.scheduling import place, tolerates

Json = dict[str, Any]


def node(name: str, os: str = "linux", **more: Any) -> Json:
    """A node; ``taints`` and ``unschedulable`` go into its spec, ``labels`` are added."""
    labels = {"kubernetes.io/os": os, "kubernetes.io/hostname": name, **more.pop("labels", {})}
    return {"metadata": {"name": name, "labels": labels}, "spec": more}


def pod(**spec: Any) -> Json:
    """A pod with one container."""
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}], **spec}}


def affinity(*rules: Json, fields: bool = False) -> Json:
    """Required node affinity of one term."""
    key = "matchFields" if fields else "matchExpressions"
    terms = {"nodeSelectorTerms": [{key: list(rules)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


TAINT = {"key": "os", "value": "windows", "effect": "NoSchedule"}
REFUSED = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
PREEMPTION = " preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
NODES = [node("l1"), node("l2"), node("w1", "windows", taints=[TAINT])]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, "l1"),
        ({"nodeSelector": {"kubernetes.io/hostname": "l2"}}, "l2"),
        ({"nodeSelector": {"kubernetes.io/os": "windows"}}, None),
        (
            {
                "nodeSelector": {"kubernetes.io/os": "windows"},
                "tolerations": [{"key": "os", "operator": "Exists"}],
            },
            "w1",
        ),
        ({"affinity": affinity({"key": "metadata.name", "operator": "In", "values": ["l2"]}, fields=True)}, "l2"),
        ({"affinity": affinity({"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["l1"]})}, "l2"),
        ({"affinity": affinity({"key": "zone", "operator": "Exists"})}, None),
        ({"affinity": affinity({"key": "zone", "operator": "DoesNotExist"})}, "l1"),
        ({"os": {"name": "windows"}}, "l1"),
    ],
    ids=["any", "hostname", "taint", "toleration", "field", "not-in", "exists", "absent", "os-name"],
)  # fmt: skip
def test_a_pod_goes_to_the_first_node_that_fits(spec: Json, expected: str | None) -> None:
    """Selectors, affinity and taints decide; ``spec.os.name`` does not (KEP-2802)."""
    assert place(pod(**spec), NODES, [], 33).node == expected


def test_the_emptier_node_is_preferred() -> None:
    """Pods that have ended do not count."""
    busy = {**pod(nodeName="l1"), "status": {"phase": "Running"}}
    ended = {**pod(nodeName="l2"), "status": {"phase": "Succeeded"}}
    assert place(pod(), NODES, [busy, ended, ended], 33).node == "l2"


def test_host_ports_are_given_once_per_node() -> None:
    """The third pod with one host port finds no place on two nodes."""
    wanting = pod(containers=[{"name": "c", "ports": [{"hostPort": 80, "protocol": "TCP"}]}])
    placed = [{**wanting, "spec": {**wanting["spec"], "nodeName": name}} for name in ("l1", "l2")]
    assert place(wanting, NODES[:2], placed[:1], 33).node == "l2"
    refused = place(wanting, NODES[:2], placed, 33)
    assert "2 node(s) didn't have free ports for the requested pod ports" in refused.message


@pytest.mark.parametrize(
    ("minor", "message"),
    [
        (
            36,
            REFUSED + " no new claims to deallocate," + PREEMPTION,
        ),
        (
            24,
            REFUSED + PREEMPTION,
        ),
    ],
)
def test_the_message_is_the_real_one(minor: int, message: str) -> None:
    """As recorded from Kubernetes 1.36; older schedulers do not speak of claims."""
    refused = place(pod(nodeSelector={"x": "y"}), NODES[:2], [], minor)
    assert refused.node is None
    assert refused.message == message


def test_every_node_is_counted_under_the_first_filter_that_refuses_it() -> None:
    """Taints come before selectors, cordoned nodes before both."""
    nodes = [*NODES, node("l3", unschedulable=True)]
    refused = place(pod(nodeSelector={"x": "y"}), nodes, [], 33)
    assert refused.message.startswith(
        "0/4 nodes are available: 1 node(s) had untolerated taint {os: windows}, "
        "1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector."
    )


def test_without_nodes_there_is_nothing_to_count() -> None:
    """A cluster without nodes says so."""
    assert place(pod(), [], [], 33).message == "no nodes available to schedule pods"


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "os", "operator": "Exists"}, True),
        ({"key": "os", "operator": "Equal", "value": "windows"}, True),
        ({"key": "os", "value": "windows", "effect": "NoSchedule"}, True),
        ({"key": "os", "value": "linux"}, False),
        ({"key": "os", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "zone", "operator": "Exists"}, False),
    ],
)
def test_tolerations(toleration: Json, expected: bool) -> None:
    """Key, value and effect must match; an empty key with Exists tolerates everything."""
    assert tolerates(toleration, TAINT) is expected


def test_a_pod_that_requests_huge_pages_needs_a_node_that_offers_them() -> None:
    """Other resources are not counted; the scheduler names the one that lacks."""
    wanting = pod(containers=[{"resources": {"requests": {"hugepages-2Mi": "2Mi", "cpu": "64"}}}])
    plain = [node("l1"), node("l2")]
    said = place(wanting, plain, [], 33)
    assert said.node is None
    assert said.message.startswith("0/2 nodes are available: 2 Insufficient hugepages-2Mi.")
    offering = {**node("l3"), "status": {"allocatable": {"hugepages-2Mi": "64Mi"}}}
    assert place(wanting, [*plain, offering], [], 33).node == "l3"


AVOIDED = {
    "labelSelector": {"matchLabels": {"app": "web"}},
    "topologyKey": "kubernetes.io/hostname",
}


@pytest.mark.parametrize(
    ("namespace", "labels", "expected"),
    [("own", {"app": "web"}, "l2"), ("own", {"app": "db"}, "l1"), ("other", {"app": "web"}, "l1")],
)
def test_required_anti_affinity_keeps_a_pod_from_a_node(
    namespace: str, labels: dict[str, str], expected: str
) -> None:
    """Pods of its own namespace that the term selects, on the same node; where all have one it waits."""
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": [AVOIDED]}
    avoiding = pod(affinity={"podAntiAffinity": terms})
    avoiding["metadata"]["namespace"] = "own"
    there = pod(nodeName="l1")
    there["metadata"] |= {"namespace": namespace, "labels": labels}
    nodes = [node("l1"), node("l2")]
    # Of two nodes that fit the one with fewer Pods is taken.
    busy = [there, *[{**pod(nodeName="l2"), "metadata": {"name": "x", "namespace": "z"}}] * 2]
    assert place(avoiding, nodes, busy, 33).node == expected
    refused = place(avoiding, nodes[:1], [there], 33)
    if expected == "l2":
        assert "1 node(s) didn't match pod anti-affinity rules" in refused.message
    assert place(avoiding, nodes[:1], [there], 33, apart=False).node == "l1"
