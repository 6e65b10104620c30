"""The rules about kube-proxy: what conforms, what deviates, and what cannot be read."""

from typing import Any

import pytest

from nettests.rules import UnreadableError
from tests.rules.made import found, log, pods


def settings(version: str = "v1.29.4", **flags: str) -> dict[str, str]:
    """Return the readings of a kube-proxy that printed these flags."""
    return {"node-pods": pods(version), "kube-proxy-log": log(**flags)}


@pytest.mark.parametrize(
    ("version", "mode", "conforms"),
    [
        ("v1.25.9", "kernelspace", True),
        ("v1.25.9", "", False),
        ("v1.25.9", "userspace", False),
        ("v1.26.0", "", True),
    ],
)
def test_kernelspace_is_stated_or_the_only_mode(version: str, mode: str, conforms: bool) -> None:
    """Before 1.26 the default was userspace."""
    assert found("proxy-mode", settings(version, proxy_mode=mode)).conforms is conforms


@pytest.mark.parametrize(
    ("flags", "conforms"),
    [
        ({"hostname_override": "win-1"}, True),
        ({"hostname_override": "WIN-1"}, True),
        ({"hostname_override": "win-2"}, False),
        ({"hostname_override": ""}, False),
        ({"hostname_override": "win-1", "config": "C:/k/config.conf"}, True),
        ({"hostname_override": "win-2", "config": "C:/k/config.conf"}, False),
    ],
)
def test_kube_proxy_knows_its_node_by_name(flags: dict[str, str], conforms: bool) -> None:
    """A missing or another name makes it delete the endpoints of its own node."""
    assert found("hostname-override", settings(**flags)).conforms is conforms


@pytest.mark.parametrize(
    ("given", "conforms"), [("[]", True), ("", True), ("[10.0.0.0/8]", False), ("primary", False)]
)
def test_node_ports_are_restricted_to_no_addresses(given: str, conforms: bool) -> None:
    """Windows ignores the setting: who gave it counts on what is not so."""
    told = found("nodeport-addresses", settings(nodeport_addresses=given))
    assert told.conforms is conforms
    assert (given or "[]") in told.detail


def test_a_setting_of_node_ports_in_a_file_cannot_be_read() -> None:
    """The file is on the node; its flags say nothing of it."""
    with pytest.raises(UnreadableError):
        found("nodeport-addresses", settings(config="C:/k/config.conf"))


def test_a_name_from_the_environment_is_the_nodes() -> None:
    """Where no log can be read, $(NODE_NAME) of the arguments stands for spec.nodeName."""
    variable = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    listed = pods(args=["--hostname-override=$(NODE_NAME)"], env=[variable])
    assert found("hostname-override", {"node-pods": listed}).conforms


@pytest.mark.parametrize(
    ("container", "flags", "name"),
    [
        ({"env": [{"name": "KUBE_NETWORK", "value": "cbr0"}]}, {"v": "6"}, "cbr0"),
        ({}, {"network_name": "vxlan0"}, "vxlan0"),
        (
            {"args": ['$env:KUBE_NETWORK="flannel.4096"; kube-proxy.exe']},
            {"v": "6"},
            "flannel.4096",
        ),
        (
            {"image": "sigwindowstools/kube-proxy:v1.29.4-calico-hostprocess"},
            {"v": "6"},
            "Calico",
        ),
        ({}, {"network_name": "", "proxy_mode": "kernelspace"}, ""),
        (
            {"env": [{"name": "KUBE_NETWORK", "value": "cbr0"}]},
            {"config": "C:/k/config.conf"},
            "cbr0",
        ),
    ],
)
def test_kube_proxy_is_told_its_network(
    container: dict[str, Any], flags: dict[str, str], name: str
) -> None:
    """By environment, flag or start script; otherwise it does not start."""
    texts = {"node-pods": pods(**container), "kube-proxy-log": log(**flags)}
    finding = found("network-name", texts)
    assert finding.conforms is bool(name)
    assert name in finding.detail


@pytest.mark.parametrize(
    ("driver", "vip", "conforms"),
    [
        ("overlay", "10.244.3.2", True),
        ("overlay", "10.244.9.2", False),  # the subnet before the node rejoined
        ("overlay", "", False),
    ],
)
def test_a_source_vip_is_for_overlay_and_from_the_nodes_own_subnet(
    driver: str, vip: str, conforms: bool
) -> None:
    """Overlay needs one, of the node's range of today."""
    readings = settings(source_vip=vip)
    assert found("source-vip", readings, driver=driver).conforms is conforms


def test_the_flag_says_nothing_on_l2bridge() -> None:
    """kube-proxy reads it for overlay networks alone; what HNS was given is another rule's matter."""
    with pytest.raises(UnreadableError, match="HNS shows it"):
        found("source-vip", settings(source_vip="10.244.3.2"), driver="l2bridge")


@pytest.mark.parametrize(("vip", "conforms"), [("10.244.9.2", True), ("10.96.0.2", False)])
def test_calicos_source_vip_is_from_its_pools(vip: str, conforms: bool) -> None:
    """Its nodes have blocks of the pools, and the range that the API shows of a node is not theirs."""
    readings = settings(source_vip=vip)
    assert found("source-vip", readings, driver="overlay", plugin="calico").conforms is conforms


@pytest.mark.parametrize(
    ("rule", "version", "gates", "conforms"),
    [
        ("dsr-gate", "v1.32.1", "WinDSR=true,WinOverlay=false", True),
        ("dsr-gate", "v1.32.1", "", False),
        ("dsr-gate", "v1.33.0", "", True),
        ("dsr-gate", "v1.33.0", "WinDSR=false", False),
        ("overlay-gate", "v1.19.9", "", False),
        ("overlay-gate", "v1.20.0", "", True),
        ("overlay-gate", "v1.24.0", "WinOverlay=false", False),
    ],
)
def test_feature_gates_are_on_by_flag_or_by_version(
    rule: str, version: str, gates: str, conforms: bool
) -> None:
    """WinDSR is on by default since 1.33, WinOverlay since 1.20."""
    assert found(rule, settings(version, feature_gates=gates)).conforms is conforms


def test_flags_say_nothing_beside_a_configuration_file() -> None:
    """kube-proxy ignores its flags where --config is given."""
    readings = settings(config="C:/k/config.conf", proxy_mode="kernelspace")
    with pytest.raises(UnreadableError):
        found("proxy-mode", readings)


UNKNOWN_FLAGS = {
    "no log": {"node-pods": pods(args=["$env:CONTAINER_SANDBOX_MOUNT_POINT/kube-proxy/start.ps1"])},
    "a log without flags": {"node-pods": pods(), "kube-proxy-log": ""},
    "a configuration file": settings(config="/var/lib/kube-proxy/config.conf"),
    "a file beside a flag that it overrides": settings(
        config="/var/lib/kube-proxy/config.conf", network_name="cbr0"
    ),
}


@pytest.mark.parametrize("readings", UNKNOWN_FLAGS.values(), ids=UNKNOWN_FLAGS)
@pytest.mark.parametrize("rule", ["hostname-override", "network-name", "proxy-mode"])
def test_what_is_not_known_is_not_called_missing(rule: str, readings: dict[str, str]) -> None:
    """Where neither log nor arguments tell a flag, or a file on the node has it, nothing is said of it."""
    with pytest.raises(UnreadableError):
        found(rule, readings)


def test_a_node_without_a_kube_proxy_pod_cannot_be_judged() -> None:
    """A host service is not visible to the API."""
    with pytest.raises(UnreadableError):
        found("proxy-mode", {"node-pods": '{"items": []}'})
