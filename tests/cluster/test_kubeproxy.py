"""Readers of kube-proxy's settings: log, arguments, ConfigMap, in this order."""

import ipaddress

import pytest

from nettests.cluster.kubeproxy import ProxySources, config_of, facts_of
from nettests.model.cluster_profile import StatedKubeProxy
from nettests.model.facts import GATE, known
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS
from tests.cluster.recorded import config_map, proxy_pod

NOTHING = StatedKubeProxy()
LOG = (
    'I1121 01:22:03.787132       1 flags.go:64] FLAG: --enable-dsr="false"\n'
    'I1121 01:22:03.787140       1 flags.go:64] FLAG: --source-vip="10.244.2.2"\n'
    'I1121 01:22:03.787150       1 flags.go:64] FLAG: --proxy-mode="kernelspace"\n'
    "I1121 01:22:03.999999       1 server.go:400] Using Kernelspace Proxier\n"
)
CONFIG = {"mode": "nftables", "winkernel": {"enableDSR": True, "sourceVip": ""}}


def test_the_log_decides_before_arguments_and_config_map() -> None:
    """What kube-proxy says of itself wins over what its objects request."""
    sources = ProxySources(pod=proxy_pod("w1", "--enable-dsr=true"), log=LOG, config=CONFIG)
    facts = facts_of(OS.WINDOWS, "w1", sources, NOTHING)
    assert facts.dsr.value is False
    assert facts.dsr.origin == "log of Pod kube-proxy-w1"
    assert facts.source_vip.value == ipaddress.ip_address("10.244.2.2")
    assert facts.mode.value == "kernelspace"


def test_flags_do_not_count_beside_a_config_file() -> None:
    """With --config kube-proxy ignores its flags, so the ConfigMap is read instead."""
    log = LOG + 'I1121 01:22:03.787150       1 flags.go:64] FLAG: --config="/var/lib/config.conf"\n'
    facts = facts_of(
        OS.WINDOWS, "w1", ProxySources(pod=proxy_pod("w1"), log=log, config=CONFIG), NOTHING
    )
    assert facts.dsr.value is True
    assert "ConfigMap" in facts.dsr.origin


@pytest.mark.parametrize(
    ("version", "log", "mode"),
    [
        ("v1.25.3", 'FLAG: --proxy-mode=""\n', "userspace"),
        ("v1.26.0", 'FLAG: --proxy-mode=""\n', "kernelspace"),
        ("v1.25.3", 'FLAG: --proxy-mode="kernelspace"\n', "kernelspace"),
        ("v1.25.3", "", None),
    ],
)
def test_the_default_mode_on_windows_changed_with_1_26(
    version: str, log: str, mode: str | None
) -> None:
    """An empty --proxy-mode means userspace up to 1.25; what was not read means nothing."""
    pod = proxy_pod("w1", image=f"registry.k8s.io/kube-proxy:{version}")
    assert facts_of(OS.WINDOWS, "w1", ProxySources(pod=pod, log=log), NOTHING).mode.value == mode


def test_nothing_read_is_unknown_with_the_reason() -> None:
    """Without any source, mode, DSR and source VIP are unknown and say why."""
    facts = facts_of(OS.WINDOWS, "w1", ProxySources(reason="no kube-proxy Pod runs"), NOTHING)
    assert not facts.dsr.known
    assert not facts.mode.known
    assert facts.dsr.origin == facts.mode.origin == "no kube-proxy Pod runs"


def test_the_linux_mode_of_the_config_map_is_not_windows_mode() -> None:
    """A shared ConfigMap's mode is the Linux nodes'; Windows has kernelspace alone since 1.26."""
    facts = facts_of(OS.WINDOWS, "w1", ProxySources(pod=proxy_pod("w1"), config=CONFIG), NOTHING)
    assert facts.mode.value == "kernelspace"
    linux = facts_of(OS.LINUX, "n1", ProxySources(pod=proxy_pod("n1"), config=CONFIG), NOTHING)
    assert linux.mode.value == "nftables"


def test_an_old_kube_proxy_without_mode_is_unknown_on_windows() -> None:
    """Until 1.25 the default on Windows was userspace for some builds: nothing is guessed."""
    pod = proxy_pod("w1", image="registry.k8s.io/kube-proxy:v1.25.0")
    assert not facts_of(OS.WINDOWS, "w1", ProxySources(pod=pod), NOTHING).mode.known


def test_an_empty_mode_on_linux_is_the_default() -> None:
    """``mode: ""`` in the ConfigMap means iptables on Linux."""
    sources = ProxySources(pod=proxy_pod("n1"), config={"mode": ""})
    assert facts_of(OS.LINUX, "n1", sources, NOTHING).mode.value == "iptables"


def test_an_empty_source_vip_is_no_address() -> None:
    """``--source-vip=""`` (l2bridge) is an unknown address with its meaning as the reason."""
    log = LOG.replace("10.244.2.2", "")
    fact = facts_of(
        OS.WINDOWS, "w1", ProxySources(pod=proxy_pod("w1"), log=log), NOTHING
    ).source_vip
    assert not fact.known
    assert "empty" in fact.origin


def test_what_the_profile_states_overrides_everything() -> None:
    """Stated version, mode, DSR and source VIP win, and say where they come from."""
    stated = StatedKubeProxy(
        version=KubernetesVersion(1, 25),
        mode="userspace",
        dsr=True,
        source_vip={"w1": ipaddress.ip_address("10.9.9.9")},
    )
    facts = facts_of(OS.WINDOWS, "w1", ProxySources(pod=proxy_pod("w1"), log=LOG), stated)
    assert (facts.mode.value, facts.dsr.value) == ("userspace", True)
    assert facts.version == known(KubernetesVersion(1, 25), "cluster profile")
    assert facts.source_vip.value == ipaddress.ip_address("10.9.9.9")
    assert facts.mode.origin == facts.dsr.origin == facts.source_vip.origin == "cluster profile"


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("registry.k8s.io/kube-proxy:v1.29.4", "1.29.4"),
        ("sigwindowstools/kube-proxy:v1.30.1-flannel-hostprocess", "1.30.1"),
        ("mcr.microsoft.com/oss/kubernetes/kube-proxy:v1.31.0-hotfix@sha256:00", "1.31.0"),
        ("registry.example/kube-proxy@sha256:00", None),
    ],
)
def test_the_version_comes_from_the_image(image: str, version: str | None) -> None:
    """kube-proxy's version is its image tag; a digest alone leaves it unknown."""
    facts = facts_of(OS.LINUX, "n1", ProxySources(pod=proxy_pod("n1", image=image)), NOTHING)
    assert (str(facts.version.value) if facts.version.known else None) == version


@pytest.mark.parametrize("text", ["", "mode: [", "- a list"])
def test_an_unreadable_config_map_is_no_config(text: str) -> None:
    """A ConfigMap without a readable KubeProxyConfiguration gives nothing."""
    maps = {"kube-system/kube-proxy": config_map("kube-proxy", **{"config.conf": text})}
    assert config_of(None, maps)[0] is None


@pytest.mark.parametrize(
    ("sources", "value", "origin"),
    [
        (ProxySources(), None, "log"),
        (ProxySources(config={"mode": "iptables"}), True, "on by default"),
        (
            ProxySources(config={"iptables": {"localhostNodePorts": False}}),
            False,
            "ConfigMap kube-system/kube-proxy",
        ),
        (
            ProxySources(
                pod=proxy_pod("n1", "--iptables-localhost-nodeports=false"),
                config={"iptables": {"localhostNodePorts": True}},
            ),
            False,
            "arguments of Pod kube-proxy-n1",
        ),
        (ProxySources(pod=proxy_pod("n1", "--proxy-mode=iptables")), True, "on by default"),
    ],
)
def test_nodeports_at_loopback_are_on_unless_a_setting_says_no(
    sources: ProxySources, value: bool | None, origin: str
) -> None:
    """Where kube-proxy's settings are read the flag is known, named or not; else nobody knows."""
    fact = facts_of(OS.LINUX, "n1", sources, NOTHING).localhost_node_ports
    assert fact.value is value
    assert origin in fact.origin


@pytest.mark.parametrize(
    ("version", "sources", "value"),
    [
        ("v1.24.17", ProxySources(config={"mode": "iptables"}), False),
        ("v1.24.17", ProxySources(config={"featureGates": {GATE: True}}), True),
        ("v1.24.17", ProxySources(config={"featureGates": {"Other": True}}), False),
        ("v1.27.3", ProxySources(config={"mode": "iptables"}), True),
        ("v1.27.3", ProxySources(config={"featureGates": {GATE: False}}), False),
        ("v1.24.17", ProxySources(), None),
        (None, ProxySources(config={"mode": "iptables"}), None),
    ],
)
def test_a_gate_decides_whether_terminating_endpoints_are_used(
    version: str | None, sources: ProxySources, value: bool | None
) -> None:
    """As set, else as the release has it by default; without settings, or without the release, nobody knows."""
    stated = StatedKubeProxy(version=KubernetesVersion.parse(version) if version else None)
    assert facts_of(OS.LINUX, "n1", sources, stated).terminating.value is value


def test_a_gate_of_terminating_endpoints_is_read_in_the_log() -> None:
    """kube-proxy prints its flags there."""
    log = f'I1 1 flags.go:64] FLAG: --feature-gates="A=true,{GATE}=true"\n'
    pod = proxy_pod("n1", image="registry.k8s.io/kube-proxy:v1.24.1")
    fact = facts_of(OS.LINUX, "n1", ProxySources(pod=pod, log=log), NOTHING).terminating
    assert (fact.value, fact.origin) == (True, "log of Pod kube-proxy-n1")


def test_nodeports_at_loopback_are_no_matter_of_windows() -> None:
    """kernelspace has no such flag; a stated one is that of Linux nodes."""
    stated = StatedKubeProxy(localhost_node_ports=False)
    assert not facts_of(OS.WINDOWS, "w1", ProxySources(), stated).localhost_node_ports.known
    assert facts_of(OS.LINUX, "n1", ProxySources(), stated).localhost_node_ports.value is False


def test_a_config_map_is_not_that_of_a_windows_node_without_a_pod() -> None:
    """kubeadm writes one for its Linux nodes, DSR and all; a service of a Windows node reads files of its own."""
    config = {"mode": "iptables", "winkernel": {"enableDSR": False, "sourceVip": "10.244.2.2"}}
    there = ProxySources(config=config, reason="no kube-proxy Pod runs on node w1", absent=True)
    facts = facts_of(OS.WINDOWS, "w1", there, NOTHING)
    assert (facts.dsr.value, facts.source_vip.value, facts.mode.value) == (None, None, None)
    assert facts.as_pod == known(False, "no kube-proxy Pod runs on node w1")
    assert facts_of(OS.LINUX, "n1", there, NOTHING).mode.value == "iptables"


def test_whether_it_is_a_pod_is_known_where_pods_were_listed() -> None:
    """One that replaces kube-proxy is no Pod of it; without a list nothing is known."""
    assert (
        facts_of(OS.WINDOWS, "w1", ProxySources(reason="forbidden"), NOTHING).as_pod.value is None
    )
    replaced = ProxySources(replaced="ConfigMap x", absent=True)
    assert facts_of(OS.WINDOWS, "w1", replaced, NOTHING).as_pod.value is False
    pod = {"metadata": {"name": "kube-proxy-x"}, "spec": {"containers": []}}
    assert facts_of(OS.WINDOWS, "w1", ProxySources(pod=pod), NOTHING).as_pod.value is True
