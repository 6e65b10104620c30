"""Clusters that no installer of the lab's kind has made: what they do not take, and where they tell their facts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import run_on

REFUSED = "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy"
HOST_PROCESS = "spec: Forbidden: hostProcess containers are disallowed by cluster policy"
ADMISSION = ("pod-fields-without-os", "windows-pod-admitted", "hostprocess-pod-rules")
FLOWS = (*ADMISSION, "windows-container-fields", "node-to-service-clusterip", "pod-to-pod-ip")
LEFT_OUT = {
    "hostprocess-pod-rules/api/container-against-pod",
    "hostprocess-pod-rules/api/one-container-of-two",
    "hostprocess-pod-rules/api/without-host-network",
    "pod-fields-without-os/api/containers.privileged",
    "windows-pod-admitted/api/hostProcess-with-hostNetwork",
}


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A cluster of 1.33 with nodes of both systems."""
    with lab("win2022-l2bridge-dsr") as up:
        yield up


@pytest.fixture
def strict(up_lab: UpLab) -> Iterator[UpLab]:
    """The lab while its API server is one without ``--allow-privileged``."""
    up_lab.fault("inject", "privileged-refused")
    yield up_lab
    up_lab.fault("clear")


def told(up: UpLab, command: str, *arguments: str) -> dict[str, Any]:
    """Return what a command that only looks says as JSON."""
    done = nettests(command, f"--kubeconfig={up.kubeconfig}", "--json", *arguments)
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def test_preflight_foresees_that_privileged_pods_are_refused(strict: UpLab) -> None:
    """It says so in the API server's words, with what it costs, and creates nothing."""
    found = {one["topic"]: one for one in told(strict, "preflight")["findings"]}["privileged Pods"]
    assert found["level"] == "warning"
    assert found["details"] == [f"{REFUSED}; {HOST_PROCESS}"]
    assert "--allow-privileged" in found["nextStep"]


def test_checks_that_need_privileged_pods_are_skipped_with_the_refusal(
    strict: UpLab, tmp_path: Path
) -> None:
    """None of them is unknown, none is red, and what is asked besides is judged as ever."""
    run = run_on(strict, tmp_path, *(f"--flow={name}" for name in FLOWS))
    assert "unknown" not in run.verdicts.values(), run.printed
    assert not {"fail", "flaky", "lifted"} & set(run.verdicts.values()), run.printed
    skipped = {
        one["id"]: one["message"] for one in run.results["checks"] if one["verdict"] == "skipped"
    }
    because = {name for name, why in skipped.items() if REFUSED in why and HOST_PROCESS in why}
    assert {name for name in because if name.split("/")[0] in ADMISSION} == LEFT_OUT
    from_nodes = {
        name for name in run.verdicts if name.startswith("node-to-service-clusterip/windows-1/")
    }
    assert from_nodes
    assert from_nodes <= because
    assert run.verdicts["windows-container-fields/api/containers.privileged"] == "pass"
    assert run.flow("pod-to-pod-ip")


def test_service_networks_are_those_that_the_api_names(up_lab: UpLab) -> None:
    """They are known without kubeadm's ConfigMap too, which clusters of other installers do not have."""
    before = told(up_lab, "discover")["service_cidrs"]
    with config.new_client_from_config(up_lab.kubeconfig) as api:
        client.CoreV1Api(api).delete_namespaced_config_map("kubeadm-config", "kube-system")
    after = told(up_lab, "discover")["service_cidrs"]
    assert (
        before
        == after
        == {"value": ["10.96.0.0/16"], "origin": "ServiceCIDRs (networking.k8s.io/v1)"}
    )
