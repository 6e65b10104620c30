"""The end of a run: what it created goes, by UID; what carries its marks and is not its own stays."""

from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import Connection
from nettests.cluster import apply as module
from nettests.cluster.access import Access
from nettests.cluster.apply import CreatedObjects, delete_run
from nettests.errors import ClusterError
from nettests.model.workload import Workload
from tests.cluster.memory import Memory, connected, marks

OURS = marks("r1")
HOME = "nettests-r1"
POD = {"kind": "Pod", "metadata": {"name": "p", "namespace": "staging"}}


@pytest.fixture
def memory() -> Memory:
    """A cluster with a namespace of somebody's."""
    made = Memory()
    made.put_namespace("staging")
    return made


@pytest.fixture
def connection(memory: Memory, tmp_path: Path) -> Connection:
    """A connection to it."""
    return connected(memory, tmp_path)


@pytest.fixture
def access(connection: Connection) -> Access:
    """The door of the run."""
    return Access(connection, OURS)


def end(access: Access, namespace: str | None = None) -> None:
    """End the run."""
    delete_run(access.connection, OURS, access.created, wait=1, namespace=namespace)


def standing(memory: Memory, plural: str) -> set[str]:
    """The names of what stands of a kind."""
    return {name for kind, _, name in memory.objects if kind.endswith(f"/{plural}")}


def test_a_run_removes_the_namespaces_that_it_made(memory: Memory, access: Access) -> None:
    """By UID, and not one of somebody who copied the manifest of a namespace of ours."""
    for name in (HOME, f"{HOME}-baseline"):
        access.create({"kind": "Namespace", "metadata": {"name": name}})
    memory.put_namespace("payments", OURS)
    end(access)
    assert standing(memory, "namespaces") == {"staging", "payments"}


def test_a_namespace_that_was_recreated_under_its_name_stays(
    memory: Memory, access: Access
) -> None:
    """Somebody removed ours and made one of that name, with our marks: its UID is another."""
    access.create({"kind": "Namespace", "metadata": {"name": HOME}})
    (place,) = [one for one in memory.objects if one[2] == HOME]
    del memory.objects[place]
    memory.put_namespace(HOME, OURS)
    end(access)
    assert HOME in standing(memory, "namespaces")


def test_a_creation_without_an_answer_is_undone(memory: Memory, access: Access) -> None:
    """The object may stand: its name and its marks have to do."""
    access.created.call({"kind": "Namespace", "metadata": {"name": HOME}})
    memory.put_namespace(HOME, OURS)
    end(access)
    assert standing(memory, "namespaces") == {"staging"}


def test_a_namespace_that_another_run_took_over_stays(memory: Memory, access: Access) -> None:
    """That one was sent into it after ours had lost its Lease: only our objects go."""
    access.create({"kind": "Namespace", "metadata": {"name": HOME}})
    access.create({"kind": "Pod", "metadata": {"name": "ours", "namespace": HOME}})
    other = marks("r2")
    memory.put_lease(other, HOME)
    memory.put_marked(other, "Pod", "theirs", HOME)
    with pytest.raises(ClusterError, match="nettests-r1 is run r2's now"):
        end(access)
    assert HOME in standing(memory, "namespaces")
    assert standing(memory, "pods") == {"theirs"}
    assert standing(memory, "leases") == {"nettests"}


def test_in_a_namespace_of_others_the_runs_own_objects_go(memory: Memory, access: Access) -> None:
    """With the Pods of its StatefulSets and its Lease; a copy with all its marks stays."""
    access.create(POD)
    made = access.create({"kind": "StatefulSet", "metadata": {"name": "s", "namespace": "staging"}})
    owner = {"kind": "StatefulSet", "name": "s", "uid": made["metadata"]["uid"]}
    memory.put_marked(OURS, "Pod", "s-0", "staging", ownerReferences=[owner])
    memory.put_marked(OURS, "Pod", "copy", "staging")
    memory.put_lease(OURS, "staging")
    end(access, "staging")
    assert standing(memory, "pods") == {"copy"}
    assert standing(memory, "statefulsets") | standing(memory, "leases") == set()
    deleted = [line.split("/")[-2:] for line in memory.written if line.startswith("DELETE")]
    assert deleted[0] == ["statefulsets", "s"]  # its Pods would are recreated
    assert deleted[-1] == ["leases", "nettests"]


@pytest.mark.parametrize("kind", Workload)
def test_what_makes_pods_goes_before_them_and_stays_until_they_are_gone(
    memory: Memory, access: Access, kind: Workload
) -> None:
    """Whatever its controllers put between the two: who waits for its end waits for theirs."""
    bodies: list[Any] = []
    memory.before = lambda request: (
        bodies.append(request.body) if request.method == "DELETE" else None
    )
    access.create({"kind": kind.value, "metadata": {"name": "start-1", "namespace": "staging"}})
    memory.put_marked(OURS, kind.value, "copy", "staging")
    end(access, "staging")
    assert standing(memory, kind.plural) == {"copy"}
    assert [body["propagationPolicy"] for body in bodies] == ["Foreground"]


def test_kinds_that_were_never_made_are_not_looked_for(memory: Memory, access: Access) -> None:
    """A run without such checks costs nothing more at its end."""
    access.create(POD)
    listed: list[str] = []
    memory.before = lambda request: listed.append(request.path.partition("?")[0])
    end(access, "staging")
    looked = {path.rpartition("/")[2] for path in listed}
    assert {"pods", "services", "leases"} <= looked
    assert not looked & {*(kind.plural for kind in Workload), "networkpolicies"}


@pytest.mark.parametrize("code", [403, 404])
def test_a_kind_that_may_not_be_listed_or_is_not_served_has_no_objects(
    memory: Memory, access: Access, code: int
) -> None:
    """Clusters before 1.21 have no CronJobs of that version."""
    access.created.call({"kind": "CronJob", "metadata": {"name": "c", "namespace": "staging"}})
    memory.hidden = {"cronjobs": code}
    access.create(POD)
    end(access, "staging")
    assert standing(memory, "pods") == set()


def test_a_lease_that_is_renewed_at_the_end_goes_nevertheless(
    memory: Memory, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's own thread renews it until the end: its deletion is tried again."""
    monkeypatch.setattr(module, "POLL_SECONDS", 0.001)
    memory.put_lease(OURS, "staging")
    renewals = iter([True])

    def before(request: object) -> None:
        if str(request).count("method='DELETE'") and next(renewals, False):
            memory.renew("staging")

    memory.before = before
    end(access, "staging")
    assert standing(memory, "leases") == set()


def test_who_may_not_list_statefulsets_made_none(memory: Memory, access: Access) -> None:
    """Without that right their checks are left out."""
    access.create(POD)
    memory.hidden = {"statefulsets": 403}
    end(access, "staging")
    assert standing(memory, "pods") == set()


def test_a_namespace_that_stays_is_said(
    memory: Memory, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finalizer may hold a namespace: the error names it instead of waiting for ever."""
    monkeypatch.setattr(module, "POLL_SECONDS", 0.001)
    access.create({"kind": "Namespace", "metadata": {"name": HOME}})
    memory.stuck = True
    with pytest.raises(ClusterError, match="nettests-r1 is still terminating"):
        delete_run(access.connection, OURS, access.created, wait=0.05)


def test_nothing_made_is_nothing_removed(memory: Memory, connection: Connection) -> None:
    """A run that created nothing deletes nothing, whatever carries its marks."""
    memory.put_namespace(HOME, OURS)
    delete_run(connection, OURS, CreatedObjects(), wait=1)
    assert memory.written == []
