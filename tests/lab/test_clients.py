"""Clients that nobody here wrote: the official Python client and kubectl, on a running lab."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes import watch

from tests.lab.running import Lab, pod

KUBECTL = shutil.which("kubectl")
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")


@pytest.fixture(scope="module")
def served(lab: Lab) -> Iterator[Lab]:
    """The lab with a serving pod on each system: ``web-linux`` and ``web-windows``."""
    lab.create(pod("web-linux", "linux-1"))
    lab.create(pod("web-windows", "win-1", os={"name": "windows"}))
    for name in ("web-linux", "web-windows"):
        lab.ready(name)
    yield lab
    for name in ("web-linux", "web-windows"):
        lab.remove(name)


def kubectl(lab: Lab, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run kubectl on the lab, without a cache of its own."""
    return subprocess.run(
        [
            str(KUBECTL),
            f"--kubeconfig={lab.kubeconfig}",
            f"--cache-dir={lab.runtime}/kubectl",
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_python_client_lists_and_watches(lab: Lab) -> None:
    """A watch from a list's version tells of a pod's birth, readiness and end."""
    version = lab.core.list_namespaced_pod("default").metadata.resource_version
    lab.run("watched", "linux-1", args=["pause"])
    lab.remove("watched")
    seen = []
    watcher = watch.Watch()
    for event in watcher.stream(
        lab.core.list_namespaced_pod, "default", resource_version=version, timeout_seconds=10
    ):
        if event["object"].metadata.name == "watched":
            seen.append(event["type"])
            if seen[-1] == "DELETED":
                watcher.stop()
    assert (seen[0], seen[-1]) == ("ADDED", "DELETED")
    assert "MODIFIED" in seen


FORWARD = """
import sys
from kubernetes import client, config
from kubernetes.stream import portforward

config.load_kube_config(sys.argv[1])
opened = portforward(
    client.CoreV1Api().connect_get_namespaced_pod_portforward, sys.argv[2], "default", ports="8080"
)
sock = opened.socket(8080)
sock.setblocking(True)
sock.sendall(b"GET /hostname HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
while data := sock.recv(4096):
    sys.stdout.write(data.decode())
sys.exit(opened.error(8080))
"""
"""A process of its own: the official client never closes a forwarded connection's sockets."""


@pytest.mark.parametrize("name", ["web-linux", "web-windows"])
def test_the_python_client_forwards_ports(served: Lab, name: str) -> None:
    """A forwarded connection reaches the server in the pod."""
    done = subprocess.run(
        [sys.executable, "-c", FORWARD, str(served.kubeconfig), name],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"\n\n{name}")


def test_the_python_client_executes(served: Lab) -> None:
    """Standard output and exit code come back."""
    code, text = served.exec("web-windows", "hostname")
    assert (code, text.strip()) == (0, "web-windows")


def test_the_pod_proxy_reaches_pods_of_both_systems(served: Lab) -> None:
    """The API server dials pods from the control plane's node."""
    for name in ("web-linux", "web-windows"):
        found = served.core.connect_get_namespaced_pod_proxy_with_path(
            f"{name}:8080", "default", "hostname"
        )
        assert found == name


@needs_kubectl
def test_kubectl_shows_nodes(lab: Lab) -> None:
    """``kubectl get nodes -o wide`` prints the table a real cluster gives."""
    rows = kubectl(lab, "get", "nodes", "-o", "wide", "--no-headers").stdout.splitlines()
    assert [row.split()[:2] for row in rows] == [
        [name, "Ready"] for name in ("linux-1", "linux-2", "win-1", "win-2")
    ]
    assert "Windows Server 2019 Datacenter" in rows[2]


@needs_kubectl
def test_kubectl_applies_waits_and_deletes(lab: Lab, tmp_path: Path) -> None:
    """Apply twice, wait for Ready, describe, delete."""
    body = json.dumps(pod("applied", "win-2", os={"name": "windows"}))
    path = tmp_path / "pod.json"
    path.write_text(body)
    assert kubectl(lab, "apply", "-f", str(path)).stdout == "pod/applied created\n"
    assert kubectl(lab, "apply", "-f", str(path)).stdout == "pod/applied unchanged\n"
    done = kubectl(lab, "wait", "--for=condition=Ready", "pod/applied", "--timeout=10s")
    assert done.stdout == "pod/applied condition met\n"
    described = kubectl(lab, "describe", "pod", "applied").stdout
    assert "Successfully assigned default/applied to win-2" in described
    assert kubectl(lab, "delete", "pod", "applied").returncode == 0
    assert lab.is_gone("applied")


@needs_kubectl
def test_kubectl_executes_and_reads_logs(served: Lab) -> None:
    """Exit codes pass through; the log is the server's own."""
    assert kubectl(served, "exec", "web-linux", "--", "hostname").stdout == "web-linux\n"
    assert kubectl(served, "exec", "web-linux", "--", "false").returncode == 1
    assert "Started HTTP server on port 8080" in kubectl(served, "logs", "web-windows").stdout
