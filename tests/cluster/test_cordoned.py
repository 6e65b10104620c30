"""The Pods of cordoned Windows nodes, which discovery lists and nothing else of all Pods."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nettests.cluster import Connection, connect
from nettests.cluster import snapshot as snapshot_module
from nettests.cluster.snapshot import fetch
from nettests.model.json_text import Object
from tests.cluster.api import Api, Reply, Request, serving, status, write_kubeconfig
from tests.cluster.recorded import linux_node, windows_node


def cordoned(node: Object, name: str) -> Object:
    """Return the node with another name, unschedulable."""
    return {
        **node,
        "metadata": {**node["metadata"], "name": name},
        "spec": {**node["spec"], "unschedulable": True},
    }


NODES = [
    linux_node(),
    windows_node(),
    cordoned(linux_node(), "n7"),
    *(cordoned(windows_node(), f"w{number}") for number in range(1, 7)),
]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Connection, Api]]:
    """An API server with these nodes, one of which keeps its Pods to itself."""

    def answer(request: Request) -> Reply:
        if request.path == "/version":
            return Reply(body={"gitVersion": "v1.29.4"})
        if "spec.nodeName" in request.path and request.path.endswith("w2"):
            return status(403, "Forbidden", "pods is forbidden")
        pods = [{"metadata": {"namespace": "a", "name": "one"}, "spec": {}}]
        if request.method == "POST":  # a review of permissions
            return Reply(body={"status": {"allowed": True}})
        items = NODES if request.path.startswith("/api/v1/nodes") else pods
        return Reply(body={"metadata": {}, "items": items})

    with serving(answer) as api:
        yield connect(write_kubeconfig(tmp_path / "k", api.url), None), api


def test_a_few_cordoned_windows_nodes_are_looked_at(served: tuple[Connection, Api]) -> None:
    """Each by a list of its own Pods; of one whose list is refused the reason is kept."""
    connection, api = served
    found = fetch(connection)
    listed = [one.path for one in api.requests if "spec.nodeName" in one.path]
    assert len(listed) == snapshot_module.CORDONED == 4
    assert sorted(found.cordoned) == ["w1", "w3", "w4"]
    assert [pod["metadata"]["name"] for pod in found.cordoned["w1"]] == ["one"]
    assert found.reasons["/api/v1/pods/w2"].endswith("pods is forbidden")
