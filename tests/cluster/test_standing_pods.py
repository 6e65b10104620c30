"""One look at a run's Pods: which are Ready, and why the others are not."""

from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.cluster.access import standing_pods
from nettests.errors import ClusterError
from nettests.model.json_text import Object
from nettests.model.labels import NEVER_READY, READINESS_LABEL
from tests.cluster.api import Reply, Request, serving, write_kubeconfig
from tests.cluster.recorded import (
    body,
)


def pod(name: str) -> Object:
    """Return the recorded running Pod under a name."""
    found = body("pod state: hostnet")
    found["metadata"]["name"] = name
    return found


def unready(name: str) -> Object:
    """Return it as the node controller leaves it when its node is silent."""
    found = pod(name)
    for one in found["status"]["conditions"]:
        if one["type"] == "Ready":
            one["status"] = "False"
    return found


def test_one_list_tells_ready_pods_from_the_others(tmp_path: Path) -> None:
    """Those of the run, by its label: Ready, or running where a Pod is never to be Ready; the others with the reason."""
    never, leaving = unready("never"), pod("leaving")
    never["metadata"].setdefault("labels", {})[READINESS_LABEL] = NEVER_READY
    leaving["metadata"]["deletionTimestamp"] = "2026-11-21T14:04:12Z"
    listed = [pod("a"), unready("b"), never, leaving, pod("somebody-elses")]

    def answer(request: Request) -> Reply:
        if request.path == "/version":
            return Reply(body={"gitVersion": "v1.29.4"})
        return Reply(body={"metadata": {}, "items": listed})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        names = ["a", "b", "never", "leaving", "gone"]
        ready, why = standing_pods(connection, "ns", names, selector="nettests.dev/run=r1")
        (path,) = (one.path for one in api.requests if "/pods" in one.path)
    assert ready.keys() == {"a", "never"}
    assert why == {
        "b": "it is not Ready (phase Running: no reason given)",
        "leaving": "it is being deleted",
        "gone": "it is no longer in the API",
    }
    assert path.startswith("/api/v1/namespaces/ns/pods?")
    assert "labelSelector=nettests.dev" in path


def test_an_api_server_that_is_away_says_nothing_of_pods(tmp_path: Path) -> None:
    """No answer is no Pod that is gone."""

    def answer(request: Request) -> Reply:
        if request.path == "/version":
            return Reply(body={"gitVersion": "v1.29.4"})
        return Reply(status=403, body={"kind": "Status", "message": "no"})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        with pytest.raises(ClusterError):
            standing_pods(connection, "ns", ["a"], selector="x=y")
