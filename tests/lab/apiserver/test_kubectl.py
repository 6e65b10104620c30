"""kubectl on this API server, where one is installed."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import pod

KUBECTL = shutil.which("kubectl")
pytestmark = pytest.mark.skipif(KUBECTL is None, reason="no kubectl is installed")

Kubectl = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(served: Running, tmp_path: Path) -> dict[str, str]:
    """An environment in which kubectl knows the served cluster and nothing else."""
    kubeconfig = served.kubeconfig(tmp_path / "kubeconfig")
    return {"KUBECONFIG": str(kubeconfig), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}


@pytest.fixture
def kubectl(environment: dict[str, str]) -> Kubectl:
    """Run kubectl to its end."""

    def run(*words: str, stdin: str = "", fails: bool = False) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["kubectl", *words],
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert fails or done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def web(kubectl: Kubectl) -> str:
    """A running pod with a Service."""
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec}
    items = {"apiVersion": "v1", "kind": "List", "items": [pod("web"), service]}
    kubectl("apply", "-f", "-", stdin=json.dumps(items))
    kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=20s")
    return "web"


def test_nodes_are_listed(kubectl: Kubectl) -> None:
    """A table with the columns of ``-o wide``."""
    head, *rows = kubectl("get", "nodes", "-o", "wide").stdout.splitlines()
    assert head.split()[:5] == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [row.split()[0] for row in rows] == ["n1", "n2"]


def test_an_applied_object_applied_again_is_unchanged(kubectl: Kubectl, web: str) -> None:
    """Three-way merges settle."""
    again = kubectl("apply", "-f", "-", stdin=json.dumps(pod("web")))
    assert again.stdout == "pod/web unchanged\n"


def test_a_changed_label_is_applied(kubectl: Kubectl, web: str) -> None:
    """kubectl's strategic merge patch."""
    item = pod("web")
    item["metadata"]["labels"]["more"] = "yes"
    assert "configured" in kubectl("apply", "-f", "-", stdin=json.dumps(item)).stdout
    assert "web" in kubectl("get", "pods", "-l", "more=yes", "-o", "name").stdout


def test_a_pod_is_described_with_its_events(kubectl: Kubectl, web: str) -> None:
    """``describe`` finds what belongs to the pod."""
    text = kubectl("describe", "pod", "web").stdout
    assert "Successfully assigned default/web to n2" in text


def test_an_unknown_field_is_refused(kubectl: Kubectl) -> None:
    """kubectl validates on the server by default."""
    item = {**pod("bad"), "zzz": 1}
    failed = kubectl("apply", "-f", "-", stdin=json.dumps(item), fails=True)
    assert failed.returncode != 0
    assert 'unknown field "zzz"' in failed.stderr


def test_a_command_runs_in_the_pod(kubectl: Kubectl, web: str) -> None:
    """Output, input and exit code of ``exec``."""
    assert kubectl("exec", "web", "--", "echo", "hi").stdout == "hi\n"
    assert kubectl("exec", "-i", "web", "--", "cat", stdin="in\n").stdout == "in\n"
    assert kubectl("exec", "web", "--", "sh", "-c", "exit 7", fails=True).returncode == 7


def test_logs_are_shown(kubectl: Kubectl, web: str) -> None:
    """The last line of the container."""
    assert "Started UDP server" in kubectl("logs", "web", "--tail=1").stdout


def test_commands_that_speak_protobuf_are_understood(kubectl: Kubectl) -> None:
    """``create`` and ``auth`` use typed clients."""
    kubectl("create", "namespace", "n")
    kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods", "-n", "n")
    kubectl("create", "rolebinding", "b", "--role=reader", "--user=joe", "-n", "n")
    kubectl("create", "quota", "q", "--hard=pods=2,requests.cpu=500m", "-n", "n")
    hard = kubectl("get", "quota", "q", "-n", "n", "-o", "jsonpath={.spec.hard}").stdout
    assert json.loads(hard) == {"pods": "2", "requests.cpu": "500m"}
    assert kubectl("auth", "can-i", "list", "pods", "-n", "n", "--as=joe").stdout == "yes\n"
    denied = kubectl("auth", "can-i", "create", "pods", "-n", "n", "--as=joe", fails=True)
    assert denied.stdout == "no\n"


def test_a_deleted_pod_goes(kubectl: Kubectl, web: str) -> None:
    """kubectl waits until it is gone."""
    kubectl("delete", "pod", "web")
    assert "NotFound" in kubectl("get", "pod", "web", fails=True).stderr


def test_a_deleted_namespace_goes(kubectl: Kubectl) -> None:
    """With what it holds."""
    item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gone"}}
    kubectl("apply", "-f", "-", stdin=json.dumps(item))
    kubectl("apply", "-n", "gone", "-f", "-", stdin=json.dumps(pod("p")))
    began = time.monotonic()
    kubectl("delete", "namespace", "gone")
    assert time.monotonic() - began < 30
