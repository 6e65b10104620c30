"""Permissions: how one is said, where it holds, and what opening a channel takes by version."""

import pytest

from nettests.model.permission import (
    CREATE_POD,
    CREATE_TO_CONNECT,
    LIST_ALL_PODS,
    LIST_NODES,
    READ_NAMESPACE,
    SYSTEM_LOGS,
    Permission,
    config_map,
    opening,
)
from nettests.model.versions import KubernetesVersion


@pytest.mark.parametrize(
    ("permission", "said"),
    [
        (LIST_NODES, "list nodes"),
        (CREATE_POD, "create pods"),
        (LIST_ALL_PODS, "list pods in all namespaces"),
        (SYSTEM_LOGS, "get pods/log in namespace kube-system"),
        (READ_NAMESPACE, "get namespaces"),
        (config_map("kube-system/coredns"), "get configmaps coredns in namespace kube-system"),
    ],
)
def test_a_permission_is_said_as_people_grant_it(permission: Permission, said: str) -> None:
    """Verb, resource, the one object if it is one, and the namespace unless it is the run's."""
    assert str(permission) == said


def test_the_run_s_namespace_takes_the_placeholder_s_place() -> None:
    """Namespace and name of the placeholder become the run's; what is elsewhere stays there."""
    inside = CREATE_POD.within("team-a")
    assert (inside.verb, inside.resource, inside.namespace) == ("create", "pods", "team-a")
    own = READ_NAMESPACE.within("team-a")
    assert (own.namespace, own.name) == ("team-a", "team-a")
    for elsewhere in (LIST_NODES, LIST_ALL_PODS, SYSTEM_LOGS, config_map("kube-system/coredns")):
        assert elsewhere.within("team-a") == elsewhere


def test_the_group_of_a_resource_is_kept() -> None:
    """A Lease within a namespace is still one of coordination.k8s.io."""
    lease = Permission(
        verb="get", resource="leases", group="coordination.k8s.io", namespace="{run}"
    )
    assert lease.within("team-a").group == "coordination.k8s.io"


@pytest.mark.parametrize(
    ("version", "verbs"),
    [
        (KubernetesVersion(1, 34, 99), ["get"]),
        (CREATE_TO_CONNECT, ["get", "create"]),
        (KubernetesVersion(1, 36, 0), ["get", "create"]),
    ],
)
def test_exec_takes_create_from_the_version_on_that_demands_it(
    version: KubernetesVersion, verbs: list[str]
) -> None:
    """A WebSocket is opened by GET; newer API servers authorise it as ``create`` too."""
    needed = opening("pods/exec", version)
    assert [one.verb for one in needed] == verbs
    assert {one.resource for one in needed} == {"pods/exec"}
