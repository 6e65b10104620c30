"""Creating and deleting: labels of ownership, repeats, and never anybody else's objects."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest

from nettests.cluster import ApiError, connect
from nettests.cluster import apply as module
from nettests.cluster.apply import create, delete_run
from nettests.cluster.ownership import Ownership
from nettests.errors import ClusterError
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig

BORN = datetime(2026, 11, 21, 22, 20, tzinfo=UTC)
OURS = Ownership(run="r1", owner="me.here", created=BORN, expires=BORN + timedelta(hours=6))
POD = OURS.marked({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}})
NAMESPACE = OURS.marked({"metadata": {"name": "nettests-r1", "uid": "u1"}})
TAKEN = status(409, "AlreadyExists", 'pods "p" already exists')


def version(request: Request) -> Reply | None:
    """Answer /version only."""
    return Reply(body={"gitVersion": "v1.29.4"}) if request.path == "/version" else None


def test_a_repeated_create_of_the_same_run_is_the_object(tmp_path: Path) -> None:
    """After a lost answer the object exists already: it is ours, by its label."""

    def answer(request: Request) -> Reply:
        return version(request) or (TAKEN if request.method == "POST" else Reply(body=POD))

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        assert create(connection, POD) == POD


def test_somebody_elses_object_is_a_conflict(tmp_path: Path) -> None:
    """An object of that name without our label is not taken over."""
    theirs = {"kind": "Pod", "metadata": {"name": "p", "labels": {"nettests.dev/run": "other"}}}

    def answer(request: Request) -> Reply:
        return version(request) or (TAKEN if request.method == "POST" else Reply(body=theirs))

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        with pytest.raises(ApiError, match="already exists"):
            create(connection, POD)


def test_a_pod_waits_for_the_default_account(tmp_path: Path) -> None:
    """In a namespace just made the ServiceAccount comes a moment later."""
    missing = status(403, "Forbidden", 'error looking up service account ns/default: serviceaccount "default" not found')  # fmt: skip
    answers = iter([missing, Reply(status=201, body=POD)])
    with serving(lambda request: version(request) or next(answers)) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        assert create(connection, POD) == POD


def test_deletion_asks_for_the_label_and_deletes_nothing_else(tmp_path: Path) -> None:
    """Only listed namespaces with all our marks are deleted, by uid; they are waited for."""
    theirs = {"metadata": {"name": "production", "uid": "u2", "labels": OURS.labels}}
    listed = [[NAMESPACE, theirs], [NAMESPACE, theirs], [theirs]]

    def answer(request: Request) -> Reply:
        if request.method == "DELETE":
            return Reply(body={})
        return version(request) or Reply(body={"metadata": {}, "items": listed.pop(0)})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        delete_run(connection, "r1", wait=5)
        asked = [request for request in api.requests if request.path != "/version"]
    (deletion,) = [request for request in asked if request.method == "DELETE"]
    assert deletion.path == "/api/v1/namespaces/nettests-r1"
    assert deletion.body == {"preconditions": {"uid": "u1"}}
    lists = [unquote(request.path) for request in asked if request.method == "GET"]
    assert all("labelSelector=nettests.dev/run=r1" in path for path in lists)


def test_in_a_namespace_of_others_sets_go_before_their_pods(tmp_path: Path) -> None:
    """A Pod that is deleted before its set comes again; who may not list sets made none."""
    sets = OURS.marked({"metadata": {"name": "start-1", "namespace": "ns", "uid": "u3"}})
    listed = [[sets], [], [], [], [], [], [], []]

    def answer(request: Request) -> Reply:
        if request.method == "DELETE":
            return Reply(body={})
        return version(request) or Reply(body={"metadata": {}, "items": listed.pop(0)})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        delete_run(connection, "r1", wait=5, namespace="ns")
        asked = [(one.method, one.path.partition("?")[0]) for one in api.requests][1:]
    assert asked[1] == ("DELETE", "/apis/apps/v1/namespaces/ns/statefulsets/start-1")
    assert ("GET", "/api/v1/namespaces/ns/pods") in asked[2:]

    def refuses(request: Request) -> Reply:
        if "statefulsets" in request.path:
            return status(403, "Forbidden", "statefulsets.apps is forbidden")
        return version(request) or Reply(body={"metadata": {}, "items": []})

    with serving(refuses) as api:
        connection = connect(write_kubeconfig(tmp_path / "k2", api.url), None)
        delete_run(connection, "r1", wait=5, namespace="ns")


def test_a_namespace_that_stays_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finalizer may hold a namespace: the error names it instead of waiting for ever."""
    monkeypatch.setattr(module, "POLL_SECONDS", 0.001)
    with serving(
        lambda request: version(request) or Reply(body={"metadata": {}, "items": [NAMESPACE]})
    ) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        with pytest.raises(ClusterError, match="nettests-r1 is still terminating"):
            delete_run(connection, "r1", wait=0.05)
