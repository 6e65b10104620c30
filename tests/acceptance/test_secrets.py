"""Secrets of other tenants, planted in every kind of object that a run reads: no document holds one, nor the terminal."""

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from nettests.diagnose.allowed import LEFT_OUT
from nettests.model.cluster_profile import AGNHOST
from nettests.redaction import REDACTED
from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.objects import Objects, connect
from tests.acceptance.overhearing import overheard
from tests.acceptance.runs import BROKEN, FinishedRun, run_on
from tests.report.opened import unpacked

TENANT = "tenant"
SERVICE = "svc-server-windows-1-2"
FLOWS = ("--", "-k", "configuration or windows_plugin_demands or pod_to_service_clusterip")
READ = (
    *("Node annotation", "Node taint", "Service annotation", "Service of the system annotation"),
    *("Pod app-win-1 env", "Pod app-win-1 argument", "Pod app-win-1 URL", "Pod app-win-1 applied"),
    *("Pod of the system annotation", "ConfigMap of the system annotation", "Node label", "Event"),
)
"""Where secrets stand that a run of these flows is told: of each kind of object that it reads."""
NEVER_READ = ("Secret", "ConfigMap", "Namespace annotation")
"""Where secrets stand that nothing ever requests."""


ONLINE = (
    *(("discover",), ("preflight",), ("plan",), ("render",), ("images", "--digests"), ("gc",)),
    *(("explain", "CHECK"), ("calibrate",), ("diagnose", "--node=win-1", "--to=diagnosed")),
    ("forecast", "--to=kubernetes=1.36"),
)
OFFLINE = (
    *(("rejudge", "RUN"), ("diff", "RUN", "RUN", "--html=diff.html"), ("history", "RUN/..")),
    *(("export", "RUN", "--output=bundle.zip"), ("export", "RUN", "--show")),
    *(
        ("archive", "RUN", "--to=-"),
        ("baseline", "accept", "RUN", "--reason=x", "--expires=2999-01-01", "--to=accepted.yaml"),
    ),
    ("forecast", "RUN", "--to=kubernetes=1.36", "--output=markdown"),
)
"""Every command that reads a cluster or a run, and what it prints or writes to the working directory."""


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
        metadata = {
            "annotations": plant.annotations("Node"),
            "labels": {"tenant.test/lease": plant.token("Node label")},
        }
        patch = {"metadata": metadata, "spec": {"taints": taints}}
        api.patch_node(node.metadata.name, patch)
        name = node.metadata.name
        event = {
            "metadata": {"name": f"{name}.planted"},
            "involvedObject": {"kind": "Node", "name": name},
            "message": f"mounting failed: password={plant('Event')}",
        }
        api.create_namespaced_event("default", event)
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
    token = YAML(typ="safe").load(Path(up_lab.kubeconfig))["users"][0]["user"]["token"]
    plant.planted[token] = "kubeconfig"
    assert len(set(plant.planted.values())) >= 30
    assert found(run, plant) == {}
    assert REDACTED in (run.directory / "journal.jsonl").read_text("utf-8")
    assert LEFT_OUT in (run.directory / "diagnostics/nodes/win-1/node.yaml").read_text("utf-8")

    work = folder / "work"
    work.mkdir()
    told = {" ".join(words): called(words, run, up_lab, work) for words in (*ONLINE, *OFFLINE)}
    told |= {
        str(path): path.read_text("utf-8", "replace") for path in work.rglob("*") if path.is_file()
    }
    assert len(told) > len(ONLINE) + len(OFFLINE) + 8, "files are among them"
    assert leaks(told, plant) == {}


def called(words: tuple[str, ...], run: FinishedRun, up_lab: UpLab, work: Path) -> str:
    """Return what a command prints that is called on the cluster, or on the run."""
    to = (f"--kubeconfig={up_lab.kubeconfig}", f"--cluster-profile={up_lab.cluster_profile}")
    names = {"RUN": str(run.directory), "CHECK": next(iter(run.verdicts))}
    filled = [re.sub("RUN|CHECK", lambda match: names[match[0]], word) for word in words]
    taken = to[: 1 if words[0] == "gc" else 2] if words in ONLINE else ()
    done = nettests(*filled, *taken, folder=work)
    assert done.returncode != 2, (words, done.stderr)
    return done.stdout + done.stderr


def found(run: FinishedRun, plant: Planter) -> dict[str, list[str]]:
    """Return by document the places whose secrets stand in it; the terminal counts as one."""
    files = [path for path in run.directory.rglob("*") if path.is_file()]
    assert len(files) > 20, "diagnostics are among them"
    texts = {
        str(path.relative_to(run.directory)): unpacked(path.read_text("utf-8")) for path in files
    }
    texts["terminal"] = run.printed
    return leaks(texts, plant)


def leaks(texts: Mapping[str, str], plant: Planter) -> dict[str, list[str]]:
    """Return by text the places whose secrets stand in it."""
    by_name = {
        name: [where for secret, where in plant.planted.items() if secret in text]
        for name, text in texts.items()
    }
    return {name: places for name, places in by_name.items() if places}
