"""Somebody's copies of a run's marks: they stay, and have no say in what becomes of the run."""

from pathlib import Path

import pytest

from nettests.cluster import Connection
from nettests.cluster.collect import remove
from tests.cluster.memory import Memory, connected, few_threads, marks
from tests.cluster.test_leftovers import HOME, OURS, collect, dead_run, found


@pytest.fixture
def memory() -> Memory:
    """A cluster with a namespace of somebody's."""
    cluster = Memory()
    cluster.put_namespace("production")
    cluster.put("Pod", "theirs", "production")
    return cluster


@pytest.fixture
def connection(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A connection to it; Leases are looked at often."""
    few_threads(monkeypatch)
    return connected(memory, tmp_path)


BESIDE = f"{HOME}-baseline"


def test_forged_marks_on_somebodys_namespace_do_not_remove_it(
    memory: Memory, connection: Connection
) -> None:
    """All four marks on a namespace that is not called after the run: it is not the run's."""
    memory.put_namespace("payments", OURS)
    before = memory.uids()
    assert "not its name" in found(connection)["payments"].copied
    collect(connection)
    assert memory.uids() == before


def test_a_copy_of_a_runs_object_elsewhere_neither_goes_nor_holds_the_run(
    memory: Memory, connection: Connection
) -> None:
    """Whoever copies the marks of a run that has its own namespace does not keep it from being removed."""
    dead_run(memory)
    memory.put_marked(OURS, "Pod", "copy", "production")
    leftovers = found(connection)
    assert leftovers[HOME].removable
    assert not leftovers["production"].removable


@pytest.mark.parametrize("name", ["payments", f"{HOME}-payments", f"{HOME}-", BESIDE])
@pytest.mark.parametrize("with_lease", [False, True])
def test_forged_marks_do_not_keep_a_run_from_being_removed(
    memory: Memory, connection: Connection, name: str, with_lease: bool
) -> None:
    """A tenant who copies a run's marks onto a namespace, of whatever name, has no say in what becomes of the run."""
    dead_run(memory)
    memory.put_namespace(name, OURS)
    memory.put("Pod", "theirs", name)
    if with_lease:
        memory.put_lease(OURS, name, alive=True)
    leftovers = found(connection)
    assert leftovers[name].copied
    assert not leftovers[name].removable
    assert leftovers[HOME].removable
    assert collect(connection) == {}
    assert ("/api/v1/pods", name, "theirs") in memory.objects
    assert HOME not in found(connection)


def test_other_marks_on_a_namespace_beside_are_somebodys(
    memory: Memory, connection: Connection
) -> None:
    """What a run creates has the same marks everywhere."""
    dead_run(memory)
    memory.put_namespace(BESIDE, marks("r1", hours=200))
    leftovers = found(connection)
    assert leftovers[BESIDE].copied == f"its marks are not those of namespace {HOME}"
    assert leftovers[HOME].removable


def test_a_lease_tells_a_run_in_a_namespace_of_others_from_copies(
    memory: Memory, connection: Connection
) -> None:
    """Where the run's Lease is, its objects are: those elsewhere were copied, and stay."""
    memory.put_lease(OURS, "production")
    memory.put_marked(OURS, "Pod", "probe-1", "production")
    memory.put_namespace("payments")
    memory.put_marked(marks("r1", hours=200), "Pod", "copy", "payments")
    leftovers = found(connection)
    assert "these objects are copies" in leftovers["payments"].copied
    assert leftovers["production"].removable
    assert collect(connection) == {}
    assert ("/api/v1/pods", "payments", "copy") in memory.objects
    assert ("/api/v1/pods", "production", "probe-1") not in memory.objects


def test_a_namespace_that_appears_beside_stays_alone(
    memory: Memory, connection: Connection
) -> None:
    """What was not looked at does not go, and does not hold what was."""
    dead_run(memory)
    leftovers = list(found(connection).values())
    memory.put_namespace(BESIDE, OURS)
    assert remove(connection, leftovers, wait=1) == {}
    assert list(found(connection)) == [BESIDE]


def test_a_stranger_who_comes_in_between_beside_holds_that_alone(
    memory: Memory, connection: Connection
) -> None:
    """A namespace beside the first one is removed only as it was looked at."""
    dead_run(memory)
    memory.put_namespace(BESIDE, OURS)
    leftovers = list(found(connection).values())
    memory.put("Pod", "theirs", BESIDE)
    assert list(remove(connection, leftovers, wait=1)) == [BESIDE]
    assert ("/api/v1/pods", BESIDE, "theirs") in memory.objects
    assert HOME not in found(connection)
