"""Following a collection: resumed watches, expired versions, refusals and the deadline, over real sockets."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from nettests.cluster import ApiError, Connection, connect, list_watch
from nettests.cluster.failures import ClosedError
from nettests.cluster.list_watch import states
from nettests.model.json_text import Object
from tests.cluster.api import Api, Reply, Request, serving, status, write_kubeconfig

Queues = dict[str, list[Reply]]
THINGS = "/api/v1/namespaces/ns/things"
QUIET = Reply(chunks=({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}},))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Connection, Queues, Api]]:
    """A server whose lists and watches answer in turn, the last one for ever."""
    queues: Queues = {"list": [], "watch": [QUIET]}

    def answer(request: Request) -> Reply:
        if request.path == "/version":
            return Reply(body={"gitVersion": "v1.29.4"})
        queue = queues["watch" if "watch=true" in request.path else "list"]
        return queue.pop(0) if len(queue) > 1 else queue[0]

    with serving(answer) as api:
        yield connect(write_kubeconfig(tmp_path / "k", api.url), None), queues, api


def thing(name: str, version: int) -> Object:
    """Return an object as it was at a version."""
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


def listing(version: int, *names: str) -> Reply:
    """Return a list that was read at a version."""
    items = [thing(name, version) for name in names]
    return Reply(body={"metadata": {"resourceVersion": str(version)}, "items": items})


def event(kind: str, name: str, version: int) -> Object:
    """Return a watch event."""
    return {"type": kind, "object": thing(name, version)}


def probed(api: Api) -> list[str]:
    """Return what was required of the collection: ``list``, or ``watch`` with the version it began at."""
    queries = [parse_qs(urlsplit(one.path).query) for one in api.requests if "things" in one.path]
    return [f"watch {one['resourceVersion'][0]}" if "watch" in one else "list" for one in queries]


def seen(connection: Connection, count: int, seconds: float = 30) -> list[list[str]]:
    """Return the names in the first ``count`` states."""
    found = states(connection, THINGS, seconds=seconds)
    return [sorted(state) for state in islice(found, count)]


def test_every_change_is_a_state(served: tuple[Connection, Queues, Api]) -> None:
    """What is listed, added, changed and deleted; bookmarks change nothing."""
    connection, queues, api = served
    queues["list"] = [listing(5, "a")]
    bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}
    queues["watch"] = [
        Reply(chunks=(event("ADDED", "b", 6), bookmark, event("DELETED", "a", 8))),
    ]
    assert seen(connection, 4) == [["a"], ["a", "b"], ["a", "b"], ["b"]]
    assert probed(api) == ["list", "watch 5"]


def test_a_watch_that_ended_is_resumed_where_it_was(
    served: tuple[Connection, Queues, Api],
) -> None:
    """Nothing is listed again: the next watch begins at the newest version that was told."""
    connection, queues, api = served
    queues["list"] = [listing(5, "a")]
    queues["watch"] = [
        Reply(chunks=(event("MODIFIED", "a", 6), event("ADDED", "b", 7))),
        Reply(chunks=(event("ADDED", "c", 8),)),
    ]
    assert seen(connection, 5)[-1] == ["a", "b", "c"]
    assert probed(api) == ["list", "watch 5", "watch 7"]


@pytest.mark.parametrize(
    "expired",
    [
        Reply(chunks=({"type": "ERROR", "object": {"kind": "Status", "code": 410}},)),
        status(410, "Expired", "too old resource version"),
    ],
    ids=["event", "answer"],
)
def test_an_expired_version_is_listed_anew(
    served: tuple[Connection, Queues, Api], expired: Reply
) -> None:
    """410, as an event or as the answer: what went in between is gone from the next state."""
    connection, queues, api = served
    queues["list"] = [listing(5, "a", "b"), listing(9, "b")]
    queues["watch"] = [expired, QUIET]
    assert seen(connection, 3) == [["a", "b"], ["b"], ["b"]]
    assert probed(api) == ["list", "watch 5", "list", "watch 9"]


def test_a_watch_that_was_cut_is_followed_by_a_list(
    served: tuple[Connection, Queues, Api],
) -> None:
    """Where no watch lives the lists still tell."""
    connection, queues, api = served
    queues["list"] = [listing(5), listing(6, "a"), listing(7, "a", "b")]
    queues["watch"] = [Reply(cut=True)]
    assert seen(connection, 3) == [[], ["a"], ["a", "b"]]
    assert probed(api) == ["list", "watch 5", "list", "watch 6", "list"]


@pytest.mark.parametrize("code", [401, 403, 404])
@pytest.mark.parametrize("kind", ["list", "watch"])
def test_what_waiting_does_not_heal_is_raised(
    served: tuple[Connection, Queues, Api], kind: str, code: int
) -> None:
    """Refused credentials, a missing permission, a missing collection: of the list and of the watch."""
    connection, queues, api = served
    queues["list"] = [listing(5, "a")]
    queues[kind] = [status(code, "Refused", "no such luck")]
    with pytest.raises(ApiError, match="no such luck"):
        seen(connection, 5)
    assert probed(api) == (["list"] if kind == "list" else ["list", "watch 5"])


def test_trouble_of_the_server_is_waited_out(
    served: tuple[Connection, Queues, Api],
) -> None:
    """A list that fails for good, as a request is tried, is retried until it comes."""
    connection, queues, _ = served
    tries = connection.timing.api_tries
    queues["list"] = [status(500, "InternalError", "etcd")] * tries + [listing(5, "a")]
    assert seen(connection, 1) == [["a"]]


@pytest.mark.parametrize("watch", [QUIET, Reply(cut=True), Reply(body=b"")])
def test_the_deadline_ends_it(served: tuple[Connection, Queues, Api], watch: Reply) -> None:
    """Whether watches end, are cut or tell nothing; and what tells nothing is not run without a pause."""
    connection, queues, api = served
    queues["list"] = [listing(5, "a")]
    queues["watch"] = [watch]
    deadline = time.monotonic() + 30
    found = list(states(connection, THINGS, seconds=0.3))
    assert found
    assert all(sorted(state) == ["a"] for state in found)
    assert time.monotonic() < deadline
    if watch is not QUIET:
        assert len(probed(api)) <= 4


@pytest.mark.parametrize("failing", [True, False], ids=["fails", "answers"])
def test_a_closed_connection_ends_it(
    served: tuple[Connection, Queues, Api], *, failing: bool
) -> None:
    """Whoever follows a collection when the run is over waits neither for its time nor for the API server."""
    connection, queues, api = served
    queues["list"] = [status(503, "ServiceUnavailable", "busy")] if failing else [listing(1, "a")]
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(lambda: list(states(connection, THINGS, seconds=600)))
        while not probed(api):
            assert not following.done()
        connection.close()
        with pytest.raises(ClosedError):
            following.result(60)


@pytest.mark.parametrize("watches", [True, False], ids=["lists fail", "watches work"])
def test_an_api_server_that_is_gone_is_waited_for_no_longer(
    served: tuple[Connection, Queues, Api], monkeypatch: pytest.MonkeyPatch, *, watches: bool
) -> None:
    """Ten minutes for a Pod are for its image, and not for an API server of which nothing is heard; one that answers is heard of."""
    monkeypatch.setattr(list_watch, "GONE_SECONDS", 0.1)
    connection, queues, _ = served
    queues["list"] = [status(503, "ServiceUnavailable", "gone")]
    if not watches:
        queues["list"] = [listing(5, "a")]
        queues["watch"] = [QUIET]
        assert list(states(connection, THINGS, seconds=0.5))
        return
    connection.timing = replace(connection.timing, api_tries=1)
    with pytest.raises(ApiError, match="gone"):
        list(states(connection, THINGS, seconds=600))
