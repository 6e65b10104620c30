"""Looks at nodes: what is tested, and what is read from the answer."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from nettests.cluster import connect
from nettests.cluster.readiness import MANY, Readiness, read_readiness
from nettests.errors import ClusterError
from tests.cluster.api import Reply, Request, serving, write_kubeconfig

SINCE = "2026-11-21T01:22:03Z"


def node(name: str, status: str = "True", **condition: str) -> dict[str, Any]:
    """Return a Node with its Ready condition among others."""
    ready = {"type": "Ready", "status": status, "lastTransitionTime": SINCE, **condition}
    pressure = {"type": "DiskPressure", "status": "False"}
    return {"metadata": {"name": name}, "status": {"conditions": [pressure, ready]}}


def looked(
    tmp_path: Path, names: list[str], *, nodes: int, reply: Reply | None = None
) -> tuple[dict[str, Readiness], list[str]]:
    """Return what one look finds, and the paths that it requested."""
    paths: list[str] = []
    known = [node("a"), node("b", "Unknown", reason="NodeStatusUnknown", message="Kubelet stopped")]

    def answer(request: Request) -> Reply:
        path = unquote(request.path)
        if path == "/version":
            return Reply(body={"gitVersion": "v1.36.2"})
        paths.append(path)
        named = [one for one in known if f"metadata.name={one['metadata']['name']}" in path]
        return reply or Reply(body={"items": named if "fieldSelector" in path else known})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        try:
            return dict(read_readiness(connection, names, nodes=nodes)), paths
        finally:
            connection.close()


@pytest.mark.parametrize(("nodes", "requests"), [(2, 1), (MANY, 1), (MANY + 1, 2)])
def test_those_in_question_are_found_by_few_requests(
    tmp_path: Path, nodes: int, requests: int
) -> None:
    """A small cluster is listed; of a large one each is queried alone. One that is gone is left out."""
    found, paths = looked(tmp_path, ["a", "b"], nodes=nodes)
    assert found == {
        "a": Readiness(ready=True, since=SINCE),
        "b": Readiness(ready=False, since=SINCE, why="NodeStatusUnknown: Kubelet stopped"),
    }
    assert len(paths) == requests
    assert all("resourceVersion=0" in path for path in paths)
    assert set(looked(tmp_path, ["a", "gone"], nodes=nodes)[0]) == {"a"}


@pytest.mark.parametrize(("names", "requests"), [(9, 9), (10, 1), (40, 1)])
def test_a_fleet_is_listed_at_once(tmp_path: Path, names: int, requests: int) -> None:
    """Where a quarter of a large cluster's nodes is in question, they are not requested one by one."""
    _, paths = looked(tmp_path, [f"node-{n}" for n in range(names)], nodes=40)
    assert len(paths) == requests


@pytest.mark.parametrize("reply", [Reply(status=403, body={}), Reply(body={"kind": "Status"})])
def test_an_answer_that_is_no_list_is_an_error(tmp_path: Path, reply: Reply) -> None:
    """The caller then knows as much as before."""
    with pytest.raises(ClusterError):
        looked(tmp_path, ["a"], nodes=1, reply=reply)
