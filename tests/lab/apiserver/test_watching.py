"""Watches: resume, selectors, bookmarks, expiry, both transports."""

import asyncio
import json
from typing import Any

import pytest

from nettests.lab.apiserver import Store, watching
from nettests.lab.apiserver.store import Change
from nettests.lab.client import ApiError, Client
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import CONFIG_MAPS, config_map

ALL = "/api/v1/configmaps"


async def _take(client: Client, count: int, path: str, version: str, **query: str) -> list[Any]:
    """Return the type and name of the first events, bookmarks left out."""
    found: list[Any] = []
    async with asyncio.timeout(10):
        async for event in client.watch(path, version, **query):
            if event["type"] != "BOOKMARK":
                found.append((event["type"], event["object"]["metadata"]["name"]))
            if len(found) == count:
                break
    return found


async def _version(client: Client) -> str:
    return str((await client.get(CONFIG_MAPS))["metadata"]["resourceVersion"])


async def test_a_watch_resumes_after_the_version_of_a_list(client: Client) -> None:
    """What was listed is not told again; what came after is, in order."""
    await client.create(CONFIG_MAPS, config_map("before"))
    version = await _version(client)
    await client.create(CONFIG_MAPS, config_map("a"))
    await client.patch(f"{CONFIG_MAPS}/a", {"data": {"k": "v"}})
    await client.delete(f"{CONFIG_MAPS}/a")
    events = await _take(client, 3, CONFIG_MAPS, version)
    assert events == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_a_watch_is_told_as_it_happens(running: Running) -> None:
    """A watch that waits sees a later write."""
    async with running.client() as client, running.client() as writer:
        waiting = asyncio.create_task(_take(client, 1, CONFIG_MAPS, await _version(client)))
        await asyncio.sleep(0)
        await writer.create(CONFIG_MAPS, config_map("late"))
        assert await waiting == [("ADDED", "late")]


async def test_a_watch_from_nothing_begins_with_what_is_there(client: Client) -> None:
    """``resourceVersion=0`` gives the present objects as ADDED."""
    await client.create(CONFIG_MAPS, config_map("a"))
    events = await _take(client, 2, CONFIG_MAPS, "0")
    assert events == [("ADDED", "a"), ("ADDED", "kube-root-ca.crt")]


async def test_an_object_enters_and_leaves_the_view_of_a_selector(client: Client) -> None:
    """Starting to match is ADDED, ceasing to match is DELETED, whatever the write was."""
    version = await _version(client)
    path = f"{CONFIG_MAPS}/a"
    await client.create(CONFIG_MAPS, config_map("a"))
    await client.patch(path, {"metadata": {"labels": {"seen": "1"}}})
    await client.patch(path, {"data": {"k": "v"}})
    await client.patch(path, {"metadata": {"labels": {"seen": None}}})
    events = await _take(client, 3, CONFIG_MAPS, version, labelSelector="seen=1")
    assert events == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_a_watch_of_one_namespace_hears_nothing_of_others(client: Client) -> None:
    """A write in another namespace is not told."""
    version = await _version(client)
    await client.create(CONFIG_MAPS.replace("default", "kube-system"), config_map("x"))
    await client.create(CONFIG_MAPS, config_map("mine"))
    assert await _take(client, 1, CONFIG_MAPS, version) == [("ADDED", "mine")]
    assert len(await _take(client, 2, ALL, version)) == 2


async def test_a_watch_of_one_name_hears_of_that_object(client: Client) -> None:
    """``metadata.name`` selects in a watch too."""
    version = await _version(client)
    for name in ("a", "b"):
        await client.create(CONFIG_MAPS, config_map(name))
    field = "metadata.name=b"
    events = await _take(client, 1, CONFIG_MAPS, version, fieldSelector=field)
    assert events == [("ADDED", "b")]


async def test_bookmarks_let_an_idle_watch_resume_late(client: Client) -> None:
    """A watch in which nothing happens is told how far the others have come."""
    version = await _version(client)
    await client.create("/api/v1/namespaces/default/secrets", _secret())
    async with asyncio.timeout(10):
        async for event in client.watch(CONFIG_MAPS, version):
            assert event["type"] == "BOOKMARK"
            assert int(event["object"]["metadata"]["resourceVersion"]) > int(version)
            return


async def test_many_watches_have_their_bookmarks_seldom(
    client: Client, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of watches of hundreds of nodes would otherwise be told every two seconds that nothing happened."""
    monkeypatch.setattr(watching, "_BOOKMARKS_A_SECOND", 0.01)  # one watch: every hundred seconds

    version = await _version(client)
    told = anext(aiter(client.watch(CONFIG_MAPS, version)))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(told, 2 * running.settings.bookmark_seconds + 0.5)


def _secret() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}


@pytest.fixture
def short_history(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new store forgets all but its last three events."""
    monkeypatch.setattr(Store.__init__, "__kwdefaults__", {"history": 3})


async def test_a_watch_of_what_the_history_has_lost_must_list_again(
    short_history: None, client: Client
) -> None:
    """410 Expired, as an ERROR event."""

    version = await _version(client)
    await client.create(CONFIG_MAPS, config_map("a"))
    for number in range(20):
        await client.patch(f"{CONFIG_MAPS}/a", {"data": {"k": str(number)}})
    with pytest.raises(ApiError) as error:
        await _take(client, 1, CONFIG_MAPS, version)
    assert (error.value.status, error.value.reason) == (410, "Expired")


async def test_a_watch_of_one_object_outlives_what_the_history_forgets_of_others(
    short_history: None, running: Running
) -> None:
    """It was not woken meanwhile, and must not be told that what it never wanted has gone."""

    async with running.client() as client, running.client() as writer:
        await writer.create(CONFIG_MAPS, config_map("busy"))
        version = await _version(client)
        query = {"fieldSelector": "metadata.name=quiet"}
        waiting = asyncio.create_task(_take(client, 1, CONFIG_MAPS, version, **query))
        async with asyncio.timeout(10):
            while not running.store._of("configmaps").watchers.get(("metadata.name", "quiet")):
                await asyncio.sleep(0.01)
        for number in range(20):
            await writer.patch(f"{CONFIG_MAPS}/busy", {"data": {"k": str(number)}})
        await writer.create(CONFIG_MAPS, config_map("quiet"))
        assert await waiting == [("ADDED", "quiet")]


async def test_many_watches_are_told_of_writes_that_come_together_at_once(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of sixty is told of all of twenty writes, in order, and the API server turns to it less than once a write."""
    turns = 0
    lines_of = watching._lines

    def counted(wanted: Any, changes: list[Change]) -> list[str]:
        nonlocal turns
        turns += 1
        return lines_of(wanted, changes)

    monkeypatch.setattr(watching, "_lines", counted)
    monkeypatch.setattr(watching, "_GATHER_A_WATCH", 0.5 / 60)

    async with running.client() as client, running.client() as writer:
        version = await _version(client)
        store = running.store
        tasks = [asyncio.create_task(_take(client, 20, CONFIG_MAPS, version)) for _ in range(60)]
        async with asyncio.timeout(10):
            while len(store._of("configmaps").watchers.get(None, ())) < len(tasks):
                await asyncio.sleep(0.01)
        names = [f"m{number}" for number in range(20)]
        for one in names:
            await writer.create(CONFIG_MAPS, config_map(one))
        told = await asyncio.gather(*tasks)
        assert told == [[("ADDED", one) for one in names]] * len(tasks)
        assert turns < 20 * 60 / 2


async def test_initial_events_must_be_queried_in_full(client: Client) -> None:
    """``sendInitialEvents`` needs ``resourceVersionMatch=NotOlderThan``."""
    with pytest.raises(ApiError) as error:
        await _take(client, 1, CONFIG_MAPS, "", sendInitialEvents="true")
    assert error.value.status == 422


async def test_a_watch_can_be_a_table(client: Client) -> None:
    """``kubectl get -w`` is given rows."""
    headers = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    path = f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1"
    async with client._require().get(path, headers=headers) as response:
        event = json.loads(await response.content.readline())
    assert event["object"]["kind"] == "Table"
    assert event["object"]["rows"][0]["cells"][0] == "kube-root-ca.crt"


async def test_a_watch_ends_with_its_client(running: Running) -> None:
    """A client that goes leaves no watcher behind in the store."""

    def watchers() -> int:
        return len(running.store._of("configmaps").watchers)

    async with running.client() as client:
        await _take(client, 1, CONFIG_MAPS, "0")
    async with asyncio.timeout(5):
        while watchers():
            await asyncio.sleep(0.01)
