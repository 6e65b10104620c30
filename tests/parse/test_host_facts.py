"""What a node says of itself completes what discovery could not read, and overrides nothing."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.model.facts import ClusterFacts, Fact, KubeProxyFacts, known, unknown
from nettests.model.observation import NodeReading
from nettests.model.versions import KubernetesVersion
from nettests.parse.host_facts import MODES, ON_NODE, completed
from nettests.rules import reduced
from nettests.rules.dns_suffixes import IN_POD
from nettests.rules.host import PROFILES
from nettests.rules.kube_proxy_on_host import COMMAND_LINE, CONFIGURATION, MODE, VERSION
from nettests.rules.readings import ToolOutput
from tests.facts import cluster_facts
from tests.rules.made import printed

WHY = "no kube-proxy Pod runs on node win-1: it may be a host service"
ADDRESS = "http://127.0.0.1:10249/proxyMode"


def without_mode(mode: Fact[str] | None = None) -> ClusterFacts:
    """Return a cluster of which one node's mode is as given, unknown unless told otherwise."""
    facts = cluster_facts("win2022-l2bridge-dsr")
    nodes = tuple(
        replace(one, kube_proxy=replace(one.kube_proxy, mode=mode or unknown(WHY)))
        if one.name == "win-1"
        else one
        for one in facts.nodes
    )
    return replace(facts, nodes=nodes)


def told(stdout: str = "", code: int | None = 0, stderr: str = "", **more: str) -> NodeReading:
    """Return what win-1 was probed, and its answer."""
    return NodeReading(
        node="win-1",
        reading=MODE.name,
        probe="node-windows-1-1",
        command=("curl.exe", ADDRESS),
        exit_code=code,
        stdout=stdout,
        stderr=stderr,
        **more,
    )


def mode_of(facts: ClusterFacts, *readings: NodeReading) -> Fact[str]:
    return completed(facts, readings).node("win-1").kube_proxy.mode


@pytest.mark.parametrize("mode", sorted(MODES))
def test_a_mode_is_known_with_its_source(mode: str) -> None:
    """kube-proxy answers with the bare word, which ends with or without a line feed."""
    for text in (mode, f"{mode}\n"):
        assert mode_of(without_mode(), told(text)) == known(
            mode, f"{ADDRESS}, read on the node itself"
        )


@pytest.mark.parametrize(
    ("reading", "why"),
    [
        (told("<html>404</html>"), "which is no mode"),
        (told(""), "which is no mode"),
        (told("", 7, "curl: (7) Failed to connect"), "curl: (7) Failed to connect"),
        (told("kernelspace", 28, "curl: (28) timed out"), "timed out"),
        (told("kernelspace", 0, error="the exec lost its exit code"), "lost its exit code"),
    ],
)
def test_what_is_no_mode_leaves_it_unknown_and_says_so(reading: NodeReading, why: str) -> None:
    """Anything may listen at a port, and nothing may."""
    found = mode_of(without_mode(), reading)
    assert found.value is None
    assert found.origin.startswith(f"{WHY}; {ADDRESS} does not tell it either: ")
    assert why in found.origin


def test_a_mode_that_is_known_stays() -> None:
    """Whoever stated it, or wherever it was read, knew of the whole cluster."""
    stated = known("kernelspace", "cluster profile")
    facts = without_mode(stated)
    assert completed(facts, [told("userspace")]) == facts


def test_other_nodes_and_facts_stay() -> None:
    """One node's answer speaks of that node."""
    before, after = without_mode(), completed(without_mode(), [told("kernelspace")])
    assert after.node("win-2") == before.node("win-2")
    assert replace(after, nodes=()) == replace(before, nodes=())


def test_the_address_is_the_last_word_that_was_probed() -> None:
    """Options stand before it."""
    probed = replace(told("ipvs"), command=("curl.exe", "-sS", ADDRESS))
    assert mode_of(without_mode(), probed) == known("ipvs", f"{ADDRESS}, read on the node itself")


SERVED = """{"kubeproxy.config.k8s.io": {"FeatureGates": {"WinDSR": true}, "Mode": "kernelspace",
 "HostnameOverride": "win-1", "Winkernel": {"NetworkName": "", "SourceVip": "10.244.3.2", "EnableDSR": true}}}"""
LINE = (
    '{"CommandLine":  "C:\\\\k\\\\kube-proxy.exe --kubeconfig=C:\\\\k\\\\config --proxy-mode=kernelspace '
    '--enable-dsr=false --source-vip 10.244.3.9"}'
)
BUILD = 'kubernetes_build_info{build_date="2025",git_version="v1.29.4",minor="29"} 1\n'
CONFIGURED = (
    '{"CommandLine":  "C:\\\\k\\\\kube-proxy.exe --config=C:\\\\k\\\\c.yaml --enable-dsr=false"}'
)


def reads(reading: ToolOutput, text: str, code: int = 0, node: str = "win-1") -> NodeReading:
    """Return a reading as it is written down: what is kept of it."""
    return NodeReading(
        node=node,
        reading=reading.name,
        probe="node-windows-1-1",
        command=reading.words,
        exit_code=code,
        stdout=reduced(reading, printed(reading.words, text)),
    )


def on_host(node: str = "win-1") -> ClusterFacts:
    """Return a cluster on whose node no object of the API tells of kube-proxy."""
    facts = cluster_facts("win2022-overlay-dsr")
    why: Fact[Any] = unknown(WHY)
    unread = ("mode", "version", "dsr", "source_vip", "localhost_node_ports", "terminating")
    nothing = dict.fromkeys(unread, why)
    nodes = tuple(
        replace(one, kube_proxy=replace(one.kube_proxy, **nothing)) if one.name == node else one
        for one in facts.nodes
    )
    return replace(facts, nodes=nodes)


def proxy(*readings: NodeReading, node: str = "win-1") -> KubeProxyFacts:
    return completed(on_host(node), readings).node(node).kube_proxy


def test_what_kube_proxy_serves_is_known() -> None:
    """Mode, DSR and source VIP are in effect as ``/configz`` shows them, the version as the metrics name it."""
    found = proxy(reads(CONFIGURATION, SERVED), reads(VERSION, BUILD))
    where = f"http://127.0.0.1:10249/configz, {ON_NODE}"
    assert found.mode == known("kernelspace", where)
    assert found.dsr == known(True, where)
    assert (str(found.source_vip.value), found.source_vip.origin) == ("10.244.3.2", where)
    assert found.version.value == KubernetesVersion(1, 29, 4)
    assert not found.localhost_node_ports.known  # a matter of Linux


def test_the_command_line_tells_where_nothing_is_served() -> None:
    """It is that of the running process, whoever started it."""
    found = proxy(reads(CONFIGURATION, "404 page not found"), reads(COMMAND_LINE, LINE))
    assert (found.mode.value, found.dsr.value) == ("kernelspace", False)
    assert str(found.source_vip.value) == "10.244.3.9"
    assert found.dsr.origin == f"command line of kube-proxy on win-1, {ON_NODE}"


def test_what_is_served_comes_before_the_command_line() -> None:
    """A default, or a file, may have decided otherwise."""
    assert proxy(reads(COMMAND_LINE, LINE), reads(CONFIGURATION, SERVED)).dsr.value is True


@pytest.mark.parametrize(
    "reading",
    [
        reads(COMMAND_LINE, CONFIGURED),
        reads(COMMAND_LINE, '{"CommandLine":  null}'),
        reads(COMMAND_LINE, ""),
        reads(CONFIGURATION, '{"kubelet.config.k8s.io": {"EnableDSR": true}}'),
        reads(CONFIGURATION, "[]"),
        reads(CONFIGURATION, SERVED, code=28),
        reads(VERSION, "process_cpu_seconds_total 1"),
        reads(VERSION, 'kubernetes_build_info{git_version="none"} 1'),
    ],
)
def test_what_does_not_tell_leaves_everything_unknown(reading: NodeReading) -> None:
    """Flags say nothing beside a configuration file; another component's configuration is none of kube-proxy's."""
    found = proxy(reading)
    assert (found.mode.value, found.dsr.value, found.source_vip.value) == (None, None, None)
    assert (found.version.value, found.dsr.origin) == (None, WHY)


def test_a_switch_that_no_line_names_is_not_taken_for_its_default() -> None:
    """Which default holds depends on a release that the line does not name."""
    line = LINE.replace("--enable-dsr=false ", "")
    assert proxy(reads(COMMAND_LINE, line)).dsr == unknown(WHY)


@pytest.mark.parametrize(("vip", "why"), [("", "is empty"), ("here", "is no address")])
def test_a_source_vip_that_is_no_address_is_unknown(vip: str, why: str) -> None:
    """An empty one means the node's own address."""
    found = proxy(reads(CONFIGURATION, SERVED.replace("10.244.3.2", vip)))
    assert not found.source_vip.known
    assert why in found.source_vip.origin


def test_a_linux_node_tells_of_its_loopback_and_not_of_dsr() -> None:
    """What decides on Windows alone stays a matter of Windows."""
    served = (
        '{"kubeproxy.config.k8s.io": {"Mode": "iptables", "IPTables": {"LocalhostNodePorts": false}, '
        '"Winkernel": {"EnableDSR": true}}}'
    )
    found = proxy(reads(CONFIGURATION, served, node="linux-1"), node="linux-1")
    assert (found.mode.value, found.localhost_node_ports.value) == ("iptables", False)
    assert not found.dsr.known


@pytest.mark.parametrize(
    ("gates", "version", "on"),
    [
        ('{"ProxyTerminatingEndpoints": true}', "v1.24.17", True),
        ('{"ProxyTerminatingEndpoints": false}', "v1.26.1", False),
        ("{}", "v1.24.17", False),
        ("null", "v1.26.1", True),
        ("{}", None, None),
    ],
)
def test_a_linux_node_tells_whether_terminating_endpoints_are_used(
    gates: str, version: str | None, on: bool | None
) -> None:
    """As kube-proxy without a Pod serves its gates; one that it does not name has the default of its release."""
    served = f'{{"kubeproxy.config.k8s.io": {{"Mode": "iptables", "FeatureGates": {gates}}}}}'
    metrics = f'kubernetes_build_info{{git_version="{version}"}} 1\n'
    read = [reads(CONFIGURATION, served, node="linux-1")]
    read += [reads(VERSION, metrics, node="linux-1")] if version else []
    found = proxy(*read, node="linux-1").terminating
    assert found.value is on
    assert (ON_NODE in found.origin) is found.known


def firewall(text: str, code: int = 0) -> Fact[bool]:
    facts = cluster_facts("win2019-l2bridge")
    nodes = tuple(replace(one, firewall=unknown("the API does not tell it")) for one in facts.nodes)
    told = reads(PROFILES, text, code)
    return completed(replace(facts, nodes=nodes), [told]).node("win-1").firewall


def states(*each: object) -> str:
    names = ("Domain", "Private", "Public")
    rows = [
        f'{{"Name": "{name}", "Enabled": {state}}}' for name, state in zip(names, each, strict=True)
    ]
    return f"[{', '.join(rows)}]"


@pytest.mark.parametrize(
    ("text", "on"),
    [
        (states(1, 1, 1), True),
        (states(0, 0, 0), False),
        (states('"True"', '"True"', '"True"'), True),
        (states("true", "true", "true"), True),
        (states("false", "false", "false"), False),
        (states(1, 1, 0), None),
        (states(2, 2, 2), None),
        ("[]", None),
        ("", None),
        ("Get-NetFirewallProfile : Access is denied.", None),
    ],
)
def test_a_firewall_is_on_in_all_profiles_or_in_none(text: str, on: bool | None) -> None:
    """Which profile applies is not read: where they differ it is unknown, and says how."""
    assert firewall(text).value is on


def test_a_firewall_that_is_not_known_says_why() -> None:
    """The states of profiles that differ, or what came instead."""
    assert "Public off" in firewall(states(1, 1, 0)).origin
    assert "the API does not tell it; its profiles were not read" in firewall("", 1).origin


def test_a_firewall_that_is_stated_stays() -> None:
    """The cluster profile comes first."""
    facts = cluster_facts("win2019-l2bridge")
    assert completed(facts, [reads(PROFILES, states(0, 0, 0))]) == facts


def suffixes(text: str, code: int = 0) -> Fact[tuple[str, ...]]:
    told = reads(IN_POD, text, code)
    return completed(cluster_facts("win2019-l2bridge"), [told]).node("win-1").dns_suffixes


def test_the_dns_suffixes_are_those_of_a_pods_registry() -> None:
    """With the Pod that told them; one that could not be read says why."""
    key = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters"
    found = suffixes(f"{key}\n    SearchList    REG_SZ    a.svc.cluster.local,svc.cluster.local\n")
    assert found.value == ("{namespace}.svc.{domain}", "svc.cluster.local")
    assert "SearchList in the registry of Pod" in found.origin
    assert suffixes(f"{key}\n").value == ()
    for text, code in (("", 0), ("", 1), (f"{key}\n", 1)):
        assert not suffixes(text, code).known
    assert "was not read" in suffixes("", 1).origin
