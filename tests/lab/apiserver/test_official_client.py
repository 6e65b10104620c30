"""The official Python client on this API server: nobody here wrote it."""

import contextlib
import gc
import threading
import warnings
from collections.abc import Iterator

import pytest
from kubernetes import client as k8s
from kubernetes import watch
from kubernetes.client.exceptions import ApiException
from kubernetes.stream import portforward, stream

from tests.lab.apiserver.conftest import TOKEN, Running
from tests.lab.apiserver.objects import pod

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
"""The client forgets the TLS socket of a WebSocket; it may be collected at any moment of a test."""


@pytest.fixture
def core(served: Running) -> Iterator[k8s.CoreV1Api]:
    """The core API on the served cluster."""
    configuration = k8s.Configuration()
    configuration.host = served.url
    configuration.ssl_ca_cert = str(served.ca_file)
    configuration.api_key = {"authorization": f"Bearer {TOKEN}"}
    with k8s.ApiClient(configuration) as api_client:
        yield k8s.CoreV1Api(api_client)
        api_client.rest_client.pool_manager.clear()
    _collect_leaks()


def _collect_leaks() -> None:
    """Close what the client leaves open: it forgets the TLS socket of a WebSocket that was closed."""
    for thread in threading.enumerate():
        if thread.name.startswith("Kubernetes port forward proxy"):
            thread.join(timeout=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def web(core: k8s.CoreV1Api) -> str:
    """A running pod."""
    core.create_namespaced_pod("default", pod("web"))
    selector = "metadata.name=web"
    for event in watch.Watch().stream(
        core.list_namespaced_pod, "default", field_selector=selector, timeout_seconds=20
    ):
        if event["object"].status.phase == "Running":
            return "web"
    raise AssertionError("the pod did not run")


def test_objects_come_back_as_models(core: k8s.CoreV1Api, web: str) -> None:
    """Every field the client requires is there."""
    found = core.read_namespaced_pod(web, "default")
    assert found.status.pod_ip.startswith("127.30.")
    assert found.spec.containers[0].image_pull_policy == "IfNotPresent"
    assert {node.metadata.name for node in core.list_node().items} == {"n1", "n2"}
    assert core.list_namespaced_event("default").items


def test_a_status_is_an_exception_with_its_code(core: k8s.CoreV1Api) -> None:
    """404 and 409 arrive as such."""
    with pytest.raises(ApiException) as missing:
        core.read_namespaced_pod("none", "default")
    assert missing.value.status == 404
    core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
    with pytest.raises(ApiException) as taken:
        core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
    assert taken.value.status == 409


def test_a_watch_is_told_of_what_another_thread_does(core: k8s.CoreV1Api) -> None:
    """From a list's version on."""
    version = core.list_namespaced_config_map("default").metadata.resource_version
    body = {"metadata": {"name": "seen"}}
    writer = threading.Thread(target=core.create_namespaced_config_map, args=("default", body))
    writer.start()
    events = watch.Watch().stream(
        core.list_namespaced_config_map, "default", resource_version=version, timeout_seconds=10
    )
    event = next(events)
    writer.join()
    assert (event["type"], event["object"].metadata.name) == ("ADDED", "seen")


def test_a_patch_is_taken_as_the_client_sends_it(core: k8s.CoreV1Api, web: str) -> None:
    """A dict is a strategic merge patch."""
    patched = core.patch_namespaced_pod(web, "default", {"metadata": {"labels": {"x": "y"}}})
    assert patched.metadata.labels == {"app": "web", "x": "y"}


def test_exec_gives_output_and_exit_code(core: k8s.CoreV1Api, web: str) -> None:
    """``stream`` over WebSocket."""
    connection = stream(
        core.connect_get_namespaced_pod_exec,
        web,
        "default",
        command=["sh", "-c", "echo out; exit 4"],
        stdout=True,
        stderr=True,
        _preload_content=False,
    )
    connection.run_forever(timeout=10)
    assert connection.read_stdout() == "out\n"
    assert connection.returncode == 4
    connection.close()


def test_exec_takes_standard_input(core: k8s.CoreV1Api, web: str) -> None:
    """What is written is read by the program."""
    connection = stream(
        core.connect_get_namespaced_pod_exec,
        web,
        "default",
        command=["head", "-n1"],
        stdin=True,
        stdout=True,
        _preload_content=False,
    )
    connection.write_stdin("hello\n")
    connection.run_forever(timeout=10)
    assert connection.read_stdout() == "hello\n"
    connection.close()


def test_port_forward_reaches_the_pod(core: k8s.CoreV1Api, web: str) -> None:
    """A socket whose other end is the pod's server."""
    forward = portforward(core.connect_get_namespaced_pod_portforward, web, "default", ports="8080")
    with contextlib.closing(forward.socket(8080)) as socket:
        socket.setblocking(True)
        socket.sendall(b"GET /hostname HTTP/1.0\r\n\r\n")
        answer = b""
        while chunk := socket.recv(4096):
            answer += chunk
    forward.close()
    assert answer.endswith(b"web")
    assert forward.error(8080) is None


def test_port_forward_tells_why_a_port_is_closed(core: k8s.CoreV1Api, web: str) -> None:
    """The error channel's text."""
    forward = portforward(core.connect_get_namespaced_pod_portforward, web, "default", ports="9")
    with contextlib.closing(forward.socket(9)) as socket:
        socket.setblocking(True)
        assert socket.recv(1) == b""
    forward.close()
    assert "connection refused" in forward.error(9)


def test_logs_and_proxies_are_read(core: k8s.CoreV1Api, web: str) -> None:
    """Text passes through unchanged."""
    assert "Started HTTP server on port 8080" in core.read_namespaced_pod_log(web, "default")
    path = core.connect_get_namespaced_pod_proxy_with_path
    assert path(f"{web}:8080", "default", "hostname") == "web"


def test_an_eviction_and_a_token_are_taken(core: k8s.CoreV1Api, web: str) -> None:
    """Subresources with bodies of other groups."""
    request = k8s.AuthenticationV1TokenRequest(spec=k8s.V1TokenRequestSpec(audiences=["a"]))
    token = core.create_namespaced_service_account_token("default", "default", request)
    assert token.status.token
    eviction = k8s.V1Eviction(metadata=k8s.V1ObjectMeta(name=web))
    core.create_namespaced_pod_eviction(web, "default", eviction)
    assert core.read_namespaced_pod(web, "default").metadata.deletion_timestamp is not None


def test_the_version_is_read(core: k8s.CoreV1Api) -> None:
    """``/version`` as the client's model."""
    assert k8s.VersionApi(core.api_client).get_code().git_version == "v1.36.2"
