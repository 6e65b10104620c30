"""Connecting: errors for people, bounded retries, watches, over real sockets."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import trustme

from nettests.cluster import ApiError, connect
from nettests.cluster import connection as module
from nettests.cluster.failures import Answer, ClosedError, refusal
from nettests.errors import ClusterError
from nettests.model.cluster_profile import Timing
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig

NOW = datetime.now(UTC)
LONG_AGO, AGO, AHEAD = (NOW + timedelta(days=days) for days in (-3, -1, 1))
VERSION = Reply(body={"gitVersion": "v1.29.4", "major": "1", "minor": "29"})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back off in milliseconds."""
    quickly = partial(Timing, api_first_pause=0.001, api_longest_pause=0.01)
    monkeypatch.setattr(module, "Timing", quickly)


def versioned(answer: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
    """Answer /version, and everything else by ``answer``."""
    return lambda request: VERSION if request.path == "/version" else answer(request)


def test_no_kubeconfig_is_said_with_the_way_out(tmp_path: Path) -> None:
    """A missing file names itself and the options that help."""
    with pytest.raises(ClusterError, match=r"no kubeconfig: .*nosuch does not exist") as raised:
        connect(tmp_path / "nosuch", None)
    assert "--lab" in raised.value.hint


def test_kubeconfig_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without --kubeconfig, $KUBECONFIG is read as kubectl reads it, at the time of the call."""
    with serving(versioned(lambda _: Reply())) as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "k", api.url)))
        assert connect(None, None).server == api.url


def test_broken_yaml_is_an_error_about_the_file(tmp_path: Path) -> None:
    """A kubeconfig that is no kubeconfig is said to be unusable, by name."""
    file = tmp_path / "k"
    file.write_text("just text")
    with pytest.raises(ClusterError, match=f"the kubeconfig {file} cannot be used"):
        connect(file, None)


def test_an_unknown_context_has_a_near_miss(tmp_path: Path) -> None:
    """A mistyped context is answered with the one that was probably meant."""
    file = write_kubeconfig(tmp_path / "k", "http://127.0.0.1:1")
    with pytest.raises(ClusterError, match="no context 'tets'") as raised:
        connect(file, "tets")
    assert raised.value.hint == "did you mean 'test'?"


def test_an_unreachable_server_is_named(tmp_path: Path) -> None:
    """Nothing listens: the error names server and context."""
    file = write_kubeconfig(tmp_path / "k", "http://127.0.0.1:1")
    with pytest.raises(
        ClusterError, match=r"http://127.0.0.1:1 \(context test\) cannot be reached"
    ):
        connect(file, None)


def test_an_expired_token_is_said_at_once(tmp_path: Path) -> None:
    """A 401 is an error about credentials and is not retried."""
    with serving(lambda _: status(401, "Unauthorized", "Unauthorized")) as api:
        with pytest.raises(ApiError, match="does not accept the credentials") as raised:
            connect(write_kubeconfig(tmp_path / "k", api.url), None)
        assert raised.value.status == 401
        assert len(api.requests) == 1


def test_the_token_is_sent(tmp_path: Path) -> None:
    """The bearer token of the context's user goes with every request."""
    with serving(versioned(lambda _: Reply())) as api:
        connect(write_kubeconfig(tmp_path / "k", api.url, token="secret"), None)
        assert api.requests[0].headers["authorization"] == "Bearer secret"


def test_a_certificate_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """A server whose certificate the kubeconfig's authority did not sign is not trusted."""
    theirs, ours = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.issue_cert("127.0.0.1").configure_cert(context)
    with serving(lambda _: VERSION, context) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=ours.cert_pem.bytes())
        with pytest.raises(ClusterError, match="was not trusted") as failed:
            connect(file, None)
        assert "certificate-authority-data" in failed.value.hint


@pytest.mark.parametrize(("begins", "ends"), [(AHEAD, None), (LONG_AGO, AGO)])
def test_a_certificate_of_another_time_leads_to_the_clocks(
    tmp_path: Path, begins: datetime, ends: datetime | None
) -> None:
    """A machine whose clock is behind, or ahead, trusts nobody, though the authority is the right one."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf = authority.issue_cert("127.0.0.1", not_before=begins, not_after=ends)
    leaf.configure_cert(context)
    with serving(lambda _: VERSION, context) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        with pytest.raises(ClusterError, match="was not trusted") as failed:
            connect(file, None)
        assert "clock" in failed.value.hint


def test_a_trusted_certificate_connects(tmp_path: Path) -> None:
    """The same over TLS with the right authority."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with serving(lambda _: VERSION, context) as api:
        file = write_kubeconfig(tmp_path / "k", api.url, ca=authority.cert_pem.bytes())
        assert connect(file, None).context == "test"


@pytest.mark.parametrize("failure", [status(429, "TooManyRequests", "later"), Reply(cut=True)])
def test_a_passing_failure_is_retried(tmp_path: Path, failure: Reply) -> None:
    """A 429 and a lost connection are retried until the answer comes."""
    answers = iter([failure, failure, Reply(body={"kind": "Node"})])
    with serving(versioned(lambda _: next(answers))) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        assert connection.get("/api/v1/nodes/n1") == {"kind": "Node"}
        assert len(api.requests) == 4


def test_retries_are_bounded(tmp_path: Path) -> None:
    """A failure that stays is raised with the server's words after a few tries."""
    with serving(versioned(lambda _: status(503, "ServiceUnavailable", "no etcd"))) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        with pytest.raises(ApiError, match="503 ServiceUnavailable: no etcd"):
            connection.get("/api/v1/nodes")
        assert len(api.requests) == 1 + Timing().api_tries


def test_lists_are_read_page_by_page(tmp_path: Path) -> None:
    """``continue`` tokens are followed to the end."""

    def answer(request: Request) -> Reply:
        last = "continue=next" in request.path
        meta = {} if last else {"continue": "next"}
        return Reply(body={"metadata": meta, "items": [{"n": 2 if last else 1}]})

    with serving(versioned(answer)) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        assert connection.items("/api/v1/nodes") == [{"n": 1}, {"n": 2}]


def test_deleting_what_is_gone_is_no_error(tmp_path: Path) -> None:
    """A 404 on delete means the work is done."""
    with serving(versioned(lambda _: status(404, "NotFound", "gone"))) as api:
        connect(write_kubeconfig(tmp_path / "k", api.url), None).delete("/api/v1/namespaces/x")


def test_watch_yields_each_event(tmp_path: Path) -> None:
    """Events come one by one, with the query that a watch needs."""
    events = ({"type": "ADDED", "object": {}}, {"type": "MODIFIED", "object": {}})
    with serving(versioned(lambda _: Reply(chunks=events))) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        seen = [event["type"] for event in connection.watch("/api/v1/pods", seconds=2)]
        assert seen == ["ADDED", "MODIFIED"]
        assert "watch=true" in api.requests[-1].path


def test_a_client_is_never_shared_and_is_reused(tmp_path: Path) -> None:
    """Two borrowers have two clients: a connection that is kept alive is serial."""
    with serving(versioned(lambda _: Reply())) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        with connection.borrowed() as first, connection.borrowed() as second:
            assert first is not second
        with connection.borrowed() as again:
            assert again in {first, second}


def test_closing_ends_every_connection(tmp_path: Path) -> None:
    """After ``close`` no socket is left open, not even a borrowed client's."""
    with serving(versioned(lambda _: Reply(body={}))) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        with connection.borrowed() as lent:
            pools = lent.rest_client.pool_manager.pools
            connection.get("/api/v1/nodes")  # by another client meanwhile
            connection.close()
        connection.close()
        assert len(pools) == 0


def test_nothing_is_sent_once_it_is_closed(tmp_path: Path) -> None:
    """A check that outlives its run sends no request any more, and is told why."""
    with serving(versioned(lambda _: Reply(body={}))) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        connection.close()
        sent = len(api.requests)
        with pytest.raises(ClosedError, match="the run is over"):
            connection.get("/api/v1/nodes")
        with pytest.raises(ClosedError):
            connection.handshake("/exec", ())
        assert len(api.requests) == sent


def test_a_server_that_is_no_kubernetes_is_said_so(tmp_path: Path) -> None:
    """A web server at the address is not taken for an API server."""
    with (
        serving(lambda _: Reply(body=b"<html>", content_type="text/html")) as api,
        pytest.raises(ClusterError, match="is it a Kubernetes API server"),
    ):
        connect(write_kubeconfig(tmp_path / "k", api.url), None)


@pytest.mark.parametrize("text", ["", "{}", "words", "a: [", "- 1", "clusters: 3\n", "\x00"])
def test_what_is_no_kubeconfig_is_said(tmp_path: Path, text: str) -> None:
    """A file of any other form is an error for people, never the client's own."""
    file = tmp_path / "k"
    file.write_text(text)
    with pytest.raises(ClusterError, match=r"cannot be used|has no current context"):
        connect(file, None)


@pytest.mark.parametrize(
    ("user", "says"), [("system:anonymous", "gives no credentials"), ("someone", "manifests/rbac")]
)
def test_a_refusal_says_what_to_do(tmp_path: Path, user: str, says: str) -> None:
    """Missing credentials and missing rights have different ways out."""
    refused = status(403, "Forbidden", f'nodes is forbidden: User "{user}" cannot list')
    with serving(versioned(lambda _: refused)) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        with pytest.raises(ApiError) as raised:
            connection.get("/api/v1/nodes")
    assert says in raised.value.hint


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            b'{"kind":"Status","message":"pods is \\"forbidden\\"","code":403}',
            ': pods is "forbidden"',
        ),
        (b"<html>", ""),
        (b"[]", ""),
    ],
)
def test_a_refused_handshake_is_told_in_its_own_words(body: bytes, says: str) -> None:
    """Of a WebSocket that was refused the status line and the message are shown."""
    error = refusal(Answer(status=403, body=body, retry_after="7"), "Forbidden")
    assert str(error) == f"Handshake status 403 Forbidden{says}"
    assert (error.status, error.retry_after, error.of_the_node) == (403, "7", False)
