"""Secrets that other tenants keep in objects and files stay there: nothing of them is in what is recorded."""

import json
from typing import Any

from nettests.rules import reduced
from nettests.rules.readings import OfPeers
from tests.rules.made import READINGS, ended


def planted(value: Any, secrets: list[str]) -> Any:
    """Plant a secret, which looks like none, in every object on every level, beside what is there."""
    if isinstance(value, list):
        return [planted(item, secrets) for item in value]
    if not isinstance(value, dict):
        return value
    secrets.append(f"plainwords-{len(secrets)}-end")
    return {**{key: planted(item, secrets) for key, item in value.items()}, "note": secrets[-1]}


META = {
    "name": "x",
    "namespace": "y",
    "labels": {"a": "b"},
    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
}
CONTAINER = {
    "name": "c",
    "image": "i:1",
    "env": [{"name": "MODE", "value": "m"}],
    "args": ["--note plainwords-arg-end", "--v=6"],
    "command": ["sh", "-c", "echo plainwords-command-end"],
}
PODS = {
    "items": [
        {
            "metadata": {**META, "name": name},
            "spec": {"containers": [CONTAINER], "initContainers": [CONTAINER], "volumes": [{}]},
            "status": {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]},
        }
        for name in ("web", "kube-proxy-of-a-tenant")
    ]
}
NODE = {
    "metadata": META,
    "spec": {"taints": [{"key": "a"}]},
    "status": {"nodeInfo": {"kernelVersion": "10"}, "addresses": [{"address": "10.0.0.1"}]},
}
SERVICES = {
    "items": [
        {
            "metadata": META,
            "spec": {"selector": {}, "ports": [{"port": 1}]},
            "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}},
        }
    ]
}
SLICES = {"items": [{"metadata": META, "endpoints": [{"addresses": [], "conditions": {}}]}]}
HNS = [{"Name": "n", "Policies": [{"Type": "ELB", "Settings": {"VIPs": []}}], "Extra": {"a": {}}}]
CNI = {
    "name": "n",
    "plugins": [{"type": "t", "ipam": {}, "kubernetes": {"a": 1}, "policies": [{}]}],
}
NETWORK = json.dumps(
    {"Backend": {"Type": "vxlan", "note": "plainwords-backend-end"}, "note": "plainwords-net-end"}
)
OBJECTS = {
    "calico-ip-pools": {"items": [{"metadata": META, "spec": {"cidr": "10.244.0.0/16"}}]},
    "calico-ipam-configs": {"items": [{"metadata": META, "spec": {"strictAffinity": True}}]},
    "vpc-settings": {
        "metadata": META,
        "data": {"enable-windows-ipam": "true", "note": "plainwords"},
    },
    "node": NODE,
    "nodes": {"items": [NODE]},
    "daemon-sets": {"items": [{"metadata": META, "spec": {}, "status": {"numberReady": 1}}]},
    "node-pods": PODS,
    "node-pods-after": PODS,
    "services": SERVICES,
    "services-after": SERVICES,
    "endpoint-slices": SLICES,
    "endpoint-slices-after": SLICES,
    "flannel-config": {
        "metadata": META,
        "data": {"net-conf.json": NETWORK, "cni-conf.json": "plainwords-cni-end"},
    },
    "kube-proxy-configz": {"kubeproxy.config.k8s.io": {"Mode": "ipvs", "Winkernel": {}}},
    "hns-networks": HNS,
    "hns-endpoints": HNS,
    "hns-endpoints-beside-policies": HNS,
    "hns-policies": HNS,
    "cni-configuration": CNI,
}
SERVICE = r"""
HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\kube-proxy
    ImagePath    REG_EXPAND_SZ    "C:\plainwords-1-end\nssm.exe" --token=plainwords-2-end
    Description    REG_SZ    plainwords-3-end

HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\kube-proxy\Parameters
    Application    REG_EXPAND_SZ    C:\plainwords-4-end\kube-proxy.exe
    AppParameters    REG_EXPAND_SZ    --token=plainwords-5-end
    AppEnvironmentExtra    REG_MULTI_SZ    KUBE_NETWORK=cbr0\0TOKEN=plainwords-6-end
"""
TEXTS = {
    "kubelet-settings": "C:\\k\\kubelet.exe --cluster-dns=10.96.0.10 --token=plainwords-1-end\n"
    "clusterDomain: a.b\nnote: plainwords-2-end\n",
    "resolv-conf-files": "False\nplainwords-end\n",
    "containerd-configuration": 'sandbox_image = "a/pause:3.6"\npassword = "plainwords-end"\n',
    "machine-variables": "    HTTP_PROXY    REG_SZ    http://u:plainwords-end@x\n    A    REG_SZ    plainwords-2-end\n",
    "source-vip-files": '{"ip4": {"ip": "10.244.2.2/24"}, "note": "plainwords-end"}',
    "flannel-log": "F I1 plainwords-1-end Waiting to get ManagementIP from plainwords-2-end\nplainwords-3-end\n",
    "service-names": "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\plainwords-end\n",
    "service-names-beside-kube-proxy": "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\plainwords-end\n",
    "kubelet-service": SERVICE,
    "kube-proxy-service": SERVICE,
    "kube-proxy-service-left": SERVICE,
    "kubeproxy-service": SERVICE,
    "kubeproxy-service-left": SERVICE,
    "kube-proxy-version": 'kubernetes_build_info{git_version="v1.29.4"} 1\nnote{of="plainwords-end"} 1\n',
    "kube-proxy-command-line": '{"CommandLine": "kube-proxy.exe --v=4 --note=plainwords-end --proxy-mode=ipvs"}',
    "kube-proxy-log": 'FLAG: --proxy-mode="kernelspace"\nFLAG: --note="plainwords-1-end"\nE1 plainwords-2-end\n',
    "windows-version": "Microsoft Windows [Version 10.0.17763.1339] plainwords-end",
    "ipconfig": "Ethernet adapter a:\n   DNS Suffix  . : plainwords-end\n   IPv4 Address. : 10.0.0.1\n",
    "dynamic-ports": "plainwords-end\nStart Port      : 49152\nNumber of Ports : 16384\n",
    "excluded-ports": "plainwords-end\n     50000       50059     *\n",
    "processes": '"plainwords-1-end.exe","1"\n"kubelet.exe","2","plainwords-2-end"\n',
    "flannel-subnet-file": "FLANNEL_SUBNET=10.244.4.1/24\nNOTE=plainwords-end\n",
    "win-bridge-about": "CNI win-bridge plugin v1.1.1\nplainwords-end\nCNI protocol versions supported: 0.1.0\n",
    "win-overlay-about": "plainwords-end\nCNI protocol versions supported: 0.1.0\n",
}


def test_secrets_are_planted_in_every_reading() -> None:
    """What follows would show nothing of a reading that is left out here."""
    reduced_themselves = {name for name, one in READINGS.items() if not isinstance(one, OfPeers)}
    assert reduced_themselves == {*OBJECTS, *TEXTS}


def test_nothing_that_is_planted_is_kept() -> None:
    """In every object on every level, in arguments, logs, files and tools' words: 0 of N are found."""
    secrets: list[str] = []
    texts = {name: json.dumps(planted(made, secrets)) for name, made in OBJECTS.items()} | TEXTS
    kept = {name: reduced(READINGS[name], ended(name, text)) for name, text in texts.items()}
    number = sum(text.count("plainwords") for text in texts.values())
    found = [name for name, text in kept.items() if "plainwords" in text]
    assert (number, found) == (max(number, 100), [])
    assert all(len(text) > 2 and not text.startswith("(not") for text in kept.values()), kept


def test_what_is_no_object_is_left_out() -> None:
    """A text of another form is told by its length alone."""
    assert reduced(READINGS["node"], "plainwords") == "(not as expected: 10 characters)"
    assert "plainwords" not in reduced(
        READINGS["cni-configuration"], ended("cni-configuration", '{"name": "n"}\nplainwords')
    )
    assert "plainwords" not in reduced(
        READINGS["flannel-config"], '{"data": {"net-conf.json": "plainwords"}}'
    )
