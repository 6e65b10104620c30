"""Creating: labels of ownership, repeats, and never anybody else's objects."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote_plus

import pytest

from nettests.cluster import ApiError, connect
from nettests.cluster.access import Access
from nettests.cluster.apply import create
from nettests.cluster.owner_marks import Ownership
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig

BORN = datetime(2026, 11, 21, 22, 20, tzinfo=UTC)
OURS = Ownership(run="r1", owner="me.here", created=BORN, expires=BORN + timedelta(hours=6))
POD = OURS.marked({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}})
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


@pytest.mark.parametrize("together", [True, False])
def test_several_pods_are_deleted_by_one_request_where_that_is_allowed(
    tmp_path: Path, *, together: bool
) -> None:
    """It names the run and each Pod; a role without ``deletecollection`` is refused once, then deletes one by one."""
    sent: list[str] = []

    def answer(request: Request) -> Reply:
        if request.method != "DELETE":
            return Reply(body={"gitVersion": "v1.29.4"})
        sent.append(unquote_plus(request.path.removeprefix("/api/v1/namespaces/ns/pods")))
        refused = sent[-1].startswith("?") and not together
        return status(403, "Forbidden", "no") if refused else Reply(body={})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        access = Access(connection, OURS)
        access.delete_pods("ns", ["start-1", "start-2"])
        access.delete_pods("ns", ["start-1", "start-2"])
    collection = "?labelSelector=nettests.dev/run=r1,nettests.dev/pod in (start-1,start-2)"
    one_by_one = ["/start-1", "/start-2"]
    assert sent == ([collection] * 2 if together else [collection, *one_by_one, *one_by_one])
