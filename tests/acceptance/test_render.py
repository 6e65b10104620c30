"""What ``nettests render`` prints is what a run creates, by the API server's own record of it.

Both are compared with all defaults filled in: a printed object is sent to the API server as a dry run.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nettests.model.json_text import Object
from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.recorded import (
    Record,
)
from tests.acceptance.runs import run_on

pytestmark = pytest.mark.nightly

FLOWS = (
    *("node-to-pod", "dsr-source-address", "service-headless", "service-unready-backend"),
    *("service-without-selector", "service-two-target-ports", "hostport-from-other-node"),
    *("windows-node-configuration", "pod-starts"),
)
OPTIONS = tuple(f"--flow={name}" for name in FLOWS)
"""Flows that between them need every kind of object, and every kind of pod."""
RUN = "nettests.dev/run"
CONTROLLER = "endpointslice-controller.k8s.io"
BY_THE_CLUSTER = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
"""What every new namespace is given, beside Events and what follows from Services."""

# samples: 20261121-222000-a1b2, 2026-11-21T22:20:00Z, 2026-11-21T22:20:00.123456Z
_OF_A_RUN = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}|\d{4}-\d\d-\d\dT[\d:.]+Z")
_BY_THE_SERVER = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "generation", "clusterIP", "clusterIPs"}
    | {"nodePort", "status"}
)
_KNOWN_LATER = frozenset({"endpoints", "ownerReferences"})
"""Of EndpointSlices: the addresses of pods, and the uid of the Service."""


@pytest.fixture(scope="module")
def up() -> Iterator[UpLab]:
    with lab("win2022-l2bridge-dsr") as running:
        yield running


@pytest.fixture
def record(up: UpLab) -> Iterator[Record]:
    begun = Record.begin(up.kubeconfig)
    yield begun
    begun.close()


def rendered(up: UpLab, *arguments: str) -> list[Object]:
    """What ``render`` prints for a lab."""
    options = (f"--kubeconfig={up.kubeconfig}", f"--cluster-profile={up.cluster_profile}")
    done = nettests("render", *options, *OPTIONS, *arguments)
    assert done.returncode == 0, done.stderr
    return [item for item in YAML(typ="safe").load_all(done.stdout) if item]


def collection(item: Object) -> str:
    """The path in which an object is created."""
    prefix = "/api/v1" if item["apiVersion"] == "v1" else f"/apis/{item['apiVersion']}"
    namespace = item["metadata"].get("namespace")
    where = f"/namespaces/{namespace}" if namespace else ""
    kind = item["kind"].lower()
    return f"{prefix}{where}/{f'{kind[:-1]}ie' if kind.endswith('y') else kind}s"


def comparable(item: Object) -> str:
    """An object without what differs from run to run, or is the API server's to say."""
    ignored = _BY_THE_SERVER | (_KNOWN_LATER if item["kind"] == "EndpointSlice" else frozenset())

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(one) for key, one in value.items() if key not in ignored}
        return [without(one) for one in value] if isinstance(value, list) else value

    text = json.dumps(without(item), sort_keys=True)
    return _OF_A_RUN.sub("*", re.sub(r'"start-\d+"', '"start-*"', text))


def is_ours(item: Object) -> bool:
    """Whether a run made an object, and not a controller because of it: those copy its labels."""
    labels = item["metadata"].get("labels") or {}
    controllers = (CONTROLLER, "endpointslicemirroring-controller.k8s.io")
    by_controller = labels.get("endpointslice.kubernetes.io/managed-by") in controllers
    return RUN in labels and item["kind"] != "Endpoints" and not by_controller


def compare(record: Record, printed: list[Object]) -> None:
    """Assert that what was created is what is printed, but for Pods of controls that no check needed."""
    full = Counter(
        comparable(record.create(collection(item), item, dryRun="All"))
        for item in printed
        if item["kind"] != "Namespace"
    )
    ours = [item for item in record.created() if is_ours(item)]
    made = Counter(comparable(item) for item in ours if item["kind"] != "Namespace")
    assert not made - full, "created, and not printed"
    spare = [text for text in (full - made).elements() if '"name": "start-*"' not in text]
    assert not spare, "printed, and not created"
    kinds = {item["kind"] for item in ours}
    assert {"Pod", "Service", "EndpointSlice", "Lease"} <= kinds
    assert any('"name": "start-*"' in text for text in made)


def test_every_object_of_a_run_in_a_namespace_of_its_own(
    up: UpLab, record: Record, tmp_path: Path
) -> None:
    """The namespace and all in it are printed as they are created, and nothing else is."""
    assert run_on(up, tmp_path, *OPTIONS).exit_code == 0
    printed = rendered(up)
    (namespace,) = [item for item in printed if item["kind"] == "Namespace"]
    everything = list(record.created())
    (made,) = [item for item in everything if item["kind"] == "Namespace"]
    assert comparable(record.create("/api/v1/namespaces", namespace)) == comparable(made)
    compare(record, printed)
    others = {
        (item["kind"], item["metadata"]["name"])
        for item in everything
        if RUN not in (item["metadata"].get("labels") or {}) and item["kind"] != "Event"
    }
    assert others == BY_THE_CLUSTER


def test_every_object_of_a_run_in_a_namespace_of_others(up: UpLab, tmp_path: Path) -> None:
    """With ``--namespace`` the same holds, without a Namespace; nothing is created elsewhere."""
    before = Record.begin(up.kubeconfig)
    before.create("/api/v1/namespaces", {"metadata": {"name": "staging"}})
    before.close()
    record = Record.begin(up.kubeconfig)
    assert run_on(up, tmp_path, *OPTIONS, "--namespace=staging").exit_code == 0
    printed = rendered(up, "--namespace=staging")
    assert {item["metadata"]["namespace"] for item in printed} == {"staging"}
    compare(record, printed)
    elsewhere = [
        item for item in record.created() if item["metadata"].get("namespace") != "staging"
    ]
    assert elsewhere == []
    record.close()
