"""Pods that no kubelet has acted on go at the end of a run without anybody's word; all others end by themselves."""

from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import Connection
from nettests.cluster.access import Access
from nettests.cluster.apply import delete_unacknowledged
from tests.cluster.api import Reply, Request, status
from tests.cluster.memory import Memory, connected, marks

OURS = marks("r1")
HOME = "nettests-r1"
STARTED = {"phase": "Running", "startTime": "2026-11-21T14:04:12Z"}
BOUND: dict[str, Any] = {"nodeName": "win-2"}
UNBOUND: dict[str, Any] = {"nodeSelector": {}}


@pytest.fixture
def memory() -> Memory:
    """A cluster with the run's namespace."""
    made = Memory()
    made.put_namespace(HOME, OURS)
    return made


@pytest.fixture
def connection(memory: Memory, tmp_path: Path) -> Connection:
    """A connection to it."""
    return connected(memory, tmp_path)


def put(access: Access, name: str, spec: dict[str, Any], status: dict[str, Any]) -> None:
    """Let the run create a Pod."""
    meta = {"name": name, "namespace": HOME}
    access.create({"kind": "Pod", "metadata": meta, "spec": spec, "status": status})


def pods(memory: Memory) -> set[str]:
    """The names of the Pods that stand."""
    return {name for kind, _, name in memory.objects if kind.endswith("/pods")}


def test_only_what_a_kubelet_was_to_start_and_did_not_goes(
    memory: Memory, connection: Connection
) -> None:
    """One that was started ends by its grace period, and one that was not bound goes with its namespace."""
    access = Access(connection, OURS)
    put(access, "unseen", BOUND, {"phase": "Pending"})
    put(access, "started", BOUND, STARTED)
    put(access, "unbound", UNBOUND, {"phase": "Pending"})
    delete_unacknowledged(connection, OURS, access.created, HOME)
    assert pods(memory) == {"started", "unbound"}


def test_pods_of_others_stay(memory: Memory, connection: Connection) -> None:
    """Neither another run's, nor one with our marks that this process did not create."""
    memory.put_marked(marks("r2"), "Pod", "theirs", HOME)
    memory.put_marked(OURS, "Pod", "copied", HOME)
    for place, item in memory.objects.items():
        if place[0].endswith("/pods"):
            item["spec"], item["status"] = BOUND, {"phase": "Pending"}
    delete_unacknowledged(connection, OURS, Access(connection, OURS).created, HOME)
    assert pods(memory) == {"theirs", "copied"}


def test_one_that_a_kubelet_takes_meanwhile_stays(memory: Memory, tmp_path: Path) -> None:
    """It is deleted as it was seen: a kubelet that has written its status since may have started it."""

    def taken(request: Request) -> Reply:
        if request.method == "DELETE":
            assert request.body["gracePeriodSeconds"] == 0
            for item in memory.objects.values():
                item["metadata"]["resourceVersion"] = "later"
        return memory(request)

    connection = connected(taken, tmp_path)
    access = Access(connection, OURS)
    put(access, "late", BOUND, {"phase": "Pending"})
    delete_unacknowledged(connection, OURS, access.created, HOME)
    assert pods(memory) == {"late"}


def test_what_cannot_be_deleted_is_left_to_the_end(memory: Memory, tmp_path: Path) -> None:
    """A role that may not delete Pods still removes its namespace."""

    def forbidding(request: Request) -> Reply:
        if request.method == "DELETE":
            return status(403, "Forbidden", "pods is forbidden")
        return memory(request)

    connection = connected(forbidding, tmp_path)
    access = Access(connection, OURS)
    put(access, "unseen", BOUND, {"phase": "Pending"})
    delete_unacknowledged(connection, OURS, access.created, HOME)
    assert pods(memory) == {"unseen"}
