"""Secrets of other tenants, planted in every kind of object that a run reads: no document holds one, nor the terminal."""

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from nettests.diagnose.allowed import LEFT_OUT
from nettests.model.cluster_profile import AGNHOST
from nettests.redaction import REDACTED
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.objects import Objects, connect
from tests.acceptance.overhearing import overheard
from tests.acceptance.runs import BROKEN, FinishedRun, run_on

TENANT = "tenant"
SERVICE = "svc-server-windows-1-2"
FLOWS = ("--", "-k", "configuration or windows_plugin_demands or pod_to_service_clusterip")
READ = (
    *("Node annotation", "Node taint", "Service annotation", "Service of the system annotation"),
    *("Pod app-win-1 env", "Pod app-win-1 argument", "Pod app-win-1 URL", "Pod app-win-1 applied"),
    *("Pod of the system annotation", "ConfigMap of the system annotation"),
)
"""Where secrets stand that a run of these flows is told: of each kind of object that it reads."""
NEVER_READ = ("Secret", "ConfigMap", "Namespace annotation")
"""Where secrets stand that nothing ever requests."""


class Planter:
    """Hands out distinct secrets, and remembers them with where they were put."""

    def __init__(self) -> None:
        self.planted: dict[str, str] = {}
        self._numbers = itertools.count(1)

    def __call__(self, where: str) -> str:
        secret = f"Pl4nted-{next(self._numbers):03}-zK9qW"
        self.planted[secret] = where
        return secret

    def token(self, where: str) -> str:
        """Return a secret that is known by its shape alone, for fields that may stand in documents."""
        secret = f"glpat-Pl4nted{next(self._numbers):03}zK9qWxY7bN"
        self.planted[secret] = where
        return secret

    def read(self, told: Callable[[str], bool]) -> dict[str, int]:
        """Return how many secrets of each place were ``told``."""
        found: defaultdict[str, int] = defaultdict(int)
        for secret, where in self.planted.items():
            found[where] += told(secret)
        return dict(found)

    def annotations(self, kind: str) -> dict[str, str]:
        """Annotations such as people leave: what ``kubectl apply`` keeps, a token, a login."""
        applied = {"spec": {"env": [{"name": "DB_PASSWORD", "value": self(f"{kind} applied")}]}}
        return {
            "kubectl.kubernetes.io/last-applied-configuration": json.dumps(applied),
            "vault.test/token": self(f"{kind} annotation"),
            "note": f"password={self(f'{kind} note')}",
        }


def pod(plant: Planter, name: str, node: str) -> dict[str, object]:
    """A Pod of a node as its owner should not write it."""
    credentials = plant(f"Pod {name} URL")
    container = {
        "name": "app",
        "image": AGNHOST,
        "args": ["netexec", f"--token={plant(f'Pod {name} argument')}"],
        "env": [
            {"name": "DB_PASSWORD", "value": plant(f"Pod {name} env")},
            {"name": "DATABASE_URL", "value": f"postgres://app:{credentials}@db/app"},
        ],
    }
    return {
        "metadata": {"name": name, "annotations": plant.annotations(f"Pod {name}")},
        "spec": {"nodeName": node, "containers": [container]},
    }


def sow(objects: Objects, plant: Planter) -> None:
    """Plant secrets in nodes, Pods, Services, ConfigMaps and Secrets of others, and of the system."""
    api = objects.api
    for node in api.list_node().items:
        token = plant.token("Node taint")
        taint = {"key": "tenant.test/lease", "value": token, "effect": "PreferNoSchedule"}
        taints = [*(api.api_client.sanitize_for_serialization(node.spec.taints) or ()), taint]
        patch = {"metadata": {"annotations": plant.annotations("Node")}, "spec": {"taints": taints}}
        api.patch_node(node.metadata.name, patch)
    api.create_namespace(
        {"metadata": {"name": TENANT, "annotations": plant.annotations("Namespace")}}
    )
    api.create_namespaced_secret(
        TENANT, {"metadata": {"name": "mine"}, "stringData": {"key": plant("Secret")}}
    )
    api.create_namespaced_config_map(
        TENANT,
        {"metadata": {"name": "mine"}, "data": {"ini": f"password = {plant('ConfigMap')}\n"}},
    )
    meta = {"name": "db", "annotations": plant.annotations("Service")}
    ports = [{"port": 5432, "targetPort": 5432}]
    api.create_namespaced_service(
        TENANT, {"metadata": meta, "spec": {"selector": {"app": "db"}, "ports": ports}}
    )
    for node in ("linux-1", "win-1"):
        api.create_namespaced_pod(TENANT, pod(plant, f"app-{node}", node))
    for item in api.list_namespaced_config_map("kube-system").items:
        patch = {"metadata": {"annotations": plant.annotations("ConfigMap of the system")}}
        api.patch_namespaced_config_map(item.metadata.name, "kube-system", patch)
    for item in api.list_namespaced_pod("kube-system").items:
        patch = {"metadata": {"annotations": plant.annotations("Pod of the system")}}
        api.patch_namespaced_pod(item.metadata.name, "kube-system", patch)
    for item in api.list_namespaced_service("kube-system").items:
        patch = {"metadata": {"annotations": plant.annotations("Service of the system")}}
        api.patch_namespaced_service(item.metadata.name, "kube-system", patch)


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A lab for the tests of this module."""
    with lab("win2019-l2bridge") as up:
        yield up


def test_no_secret_of_others_is_in_any_document(
    up_lab: UpLab, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """All configuration is read, a Service fails, diagnostics are collected: none of the secrets shows."""
    plant = Planter()
    objects = connect(up_lab.kubeconfig)
    try:
        sow(objects, plant)
    finally:
        objects.close()
    up_lab.fault("inject", "service-rules-missing", "--service", SERVICE, "--node", "win-1")
    folder = tmp_path_factory.mktemp("planted")
    with overheard(up_lab.kubeconfig, folder) as api:
        run = run_on(replace(up_lab, kubeconfig=api.kubeconfig), folder, *FLOWS, timing=BROKEN)
    assert "fail" in run.verdicts.values(), run.printed
    read = plant.read(api.says)
    assert [where for where in READ if not read[where]] == [], "nothing of them was in the way"
    assert [where for where in NEVER_READ if read[where]] == []
    assert sum(read.values()) > 50
    assert found(run, plant) == {}
    assert REDACTED in (run.directory / "journal.jsonl").read_text("utf-8")
    assert LEFT_OUT in (run.directory / "diagnostics/nodes/win-1/node.yaml").read_text("utf-8")


def found(run: FinishedRun, plant: Planter) -> dict[str, list[str]]:
    """Return by document the places whose secrets stand in it; the terminal counts as one."""
    files = [path for path in run.directory.rglob("*") if path.is_file()]
    assert len(files) > 20, "diagnostics are among them"
    texts = {str(path.relative_to(run.directory)): path.read_text("utf-8") for path in files}
    texts["terminal"] = run.printed
    leaks = {
        name: [where for secret, where in plant.planted.items() if secret in text]
        for name, text in texts.items()
    }
    return {name: places for name, places in leaks.items() if places}
