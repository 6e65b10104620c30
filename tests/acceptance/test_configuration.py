"""Objects of a cluster edited as an operator would: exactly the rules about them deviate."""

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from tests.acceptance.labs import UpLab, lab
from tests.acceptance.objects import wait_for
from tests.acceptance.runs import run_on

pytestmark = pytest.mark.nightly

FLOWS = (
    "kube-proxy-configuration",
    "windows-node-configuration",
    "flannel-vxlan-configuration",
    "hns-configuration",
    "flannel-host-configuration",
)
DEVIATING = {
    "windows-node-configuration/windows-1/windows-build-label",
    "flannel-vxlan-configuration/api/vxlan-network-id",
    "kube-proxy-configuration/windows-1/hostname-override",
    "kube-proxy-configuration/windows-1/overlay-gate",
    "hns-configuration/windows-1/hns-network",
    "hns-configuration/windows-1/pod-endpoints",
    "flannel-host-configuration/windows-1/cni-network",
}
UNREADABLE = {
    "hns-configuration/windows-1/hns-network-type",
    "hns-configuration/windows-1/hns-network-subnet",
}


def edit(up: UpLab) -> None:
    """Give a node a wrong label, Flannel a low network id, and kube-proxy wrong settings."""
    api = config.new_client_from_config(up.kubeconfig)
    core, apps = client.CoreV1Api(api), client.AppsV1Api(api)
    core.patch_node(
        "win-1", {"metadata": {"labels": {"node.kubernetes.io/windows-build": "10.0.20348"}}}
    )
    network = {"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan", "VNI": 1, "Port": 4789}}
    core.patch_namespaced_config_map(
        "kube-flannel-cfg", "kube-flannel", {"data": {"net-conf.json": json.dumps(network)}}
    )
    name, space = "kube-proxy-windows", "kube-system"
    before = {pod.metadata.uid for pod in _proxies(core)}
    container = {
        "name": "kube-proxy",
        "args": [
            "--hostname-override=somebody",
            "--proxy-mode=kernelspace",
            "--enable-dsr=false",
            "--feature-gates=WinOverlay=false",
        ],
        "env": [{"name": "KUBE_NETWORK", "value": "vxlan0"}],
    }
    apps.patch_namespaced_daemon_set(
        name, space, {"spec": {"template": {"spec": {"containers": [container]}}}}
    )
    for pod in _proxies(core):
        core.delete_namespaced_pod(pod.metadata.name, space)
    wait_for(lambda: _replaced(core, before))
    api.close()
    api.rest_client.pool_manager.clear()
    gc.collect()  # what the client still left open shows here, not in a later test


def _proxies(core: client.CoreV1Api) -> list[Any]:
    listed = core.list_namespaced_pod("kube-system", label_selector="k8s-app=kube-proxy-windows")
    return list(listed.items)


def _replaced(core: client.CoreV1Api, before: set[str]) -> bool:
    now = _proxies(core)
    new = [pod for pod in now if pod.status.phase == "Running" and pod.metadata.uid not in before]
    return len(new) == len(before) == len(now)


def test_edited_settings_deviate_and_nothing_else(tmp_path: Path) -> None:
    """What was edited fails, what can no longer be read is unknown, and all the rest still passes."""
    with lab("win2019-overlay") as up:
        edit(up)
        run = run_on(up, tmp_path, *(f"--flow={name}" for name in FLOWS))
    by_verdict = {
        verdict: {check for check, seen in run.verdicts.items() if seen == verdict}
        for verdict in ("fail", "unknown", "lifted", "flaky")
    }
    assert by_verdict == {
        "fail": DEVIATING,
        "unknown": UNREADABLE,
        "lifted": set(),
        "flaky": set(),
    }, run.printed
