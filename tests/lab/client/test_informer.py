"""List, watch and resume against the lab's own API server on loopback."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from nettests.lab.apiserver import ApiSettings, Store, administrator, create_app, start
from nettests.lab.client import ApiError, Client
from nettests.lab.client.informer import Informer, WorkQueue
from nettests.lab.interfaces import Duplex

MAPS = "/api/v1/namespaces/default/configmaps"


async def nowhere(_address: str, _port: int) -> Duplex:
    """Nothing can be reached."""
    raise ConnectionRefusedError


@asynccontextmanager
async def serving(store: Store, port: int = 0) -> AsyncIterator[int]:
    """Serve ``store`` on loopback; yields the port."""
    settings = ApiSettings(tokens={"token": administrator()})
    app = create_app(store=store, kubelets={}, dial=nowhere, settings=settings)
    listening = socket.create_server(("127.0.0.1", port))
    runner = await start(app, listening, None)
    try:
        yield listening.getsockname()[1]
    finally:
        await runner.cleanup()


@asynccontextmanager
async def following(client: Client) -> AsyncIterator[Informer]:
    """An informer of ConfigMaps that has its first list."""
    informer = Informer(client, MAPS)
    task = asyncio.create_task(informer.run())
    try:
        await asyncio.wait_for(informer.synced.wait(), 5)
        yield informer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(condition: object) -> None:
    """Wait until ``condition()`` is true."""
    assert callable(condition)
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def connect(port: int) -> Client:
    """A client of the server."""
    return Client(f"http://127.0.0.1:{port}", "token", agent="test")


def config_map(name: str, **data: str) -> dict[str, object]:
    """A ConfigMap."""
    return {"metadata": {"name": name}, "data": data}


async def _follows_changes() -> list[tuple[str, bool, bool]]:
    seen: list[tuple[str, bool, bool]] = []
    async with serving(Store()) as port, connect(port) as client, following(client) as informer:
        informer.subscribe(lambda key, old, new: seen.append((key, old is None, new is None)))
        await client.create(MAPS, config_map("a"))
        await client.patch(f"{MAPS}/a", {"data": {"k": "v"}})
        await client.delete(f"{MAPS}/a")
        await until(lambda: len(seen) == 3)
        assert "default/a" not in informer.objects
    return seen


def test_changes_are_told_with_old_and_new() -> None:
    """Added, changed, deleted: each once, in order."""
    assert asyncio.run(_follows_changes()) == [
        ("default/a", True, False),
        ("default/a", False, False),
        ("default/a", False, True),
    ]


async def _resumes() -> None:
    store = Store()
    async with serving(store) as port, connect(port) as client, following(client) as informer:
        await client.create(MAPS, config_map("before"))
        await until(lambda: "default/before" in informer.objects)
    async with serving(store, port), connect(port) as client, following(client) as informer:
        await client.create(MAPS, config_map("after"))
        await until(lambda: {"default/before", "default/after"} <= informer.objects.keys())


def test_a_new_informer_sees_everything() -> None:
    """The list comes before the watch, so nothing is missed."""
    asyncio.run(_resumes())


async def _survives_a_restart() -> None:
    store = Store()
    async with serving(store) as port:
        client = connect(port)
        await client.__aenter__()
        informer = Informer(client, MAPS)
        task = asyncio.create_task(informer.run())
        await asyncio.wait_for(informer.synced.wait(), 5)
    async with serving(store, port), connect(port) as other:
        await other.create(MAPS, config_map("later"))
        await until(lambda: "default/later" in informer.objects)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await client.__aexit__(None, None, None)


def test_a_lost_server_is_awaited_and_the_watch_resumed() -> None:
    """An informer outlives its server and goes on where it was."""
    asyncio.run(_survives_a_restart())


async def _fails() -> ApiError:
    async with serving(Store()) as port, connect(port) as client:
        with pytest.raises(ApiError) as error:
            await client.get(f"{MAPS}/none")
        return error.value


def test_an_error_carries_the_status() -> None:
    """Code, reason and message of the API's ``Status``."""
    error = asyncio.run(_fails())
    assert (error.status, error.reason) == (404, "NotFound")
    assert error.message == 'configmaps "none" not found'


async def _queue() -> tuple[str, ...]:
    queue = WorkQueue()
    for key in ("a", "b", "a", "c"):
        queue.add(key)
    first = await queue.take()
    queue.add("d")
    return first, *[await queue.take() for _ in range(3)]


def test_a_queue_holds_each_key_once() -> None:
    """However often a key is added before it is taken."""
    assert asyncio.run(_queue()) == ("a", "b", "c", "d")
