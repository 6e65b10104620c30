"""Which objects in a run's namespace a controller evidently copied there: those with the content of most others."""

import json
from pathlib import Path

import pytest

from nettests.cluster import Connection
from nettests.model.json_text import Object
from tests.cluster.api import Request
from tests.cluster.memory import Memory, connected, few_threads
from tests.cluster.test_leftovers import HOME, collect, dead_run, found


@pytest.fixture
def memory() -> Memory:
    """A cluster with a namespace of somebody's."""
    made = Memory()
    made.put_namespace("production")
    return made


@pytest.fixture
def connection(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A connection to it."""
    few_threads(monkeypatch)
    return connected(memory, tmp_path)


@pytest.mark.parametrize(
    ("kind", "others", "removable"),
    [
        ("ConfigMap", 5, True),
        ("Secret", 5, True),
        ("ConfigMap", 2, False),
        ("ConfigMap", 0, False),
        ("PersistentVolumeClaim", 5, False),
        ("Widget", 5, False),
    ],
)
def test_what_stands_in_most_namespaces_was_put_there_by_a_controller(
    memory: Memory, connection: Connection, kind: str, others: int, *, removable: bool
) -> None:
    """A pull Secret that is copied into each namespace keeps no run; what may hold data does."""
    dead_run(memory)
    memory.put(kind, "of-each", HOME)
    for number in range(5):
        memory.put_namespace(f"team-{number}")
    for number in range(others):
        memory.put(kind, "of-each", f"team-{number}")
    assert found(connection)[HOME].removable is removable
    assert collect(connection) == {}
    assert any(name == HOME for (_, _, name) in memory.objects) is not removable


def test_where_other_namespaces_may_not_be_read_a_copy_is_a_stranger_s(
    memory: Memory, connection: Connection
) -> None:
    """What cannot be compared is kept."""
    dead_run(memory)
    memory.put("ConfigMap", "of-each", HOME)
    for name in (f"team-{number}" for number in range(5)):
        memory.put_namespace(name)
        memory.put("ConfigMap", "of-each", name)
    memory.refused_everywhere = {"configmaps"}
    assert found(connection)[HOME].obstacle == (
        "it holds objects of others: configmap/of-each (not compared with those of other namespaces: 403 Forbidden)"
    )


@pytest.mark.parametrize(
    ("kind", "of_each", "here", "removable"),
    [
        ("ConfigMap", {"data": {"ca.pem": "QQ"}}, {"data": {"ca.pem": "QQ"}}, True),
        ("ConfigMap", {"data": {"ca.pem": "QQ"}}, {"data": {"ca.pem": "QQ", "notes": "mine"}}, False),
        ("ConfigMap", {"data": {"ca.pem": "QQ"}}, {"binaryData": {"ca.pem": "QQ"}}, False),
        ("Secret", {"type": "Opaque", "data": {"key": "QQ"}}, {"type": "Opaque", "data": {"key": "QQ"}}, True),
        ("Secret", {"type": "Opaque", "data": {"key": "QQ"}}, {"type": "Opaque", "data": {"key": "Qg"}}, False),
        ("Secret", {"data": {"of": "@"}}, {"data": {"of": "@"}}, True),
        ("ServiceAccount", {"secrets": [{"name": "of-@"}]}, {"secrets": [{"name": "x"}]}, True),
        ("ResourceQuota", {"spec": {"hard": {"pods": 9}}, "status": {"used": {"pods": "@"}}}, {"spec": {"hard": {"pods": 9}}, "status": {}}, True),
        ("ResourceQuota", {"spec": {"hard": {"pods": 9}}}, {"spec": {"hard": {"pods": 1}}}, False),
    ],
)  # fmt: skip
def test_a_copy_is_a_controller_s_only_with_the_content_of_the_others(
    memory: Memory, connection: Connection, kind: str, of_each: Object, here: Object, *, removable: bool
) -> None:  # fmt: skip
    """An object that a person changed holds the namespace, whatever stands elsewhere under its name."""
    dead_run(memory)
    for place in (HOME, *(f"team-{number}" for number in range(5))):
        if place != HOME:
            memory.put_namespace(place)
        text = json.dumps(here if place == HOME else of_each).replace("@", place)
        memory.put(kind, "of-each", place, json.loads(text))
    assert found(connection)[HOME].removable is removable


def test_what_stands_in_few_namespaces_is_not_read(memory: Memory, connection: Connection) -> None:
    """The contents of Secrets that no controller can have copied stay on the server."""
    dead_run(memory)
    memory.put("Secret", "of-me", HOME)
    memory.put("Secret", "of-me", "production")
    probed: list[Request] = []
    memory.before = probed.append
    assert not found(connection)[HOME].removable
    secrets = [one for one in probed if "/secrets" in one.path]
    assert any("fieldSelector" in one.path for one in secrets)
    assert all("as=PartialObjectMetadataList" in one.headers["accept"] for one in secrets)
