"""Waiting for endpoints: which backends a Service's slices hold, and what happens while they fill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.wait import missing, wait_for_endpoints
from nettests.model.json_text import Object
from tests.cluster.api import Reply, Request, serving, write_kubeconfig


def slice_of(service: str, *pods: str, ready: bool | None = True, name: str = "") -> Object:
    """Return an EndpointSlice of a Service."""
    conditions = {} if ready is None else {"ready": ready}
    return {
        "metadata": {
            "name": name or f"{service}-x",
            "labels": {"kubernetes.io/service-name": service},
        },
        "endpoints": [
            {"conditions": conditions, "targetRef": {"kind": "Pod", "name": pod}} for pod in pods
        ],
    }


def want(**services: str) -> dict[str, frozenset[str]]:
    """Return what is wanted, from space-separated pods by Service."""
    return {name: frozenset(pods.split()) for name, pods in services.items()}


def test_the_slices_of_a_service_count_together() -> None:
    """More than a hundred endpoints are spread over several slices."""
    slices = [slice_of("s", "a"), slice_of("s", "b", name="s-y")]
    assert missing(slices, want(s="a b")) == {}


@pytest.mark.parametrize(("ready", "lacking"), [(True, ""), (None, ""), (False, "a")])
def test_an_endpoint_counts_when_it_is_ready(ready: bool | None, lacking: str) -> None:
    """An endpoint without the condition is taken for ready, as the API says."""
    found = missing([slice_of("s", "a", ready=ready)], want(s="a"))
    assert found == (want(s=lacking) if lacking else {})


def test_only_the_services_own_slices_count() -> None:
    """The same pod in another Service's slice says nothing of this one."""
    assert missing([slice_of("other", "a")], want(s="a")) == want(s="a")


def test_slices_without_labels_and_endpoints_without_a_pod_are_passed_over() -> None:
    """Slices made by hand may have neither."""
    odd = {"metadata": {"name": "odd"}, "endpoints": [{"addresses": ["10.0.0.1"]}]}
    assert missing([odd, {"metadata": {"name": "empty"}}], want(s="a")) == want(s="a")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Connection, dict[str, list[Reply]]]]:
    """A server that answers lists and watches from queues; the last answer is kept."""
    queues: dict[str, list[Reply]] = {"list": [], "watch": []}

    def answer(request: Request) -> Reply:
        if request.path == "/version":
            return Reply(body={"gitVersion": "v1.36.0"})
        assert request.path.startswith("/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices")
        queue = queues["watch" if "watch=true" in request.path else "list"]
        return queue.pop(0) if len(queue) > 1 else queue[0]

    with serving(answer) as api:
        yield connect(write_kubeconfig(tmp_path / "k", api.url), None), queues


def listing(*items: Object) -> Reply:
    """Return a list of slices."""
    return Reply(body={"metadata": {"resourceVersion": "5"}, "items": list(items)})


def test_a_slice_that_fills_ends_the_wait(
    server: tuple[Connection, dict[str, list[Reply]]],
) -> None:
    """The last backend's event is enough, and bookmarks are passed over."""
    api, queues = server
    queues["list"] = [listing(slice_of("s", "a"))]
    queues["watch"] = [
        Reply(
            chunks=(
                {"type": "BOOKMARK", "object": {}},
                {"type": "MODIFIED", "object": slice_of("s", "a", "b")},
            )
        )
    ]
    assert wait_for_endpoints(api, "ns", want(s="a b"), seconds=30) == {}


def test_a_slice_that_goes_takes_its_endpoints_along(
    server: tuple[Connection, dict[str, list[Reply]]],
) -> None:
    """What a deleted slice held is lacking again, until a new list has it."""
    api, queues = server
    queues["list"] = [listing(slice_of("s", "a")), listing(slice_of("s", "a", "b"))]
    gone = slice_of("s", "a")
    queues["watch"] = [
        Reply(
            chunks=(
                {"type": "DELETED", "object": gone},
                {"type": "ADDED", "object": slice_of("s", "b", name="s-y")},
                {"type": "ERROR", "object": {"code": 410}},
            )
        )
    ]
    assert wait_for_endpoints(api, "ns", want(s="a b"), seconds=30) == {}
    assert len(queues["list"]) == 1, "it listed again"


def test_what_never_comes_is_named(server: tuple[Connection, dict[str, list[Reply]]]) -> None:
    """When the time is over the pods that lack are returned, by Service."""
    api, queues = server
    queues["list"] = [listing(slice_of("s", "a"))]
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    assert wait_for_endpoints(api, "ns", want(s="a b", t=""), seconds=0.2) == want(s="b")


def test_a_denied_list_is_an_error(server: tuple[Connection, dict[str, list[Reply]]]) -> None:
    """Without the permission waiting would be without success."""
    api, queues = server
    queues["list"] = [Reply(status=403, body={"message": "cannot list", "reason": "Forbidden"})]
    with pytest.raises(ApiError, match="cannot list"):
        wait_for_endpoints(api, "ns", want(s="a"), seconds=30)
