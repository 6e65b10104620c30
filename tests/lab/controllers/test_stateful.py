"""What StatefulSets want of the lab: Pods that keep their names, one after the other."""

from typing import Any

from nettests.lab.controllers.workloads import reconcile_stateful_set

Json = dict[str, Any]


def stateful_set(replicas: int) -> Json:
    """Return a StatefulSet of so many Pods."""
    return {
        "metadata": {"name": "set", "namespace": "ns", "uid": "u", "generation": 1},
        "spec": {
            "replicas": replicas,
            "serviceName": "sets",
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": []}},
        },
    }


def born(made: Json, *, ready: bool = True) -> Json:
    """Return a created Pod as the API would list it."""
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {**made, "status": status}


def first(replicas: int = 2) -> Json:
    """Return the first Pod of a set."""
    (made,) = reconcile_stateful_set(stateful_set(replicas), []).create
    return made


def test_pods_are_named_by_their_ordinal_and_know_their_service() -> None:
    """Host name, subdomain and labels say which one it is."""
    pod = first()
    assert pod["metadata"]["name"] == "set-0"
    assert "generateName" not in pod["metadata"]
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("set-0", "sets")
    assert pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "set-0"
    assert pod["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet"


def test_the_next_pod_waits_for_the_one_before() -> None:
    """Only what is Ready lets another one come."""
    pod = first()
    assert reconcile_stateful_set(stateful_set(2), [born(pod, ready=False)]).create == ()
    (second,) = reconcile_stateful_set(stateful_set(2), [born(pod)]).create
    assert second["metadata"]["name"] == "set-1"


def test_a_pod_that_leaves_is_recreated_when_it_is_gone() -> None:
    """Two Pods of one name cannot be: until then nothing is made."""
    leaving = born(first(1), ready=False)
    leaving["metadata"] = {**leaving["metadata"], "deletionTimestamp": "now"}
    assert reconcile_stateful_set(stateful_set(1), [leaving]).create == ()
    (again,) = reconcile_stateful_set(stateful_set(1), []).create
    assert again["metadata"]["name"] == "set-0"


def test_surplus_pods_go_from_the_end() -> None:
    """One at a time, the highest ordinal first."""
    zero = born(first())
    (one,) = reconcile_stateful_set(stateful_set(2), [zero]).create
    gone = reconcile_stateful_set(stateful_set(0), [zero, born(one)]).delete
    assert [pod["metadata"]["name"] for pod in gone] == ["set-1"]


def test_a_switched_mechanism_leaves_pods_without_a_host_name() -> None:
    """Then the Service has no record of them."""
    (pod,) = reconcile_stateful_set(stateful_set(1), [], identity=False).create
    assert "hostname" not in pod["spec"]
