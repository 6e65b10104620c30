"""What the API server was sent is counted by verb and resource."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.cluster.retries import Sent, kind_of
from tests.cluster.api import Reply, Request, serving, write_kubeconfig


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/api/v1/nodes", "list nodes"),
        ("GET", "/api/v1/nodes/a", "get nodes"),
        ("GET", "/api/v1/namespaces", "list namespaces"),
        ("GET", "/api/v1/namespaces/n", "get namespaces"),
        ("DELETE", "/api/v1/namespaces/n", "delete namespaces"),
        ("GET", "/api/v1/namespaces/n/pods", "list pods"),
        ("POST", "/api/v1/namespaces/n/pods?dryRun=All", "create pods"),
        ("DELETE", "/api/v1/namespaces/n/pods", "delete collection of pods"),
        ("GET", "/api/v1/namespaces/n/pods/p/log", "get pods/log"),
        ("GET", "/api/v1/namespaces/n/pods/p/exec", "get pods/exec"),
        ("GET", "/api/v1/namespaces/n/pods/p:80/proxy/dial", "get pods/proxy"),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", "update leases"),
        ("PATCH", "/apis/apps/v1/namespaces/n/daemonsets/d", "patch daemonsets"),
        ("GET", "/apis/apps/v1/daemonsets", "list daemonsets"),
        ("GET", "/version", "get /version"),
        ("GET", "/apis", "get /apis"),
    ],
)
def test_requests_are_named_as_kubernetes_does(method: str, path: str, kind: str) -> None:
    """Verb and resource, as RBAC and audit logs have them; subresources are resources of their own."""
    assert kind_of(method, path) == kind


def test_a_watch_is_no_list() -> None:
    """It stays open, and counts once."""
    assert kind_of("GET", "/api/v1/pods", watched=True) == "watch pods"


def test_streams_are_told_apart() -> None:
    """Handshakes are counted beside requests, and told apart in words."""
    sent = Sent()
    for kind in ("list pods", "list pods", "get pods/exec", "get pods/portforward"):
        sent.count(kind)
    assert (sent.requests, sent.streams) == (2, 2)
    assert str(sent) == "the API server was sent 2 requests, and 2 for exec and port-forward"
    assert next(iter(sent.counts().items())) == ("list pods", 2)


def test_threads_lose_no_count() -> None:
    """Observers send side by side."""
    sent = Sent()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: sent.count("list pods"), range(2000)))
    assert sent.requests == 2000


def test_a_connection_counts_what_it_sends(tmp_path: Path) -> None:
    """Each try is one: an API server has to answer it."""
    answers = iter([503])

    def answer(request: Request) -> Reply:
        if "/pods" in request.path and next(answers, None):
            return Reply(status=503, body={})
        listed = {"items": [], "metadata": {"resourceVersion": "1"}}
        return Reply(body={"gitVersion": "v1.34.1", **listed})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        connection.items("/api/v1/pods")
        connection.close()
    assert connection.sent.counts()["list pods"] == 2
