"""Whose objects a run makes, and what is said where they cannot be removed."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from nettests.cluster import Connection, connect
from nettests.cluster.apply import CreatedObjects
from nettests.cluster.failures import ClosedError
from nettests.errors import ClusterError
from nettests.model.cluster_profile import Timing
from nettests.session.run_objects import EXPIRES_AFTER, RunObjects, clean_up, ownership
from nettests.session.run_options import Keep
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig

RUN = "20261121-140412-ab12"


def refuses(request: Request) -> Reply:
    """An API server that tells its version, and refuses everything else."""
    if request.path == "/version":
        return Reply(body={"gitVersion": "v1.29.4"})
    return status(403, "Forbidden", "not yours")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A connection to it."""
    with serving(refuses) as api:
        kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", api.url)
        made = connect(kubeconfig, None, Timing())
        yield made
        made.close()


def test_a_run_is_marked_with_who_runs_it_and_until_when() -> None:
    """The owner is a user at a machine; after some hours nobody believes that it lives."""
    marks = ownership(RUN)
    assert marks.run == RUN
    user, _, host = marks.owner.partition(".")
    assert user
    assert host
    assert marks.expires - marks.created == EXPIRES_AFTER == timedelta(hours=6)
    assert marks.created.utcoffset() == timedelta()
    assert marks.created.microsecond == 0


def test_an_identity_without_a_name_is_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container a user id may have no entry: a run is marked all the same."""

    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)
    monkeypatch.setattr("socket.gethostname", lambda: "machine")
    assert ownership(RUN).owner == "machine"


@pytest.mark.parametrize(("namespace", "where"), [(None, ""), ("theirs", " --namespace theirs")])
def test_what_could_not_be_removed_is_told_with_the_command_that_does(
    connection: Connection, namespace: str | None, where: str
) -> None:
    """The API server's reason first; of a namespace of others its name, where gc has to look."""
    left = clean_up(connection, ownership(RUN), CreatedObjects(), wait=0, namespace=namespace)
    assert "not yours" in left
    assert left.endswith(f"; remove it with: nettests gc --run {RUN}{where} --yes")


def run_objects(connection: Connection, keep: Keep, *, shared: bool = False) -> RunObjects:
    """Return what a run holds in a namespace."""
    return RunObjects(
        connection=connection,
        run_id=RUN,
        namespace="theirs" if shared else f"nettests-{RUN}",
        timing=Timing(clean_up=0),
        keep=keep,
        shared=shared,
    )


@pytest.mark.parametrize("shared", [False, True])
def test_what_stands_on_purpose_is_told_with_how_to_look_at_it(
    connection: Connection, *, shared: bool
) -> None:
    """By its label, in its namespace, and how it goes in the end; in one of others gc is told where."""
    held = run_objects(connection, Keep.ALWAYS, shared=shared)
    held.begin(touches=True)
    held.end(0)
    first, look, remove = held.kept.splitlines()
    assert first == f"the objects of this run stand in namespace {held.namespace}"
    assert look == (
        f"  look at them: kubectl --context test -n {held.namespace} get pods,services "
        f"-l nettests.dev/run={RUN} -o wide"
    )
    where = " --namespace theirs" if shared else ""
    assert remove == f"  remove them:  nettests gc --context test --run {RUN}{where} --yes"
    assert (held.gone, held.left_behind) == (False, "")


@pytest.mark.parametrize(
    ("keep", "exit_code", "removed"),
    [
        (Keep.NEVER, None, True),
        (Keep.NEVER, 0, True),
        (Keep.ON_FAILURE, None, False),
        (Keep.ON_FAILURE, 0, True),
        (Keep.ON_FAILURE, 2, True),
    ],
)
def test_objects_go_when_it_is_known_that_they_may(
    connection: Connection, keep: Keep, exit_code: int | None, *, removed: bool
) -> None:
    """Before the exit code is known nothing goes that a failure would keep; from then on a late check creates nothing."""
    held = run_objects(connection, keep)
    access, _ = held.begin(touches=True)
    assert not held.ending
    held.end(exit_code)
    assert bool(held.left_behind) is removed
    assert held.ending is removed
    assert (held.gone, held.kept) == (False, "")
    with pytest.raises(ClusterError) as refused:
        access.create({"kind": "Pod", "metadata": {"name": "late", "namespace": "theirs"}})
    assert isinstance(refused.value, ClosedError) is removed


def test_what_was_never_touched_is_left_alone(connection: Connection) -> None:
    """A run that only reads removes nothing, whatever was requested, and keeps nothing."""
    for keep in Keep:
        held = run_objects(connection, keep)
        held.begin(touches=False)
        held.end(1)
        assert (held.gone, held.kept, held.left_behind) == (False, "", "")
