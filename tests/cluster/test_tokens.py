"""Tokens that expire in the middle of a run: fetched anew as often as it takes, with an end."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from nettests.cluster import ApiError, Connection, connect
from nettests.cluster.connection import ApiRequest
from nettests.cluster.failures import HandshakeError
from nettests.cluster.streams import opened
from nettests.model.cluster_profile import Timing
from tests.cluster.api import Reply, Request, serving, status
from tests.cluster.plugin import VERSION, Server, with_plugin

pytestmark = pytest.mark.usefixtures("pauses")


def test_a_token_that_is_refused_mid_run_is_fetched_anew(tmp_path: Path) -> None:
    """A 401 makes the exec plugin run once more, and the request is sent with the new token."""
    server = Server()
    with serving(server) as api:
        connection = connect(with_plugin(tmp_path, api, last=9), None)
        server.accepted = "t2"
        assert connection.get("/api/v1/nodes/n1") == {"kind": "Node"}
        assert connection.get("/api/v1/nodes/n1") == {"kind": "Node"}
    assert (tmp_path / "count").read_text() == "2"


@pytest.mark.parametrize("expires", ["2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
def test_a_token_is_used_until_it_is_refused(tmp_path: Path, expires: str) -> None:
    """The plugin runs once for many requests, also where the client library would run it for each.

    The library does so while a stated expiry is less than five minutes away.
    """
    with serving(Server()) as api:
        connection = connect(with_plugin(tmp_path, api, last=9, expires=expires), None)
        for _ in range(5):
            connection.get("/api/v1/nodes/n1")
        assert {request.headers["authorization"] for request in api.requests} == {"Bearer t1"}
    assert (tmp_path / "count").read_text() == "1"


def test_a_token_that_stays_the_same_is_not_tried_again(tmp_path: Path) -> None:
    """Where the plugin has no other token the 401 is the answer, after querying the plugin once."""
    server = Server()
    with serving(server) as api:
        connection = connect(with_plugin(tmp_path, api, last=1), None)
        server.accepted = "other"
        before = len(api.requests)
        with pytest.raises(ApiError, match="does not accept the credentials"):
            connection.get("/api/v1/nodes")
        assert len(api.requests) == before + 1


def test_a_plugin_that_fails_is_retried(tmp_path: Path, pauses: list[float]) -> None:
    """Once is borne, after a pause; a plugin that goes on failing leaves the 401 as the answer."""
    server = Server()
    with serving(server) as api:
        file = with_plugin(tmp_path, api, last=9)
        connection = connect(file, None)
        server.accepted = "t3"
        program = tmp_path / "plugin.py"
        whole = program.read_text()
        away = whole.replace(
            "status =", "number == 2 and sys.exit('no identity provider')\nstatus ="
        )
        program.write_text(away)
        assert connection.get("/api/v1/nodes/n1") == {"kind": "Node"}
        assert len(pauses) == 1
        server.accepted = "t4"
        program.write_text("raise SystemExit('no identity provider')")
        with pytest.raises(ApiError, match="does not accept the credentials"):
            connection.get("/api/v1/nodes/n1")
        assert len(pauses) == Timing().api_tries


def test_new_tokens_that_are_all_refused_come_to_an_end(tmp_path: Path) -> None:
    """After ``apiTokens`` new ones that were never good, a request is refused after its tries alone."""
    server = Server()
    with serving(server) as api:
        connection = connect(with_plugin(tmp_path, api, last=99), None)
        server.accepted = "none of them"
        before = len(api.requests)
        with pytest.raises(ApiError, match="does not accept the credentials"):
            connection.get("/api/v1/nodes")
        first = Timing().api_tokens + Timing().api_tries
        assert len(api.requests) == before + first
        with pytest.raises(ApiError, match="does not accept the credentials"):
            connection.get("/api/v1/nodes")
        assert len(api.requests) == before + first + Timing().api_tries


def test_new_tokens_that_are_refused_at_first_are_borne(tmp_path: Path) -> None:
    """Others may have worn them out before their first answer: more of them than a request has tries."""
    server = Server()
    with serving(server) as api:
        connection = connect(with_plugin(tmp_path, api, last=99), None)
        server.accepted = f"t{2 * Timing().api_tries}"
        assert connection.get("/api/v1/nodes/n1") == {"kind": "Node"}


def test_credentials_that_were_never_good_are_refused_soon(tmp_path: Path) -> None:
    """Without one token that was accepted nothing has expired: the tries of a request are all there is."""
    server = Server("none of them")
    with serving(server) as api:
        with pytest.raises(ApiError, match="does not accept the credentials"):
            connect(with_plugin(tmp_path, api, last=99), None)
        assert len(api.requests) == Timing().api_tries


class Crowd:
    """A server that many query with one token, which expires whenever the request in question comes.

    Before it is refused somebody else was answered with the same token, as in a run of many threads.
    """

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.probed = 0
        self.number = 1
        self.other: Callable[[], object] = lambda: None

    def __call__(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer t{self.number}":
            return status(401, "Unauthorized", "Unauthorized")
        if request.path == "/version":
            return VERSION
        if not request.path.startswith("/api/v1/nodes/n1"):
            return Reply(body={})
        self.probed += 1
        if self.probed > self.refusals:
            return Reply(body={"kind": "Node"})
        self.other()
        self.number += 1
        return status(401, "Unauthorized", "Unauthorized")


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Callable[[int], tuple[Connection, Crowd]]]:
    """Connections to such servers, by how often the request in question is refused."""
    with ExitStack() as running:

        def made(refusals: int) -> tuple[Connection, Crowd]:
            crowd = Crowd(refusals)
            api = running.enter_context(serving(crowd))
            connection = connect(with_plugin(tmp_path, api, last=999), None)
            crowd.other = lambda: connection.get("/api/v1/nodes/other")
            return connection, crowd

        yield made


def handshake_with(connection: Connection) -> str:
    """Open what stands for a stream: one request that nobody repeats."""
    answer = connection.send(ApiRequest("GET", "/api/v1/nodes/n1"))
    if answer.status != 200:
        raise HandshakeError("Unauthorized", status=answer.status)
    return answer.text


@pytest.mark.parametrize(
    "call",
    [
        lambda connection: connection.get("/api/v1/nodes/n1"),
        lambda connection: opened(connection, partial(handshake_with, connection)),
        lambda connection: list(connection.watch("/api/v1/nodes/n1", seconds=2)),
    ],
    ids=["request", "stream", "watch"],
)
def test_tokens_that_others_wear_out_do_not_use_up_the_tries(
    crowded: Callable[[int], tuple[Connection, Crowd]], call: Callable[[Connection], object]
) -> None:
    """What meets an expired token more often than it has tries is answered all the same."""
    connection, crowd = crowded(2 * Timing().api_tries)
    assert "Node" in str(call(connection))
    assert crowd.probed == 2 * Timing().api_tries + 1


def test_tokens_that_never_last_come_to_an_end(
    crowded: Callable[[int], tuple[Connection, Crowd]],
) -> None:
    """``timing.apiTokens`` bounds what expires, ``timing.apiTries`` what is left then."""
    connection, crowd = crowded(10_000)
    with pytest.raises(ApiError, match="does not accept the credentials"):
        connection.get("/api/v1/nodes/n1")
    assert crowd.probed == Timing().api_tokens + Timing().api_tries


def test_a_watch_that_meets_an_expired_token_is_opened_again(tmp_path: Path) -> None:
    """Events come, with the token that the plugin gave in the meantime."""
    server = Server(replies=[Reply(chunks=({"type": "ADDED", "object": {}},))])
    with serving(server) as api:
        connection = connect(with_plugin(tmp_path, api, last=9), None)
        server.accepted = "t2"
        seen = [event["type"] for event in connection.watch("/api/v1/pods", seconds=2)]
    assert seen == ["ADDED"]


def test_a_stream_is_opened_with_a_fresh_token(tmp_path: Path) -> None:
    """The handshake's 401 makes the exec plugin run, and the second try has its token."""
    with serving(Server()) as api:
        connection = connect(with_plugin(tmp_path, api, last=9), None)
        used: list[str | None] = []

        def handshake() -> str:
            used.append(connection._credentials.token)
            if len(used) == 1:
                raise HandshakeError("Unauthorized", status=401)
            return "a stream"

        assert opened(connection, handshake) == "a stream"
    assert used == ["Bearer t1", "Bearer t2"]
