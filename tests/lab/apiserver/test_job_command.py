"""``nettests job``, a program of its own here, on this API server: admission, RBAC and strict fields are real."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
from kubernetes import config
from kubernetes.client import AuthenticationV1TokenRequest, CoreV1Api, V1TokenRequestSpec

from tests.lab.apiserver.conftest import READER_TOKEN, TOKEN, Running

IMAGE = "--image=registry.example/nettests:0.1.0"
ATTRIBUTES = {
    "full": ("create", "", "namespaces", ""),
    "namespaced": ("create", "", "pods", "staging"),
    "discovery": ("list", "", "nodes", ""),
}
"""One right of each role, of those that the smaller one lacks."""


@pytest.fixture
def job(served: Running, tmp_path: Path) -> Any:
    """Call ``nettests job`` with a token."""

    def call(command: str, *words: str, token: str = TOKEN) -> "subprocess.CompletedProcess[str]":
        file = served.kubeconfig(tmp_path / f"kubeconfig-{token[:8]}")
        file.write_text(file.read_text().replace(TOKEN, token))
        program = [sys.executable, "-m", "nettests", "job", command, f"--kubeconfig={file}"]
        return subprocess.run([*program, *words], capture_output=True, text=True, timeout=60, check=False)  # fmt: skip

    return call


@pytest.fixture
def core(served: Running, tmp_path: Path) -> CoreV1Api:
    """The official client."""
    return CoreV1Api(config.new_client_from_config(str(served.kubeconfig(tmp_path / "k"))))


def allowed(core: CoreV1Api, served: Running, namespace: str, right: tuple[str, str, str, str]) -> bool:  # fmt: skip
    """Whether the ServiceAccount of a Job has a right, by its own token and review."""
    request = AuthenticationV1TokenRequest(spec=V1TokenRequestSpec(audiences=[]))
    made = core.create_namespaced_service_account_token("nettests", namespace, request)
    verb, group, resource, place = right
    attributes = {"verb": verb, "group": group, "resource": resource, "namespace": place}
    answer = requests.post(
        f"{served.url}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        json={
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        },
        headers={"Authorization": f"Bearer {made.status.token}"},
        verify=str(served.ca_file),
        timeout=20,
    )
    return bool(answer.json()["status"]["allowed"])


@pytest.mark.parametrize("role", list(ATTRIBUTES))
def test_each_role_is_what_its_account_may(job: Any, core: CoreV1Api, served: Running, role: str) -> None:  # fmt: skip
    """The roles, their bindings and the account fit together: its token has the rights, and not the larger role's."""
    core.create_namespace({"metadata": {"name": "staging"}})
    place = "staging" if role == "namespaced" else "nettests"
    done = job("apply", IMAGE, f"--role={role}", f"--namespace={place}")
    assert done.returncode == 0, done.stderr
    assert allowed(core, served, place, ATTRIBUTES["discovery"])
    assert allowed(core, served, place, ATTRIBUTES[role])
    if role != "full":
        assert not allowed(core, served, place, ATTRIBUTES["full"])


def test_it_may_be_applied_again(job: Any) -> None:
    """What is there stays; the CronJob takes the new schedule, and the Job says that it is there."""
    words = (IMAGE, "--claim=reports", "--claim-size=1Gi")
    first = job("apply", *words, "--schedule=17 2 * * *")
    assert first.returncode == 0, first.stderr
    assert {line.rpartition(": ")[2] for line in first.stdout.splitlines()[:-2]} == {"created"}
    second = job("apply", *words, "--schedule=17 3 * * *")
    assert second.returncode == 0, second.stderr
    assert "CronJob nettests in nettests: updated" in second.stdout
    assert "created" not in second.stdout
    assert job("apply", IMAGE).returncode == 0
    third = job("apply", IMAGE)
    assert (third.returncode, "exists already" in third.stderr) == (7, True)


def test_the_pod_keeps_to_restricted_and_a_quota_refuses_it(job: Any, core: CoreV1Api) -> None:
    """Its namespace is of that level and the dry run passes; where Pods are counted to none, no Job is created."""
    assert job("apply", IMAGE, "--webhook-secret=hook").returncode == 0
    labels = core.read_namespace("nettests").metadata.labels
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    core.create_namespace({"metadata": {"name": "full-up"}})
    core.create_namespaced_resource_quota("full-up", {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}})  # fmt: skip
    refused = job("apply", IMAGE, "--role=namespaced", "--namespace=full-up")
    assert refused.returncode == 7
    assert "exceeded quota: none" in refused.stderr
    missing = job("logs", "nettests", "--namespace=full-up")
    assert "there is no Job and no CronJob nettests in namespace full-up" in missing.stderr


def test_who_only_reads_creates_nothing(job: Any, core: CoreV1Api) -> None:
    """The first object is refused, with what it takes."""
    done = job("apply", IMAGE, token=READER_TOKEN)
    assert (done.returncode, "Namespace nettests was refused" in done.stderr) == (7, True)
    assert "nettests" not in [one.metadata.name for one in core.list_namespace().items]


def test_a_namespace_that_is_not_there_is_named(job: Any) -> None:
    """For the namespaced role before anything is created, and for logs too."""
    for words in (("apply", IMAGE, "--role=namespaced", "--namespace=nowhere"), ("logs", "x", "--namespace=nowhere")):  # fmt: skip
        done = job(*words)
        assert (done.returncode, "there is no namespace nowhere" in done.stderr) == (7, True)
