"""What comes over a connection is read up to a bound: endless answers are errors, and are not requested again."""

import threading
from pathlib import Path

import pytest

from nettests.cluster import Connection, connect
from nettests.cluster.channels import PodProxy
from nettests.cluster.execute import Exec
from nettests.errors import ClusterError
from nettests.model import limits
from nettests.model.channel import ChannelError
from nettests.model.limits import TooBigError
from nettests.probes.external import External
from tests.cluster.api import CLOSING, Reply, Request, message, serving, write_kubeconfig

LARGE = b'{"x": "' + b"y" * 5000 + b'"}'


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a test can reach."""
    for name in ("ANSWER_BYTES", "WATCH_LINE_BYTES", "EXEC_BYTES", "BODY_BYTES"):
        monkeypatch.setattr(limits, name, 1000)
    monkeypatch.setattr(limits, "PAGES", 3)


def answer(request: Request) -> Reply:
    """Answer more than anybody reads, whatever is queried."""
    if request.path.startswith("/version"):
        return Reply(body={"gitVersion": "v1.34.1"})
    if "/exec" in request.path:
        frames = (message(1, b"x" * 120),) * 20
        return Reply(frames=(*frames, message(3, b'{"status":"Success"}') + CLOSING))
    if "watch=true" in request.path:
        return Reply(chunks=("z" * 700, "z" * 700, LARGE.decode()))
    if "endless" in request.path:
        return Reply(body={"items": [{}], "metadata": {"continue": "more"}})
    if "deep" in request.path:
        return Reply(body=b"[" * 450 + b"]" * 450)
    return Reply(body=LARGE)


def opened(tmp_path: Path, url: str) -> Connection:
    return connect(write_kubeconfig(tmp_path / "k", url), None)


def test_a_large_answer_is_refused_once(tmp_path: Path) -> None:
    """An answer above the bound is an error that names it; the request is not sent again."""
    with serving(answer) as api:
        connection = opened(tmp_path, api.url)
        with pytest.raises(
            TooBigError, match="answer to GET /api/v1/pods is larger than 1000 bytes"
        ):
            connection.get("/api/v1/pods")
        assert [one.path.split("?")[0] for one in api.requests] == ["/version", "/api/v1/pods"]
        connection.close()


@pytest.mark.parametrize("path", ["/endless", "/deep"])
def test_endless_and_deep_lists_are_errors(path: str, tmp_path: Path) -> None:
    """A list that always continues, and one that is nested too deep, end with an error for people."""
    with serving(answer) as api:
        connection = opened(tmp_path, api.url)
        with pytest.raises(ClusterError, match=r"does not end after 3 pages|levels deep"):
            connection.items(path)
        connection.close()


def test_a_large_event_ends_its_watch(tmp_path: Path) -> None:
    """An event above the bound is an error; it is not kept until it ends."""
    with serving(answer) as api:
        connection = opened(tmp_path, api.url)
        with pytest.raises(ClusterError):
            list(connection.watch("/api/v1/pods", seconds=5))
        connection.close()


def test_a_process_that_says_too_much_is_given_up(tmp_path: Path) -> None:
    """The sum of an exec's streams is bounded: nothing is known of what ran."""
    with serving(answer) as api:
        connection = opened(tmp_path, api.url)
        execute = Exec(connection, "ns", "probe", "c", threading.Semaphore())
        with pytest.raises(
            ChannelError,
            match="exec in probe was given up: its stream brought more than 1000 bytes",
        ):
            execute.run(["x"], timeout=5)
        connection.close()


def test_a_large_body_behind_the_pod_proxy_is_a_channel_error(tmp_path: Path) -> None:
    """A backend that answers without end makes its check unknown, and the run goes on."""
    with serving(answer) as api:
        connection = opened(tmp_path, api.url)
        with pytest.raises(ChannelError, match="larger than 1000 bytes"):
            PodProxy(connection, "ns", "probe", 80).get("/hostname", timeout=5)
        connection.close()


def test_a_large_body_outside_is_a_channel_error() -> None:
    """What answers outside the cluster is read up to the same bound."""
    with serving(answer) as server, pytest.raises(ChannelError, match="more than 1000 bytes"):
        External(proxy=None).fetch(f"{server.url}/x", timeout=5, margin=1)
