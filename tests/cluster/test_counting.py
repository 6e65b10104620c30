"""What may not be listed is counted before a namespace goes: an administrator's eyes on Secrets are not needed."""

from pathlib import Path

import pytest

from nettests.cluster import Connection, counting
from nettests.cluster.collect import remove
from nettests.cluster.leftovers import find
from nettests.model.permission import PULL_SECRET
from tests.cluster.memory import SECONDS, Memory, connected, few_threads, marks

OURS = marks("r1")
HOME = "nettests-r1"
QUOTAS = f"/api/v1/namespaces/{HOME}/resourcequotas"


@pytest.fixture
def memory() -> Memory:
    """A cluster with a dead run, whose namespace has nothing before Kubernetes 1.24's but what every one has."""
    cluster = Memory()
    cluster.put_namespace(HOME, OURS)
    del cluster.objects["/api/v1/secrets", HOME, "default-token-x7x2q"]
    cluster.put_lease(OURS, HOME)
    cluster.put_marked(OURS, "Pod", "probe-1", HOME)
    cluster.hidden = {"secrets": 403, "widgets": 403, "configmaps": 403}
    return cluster


@pytest.fixture
def connection(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A connection to it, of an identity that may list neither Secrets, nor ConfigMaps, nor a CRD's objects."""
    few_threads(monkeypatch)
    monkeypatch.setattr(counting, "COUNT_SECONDS", 0.0)
    return connected(memory, tmp_path)


def collect(connection: Connection) -> dict[str, str]:
    """Remove the run, as ``nettests gc --yes`` does."""
    return remove(connection, find(connection, seconds=SECONDS), wait=1)


def test_what_counts_0_holds_nothing(memory: Memory, connection: Connection) -> None:
    """The one ConfigMap that is counted is Kubernetes' own, which may be read by its name."""
    (leftover,) = find(connection, seconds=SECONDS)
    assert leftover.removable
    assert set(leftover.uncounted) == {"secrets", "widgets.example.com", "configmaps"}
    assert not [line for line in memory.written if "resourcequotas" in line]
    assert collect(connection) == {}
    assert not [place for place in memory.objects if HOME in place]
    counted = [line for line in memory.written if "resourcequotas" in line]
    assert [line.split()[0] for line in counted] == ["POST", "DELETE"]


@pytest.mark.parametrize("kind", ["Secret", "Widget", "ConfigMap"])
def test_a_strangers_object_that_may_not_be_listed_holds_the_namespace(
    memory: Memory, connection: Connection, kind: str
) -> None:
    """Its number says that it exists, and nothing else of it is learned."""
    memory.put_marked(OURS, kind, "theirs", HOME)
    problem = collect(connection)[HOME]
    number = 2 if kind == "ConfigMap" else 1
    assert f"403 Forbidden, and {number} of them were counted" in problem
    assert HOME in memory.uids().values() or ("/api/v1/namespaces", "", HOME) in memory.objects
    assert not [place for place in memory.objects if place[0].endswith("resourcequotas")]


def test_the_runs_pull_secret_is_its_own(memory: Memory, connection: Connection) -> None:
    """Of all Secrets this one may be read by its name."""
    memory.put_marked(OURS, "Secret", PULL_SECRET, HOME)
    assert collect(connection) == {}


def test_a_secret_of_that_name_without_the_marks_is_somebodys(
    memory: Memory, connection: Connection
) -> None:
    """A name can be given by anybody."""
    memory.put("Secret", PULL_SECRET, HOME)
    assert "1 of them were counted" in collect(connection)[HOME]


def test_what_may_not_be_read_by_name_holds_the_namespace(
    memory: Memory, connection: Connection
) -> None:
    """A number alone does not tell Kubernetes' own object from another."""
    memory.unread = {"configmaps"}
    assert "configmaps: 403 Forbidden, and 1 of them were counted" in collect(connection)[HOME]


def test_what_no_controller_counts_holds_the_namespace(
    memory: Memory, connection: Connection
) -> None:
    """A number that is missing is not 0."""
    memory.uncounted = {"widgets.example.com"}
    problem = collect(connection)[HOME]
    assert "widgets.example.com: 403 Forbidden, and not counted in time" in problem
    assert "secrets" not in problem


def test_a_quota_that_a_killed_gc_left_is_the_runs(memory: Memory, connection: Connection) -> None:
    """It has the run's marks, and goes with it."""
    memory.put_marked(OURS, "ResourceQuota", "nettests-count-1", HOME)
    assert collect(connection) == {}


def test_a_namespace_in_which_no_quota_may_be_created_stays(
    memory: Memory, connection: Connection
) -> None:
    """It is said what could not be counted, and which role may."""
    memory.refused = {QUOTAS}
    problem = collect(connection)[HOME]
    assert "secrets" in problem
    assert "not counted: 403 Forbidden (the role of manifests/rbac/gc.yaml may)" in problem
