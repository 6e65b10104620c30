"""Each published role on a lab: what it may is probed, the rest is skipped in the name of what is missing."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nettests.resources import manifests_path
from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.cluster.memory import marks

pytestmark = pytest.mark.nightly

RBAC = manifests_path() / "rbac"
FLOWS = ("--flow=pod-to-pod-ip", "--flow=node-to-pod", "--flow=windows-node-configuration")
IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class NodePool:
    """One identity on a lab, by the kubeconfig that is all it has."""

    up: UpLab
    kubeconfig: Path

    def preflight(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Return the exit code of ``preflight`` and what it found, by topic."""
        done = nettests("preflight", "--json", *self._options, *FLOWS, *arguments)
        assert done.stderr == "", done.stderr
        told = json.loads(done.stdout)
        return done.returncode, {one["topic"]: one for one in told["findings"]} | {"all": told}

    def run(self, reports: Path, *arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
        """Return the exit code of a run and its checks by id."""
        options = (f"--report-dir={reports}", "-q", *self._options, *FLOWS, *arguments)
        done = nettests("run", *options)
        assert "left behind" not in done.stdout, done.stdout
        results = json.loads((reports / "latest" / "results.json").read_text())
        return done.returncode, {check["id"]: check for check in results["checks"]}

    def gc(self) -> tuple[int, dict[str, dict[str, Any]]]:
        """Return the exit code of ``gc --yes`` and what it says of each namespace."""
        done = nettests("gc", "--yes", "--json", *self._options)
        assert done.stderr == "", done.stderr
        told = json.loads(done.stdout)["leftovers"]
        return done.returncode, {one["namespace"]: one for one in told}

    @property
    def _options(self) -> tuple[str, ...]:
        profile = f"--cluster-profile={self.up.cluster_profile}"
        return (f"--kubeconfig={self.kubeconfig}", profile)


def kubectl(up: UpLab, *arguments: str) -> str:
    """Probe the lab's API as its administrator."""
    words = ["kubectl", f"--kubeconfig={up.kubeconfig}", *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A lab with the roles, an identity for each, and a namespace that lets no pod onto its node."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    with lab("win2022-l2bridge-dsr") as up:
        for name in (IDENTITY, "staging"):
            kubectl(up, "create", "namespace", name)
        kubectl(up, "label", "namespace", "staging", "pod-security.kubernetes.io/enforce=baseline")
        kubectl(
            up,
            "apply",
            "-f",
            str(RBAC / "discovery.yaml"),
            "-f",
            str(RBAC / "full.yaml"),
            "-f",
            str(RBAC / "gc.yaml"),
        )
        kubectl(up, "-n", "staging", "apply", "-f", str(RBAC / "namespaced.yaml"))
        for name in ("discovery", "namespaced", "full", "gc"):
            kubectl(up, "-n", IDENTITY, "create", "serviceaccount", name)
            account = f"--serviceaccount={IDENTITY}:{name}"
            reading = f"{name}-reads"
            kubectl(up, "create", "clusterrolebinding", reading, "--clusterrole=nettests-discovery", account)  # fmt: skip
            kubectl(up, "-n", "kube-system", "create", "rolebinding", reading, "--role=nettests-discovery", account)  # fmt: skip
        namespaced = f"--serviceaccount={IDENTITY}:namespaced"
        kubectl(up, "-n", "staging", "create", "rolebinding", "nettests", "--role=nettests", namespaced)  # fmt: skip
        full = f"--serviceaccount={IDENTITY}:full"
        kubectl(up, "create", "clusterrolebinding", "full", "--clusterrole=nettests-full", full)
        collector = f"--serviceaccount={IDENTITY}:gc"
        kubectl(up, "create", "clusterrolebinding", "gc", "--clusterrole=nettests-gc", collector)
        yield up


def role(up: UpLab, name: str, folder: Path) -> NodePool:
    """Return the identity with the role ``name``: a kubeconfig with its token alone."""
    token = kubectl(up, "-n", IDENTITY, "create", "token", name).strip()
    config = YAML(typ="safe").load(Path(up.kubeconfig).read_text())
    config["users"][0]["user"] = {"token": token}
    YAML(typ="safe").dump(config, folder / name)
    return NodePool(up, folder / name)


def dead_run(up: UpLab) -> str:
    """Create what a killed run leaves: its namespace, a Service and a Pod in it; return the namespace."""
    own, items = marks("dead"), []
    for kind, spec in (
        ("Namespace", {}),
        ("Service", {"ports": [{"port": 80}], "selector": {"app": "none"}}),
        ("Pod", {"containers": [{"name": "c", "image": "x"}], "nodeSelector": {"none": "fits"}}),
    ):
        name = "nettests-dead" if kind == "Namespace" else "left"
        place = {} if kind == "Namespace" else {"namespace": "nettests-dead"}
        item = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **place}, "spec": spec}
        items.append(own.marked(item))
    words = ["kubectl", f"--kubeconfig={up.kubeconfig}", "apply", "-f", "-"]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    subprocess.run(words, input=listed, capture_output=True, text=True, check=True)
    return "nettests-dead"


def verdicts(checks: dict[str, dict[str, str]], flow: str) -> set[str]:
    """Return the verdicts of one flow's checks."""
    return {
        check["verdict"] for check_id, check in checks.items() if check_id.startswith(f"{flow}/")
    }


def test_discovery_reads_and_says_what_is_missing(up_lab: UpLab, tmp_path: Path) -> None:
    """Rules that only read are judged; a required flow is not run, so the run ends with 7, without noise."""
    reader = role(up_lab, "discovery", tmp_path)
    code, found = reader.preflight()
    assert (code, found["permissions"]["level"]) == (1, "blocker")
    assert "ClusterRole" in [item["kind"] for item in found["all"]["missing"]]
    code, checks = reader.run(tmp_path / "reports")
    assert code == 7
    assert "unknown" not in {check["verdict"] for check in checks.values()}
    assert verdicts(checks, "windows-node-configuration") & {"pass", "limited"}
    assert verdicts(checks, "pod-to-pod-ip") == {"skipped"}
    said = {c["message"] for i, c in checks.items() if i.startswith("pod-to-pod-ip/")}
    assert said == {"this identity may not create namespaces"}
    names = kubectl(up_lab, "get", "namespaces", "-o", "name")
    assert "nettests-" not in names


def test_the_namespaced_role_probes_without_node_vantages(up_lab: UpLab, tmp_path: Path) -> None:
    """Pods are probed in the existing namespace; what its Pod Security forbids is skipped; nothing stays there."""
    tester = role(up_lab, "namespaced", tmp_path)
    code, found = tester.preflight("--namespace=staging")
    assert code == 0, found
    assert found["permissions"]["level"] == "ok", found["permissions"]
    assert found["Pod Security"]["level"] == "warning"
    assert any("hostNetwork=true" in line for line in found["Pod Security"]["details"])
    code, checks = tester.run(tmp_path / "reports", "--namespace=staging")
    assert code == 0, checks
    assert verdicts(checks, "pod-to-pod-ip") == {"pass"}
    assert verdicts(checks, "node-to-pod") == {"skipped"}
    said = {c["message"] for i, c in checks.items() if i.startswith("node-to-pod/")}
    assert all("Pod Security level 'baseline'" in message for message in said), said
    assert kubectl(up_lab, "-n", "staging", "get", "pods,services,leases", "-o", "name") == ""


def test_the_full_role_probes_everything(up_lab: UpLab, tmp_path: Path) -> None:
    """Nothing is missing, and nodes probe too."""
    tester = role(up_lab, "full", tmp_path)
    code, found = tester.preflight()
    assert (code, found["permissions"]["level"]) == (0, "ok"), found["permissions"]
    code, checks = tester.run(tmp_path / "reports")
    assert code == 0, checks
    assert verdicts(checks, "node-to-pod") <= {"pass", "limited", "recorded"}
    assert verdicts(checks, "pod-to-pod-ip") == {"pass"}


def test_the_role_of_gc_removes_a_dead_run_without_listing_secrets(
    up_lab: UpLab, tmp_path: Path
) -> None:
    """A stranger's Secret, which it may not see, holds the namespace; without it all goes."""
    namespace = dead_run(up_lab)
    kubectl(up_lab, "-n", namespace, "create", "secret", "generic", "theirs")
    collector = role(up_lab, "gc", tmp_path)
    code, left = collector.gc()
    assert code == 1
    assert "secrets: 403 Forbidden, and 1 of them were counted" in left[namespace]["problem"]
    assert "theirs" not in str(left)
    kubectl(up_lab, "-n", namespace, "delete", "secret", "theirs")
    code, left = collector.gc()
    assert code == 0, left
    assert left[namespace]["removed"]
    assert namespace not in kubectl(up_lab, "get", "namespaces", "-o", "name")
