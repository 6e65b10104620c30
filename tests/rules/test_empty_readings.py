"""No check of configuration passes where there is nothing to look at: one demand on all rules."""

import ast
import json
from pathlib import Path

import pytest

from nettests.rules import RULES, Finding, NothingThereError, UnreadableError
from nettests.rules.cni_files import CNI
from nettests.rules.evidence import finding
from tests.rules.healthy import taken
from tests.rules.made import found, log

MODULES = sorted((Path(__file__).parents[2] / "nettests" / "rules").glob("*.py"))
NO_ITEMS = json.dumps({"items": []})
LISTS = frozenset({"nodes", "calico-ip-pools", "node-pods", "services", "endpoint-slices"})
FACTS = {
    "plugin": "flannel",
    "backend": "vxlan",
    "runtime": "containerd://1.7.20",
    "build": "20348.3207",
    "dsr": "off",
}
ON_HOST = [name for name in RULES if name.startswith("host-proxy-")]
BESIDE = {
    ("cni-exceptions", "node-pods"): "Pods tell the families only; the list is compared anyway",
    ("cni-ipam", "node-pods"): "the manager is compared anyway",
    ("cni-routes", "node-pods"): "Pods tell the families only; the routes are compared anyway",
    ("cni-version", "win-bridge-about"): "required of what the configuration calls alone",
    ("cni-version", "win-overlay-about"): "required of later versions of CNI alone",
    ("antrea-alone-on-host", "kube-proxy-service-left"): "there is to be none",
    ("antrea-alone-on-host", "kubeproxy-service-left"): "there is to be none",
    **{
        (rule, reading): "either tells the settings"
        for rule in ON_HOST
        for reading in ("kube-proxy-configz", "kube-proxy-command-line")
    },
    **dict.fromkeys(
        (
            ("kubelet-restarts", "service-names"),
            ("kube-proxy-restarts", "service-names-beside-kube-proxy"),
        ),
        "required where no setting of the service was read",
    ),
    **{
        (
            rule.name,
            "containerd-configuration",
        ): "it names the folder that counts, if there are several"
        for rule in RULES.values()
        if CNI in rule.reads
    },
    ("kube-proxy-restarts", "kubeproxy-service"): "another name of the same service",
    ("outbound-nat", "cni-configuration"): "required where no Pod has OutBoundNAT",
    ("kubelet-resolv-conf", "resolv-conf-files"): "files are looked for where one is given",
    ("pause-image", "kubelet-settings"): "containerd has its own",
    ("host-proxy-mode", "kube-proxy-version"): "the mode is stated",
    ("host-proxy-dsr-gate", "kube-proxy-version"): "the gate is given",
    ("host-proxy-overlay-gate", "kube-proxy-version"): "the gate is given",
    ("kube-proxy-skew", "kube-proxy-log"): "the image tells the version",
    ("local-policy-load-balancers", "hns-endpoints-beside-policies"): "fronts are compared alone",
    ("stale-load-balancers", "services"): "read twice; what either names is not stale",
    ("stale-load-balancers", "services-after"): "read twice; what either names is not stale",
}
"""Readings that may be empty where the rest of them is not, each with the reason."""
ONE_THING = {
    "antrea_alone_on_host",
    "_restarts",
    "kubelet_cluster_dns",
    "kubelet_cluster_domain",
    "kubelet_resolv_conf",
    "pause_image",
    "build_supported",
    "plugin_for_windows",
    "runtime_version",
    "calico_build",
    "calico_networking",
    "flannel_release",
    "cni_network",
    "dsr_update",
    "hns_network",
    "hns_network_type",
    "hns_network_adapter",
    "hostname_override",
    "nodeport_addresses",
    "kube_proxy_skew",
    "loopback_dsr_update",
    "network_name",
    "overlay_update",
    "port_pools_left",
    "proxy_mode",
    "running_build",
    "_skew",
    "source_vip",
    "subnet_file",
    "update_not_broken",
    "vpc_interface",
    "vpc_windows_ipam",
    "vxlan_network_id",
    "vxlan_options",
    "vxlan_port",
    "windows_build_label",
    "windows_taint",
    "_gate",
}
"""Functions about one thing, which is there or makes them raise; all others count what they looked at."""


def _empty(reading: str) -> str:
    if reading == "node":
        return json.dumps({"metadata": {"name": "win-1"}, "spec": {}, "status": {"nodeInfo": {}}})
    if reading == "kube-proxy-log":
        return log()
    if reading.startswith("hns-"):
        return "[]"
    return NO_ITEMS if reading.removesuffix("-after") in LISTS else ""


def _judged(rule: str, readings: dict[str, str]) -> Finding | None:
    try:
        return found(rule, readings, **FACTS)
    except (UnreadableError, KeyError, IndexError, TypeError, ValueError, AttributeError):
        return None


@pytest.mark.parametrize("rule", sorted(RULES))
def test_nothing_to_look_at_never_conforms(rule: str) -> None:
    """Empty lists, empty output: the rule says that it deviates, or that there is nothing."""
    said = _judged(rule, {name: _empty(name) for name in taken(rule)})
    assert said is None or not said.conforms, said


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_conforms_on_a_healthy_node(rule: str) -> None:
    """What follows would show nothing of a rule that never conforms."""
    said = _judged(rule, taken(rule))
    assert said is not None
    assert said.conforms, said.detail


@pytest.mark.parametrize("rule", sorted(RULES))
def test_no_list_that_is_empty_is_conform(rule: str) -> None:
    """One reading after the other has nothing in it: what it is compared with does not replace it."""
    readings = taken(rule)
    for reading in readings:
        said = _judged(rule, {**readings, reading: _empty(reading)})
        passes = said is not None and said.conforms
        assert passes is ((rule, reading) in BESIDE), (reading, said)


def test_findings_are_made_in_one_place() -> None:
    """``finding`` requires of how many; no rule makes a ``Finding`` by itself, nor says 1 of what it counts."""
    made, literal = [], set()
    for module in MODULES:
        for function in ast.parse(module.read_text("utf-8")).body:
            for call in ast.walk(function):
                if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                    continue
                if call.func.id == "Finding":
                    made.append((module.name, getattr(function, "name", "")))
                of = next((word.value for word in call.keywords if word.arg == "of"), None)
                if call.func.id == "finding" and isinstance(of, ast.Constant):
                    literal.add(getattr(function, "name", ""))
    assert made == [("evidence.py", "finding")]
    assert literal == ONE_THING


def test_none_of_nothing_is_no_finding() -> None:
    """What conforms has been looked at; what deviates may be missing."""
    with pytest.raises(NothingThereError, match="nothing to compare: two"):
        finding(True, "none", "two", of=0)
    assert not finding(False, "none", "two", of=0).conforms
    assert finding(True, "two", "two", of=2).conforms
