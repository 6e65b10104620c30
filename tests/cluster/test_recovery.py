"""What passes is borne: throttling, lost connections, streams that were refused."""

import json
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import ApiError, Connection, connect
from nettests.cluster.apply import create
from nettests.cluster.channels import PodProxy
from nettests.cluster.failures import HandshakeError
from nettests.cluster.owner_marks import Ownership
from nettests.cluster.streams import opened
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from tests.cluster.api import Reply, serving, status, write_kubeconfig
from tests.cluster.plugin import Server
from tests.cluster.test_apply import POD

pytestmark = pytest.mark.usefixtures("pauses")


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


def test_a_dry_run_is_queried_until_the_server_itself_is_well(
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
    """429 and 500 are retried; 503 is what the API server says of the pod, and said at once."""
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
    "failure",
    [
        HandshakeError("busy", status=429),
        HandshakeError("etcd", status=500),
        HandshakeError("did not receive a valid HTTP response"),
        ConnectionResetError("cut"),
    ],
    ids=repr,
)
def test_a_stream_that_was_not_opened_is_opened_again(
    plain: Callable[..., Connection], failure: Exception
) -> None:
    """Nothing ran before the handshake: it is tried again as a request is."""
    handshake, tries = handshakes(failure, failure)
    assert opened(plain(), handshake) == "a stream"
    assert len(tries) == 3


@pytest.mark.parametrize(
    "failure",
    [
        HandshakeError("no", status=403),
        HandshakeError("no", status=401),
        HandshakeError("error dialing backend", status=500, of_the_node=True),
        ssl.SSLCertVerificationError("not trusted"),
        TimeoutError("timed out"),
    ],
    ids=repr,
)
def test_a_refusal_that_will_stay_is_said_at_once(
    plain: Callable[..., Connection], failure: Exception
) -> None:
    """Missing rights, a token without another, and a node that is not reached are not retried."""
    handshake, tries = handshakes(failure)
    with pytest.raises(type(failure)):
        opened(plain(), handshake)
    assert len(tries) == 1


def test_a_refused_handshake_pauses_as_it_is_told(
    plain: Callable[..., Connection], pauses: list[float]
) -> None:
    """``Retry-After`` counts for a stream as for a request."""
    handshake, _ = handshakes(HandshakeError("busy", status=429, retry_after="2"))
    opened(plain(), handshake)
    (pause,) = pauses
    assert 1 <= pause <= 2


def test_no_handshake_begins_after_the_time_for_all(
    plain: Callable[..., Connection], pauses: list[float]
) -> None:
    """A pause that would outlast what a stream waits for is not made."""
    handshake, tries = handshakes(*[ConnectionResetError("cut")] * 3)
    with pytest.raises(ConnectionResetError):
        opened(plain(), handshake, until=time.monotonic() + 0.05)
    assert (len(tries), pauses) == (1, [])


def test_the_number_of_tries_is_the_profiles(tmp_path: Path) -> None:
    """``timing.apiTries`` bounds the tries of a request."""
    with serving(lambda _: status(503, "ServiceUnavailable", "no etcd")) as api:
        with pytest.raises(ClusterError, match="no etcd"):
            connect(write_kubeconfig(tmp_path / "k", api.url), None, Timing(api_tries=2))
        assert len(api.requests) == 2
