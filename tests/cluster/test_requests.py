"""How many API requests of one connection are under way, over real sockets."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from nettests.bounds import Bounds, for_requests
from nettests.cluster import Connection, connect
from nettests.cluster.connecting import server_version
from nettests.cluster.connection import ApiRequest
from tests.cluster.api import Api, Reply, Request, serving, write_kubeconfig

LONG = 60.0
PATIENCE = 0.05
QUICK = replace(Bounds(), requests=1, request_patience=PATIENCE, requests_open=2)


@dataclass(slots=True)
class Slow:
    """Answers ``/slow`` when it is let to, everything else at once."""

    go: threading.Event = field(default_factory=threading.Event)
    under_way: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def __call__(self, request: Request) -> Reply:
        """Say that a request has come, and answer."""
        if request.path.startswith("/slow"):
            self.under_way.release()
            assert self.go.wait(LONG)
        return Reply(body={"gitVersion": "v1.29.4"})


@contextmanager
def slow_server(folder: Path, bounds: Bounds) -> Iterator[tuple[Connection, Slow, Api]]:
    """A connection with these bounds to such a server."""
    slow = Slow()
    with serving(slow) as api:
        connection = connect(write_kubeconfig(folder / "k", api.url), None)
        connection._slots = for_requests(bounds)
        try:
            yield connection, slow, api
        finally:
            slow.go.set()
            connection.close()


def comes(slow: Slow) -> Callable[[float], bool]:
    """Return what waits for one more request to come to the server."""
    return lambda seconds: slow.under_way.acquire(timeout=seconds)


def test_a_request_that_only_waits_makes_room_up_to_a_ceiling(tmp_path: Path) -> None:
    """One begins at a time, two are under way, and the third is sent when one is answered."""
    with slow_server(tmp_path, QUICK) as (connection, slow, _), ThreadPoolExecutor(3) as pool:
        probed = [pool.submit(connection.get, f"/slow/{number}") for number in range(3)]
        one_more = comes(slow)
        assert one_more(LONG)
        assert one_more(LONG)
        assert not one_more(4 * PATIENCE)
        slow.go.set()
        assert [one.result()["gitVersion"] for one in probed] == ["v1.29.4"] * 3
        assert one_more(LONG)


def test_no_more_begin_at_once_than_fit(tmp_path: Path) -> None:
    """As long as the first may still be answered in time, the second is not sent."""
    patient = replace(QUICK, request_patience=LONG)
    with slow_server(tmp_path, patient) as (connection, slow, _), ThreadPoolExecutor(2) as pool:
        probed = [pool.submit(connection.get, f"/slow/{number}") for number in range(2)]
        one_more = comes(slow)
        assert one_more(LONG)
        assert not one_more(4 * PATIENCE)
        slow.go.set()
        assert all(one.result() for one in probed)


def test_a_question_to_a_pod_is_no_request_of_these(tmp_path: Path) -> None:
    """It waits for the Pod as long as its caller says, and neither takes a place nor needs one."""
    with slow_server(tmp_path, QUICK) as (connection, slow, _), ThreadPoolExecutor(2) as pool:
        probed = [pool.submit(connection.get, f"/slow/{number}") for number in range(2)]
        one_more = comes(slow)
        assert one_more(LONG)
        assert one_more(LONG)
        assert (
            connection.answer(ApiRequest("GET", "/proxy/dial", timeout=(LONG, LONG))).status == 200
        )
        slow.go.set()
        assert all(one.result() for one in probed)


def test_the_version_is_run_once(tmp_path: Path) -> None:
    """Connecting requests it, and discovery takes what was answered."""
    with slow_server(tmp_path, QUICK) as (connection, _, api):
        assert server_version(connection)[1] == "v1.29.4"
        assert [request.path for request in api.requests].count("/version") == 1


def test_what_was_sent_is_counted(tmp_path: Path) -> None:
    """Requests, and what opens a stream, each by itself."""
    with slow_server(tmp_path, QUICK) as (connection, _, api):
        connection.get("/api/v1/nodes")
        assert connection.sent.requests == len(api.requests) == 2
        connection.handshake("/api/v1/namespaces/ns/pods/one/exec", [("command", "hostname")])
        assert (connection.sent.requests, connection.sent.streams) == (2, 1)
