"""What passes is borne: throttling, lost connections, expired tokens, streams that were refused or lost."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client.exceptions import ApiException
from ruamel.yaml import YAML

from nettests.cluster import ApiError, Connection, connect
from nettests.cluster.apply import create
from nettests.cluster.channels import PodProxy
from nettests.cluster.handshake import opened
from nettests.cluster.ownership import Ownership
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.profile import Timing
from tests.cluster.api import Api, Reply, Request, serving, status, write_kubeconfig
from tests.cluster.test_apply import POD

refused = partial(
    ApiException, status=0
)  # what the client makes of a WebSocket that was not opened
VERSION = Reply(body={"gitVersion": "v1.29.4"})
PLUGIN = """
import json, pathlib, sys
count = pathlib.Path(sys.argv[1])
number = int(count.read_text() or 0) + 1 if count.exists() else 1
count.write_text(str(number))
status = {"token": "t" + str(min(number, int(sys.argv[2])))}
if sys.argv[3:]:
    status["expirationTimestamp"] = sys.argv[3]
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1",
                  "kind": "ExecCredential", "status": status}))
"""
"""Gives tokens t1, t2 … up to a last one, and counts how often it ran."""


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between tries, which are not made."""
    made: list[float] = []
    monkeypatch.setattr("nettests.cluster.tries.time.sleep", made.append)
    return made


class Server:
    """Accepts one token at a time and answers by a list."""

    def __init__(self, accepted: str = "t1", replies: Iterable[Reply] = ()) -> None:
        self.accepted = accepted
        self.replies = iter(replies)

    def __call__(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {self.accepted}":
            return status(401, "Unauthorized", "Unauthorized")
        if request.path == "/version":
            return VERSION
        return next(self.replies, Reply(body={"kind": "Node"}))


def with_plugin(tmp_path: Path, api: Api, *, last: int, expires: str = "") -> Path:
    """Write a kubeconfig whose user is an exec plugin."""
    file = write_kubeconfig(tmp_path / "k", api.url)
    program = tmp_path / "plugin.py"
    program.write_text(PLUGIN)
    arguments = [str(program), str(tmp_path / "count"), str(last), *([expires] if expires else [])]
    config = YAML(typ="safe").load(file)
    config["users"][0]["user"] = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": arguments,
            "interactiveMode": "Never",
        }
    }
    YAML().dump(config, file)
    return file


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
    """Where the plugin has no other token the 401 is the answer, after asking the plugin once."""
    server = Server()
    with serving(server) as api:
        connection = connect(with_plugin(tmp_path, api, last=1), None)
        server.accepted = "other"
        before = len(api.requests)
        with pytest.raises(ApiError, match="does not accept the credentials"):
            connection.get("/api/v1/nodes")
        assert len(api.requests) == before + 1


def test_a_plugin_that_fails_is_asked_again(tmp_path: Path, pauses: list[float]) -> None:
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
    """A plugin whose new tokens were never good is asked as often as a request is tried, no more."""
    server = Server()
    with serving(server) as api:
        connection = connect(with_plugin(tmp_path, api, last=99), None)
        server.accepted = "none of them"
        before = len(api.requests)
        with pytest.raises(ApiError, match="does not accept the credentials"):
            connection.get("/api/v1/nodes")
        expired = 1  # the first token was good until now
        assert len(api.requests) == before + expired + Timing().api_tries


class Crowd:
    """A server that many ask with one token, which expires whenever the request in question comes.

    Before it is refused somebody else was answered with the same token, as in a run of many threads.
    """

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.asked = 0
        self.number = 1
        self.other: Callable[[], object] = lambda: None

    def __call__(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer t{self.number}":
            return status(401, "Unauthorized", "Unauthorized")
        if request.path == "/version":
            return VERSION
        if not request.path.startswith("/api/v1/nodes/n1"):
            return Reply(body={})
        self.asked += 1
        if self.asked > self.refusals:
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
    answer = connection.send("GET", "/api/v1/nodes/n1")
    if answer.status != 200:
        raise refused(reason=f"Handshake status {answer.status} Unauthorized -+-+- {{}} -+-+- b''")
    return answer.text


@pytest.mark.parametrize(
    "ask",
    [
        lambda connection: connection.get("/api/v1/nodes/n1"),
        lambda connection: opened(connection, partial(handshake_with, connection)),
        lambda connection: list(connection.watch("/api/v1/nodes/n1", seconds=2)),
    ],
    ids=["request", "stream", "watch"],
)
def test_tokens_that_others_wear_out_do_not_use_up_the_tries(
    crowded: Callable[[int], tuple[Connection, Crowd]], ask: Callable[[Connection], object]
) -> None:
    """What meets an expired token more often than it has tries is answered all the same."""
    connection, crowd = crowded(2 * Timing().api_tries)
    assert "Node" in str(ask(connection))
    assert crowd.asked == 2 * Timing().api_tries + 1


def test_tokens_that_never_last_come_to_an_end(
    crowded: Callable[[int], tuple[Connection, Crowd]],
) -> None:
    """``timing.apiTokens`` bounds what expires, ``timing.apiTries`` what is left then."""
    connection, crowd = crowded(10_000)
    with pytest.raises(ApiError, match="does not accept the credentials"):
        connection.get("/api/v1/nodes/n1")
    assert crowd.asked == Timing().api_tokens + Timing().api_tries


def test_every_token_that_was_in_use_is_a_secret(
    crowded: Callable[[int], tuple[Connection, Crowd]],
) -> None:
    """Those that were replaced may stand in what was written meanwhile."""
    connection, _ = crowded(2)
    connection.get("/api/v1/nodes/n1")
    assert set(connection.secrets()) == {"t1", "t2", "t3"}


def test_a_watch_that_meets_an_expired_token_is_opened_again(tmp_path: Path) -> None:
    """Events come, with the token that the plugin gave in the meantime."""
    server = Server(replies=[Reply(chunks=({"type": "ADDED", "object": {}},))])
    with serving(server) as api:
        connection = connect(with_plugin(tmp_path, api, last=9), None)
        server.accepted = "t2"
        seen = [event["type"] for event in connection.watch("/api/v1/pods", seconds=2)]
    assert seen == ["ADDED"]


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Callable[..., Connection]]:
    """Connections to servers that answer by a list."""
    running = []

    def made(*replies: Reply) -> Connection:
        context = serving(Server("t", replies))
        running.append(context)
        return connect(write_kubeconfig(tmp_path / "k", context.__enter__().url), None)

    yield made
    for context in running:
        context.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("header", "longest"), [("2", 2.0), ("3600", 5.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)]
)
def test_retry_after_is_heeded_within_bounds(
    plain: Callable[..., Connection], pauses: list[float], header: str, longest: float
) -> None:
    """Seconds or a date; never longer than the longest pause; with jitter."""
    busy = Reply(status=429, body=b"Too many requests", headers={"Retry-After": header})
    plain(busy).get("/api/v1/nodes/n1")
    (pause,) = pauses
    assert longest / 2 <= pause <= longest


def test_pauses_grow_and_have_an_end(plain: Callable[..., Connection], pauses: list[float]) -> None:
    """Each pause is up to twice the one before, and at least half of that."""
    plain(*[Reply(cut=True)] * 4).get("/api/v1/nodes/n1")
    assert [0.2 * 2**n / 2 <= pause <= 0.2 * 2**n for n, pause in enumerate(pauses)] == [True] * 4


def test_a_creation_whose_answer_was_lost_has_succeeded(plain: Callable[..., Connection]) -> None:
    """The repeat meets AlreadyExists with the run's own label: that is the object that was wanted."""
    taken = status(409, "AlreadyExists", 'pods "p" already exists')
    assert create(plain(Reply(cut=True), taken, Reply(body=POD)), POD) == POD


def test_a_creation_that_meets_another_runs_object_is_a_conflict(
    plain: Callable[..., Connection],
) -> None:
    """The same repeat, but the object belongs to somebody else."""
    own = Ownership.of(POD)
    assert own is not None
    other = json.loads(json.dumps(POD).replace('"r1"', '"r2"'))
    taken = status(409, "AlreadyExists", 'pods "p" already exists')
    with pytest.raises(ApiError, match="already exists"):
        create(plain(Reply(cut=True), taken, Reply(body=other)), POD)


def test_a_dry_run_is_asked_until_the_server_itself_is_well(
    plain: Callable[..., Connection],
) -> None:
    """A 500 of the API server is no verdict of admission; the refusal behind it is."""
    from nettests.cluster.apply import dry_run

    refused = status(422, "Invalid", "os.name")
    answer = dry_run(plain(status(500, "InternalError", "etcd"), refused), POD)
    assert answer.status == 422


def test_a_pod_proxy_bears_the_api_servers_trouble_and_not_the_pods(
    plain: Callable[..., Connection],
) -> None:
    """429 and 500 are asked again; 503 is what the API server says of the pod, and said at once."""
    well = Reply(body=b"probe-1", content_type="text/plain")
    busy = status(500, "InternalError", "etcd")
    channel = PodProxy(plain(Reply(status=429, body=b"busy"), busy, well), "ns", "probe-1", 8080)
    assert channel.get("/hostname", timeout=5).body == "probe-1"
    down = status(503, "ServiceUnavailable", "error trying to reach service")
    with pytest.raises(ChannelError, match="503"):
        PodProxy(plain(down, well), "ns", "probe-1", 8080).get("/hostname", timeout=5)


def handshakes(*failures: Any) -> tuple[Callable[[], str], list[int]]:
    """A handshake that fails so often, and a count of its tries."""
    tries: list[int] = []

    def handshake() -> str:
        tries.append(len(tries))
        if len(tries) <= len(failures):
            raise failures[len(tries) - 1]
        return "a stream"

    return handshake, tries


@pytest.mark.parametrize(
    "text",
    [
        "Handshake status 429 Too Many Requests -+-+- {} -+-+- b'busy'",
        "Handshake status 500 Internal Server Error -+-+- {} -+-+- b'etcd'",
        "Connection to remote host was lost.",
    ],
)
def test_a_stream_that_was_not_opened_is_opened_again(
    plain: Callable[..., Connection], text: str
) -> None:
    """Nothing ran before the handshake: it is tried again as a request is."""
    handshake, tries = handshakes(refused(reason=text), refused(reason=text))
    assert opened(plain(), handshake) == "a stream"
    assert len(tries) == 3


@pytest.mark.parametrize(
    "text",
    [
        "Handshake status 403 Forbidden -+-+- {} -+-+- b'no'",
        "Handshake status 401 Unauthorized -+-+- {} -+-+- b'no'",
        "Handshake status 500 Internal Server Error -+-+- {} -+-+- b'error dialing backend: dial'",
    ],
)
def test_a_refusal_that_will_stay_is_said_at_once(
    plain: Callable[..., Connection], text: str
) -> None:
    """Missing rights, a token without another, and a node that is not reached are not asked again."""
    handshake, tries = handshakes(refused(reason=text))
    with pytest.raises(ApiException):
        opened(plain(), handshake)
    assert len(tries) == 1


def test_a_stream_is_opened_with_a_fresh_token(tmp_path: Path) -> None:
    """The handshake's 401 makes the exec plugin run, and the second try has its token."""
    with serving(Server()) as api:
        connection = connect(with_plugin(tmp_path, api, last=9), None)
        used: list[str | None] = []

        def handshake() -> str:
            used.append(connection.secrets()[0])
            if len(used) == 1:
                raise refused(reason="Handshake status 401 Unauthorized -+-+- {} -+-+- b''")
            return "a stream"

        assert opened(connection, handshake) == "a stream"
    assert used == ["t1", "t2"]


def test_the_number_of_tries_is_the_profiles(tmp_path: Path) -> None:
    """``timing.apiTries`` bounds the tries of a request."""
    with serving(lambda _: status(503, "ServiceUnavailable", "no etcd")) as api:
        with pytest.raises(ClusterError, match="no etcd"):
            connect(write_kubeconfig(tmp_path / "k", api.url), None, Timing(api_tries=2))
        assert len(api.requests) == 2
