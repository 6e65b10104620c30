"""The rules about Flannel: its VXLAN, its processes and its lease."""

import json

import pytest

from nettests.rules import UnreadableError
from tests.rules.made import found

TASKS = '"System Idle Process","0","Services","0","8 K"\r\n"kubelet.exe","3716","Services","0","80 K"\r\n'


@pytest.mark.parametrize(
    ("rule", "backend", "conforms"),
    [
        ("vxlan-network-id", {"VNI": 4096}, True),
        ("vxlan-network-id", {"VNI": 4095}, False),
        ("vxlan-network-id", {}, False),
        ("vxlan-port", {"Port": 4789}, True),
        ("vxlan-port", {"Port": 8472}, False),
        ("vxlan-port", {}, False),
        ("vxlan-options", {}, True),
        ("vxlan-options", {"DirectRouting": True}, False),
        ("vxlan-options", {"GBP": True}, False),
    ],
)
def test_flannels_vxlan_is_what_windows_accepts(
    rule: str, backend: dict[str, object], conforms: bool
) -> None:
    """Linux' defaults, VNI 1 and port 8472, are not."""
    network = json.dumps({"Backend": {"Type": "vxlan", **backend}})
    texts = {"flannel-config": json.dumps({"data": {"net-conf.json": network}})}
    assert found(rule, texts).conforms is conforms


def tasks(*names: str) -> str:
    """Return what tasklist prints beside kubelet."""
    return TASKS + "".join(f'"{name}","1234","Services","0","43,148 K"\r\n' for name in names)


def test_flannels_three_processes_run() -> None:
    """All of them, in any order."""
    listed = tasks("flanneld.exe", "kube-proxy.exe")
    assert found("processes-running", {"processes": listed}).conforms


@pytest.mark.parametrize("running", ["kube-proxy.exe", "flanneld.exe"])
def test_a_process_that_is_missing_is_named(running: str) -> None:
    """One of the two others does not run."""
    finding = found("processes-running", {"processes": tasks(running)})
    assert not finding.conforms
    assert f"no {({'kube-proxy.exe', 'flanneld.exe'} - {running}).pop()};" in finding.detail


def test_a_lease_that_is_not_there_is_not_known() -> None:
    """An installer may keep it elsewhere."""
    with pytest.raises(UnreadableError, match="not there"):
        found("subnet-file", {"flannel-subnet-file": ""})


@pytest.mark.parametrize(
    ("text", "conforms"),
    [
        ("FLANNEL_NETWORK=10.244.0.0/16\r\nFLANNEL_SUBNET=10.244.3.1/24\r\n", True),
        ("FLANNEL_SUBNET=10.244.9.1/24\r\n", False),
        ("FLANNEL_MTU=1500\r\n", False),
    ],
)
def test_flannels_lease_is_the_nodes_pod_cidr(text: str, conforms: bool) -> None:
    """A file of before the node rejoined, or without a subnet, deviates."""
    assert found("subnet-file", {"flannel-subnet-file": text}).conforms is conforms
