"""A connection that is closed holds no thread: answers and streams under way are cut, over TLS too."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
import trustme

from nettests.cluster import Connection
from nettests.cluster.connection import ApiRequest
from nettests.cluster.failures import ClosedError
from nettests.cluster.kubeconfig import choose
from nettests.cluster.threads import threads
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from tests.cluster.api import Reply, Request, serving, write_kubeconfig
from tests.cluster.opening import Connected, run, tls

SOON = 10.0
"""Far more than cutting takes, and far less than what is waited for."""
LONG = 60.0


class Silent:
    """An API server that answers nothing until it is let go, and says when a request came."""

    def __init__(self) -> None:
        self.came, self.over = Event(), Event()

    def __call__(self, request: Request) -> Reply:
        self.came.set()
        if request.path.partition("?")[0].endswith("/exec"):
            return Reply(frames=(), held=self.over)
        self.over.wait(LONG)
        return Reply(body={})


@pytest.fixture(params=["http", "https"])
def silent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Connection, Silent]]:
    """A connection to one."""
    server, authority = Silent(), trustme.CA()
    secured = request.param == "https"
    with serving(server, tls(authority) if secured else None) as api:
        ca = authority.cert_pem.bytes() if secured else None
        yield Connection(choose(write_kubeconfig(tmp_path / "k", api.url, ca=ca), None)), server
        server.over.set()


@pytest.mark.parametrize(
    ("waited", "closed"), [("answer", True), ("stream", True), ("answer", False)]
)
def test_who_waits_is_told_at_once(
    silent: tuple[Connection, Silent], waited: str, *, closed: bool
) -> None:
    """What would be waited for half a minute and longer ends as soon as the connection is closed, or nobody is there.

    One that is not closed has a try for each request that comes later, such as those of a clean-up.
    """
    connection, server = silent
    with ThreadPoolExecutor(1) as pool:
        if waited == "answer":
            waiting = pool.submit(lambda: connection.get("/api/v1/nodes"))
        else:
            waiting = pool.submit(lambda: {"said": run(connection, LONG)})
        assert server.came.wait(LONG)
        began = time.monotonic()
        (connection.close if closed else connection.under_way.hasten)()
        with pytest.raises((ClusterError, ChannelError)):
            waiting.result(SOON)
        assert time.monotonic() - began < SOON
    server.over.set()
    if closed:
        with pytest.raises(ClosedError):
            connection.get("/version")
    else:
        assert connection.get("/version") == {}


def test_an_interrupt_waits_for_no_thread(silent: tuple[Connection, Silent]) -> None:
    """Ctrl-C while a cluster is read: neither the threads that read nor those that are still to read hold it up."""
    connection, server = silent

    def read() -> None:
        with threads(connection, "reading") as pool:
            for _ in range(100):
                pool.submit(connection.get, "/api/v1/nodes")
            assert server.came.wait(LONG)
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        read()
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize(
    ("code", "heard"), [(200, True), (404, True), (429, True), (500, False), (503, False)]
)
def test_what_a_gateway_says_is_no_word_of_the_api_server(
    connected: Connected, tmp_path: Path, code: int, *, heard: bool
) -> None:
    """Any answer shows that it is there, but for server errors: whoever stands before it says them too."""
    with serving(lambda _: Reply(status=code, body={})) as api:
        connection = connected(write_kubeconfig(tmp_path / "k", api.url))
        time.sleep(0.05)
        before = connection.under_way.silence()
        connection.answer(ApiRequest("GET", "/api/v1/nodes"))
        assert (connection.under_way.silence() < before) is heard


def test_no_try_begins_after_the_time_of_all(connected: Connected, tmp_path: Path) -> None:
    """What cleans up has so long for all of its requests, and not for the tries of each."""
    with serving(lambda _: Reply(status=503, body={})) as api:
        connection = connected(write_kubeconfig(tmp_path / "k", api.url))
        connection.answer(ApiRequest("GET", "/api/v1/nodes"))
        before = len(api.requests)
        connection.under_way.until = time.monotonic()
        connection.answer(ApiRequest("GET", "/api/v1/nodes"))
        assert (before, len(api.requests) - before) == (2, 1)
