"""Evidence for the tests of rules: a Windows node, its Pods and logs as the API server gives them."""

import json
from collections.abc import Sequence
from typing import Any

from nettests.model.json_text import Object
from nettests.model.powershell import END, whole_output
from nettests.rules import RULES, Evidence, Finding, reduced
from nettests.rules.readings import ToolOutput

READINGS = {reading.name: reading for rule in RULES.values() for reading in rule.reads}
"""Every reading that some rule takes, by its name."""
FACTS = {
    "server": "1.29.4",
    "dns-address": "10.96.0.10",
    "cluster-domain": "cluster.local",
    "node": "win-1",
    "kubelet": "1.29.4",
    "driver": "overlay",
    "pod-cidrs": "10.244.0.0/16",
    "service-cidrs": "10.96.0.0/16",
    "node-pod-cidrs": "10.244.3.0/24",
    "node-addresses": "172.30.0.13",
    "management-address": "172.30.0.13/32",
    "management-addresses": "172.30.0.10/31,172.30.0.12/31",
}


def log(**flags: str) -> str:
    """Return the beginning of kube-proxy's log."""
    return "".join(
        f'I1121 01:22:03.787132       1 flags.go:64] FLAG: --{name.replace("_", "-")}="{value}"\n'
        for name, value in flags.items()
    )


def pods(version: str = "v1.29.4", **container: Any) -> str:
    """Return the Pods of a node: kube-proxy and another one."""
    proxy = {
        "name": "kube-proxy",
        "image": f"docker.io/sigwindowstools/kube-proxy:{version}-flannel-hostprocess",
        **container,
    }
    items = [
        {"metadata": {"name": "web", "namespace": "demo"}, "spec": {"containers": [{}]}},
        {
            "metadata": {"name": "kube-proxy-windows-x2x4z", "namespace": "kube-system"},
            "spec": {"containers": [proxy]},
        },
    ]
    return json.dumps({"items": items})


def node(kernel: str = "10.0.17763.1339", kubelet: str = "v1.29.4", **parts: Any) -> Object:
    """Return a Windows node."""
    return {
        "metadata": {"name": "win-1", "labels": parts.get("labels", {})},
        "spec": {"taints": parts.get("taints", [])},
        "status": {
            "nodeInfo": {
                "kernelVersion": kernel,
                "kubeletVersion": kubelet,
                "operatingSystem": parts.get("system", "windows"),
                "containerRuntimeVersion": parts.get("runtime", "containerd://1.7.20"),
            }
        },
    }


def configuration(key: str, exceptions: list[str], route: str, *, encap: bool = True) -> str:
    """Return a CNI configuration in the manner of win-bridge (``Value``) or sdnbridge (``Settings``)."""
    nat = {"ExceptionList" if key == "Value" else "Exceptions": exceptions}
    way = {"DestinationPrefix": route, "NeedEncap": encap}
    if key == "Value":
        values = [{"Type": "OutBoundNAT", **nat}, {"Type": "ROUTE", **way}]
    else:
        values = [{"Type": "OutBoundNAT", "Settings": nat}, {"Type": "SDNRoute", "Settings": way}]
    policies = [{"Name": "EndpointPolicy", "Value": value} for value in values]
    return json.dumps({"name": "cbr0", "delegate": {"policies": policies}}, indent=2) + "\r\n"


def ended(reading: str, text: str) -> str:
    """Return what the reading's command prints: a script of PowerShell prints a mark of its end last."""
    one = READINGS[reading]
    return printed(one.words if isinstance(one, ToolOutput) else ("",), text)


def printed(words: Sequence[str], text: str) -> str:
    """Return what a command prints whose output is ``text``."""
    return f"{text}\r\n{END}\r\n" if whole_output(words, "") is None else text


def found(rule: str, texts: dict[str, str], **facts: str) -> Finding:
    """Return what a rule finds in these readings, whole; it finds the same in what is kept of them."""
    known = {**FACTS, **facts}
    kept = {name: reduced(READINGS[name], ended(name, text)) for name, text in texts.items()}
    told, whole = (_said(rule, Evidence(texts=one, facts=known)) for one in (kept, texts))
    if isinstance(whole, Finding):
        assert told == whole
        return whole
    assert type(told) is type(whole)
    raise whole


def _said(rule: str, evidence: Evidence) -> Finding | Exception:
    try:
        return RULES[rule].demand(evidence)
    except Exception as error:  # noqa: BLE001 - what is left out must not change it either
        return error
