"""Creating and deleting: labels of ownership, repeats, and never anybody else's objects."""

from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.cluster import ApiError, connect
from nettests.cluster import apply as module
from nettests.cluster.apply import Ownership, create, delete_run, label_value
from nettests.cluster.permissions import NEEDED, denied, require
from nettests.errors import ClusterError
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig

LABELS = Ownership(run="r1", owner="me.here", expires=1_795_000_000).labels
POD = {"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "labels": LABELS}}
TAKEN = status(409, "AlreadyExists", 'pods "p" already exists')


def version(request: Request) -> Reply | None:
    """Answer /version only."""
    return Reply(body={"gitVersion": "v1.29.4"}) if request.path == "/version" else None


def test_ownership_is_labels() -> None:
    """Run, owner and expiry are labels, so that one selector finds everything."""
    assert LABELS == {
        "nettests.dev/run": "r1",
        "nettests.dev/owner": "me.here",
        "nettests.dev/expires": "1795000000",
    }


@given(st.text(max_size=200))
def test_any_text_becomes_a_valid_label_value(text: str) -> None:
    """A label value has at most 63 characters and begins and ends with a letter or digit."""
    value = label_value(text)
    assert len(value) <= 63
    assert value == "" or (value[0].isascii() and value[0].isalnum() and value[-1].isalnum())


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
    """Only namespaces that the label selector lists are deleted, and they are waited for."""
    listed = [[{"metadata": {"name": "nettests-r1"}}], [{"metadata": {"name": "nettests-r1"}}], []]

    def answer(request: Request) -> Reply:
        if request.method == "DELETE":
            return Reply(body={})
        return version(request) or Reply(body={"metadata": {}, "items": listed.pop(0)})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        delete_run(connection, "r1", wait=5)
        asked = [request for request in api.requests if request.path != "/version"]
    assert [request.path for request in asked if request.method == "DELETE"] == [
        "/api/v1/namespaces/nettests-r1"
    ]
    lists = [unquote(request.path) for request in asked if request.method == "GET"]
    assert all("labelSelector=nettests.dev/run=r1" in path for path in lists)


def test_a_namespace_that_stays_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finalizer may hold a namespace: the error names it instead of waiting for ever."""
    monkeypatch.setattr(module, "POLL_SECONDS", 0.001)
    items = [{"metadata": {"name": "nettests-r1"}}]
    with serving(
        lambda request: version(request) or Reply(body={"metadata": {}, "items": items})
    ) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        with pytest.raises(ClusterError, match="nettests-r1 is still terminating"):
            delete_run(connection, "r1", wait=0.05)


def test_denied_permissions_are_found_by_review(tmp_path: Path) -> None:
    """Each verb is reviewed with its group, resource and subresource; denials come back."""

    def answer(request: Request) -> Reply:
        if request.body is None:
            return version(request) or Reply(status=500)
        attributes = request.body["spec"]["resourceAttributes"]
        return Reply(status=201, body={"status": {"allowed": attributes["subresource"] != "exec"}})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        assert [str(item) for item in denied(connection)] == ["create pods/exec"]
        assert len(api.requests) == 1 + len(NEEDED)


def test_a_required_permission_that_is_denied_stops_the_run() -> None:
    """Without permission to create pods nothing is tried; optional ones do not stop."""
    require(("get pods/log", "get configmaps"), "test")
    with pytest.raises(ClusterError, match=r"no permission to create pods \(context test\)"):
        require(("create pods", "get pods/log"), "test")
