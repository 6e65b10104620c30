"""Clusters that no installer of the lab's kind has made: what they do not take, and where they tell their facts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config
from ruamel.yaml import YAML

from nettests.resources import manifests_path
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


@pytest.fixture(scope="module")
def host_proxies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpLab]:
    """A cluster whose kube-proxies are services of their hosts: no Pod, no log, no ConfigMap."""
    yaml = YAML()
    document = yaml.load((manifests_path() / "lab" / "win2019-l2bridge.yaml").read_text())
    document["name"] = "host-proxies"
    document["kubeProxy"]["runsAs"] = "service"
    path = tmp_path_factory.mktemp("profile") / "host-proxies.yaml"
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(document, file)
    with lab(str(path)) as up:
        yield up


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
    """None of them is unknown, none is red, and what is tested besides is judged as ever."""
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


def test_a_node_tells_the_mode_of_its_kube_proxy(host_proxies: UpLab, tmp_path: Path) -> None:
    """What discovery cannot read a vantage of the node does, and checks are judged by it, by workers too."""
    nodes = {one["name"]: one for one in told(host_proxies, "discover")["nodes"]}
    assert nodes["win-1"]["kube_proxy"]["mode"]["value"] is None
    flows = ("--flow=session-affinity", "--flow=node-to-pod")
    run = run_on(host_proxies, tmp_path / "run", *flows, "-n2")
    assert run.exit_code == 0, run.printed
    modes = {one["name"]: one["kube_proxy"]["mode"] for one in run.results["facts"]["nodes"]}
    probed = "http://127.0.0.1:10249/proxyMode, read on the node itself"
    expected = {"win": "kernelspace", "linux": "nftables"}
    assert modes == {
        f"{os}-{number}": {"value": mode, "origin": probed}
        for os, mode in expected.items()
        for number in (1, 2)
    }
    proxies = {one["name"]: one["kube_proxy"] for one in run.results["facts"]["nodes"]}
    served = "http://127.0.0.1:10249/configz, read on the node itself"
    assert proxies["win-1"]["dsr"] == {"value": False, "origin": served}
    assert proxies["win-1"]["version"]["value"] == "1.24.17"
    assert proxies["linux-1"]["localhost_node_ports"] == {"value": True, "origin": served}
    affinity = run.flow("session-affinity").items()
    of_windows = [one for name, one in affinity if name.split("/")[1] == "windows-1"]
    assert {one["verdict"] for one in of_windows} == {"limited"}
    because = of_windows[0]["limitation"]["because"]
    assert any("kernelspace" in one and probed in one for one in because), because

    again = nettests("rejudge", str(run.directory), f"--report-dir={tmp_path / 'again'}")
    assert again.returncode == 0, again.stderr
    verdicts = json.loads((tmp_path / "again" / "results.json").read_text())["checks"]
    assert {one["id"]: one["verdict"] for one in verdicts} == run.verdicts


def test_without_a_vantage_the_mode_stays_unknown(host_proxies: UpLab, tmp_path: Path) -> None:
    """None is made for it: what depends on the mode is unknown, and says where to state it."""
    run = run_on(host_proxies, tmp_path, "--flow=session-affinity")
    of_windows = {
        check["verdict"]
        for name, check in run.flow("session-affinity").items()
        if name.split("/")[1] == "windows-1"
    }
    assert of_windows == {"unknown"}
    assert "state the fact in the cluster profile" in run.printed
