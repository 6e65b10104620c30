"""A run in a namespace with quotas: one that is too small is named beforehand, and nothing is green without it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.recorded import Record
from tests.acceptance.runs import run_on

pytestmark = pytest.mark.nightly

FLOW = "--flow=pod-to-pod-ip"
FLOWS = (
    "--flow=pod-to-service-clusterip",
    "--flow=pod-starts",
    "--flow=stateful-set-names",
    "--flow=windows-pod-fields",
)
LIMITED = (
    *("pods", "services", "services.nodeports", "cpu", "memory"),
    *("requests.cpu", "requests.memory", "limits.cpu", "limits.memory"),
    *("count/pods", "count/endpoints", "count/endpointslices.discovery.k8s.io"),
    *("count/leases.coordination.k8s.io", "count/statefulsets.apps"),
)


@pytest.fixture(scope="module")
def up() -> Iterator[UpLab]:
    with lab("win2019-l2bridge") as running:
        yield running


def namespace(up: UpLab, name: str, hard: dict[str, str], level: str = "privileged") -> None:
    """Make a namespace with a quota."""
    record = Record.begin(up.kubeconfig)
    labels = {"pod-security.kubernetes.io/enforce": level}
    record.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
    item = {"metadata": {"name": "limited"}, "spec": {"hard": hard}}
    record.create(f"/api/v1/namespaces/{name}/resourcequotas", item)
    record.close()


def preflight(up: UpLab, name: str, *flows: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code of preflight and what it says, by topic."""
    access = (f"--kubeconfig={up.kubeconfig}", f"--cluster-profile={up.cluster_profile}")
    done = nettests("preflight", *access, *flows, f"--namespace={name}", "--json")
    return done.returncode, {one["topic"]: one for one in json.loads(done.stdout)["findings"]}


def test_a_quota_that_leaves_exactly_enough(up: UpLab, tmp_path: Path) -> None:
    """With what preflight says that a run needs, of each resource, the run is as anywhere."""
    namespace(up, "none", dict.fromkeys(LIMITED, "0"))
    code, found = preflight(up, "none", *FLOWS)
    assert (code, found["quota"]["level"]) == (1, "blocker")
    # sample: ResourceQuota limited: limits.memory leaves 0Mi of 0Mi; a run needs 13312Mi
    lines = [line.removeprefix("ResourceQuota limited: ") for line in found["quota"]["details"]]
    told = {line.partition(" ")[0]: line.rpartition(" ")[2] for line in lines}
    assert told.keys() == set(LIMITED)
    namespace(up, "exact", told)
    code, found = preflight(up, "exact", *FLOWS)
    assert (code, found["quota"]["level"]) == (0, "ok"), found["quota"]
    run = run_on(up, tmp_path, *FLOWS, "--namespace=exact")
    assert run.exit_code == 0, run.printed
    assert {check.partition("/")[0] for check, verdict in run.verdicts.items() if verdict == "pass"} == {
        flow.partition("=")[2] for flow in FLOWS
    }  # fmt: skip


def test_a_quota_that_is_too_small(up: UpLab, tmp_path: Path) -> None:
    """It is a blocker with its figures; what then has no Pod is unknown, and the run is not green."""
    namespace(up, "tight", {"pods": "2"})
    code, found = preflight(up, "tight", FLOW)
    assert (code, found["quota"]["level"]) == (1, "blocker"), found["quota"]
    assert "pods leaves 2 of 2" in json.dumps(found["quota"])
    run = run_on(up, tmp_path, FLOW, "--namespace=tight")
    assert run.exit_code == 6, run.printed
    messages = [one["message"] for one in run.results["checks"] if one["verdict"] == "unknown"]
    assert messages
    assert any("exceeded quota: limited, requested: pods=1" in message for message in messages)


@pytest.mark.parametrize("level", ["privileged", "baseline", "restricted"])
def test_a_full_quota_hides_no_level(up: UpLab, level: str) -> None:
    """What Pod Security enforces is known all the same, and the quota is told under its own topic."""
    namespace(up, f"full-{level}", {"pods": "0"}, level)
    code, found = preflight(up, f"full-{level}", FLOW, "--flow=node-to-pod")
    security = found["Pod Security"]
    assert (code, found["quota"]["level"]) == (1, "blocker")
    assert f"is at level {level} " in security["summary"], security
    assert "quota:" not in json.dumps(security["details"])
