"""What an identity may not do is found by review, in the place where a run would do it."""

from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import connect
from nettests.cluster.permissions import denied
from nettests.model.permission import (
    CONFIG_MAPS,
    CREATE_POD,
    LIST_ALL_PODS,
    READ_NAMESPACE,
    Permission,
    config_map,
    opening,
    reviewed,
)
from nettests.model.versions import KubernetesVersion
from tests.cluster.api import Reply, Request, serving, write_kubeconfig

V134, V135 = KubernetesVersion(1, 34), KubernetesVersion(1, 35)


def review(
    tmp_path: Path, wanted: tuple[Permission, ...], namespace: str, *, refused: str = "none"
) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Review ``wanted`` at a server that denies one resource; return denials and what was tested."""

    def answer(request: Request) -> Reply:
        if request.body is None:
            return Reply(body={"gitVersion": "v1.34.1"})
        probed = request.body["spec"]["resourceAttributes"]
        whole = "/".join(filter(None, (probed["resource"], probed["subresource"])))
        return Reply(status=201, body={"status": {"allowed": whole != refused}})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        found = denied(connection, wanted, namespace)
        probed = [r.body["spec"]["resourceAttributes"] for r in api.requests if r.body]
    return tuple(map(str, found)), probed


def test_denials_come_back_by_their_names(tmp_path: Path) -> None:
    """Each permission is reviewed once, with its subresource; what is denied is told."""
    wanted = reviewed(V134, CONFIG_MAPS, own_namespace=True)
    found, probed = review(tmp_path, wanted, "", refused="pods/exec")
    assert found == ("get pods/exec",)
    assert len(probed) == len(wanted)


@pytest.mark.parametrize(("namespace", "place"), [("", ""), ("staging", "staging")])
def test_what_a_run_does_is_reviewed_where_it_would_do_it(
    tmp_path: Path, namespace: str, place: str
) -> None:
    """In the existing namespace; in all of them where the run makes one whose name nobody knows yet."""
    _, probed = review(tmp_path, (CREATE_POD,), namespace)
    assert [(one["verb"], one["resource"], one["namespace"]) for one in probed] == [
        ("create", "pods", place)
    ]


def test_what_is_read_elsewhere_is_reviewed_there(tmp_path: Path) -> None:
    """A ConfigMap is reviewed by its name in its namespace, a list of all pods in all namespaces."""
    wanted = (config_map("kube-system/coredns"), LIST_ALL_PODS, READ_NAMESPACE)
    _, probed = review(tmp_path, wanted, "staging")
    places = {(one["resource"], one["namespace"], one["name"]) for one in probed}
    assert places == {
        ("configmaps", "kube-system", "coredns"),
        ("pods", "", ""),
        ("namespaces", "staging", "staging"),
    }


def test_opening_a_channel_takes_create_from_135_on() -> None:
    """A WebSocket is a GET; newer API servers check ``create`` beside it."""
    assert [one.verb for one in opening("pods/exec", V134)] == ["get"]
    assert [one.verb for one in opening("pods/exec", V135)] == ["get", "create"]


def test_a_namespace_of_others_is_neither_made_nor_removed() -> None:
    """Creating and deleting namespaces is needed for the run's own only; elsewhere single objects go."""
    own = {str(one) for one in reviewed(V134, (), own_namespace=True)}
    others = {str(one) for one in reviewed(V134, (), own_namespace=False)}
    assert {"create namespaces", "delete namespaces"} <= own
    assert not {"create namespaces", "delete namespaces"} & others
    assert "delete pods" in others


def test_a_permission_is_told_with_its_place() -> None:
    """Where one verb is needed in two places, the words tell them apart."""
    words = [str(one) for one in reviewed(V135, CONFIG_MAPS, own_namespace=True)]
    assert len(set(words)) == len(words)
    assert "get configmaps coredns in namespace kube-system" in words
    assert "list pods in all namespaces" in words
    assert "list pods" in words
