"""Which pods a node refuses that were bound to it all the same."""

from typing import Any

import pytest

from nettests.lab.node.agent import refusal
from nettests.lab.node.status import rejected_status
from tests.lab.node import nowhere

Json = dict[str, Any]

NODE = {"metadata": {"name": "win-1", "labels": {"kubernetes.io/os": "windows", "pool": "a"}}}


def affinity(key: str, *values: str) -> Json:
    """Return a required node affinity."""
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"nodeAffinity": required}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({}, None),
        ({"os": {"name": "windows"}}, None),
        ({"os": {"name": "linux"}}, "PodOSNotSupported"),
        ({"nodeSelector": {"pool": "a"}}, None),
        ({"nodeSelector": {"pool": "b"}}, "NodeAffinity"),
        ({"affinity": affinity("pool", "a", "b")}, None),
        ({"affinity": affinity("pool", "b")}, "NodeAffinity"),
        ({"os": {"name": "linux"}, "nodeSelector": {"pool": "b"}}, "PodOSNotSupported"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_kubelets_reason(
    spec: Json, reason: str | None
) -> None:
    """Another system, or labels that the node has not; the system is looked at first."""
    context = nowhere.node("win-1")
    found = refusal(nowhere.pod(**spec), NODE, context.spec, context.profile)
    assert (found.reason if found else None) == reason


def test_the_system_of_a_pod_may_be_overlooked() -> None:
    """The mechanism ``pod-os`` off: kubelets before the field was known."""
    context = nowhere.node("win-1", mechanisms={"pod-os": 0})
    pod = nowhere.pod(os={"name": "linux"})
    assert refusal(pod, NODE, context.spec, context.profile) is None


def test_labels_are_not_looked_at_before_the_node_is_known() -> None:
    """Its agent has not heard of its own object yet: that is no reason to refuse anything."""
    context = nowhere.node("win-1")
    pod = nowhere.pod(nodeSelector={"pool": "b"})
    assert refusal(pod, None, context.spec, context.profile) is None


def test_a_refused_pod_has_failed_and_says_why() -> None:
    """Phase, reason and message; nothing of it ever ran."""
    context = nowhere.node("win-1")
    found = refusal(nowhere.pod(os={"name": "linux"}), NODE, context.spec, context.profile)
    assert found is not None
    status = rejected_status(found, "2026-11-21T01:22:03Z")
    assert (status["phase"], status["reason"]) == ("Failed", "PodOSNotSupported")
    assert status["message"].startswith("Pod was rejected: Failed to admit pod as the OS field")
