"""Reading the cluster profile: values, and errors with file, line, key and near miss."""

import ipaddress
from pathlib import Path

import pytest

from nettests.cluster.profile_file import parse_profile, read_profile
from nettests.errors import ManifestError
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.versions import KubernetesVersion

HEAD = "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\n"


def test_without_a_file_nothing_is_stated() -> None:
    """No profile means no stated fact, no node pool and nothing outside."""
    assert read_profile(None) == ClusterProfile()
    assert ClusterProfile().facts.cni_nat_exceptions is None
    assert ClusterProfile().external_vantage == "none"


def test_a_whole_profile_is_read() -> None:
    """Every part of the file becomes its value."""
    profile = parse_profile(
        HEAD
        + """\
externalTarget: {address: 198.51.100.10, name: server.outside.test, tcpPort: 80,
                 udpPort: 8081, reportsClientAddress: true}
externalVantage: proxy
externalProxy: http://user:token@127.0.0.1:3128
externalUDPProxy: socks5://user:token@127.0.0.1:1080
nodePools: {windows-1: [w2, w1]}
image: registry.internal/agnhost:2.63.0
facts:
  cni: {plugin: calico, backend: vxlan, driver: overlay, mtu: 1450, natExceptions: [10.244.0.0/16],
        loopbackDSR: true}
  kubeProxy:
    windows: {mode: kernelspace, dsr: true, sourceVIP: {w1: 10.244.3.2}}
    linux: {version: v1.33.5, mode: iptables, localhostNodePorts: false}
  windowsFirewall: false
  platform: aks
  podCIDRs: [10.244.0.0/16]
  serviceCIDRs: [10.96.0.0/12]
  clusterDomain: cluster.local
  dnsAddress: 10.96.0.10
timing: {convergence: 120, cleanUp: 5, perProbe: 4}
""",
        "profile.yaml",
    )
    assert profile.external_target is not None
    assert profile.external_target.reports_client_address
    assert profile.external_proxy == "http://user:token@127.0.0.1:3128"
    assert profile.external_udp_proxy == "socks5://user:token@127.0.0.1:1080"
    assert profile.pools == {"windows-1": ("w2", "w1")}
    assert profile.facts.cni_driver == "overlay"
    assert profile.facts.cni_mtu == 1450
    assert profile.facts.cni_nat_exceptions == (ipaddress.ip_network("10.244.0.0/16"),)
    assert profile.facts.kube_proxy_windows.source_vip == {"w1": ipaddress.ip_address("10.244.3.2")}
    assert profile.facts.kube_proxy_linux.mode == "iptables"
    assert profile.facts.kube_proxy_linux.localhost_node_ports is False
    assert (profile.facts.cni_loopback_dsr, profile.facts.windows_firewall) == (True, False)
    assert profile.facts.platform == "aks"
    assert profile.facts.kube_proxy_linux.version == KubernetesVersion(1, 33, 5)
    assert profile.facts.kube_proxy_windows.version is None
    assert profile.facts.service_cidrs == (ipaddress.ip_network("10.96.0.0/12"),)
    assert (profile.timing.convergence, profile.timing.clean_up) == (120, 5)
    assert profile.timing.dial == ClusterProfile().timing.dial


@pytest.mark.parametrize(
    ("address", "taken"),
    [
        ("http://proxy:3128", True),
        ("https://proxy:3128", True),
        ("socks5://lab:secret@proxy:1080", True),
        ("socks5h://proxy:1080", True),
        ("socks4://proxy:1080", False),
        ("proxy:3128", False),
    ],
)
def test_a_proxy_speaks_http_or_socks5(address: str, *, taken: bool) -> None:
    """Other addresses are refused when they are read, without their credentials."""
    text = f"{HEAD}externalVantage: proxy\nexternalProxy: {address}\n"
    if taken:
        assert parse_profile(text, "p.yaml").external_proxy == address
        return
    with pytest.raises(ManifestError, match="externalProxy is not an address such as"):
        parse_profile(text, "p.yaml")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("facts:\n  cni:\n    drivr: overlay\n", "p.yaml:5: facts.cni.drivr: unknown key 'drivr'", "did you mean 'driver'?"),
        ("externalProxi: x\n", "p.yaml:3: externalProxi: unknown key 'externalProxi'", "did you mean 'externalProxy'?"),
        ("timing:\n  convergence: soon\n", "p.yaml:4: timing.convergence: ", ""),
        ("externalVantage: everywhere\n", "p.yaml:3: externalVantage: 'everywhere' is not one of", "valid: "),
        ("facts: {dnsAddress: 10.96.0.300}\n", "p.yaml: '10.96.0.300' does not appear to be", ""),
        ("facts: {podCIDRs: [10.244.0.1/16]}\n", "p.yaml: 10.244.0.1/16 has host bits set", ""),
        ("externalVantage: proxy\n", "p.yaml: externalVantage: proxy needs externalProxy", ""),
        ("externalVantage: direct\nexternalUDPProxy: socks5://x:1\n", "p.yaml: externalUDPProxy belongs to externalVantage: proxy, and the vantage is direct", ""),
        ("externalVantage: proxy\nexternalProxy: http://x:1\nexternalUDPProxy: http://x:1\n", "p.yaml: externalUDPProxy is not the address of a SOCKS5 proxy", ""),
        ("facts: {kubeProxy: {linux: {version: 1.30}}}\n", "p.yaml:3: facts.kubeProxy.linux.version: 1.3 is a number; write a version in quotes", ""),
        ("facts: {kubeProxy: {linux: {version: latest}}}\n", "p.yaml:3: facts.kubeProxy.linux.version: 'latest' does not match", ""),
        ("nodePools: {macos-1: [a]}\n", "does not match", ""),
        ("facts: [\n", "p.yaml:4: not valid YAML", ""),
        ("kind: Other\n", "not valid YAML", ""),
    ],
)  # fmt: skip
def test_an_error_names_line_key_and_near_miss(text: str, message: str, hint: str) -> None:
    """What is wrong is found by its place, and a mistyped key by the nearest valid one."""
    with pytest.raises(ManifestError) as raised:
        parse_profile(HEAD + text, "p.yaml")
    assert message in raised.value.message
    assert raised.value.hint.startswith(hint)


@pytest.mark.parametrize("text", ["", "kind: ClusterProfile\n", "- a\n"])
def test_a_file_without_its_head_is_refused(text: str) -> None:
    """An empty file, a list, or a file without apiVersion is no cluster profile."""
    with pytest.raises(ManifestError, match=r"^p\.yaml:1:"):
        parse_profile(text, "p.yaml")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """The file's name and the system's reason are in the message."""
    with pytest.raises(ManifestError, match=r"nosuch\.yaml cannot be read: No such file"):
        read_profile(tmp_path / "nosuch.yaml")


@pytest.mark.parametrize("option", ["--cluster-profile", "--to-profile"])
def test_the_hint_names_the_option_that_named_the_file(tmp_path: Path, option: str) -> None:
    """A person who wrote another option would look for one that is not there."""
    with pytest.raises(ManifestError) as raised:
        read_profile(tmp_path / "nosuch.yaml", option=option)
    assert raised.value.hint == f"pass a file with {option}, or leave the option out"


def test_external_ips_are_for_documentation_unless_stated() -> None:
    """Without a statement nobody's addresses are taken: those of RFC 5737."""
    head = "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\n"
    assert str(parse_profile(head, "p.yaml").external_ips) == "192.0.2.0/24"
    stated = parse_profile(f"{head}externalIPs: 10.99.0.0/24\n", "p.yaml")
    assert str(stated.external_ips) == "10.99.0.0/24"
    with pytest.raises(ManifestError, match=r"10\.99\.0\.1/24 has host bits set"):
        parse_profile(f"{head}externalIPs: 10.99.0.1/24\n", "p.yaml")


def test_the_fleet_is_all_nodes_unless_stated() -> None:
    """Every usable node takes part; a profile names a sample or a selector."""
    head = "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\n"
    assert parse_profile(head, "p.yaml").fleet_nodes == "all"
    assert parse_profile(f"{head}fleet: {{nodes: pool=win}}\n", "p.yaml").fleet_nodes == "pool=win"
    with pytest.raises(ManifestError, match="did you mean 'nodes'"):
        parse_profile(f"{head}fleet: {{node: all}}\n", "p.yaml")


def test_the_old_name_of_node_pools_is_read() -> None:
    """A profile that was written for ``roles`` pins the same node pools."""
    old, new = (
        parse_profile(f"{HEAD}{key}: {{windows-1: [b, a]}}\n", "p.yaml")
        for key in ("roles", "nodePools")
    )
    assert old.pools == new.pools == {"windows-1": ("b", "a")}


def test_both_names_of_node_pools_are_refused() -> None:
    """Nobody has to guess which of two lists pins a node."""
    text = f"{HEAD}roles: {{windows-1: [a]}}\nnodePools: {{windows-1: [b]}}\n"
    with pytest.raises(ManifestError, match="old name of nodePools"):
        parse_profile(text, "p.yaml")


def test_how_far_a_search_for_a_limit_goes_is_stated_within_bounds() -> None:
    """2,000 connections and 500 Services without a word; what is named replaces its own alone."""
    head = "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\n"
    scale = parse_profile(head, "p.yaml").scale
    assert (scale.flows, scale.services) == (2000, 500)
    scale = parse_profile(f"{head}scale: {{services: 2000}}\n", "p.yaml").scale
    assert (scale.flows, scale.services) == (2000, 2000)
    for wrong in ("services: 2001", "services: 0", "flows: 16385", "flow: 100"):
        with pytest.raises(ManifestError, match=r"p\.yaml:3: scale"):
            parse_profile(f"{head}scale: {{{wrong}}}\n", "p.yaml")
