"""Whether an agent turns NetworkPolicies into rules on a node, as DaemonSets and a ConfigMap show it."""

from typing import Any

import pytest

from nettests.cluster.policies import AMAZON_SETTINGS, enforced
from nettests.model.words import OS
from tests.cluster.recorded import config_map, daemon_set, plugin_objects

KEY = "enable-network-policy-controller"
NPM, NPM_WIN = daemon_set("azure-npm"), daemon_set("azure-npm-win")
CALICO = daemon_set("calico-node", "calico-system")


def selecting(name: str, os: str) -> dict[str, Any]:
    """Return a DaemonSet whose Pods select nodes of an OS."""
    pod = {"nodeSelector": {"kubernetes.io/os": os}, "containers": [{"name": "agent"}]}
    return {**daemon_set(name), "spec": {"template": {"spec": pod}}}


def aws_node(*arguments: str, agent: str = "aws-eks-nodeagent") -> dict[str, Any]:
    """Return the DaemonSet of Amazon's chart with its policy agent."""
    containers = [{"name": "aws-node"}, {"name": agent, "args": [*arguments]}]
    return {**daemon_set("aws-node"), "spec": {"template": {"spec": {"containers": containers}}}}


@pytest.mark.parametrize(
    ("daemon_sets", "linux", "windows"),
    [
        ([], False, False),
        ([daemon_set("azure-cns"), daemon_set("azure-cns-win")], False, False),
        ([NPM], True, False),
        ([NPM, NPM_WIN], True, True),
        ([daemon_set("rke2-canal")], True, False),
        ([CALICO], True, None),
        ([CALICO, daemon_set("calico-node-windows", "calico-system")], True, True),
        ([selecting("calico-node", "windows")], False, True),
        ([daemon_set("ovnkube-node")], True, False),
    ],
)
def test_an_engine_s_daemon_set_enforces_policies_on_nodes_of_its_system(
    daemon_sets: list[dict[str, Any]], linux: bool, windows: bool | None
) -> None:
    """Without one nothing does; Calico's agent on Windows may be a service, which no object shows."""
    objects = plugin_objects(*daemon_sets)
    assert enforced(OS.LINUX, objects).value is linux
    assert enforced(OS.WINDOWS, objects).value is windows


@pytest.mark.parametrize(
    ("item", "switch", "linux"),
    [
        (aws_node("--enable-ipv6=false", "--enable-network-policy=true"), "true", True),
        (aws_node("--enable-network-policy=true"), "false", False),
        (aws_node("--enable-network-policy=true"), None, None),
        (aws_node("--enable-network-policy=false"), "true", False),
        (aws_node("--enable-network-policy=true", agent="other"), "true", False),
    ],
)
def test_amazon_s_agent_has_two_switches(
    item: dict[str, Any], switch: str | None, linux: bool | None
) -> None:
    """Both the agent's argument and the controller's ConfigMap have to be on, and Windows nodes have no agent."""
    config_maps = {AMAZON_SETTINGS: config_map("amazon-vpc-cni", **{KEY: switch})} if switch else {}
    objects = plugin_objects(item, config_maps=config_maps)
    assert enforced(OS.LINUX, objects).value is linux
    assert enforced(OS.WINDOWS, objects).value is False


def test_unlisted_daemon_sets_leave_it_unknown() -> None:
    """What could not be looked at is not denied."""
    found = enforced(OS.LINUX, plugin_objects(reason="forbidden"))
    assert (found.value, found.origin) == (None, "DaemonSets cannot be listed: forbidden")
