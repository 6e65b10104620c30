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

FLOW = "--flow=pod-to-pod-ip"


@pytest.fixture(scope="module")
def up() -> Iterator[UpLab]:
    with lab("win2019-l2bridge") as running:
        yield running


def namespace(up: UpLab, name: str, **hard: str) -> None:
    """Make a namespace with a quota; underscores of the names stand for dots."""
    record = Record.begin(up.kubeconfig)
    record.create("/api/v1/namespaces", {"metadata": {"name": name}})
    limits = {key.replace("_", "."): amount for key, amount in hard.items()}
    item = {"metadata": {"name": "limited"}, "spec": {"hard": limits}}
    record.create(f"/api/v1/namespaces/{name}/resourcequotas", item)
    record.close()


def preflight(up: UpLab, name: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code of preflight and what it says of quotas."""
    access = (f"--kubeconfig={up.kubeconfig}", f"--cluster-profile={up.cluster_profile}")
    done = nettests("preflight", *access, FLOW, f"--namespace={name}", "--json")
    topics = {one["topic"]: one for one in json.loads(done.stdout)["findings"]}
    return done.returncode, topics["quota"]


def test_a_quota_that_leaves_enough(up: UpLab, tmp_path: Path) -> None:
    """Room for all: preflight says so, and the run is as anywhere, because its Pods state what they use."""
    namespace(up, "roomy", pods="50", services="50", requests_cpu="4", limits_memory="64Gi")
    code, quota = preflight(up, "roomy")
    assert (code, quota["level"]) == (0, "ok"), quota
    run = run_on(up, tmp_path, FLOW, "--namespace=roomy")
    assert run.exit_code == 0, run.printed
    assert set(run.verdicts.values()) == {"pass"}


def test_a_quota_that_is_too_small(up: UpLab, tmp_path: Path) -> None:
    """It is a blocker with its figures; what then has no Pod is unknown, and the run is not green."""
    namespace(up, "tight", pods="2")
    code, quota = preflight(up, "tight")
    assert (code, quota["level"]) == (1, "blocker"), quota
    assert "pods leaves 2 of 2" in json.dumps(quota)
    run = run_on(up, tmp_path, FLOW, "--namespace=tight")
    assert run.exit_code == 6, run.printed
    messages = [one["message"] for one in run.results["checks"] if one["verdict"] == "unknown"]
    assert messages
    assert any("exceeded quota: limited, requested: pods=1" in message for message in messages)
