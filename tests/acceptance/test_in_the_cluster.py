"""A Job on a lab: objects as its API takes them, admission, roles by the Job's own identity, and why nothing runs.

A lab runs no image of ours. What a Pod of a Job would do is done by a process that sees what a kubelet mounts into one: in
a mount namespace of its own, where the ServiceAccount's folder is where Pods have it.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from nettests.job.archive import read_archive, unpack
from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab

pytestmark = pytest.mark.nightly

IMAGE = "registry.example/nettests:0.1.0"
AGNHOST = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
MOUNT = "/run/secrets/kubernetes.io/serviceaccount"
INSIDE = f"""
mount -t tmpfs none /run && mkdir -p {MOUNT} && cp "$1"/* {MOUNT}/ && shift && exec "$@"
"""


@pytest.fixture(scope="module")
def up() -> Iterator[UpLab]:
    """A lab with two Jobs: of the full role, and of the namespaced one in a namespace of level baseline."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    with lab("win2022-l2bridge-dsr") as started:
        kubectl(started, "create", "namespace", "staging")
        kubectl(
            started, "label", "namespace", "staging", "pod-security.kubernetes.io/enforce=baseline"
        )
        for words in (
            (),
            ("--role=namespaced", "--namespace=staging", "--claim=r", "--claim-size=1Gi"),
        ):
            done = job(started, "apply", f"--image={IMAGE}", *words)
            assert done.returncode == 0, done.stderr
        yield started


def kubectl(up: UpLab, *arguments: str, stdin: str | None = None) -> str:
    """Speak to the lab's API as its administrator."""
    words = ["kubectl", f"--kubeconfig={up.kubeconfig}", *arguments]
    return subprocess.run(words, input=stdin, capture_output=True, text=True, check=True).stdout


def job(up: UpLab, command: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Call ``nettests job``."""
    return nettests("job", command, f"--kubeconfig={up.kubeconfig}", *words)


def in_a_pod(
    up: UpLab, namespace: str, folder: Path, *words: str
) -> "subprocess.CompletedProcess[str]":
    """Run nettests with what the kubelet gives a Pod of that Job."""
    cluster = yaml.safe_load(Path(up.kubeconfig).read_text())["clusters"][0]["cluster"]
    host, _, port = cluster["server"].removeprefix("https://").rpartition(":")
    mount = folder / "serviceaccount"
    mount.mkdir(exist_ok=True)
    (mount / "token").write_text(kubectl(up, "-n", namespace, "create", "token", "nettests"))
    kubectl_config = kubectl(up, "config", "view", "--raw", "--flatten", "-o", "json")
    data = json.loads(kubectl_config)["clusters"][0]["cluster"]["certificate-authority-data"]
    (mount / "ca.crt").write_bytes(base64.b64decode(data))
    environment = {name: value for name, value in os.environ.items() if name not in {"KUBECONFIG", "XDG_RUNTIME_DIR"}}  # fmt: skip
    environment |= {"HOME": str(folder / "nobody"), "KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}  # fmt: skip
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-euc", INSIDE, "sh", str(mount), sys.executable, "-m", "nettests", *words],
        env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_the_pod_passes_admission_and_says_why_it_does_not_run(up: UpLab) -> None:
    """The namespace is of level restricted, and takes it; the image is nowhere, and the registry's words are told."""
    (pod,) = items(up, "nettests", "pods")
    assert pod["spec"]["serviceAccountName"] == "nettests"
    labels = kubectl(up, "get", "namespace", "nettests", "-o", "jsonpath={.metadata.labels}")
    assert json.loads(labels)["pod-security.kubernetes.io/enforce"] == "restricted"
    done = job(up, "logs", "nettests", "--follow")
    assert done.returncode == 7
    assert "Failed to pull image" in done.stderr
    assert "no such host" in done.stderr


def items(up: UpLab, namespace: str, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(kubectl(up, "-n", namespace, "get", kind, "-o", "json"))["items"]  # fmt: skip
    return found


def test_the_probes_image_is_no_image_of_ours(up: UpLab) -> None:
    """It starts and has no such program: the Job fails, and its exit code is the container's."""
    words = (f"--image={AGNHOST}", "--role=namespaced", "--namespace=staging", "--name=wrong")
    assert job(up, "apply", *words).returncode == 0
    done = job(up, "logs", "wrong", "--namespace=staging", "--follow")
    assert done.returncode == 128
    assert "StartError" in done.stderr
    kubectl(up, "-n", "staging", "wait", "--for=condition=Failed", "job/wrong", "--timeout=20s")
    refused = job(up, "fetch", "wrong", "--namespace=staging")
    assert (refused.returncode, "holds no report" in refused.stderr) == (4, True)
    again = job(up, "apply", *words)
    assert (again.returncode, "has ended" in again.stderr) == (7, True)
    assert job(up, "apply", *words, "--replace").returncode == 0


def test_a_claim_that_cannot_be_read_leaves_no_pod(up: UpLab) -> None:
    """The Pod that would read it has no image either, and goes."""
    done = job(up, "fetch", "nettests", "--namespace=staging")
    assert (done.returncode, "the claim was not read" in done.stderr) == (7, True)
    names = [pod["metadata"]["name"] for pod in items(up, "staging", "pods") if "deletionTimestamp" not in pod["metadata"]]  # fmt: skip
    assert not [name for name in names if "-fetch-" in name]


def test_a_job_whose_pod_is_refused_is_not_created(up: UpLab) -> None:
    """The dry run says why; a quota that comes later is told by the Job's own event."""
    kubectl(up, "create", "namespace", "full-up")
    kubectl(up, "-n", "full-up", "create", "quota", "none", "--hard=pods=0")
    words = (f"--image={IMAGE}", "--role=namespaced", "--namespace=full-up")
    done = job(up, "apply", *words)
    assert done.returncode == 7
    assert "exceeded quota: none" in done.stderr
    assert items(up, "full-up", "jobs") == []
    rendered = nettests("job", "render", *words).stdout
    kubectl(up, "apply", "-f", "-", stdin=rendered)
    told = job(up, "logs", "nettests", "--namespace=full-up", "--follow")
    assert (told.returncode, "was refused: Error creating" in told.stderr) == (7, True)


def test_who_may_not_give_a_role_is_told(up: UpLab, tmp_path: Path) -> None:
    """An identity that only reads creates nothing at all."""
    config = yaml.safe_load(Path(up.kubeconfig).read_text())
    config["users"][0]["user"] = {"token": kubectl(up, "-n", "nettests", "create", "token", "nettests").strip()}  # fmt: skip
    (tmp_path / "k").write_text(yaml.safe_dump(config))
    done = nettests(
        "job", "apply", f"--kubeconfig={tmp_path / 'k'}", f"--image={IMAGE}", "--name=mine"
    )
    assert (done.returncode, "was refused" in done.stderr) == (7, True)
    assert "mine" not in [
        one["metadata"]["name"] for one in items(up, "nettests", "serviceaccounts")
    ]


def test_in_a_pod_the_service_account_is_enough(up: UpLab, tmp_path: Path) -> None:
    """Each role is what its Job needs: nothing is missing for a whole run, nor for one in its namespace."""
    for namespace, words in (("nettests", ()), ("staging", ("--namespace=staging",))):
        done = in_a_pod(up, namespace, tmp_path, "preflight", "--json", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        found = {one["topic"]: one["level"] for one in json.loads(done.stdout)["findings"]}
        assert found["permissions"] == "ok"
    denied = in_a_pod(up, "staging", tmp_path, "preflight", "--json")
    assert denied.returncode == 1


def test_a_run_in_a_pod_comes_back_by_its_log(up: UpLab, tmp_path: Path) -> None:
    """The very words of the Job's container, run with its identity: exit code 0, and a report at the end of the log."""
    (pod,) = items(up, "nettests", "pods")
    args = [one.replace("/results", str(tmp_path)) for one in pod["spec"]["containers"][0]["args"]]
    done = in_a_pod(up, "nettests", tmp_path, *args, "--flow=pod-to-pod-ip")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    _, files = unpack(read_archive(done.stdout))
    assert {"results.json", "junit.xml", "report.html", "journal.jsonl"} <= set(map(str, files))
    context = json.loads(next(text for path, text in files.items() if str(path) == "results.json"))
    assert context["counts"]["pass"] > 0
