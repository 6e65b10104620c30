"""The lab's profiles as the harness discovers them: the very objects of a lab, read without one.

What conditions require of a cluster has to be known for every profile, and to be what tables of
expectations assume of it (``tests.facts``).
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from nettests.cluster.discover import facts_of
from nettests.cluster.profile_file import parse_profile
from nettests.cluster.snapshot import Snapshot
from nettests.lab.installers import system_objects
from nettests.lab.kubeconfig import documents
from nettests.lab.network import addressing
from nettests.lab.network.addressing import nat_exceptions
from nettests.lab.network.overlay import pod_mtu
from nettests.lab.node.registration import configuration, kube_proxy_line, node_object, node_status
from nettests.lab.topology import OS, Profile, ProxyMode, profiles
from nettests.model.facts import ClusterFacts
from nettests.model.observation import NodeReading
from nettests.model.versions import KubernetesVersion
from nettests.parse.host_facts import completed
from nettests.resources import manifests_path
from nettests.rules import reduced
from nettests.rules.host import PROFILES as FIREWALL
from nettests.rules.kube_proxy_on_host import CONFIGURATION, VERSION
from nettests.rules.readings import ToolOutput
from tests.facts import PROFILES, cluster_facts
from tests.manifests.shipped import expectations
from tests.rules.made import printed

Object = dict[str, Any]


OWN_IMAGE = "mirror.example/probe:1"
"""Of an image of one's own nothing is known: old builds, which agnhost no longer has, are not left out."""


def discovered(profile: Profile, image: str = "") -> ClusterFacts:
    """Return the facts of a lab of that profile, from its objects and the profile it writes for users."""
    made = [item for _, item in system_objects.objects(profile)]
    maps = {
        f"{m['namespace']}/{m['name']}": item for item in made if (m := _meta(item, "ConfigMap"))
    }
    sets = [item for item in made if _meta(item, "DaemonSet")]
    snapshot = Snapshot(
        server_version=KubernetesVersion.parse(profile.kubernetes_version),
        server_git_version=profile.kubernetes_version,
        context="test",
        nodes=[
            node_object(spec, profile) | {"status": node_status(spec, profile)}
            for spec in profile.nodes
        ],
        daemon_sets=sets,
        config_maps=maps,
        dns_services=[item for item in made if _meta(item, "Service")],
        proxy_pods=dict(_proxies(profile, sets)),
        proxy_logs=dict(_logs(profile)),
        cordoned={spec.name: [] for spec in profile.nodes if spec.cordoned},
    )
    stated = parse_profile(
        documents.cluster_profile(
            profile,
            "http://127.0.0.1:1",
            "socks5://127.0.0.1:2",
            mtu=pod_mtu(profile),
            nat_exceptions=nat_exceptions(profile),
        ),
        "test",
    )
    found = facts_of(snapshot, replace(stated, images=replace(stated.images, probe=image)))
    return completed(found, _told(profile))


def _told(profile: Profile) -> Iterator[NodeReading]:
    """Yield what node vantages read of a kube-proxy without a Pod, and of a firewall that is not stated."""
    proxy = profile.kube_proxy
    for node in profile.nodes:
        if node.os is OS.WINDOWS and not profile.options.firewall_stated:
            rows = [{"Name": name, "Enabled": 1} for name in ("Domain", "Private", "Public")]
            yield _reading(node.name, FIREWALL, json.dumps(rows))
        if node.os in proxy.service_on:
            line = kube_proxy_line(node, profile, addressing.source_vip(node, profile.cni))
            shown = configuration(node.os, proxy.mode.value, line)
            yield _reading(node.name, CONFIGURATION, json.dumps(shown))
            version = f'kubernetes_build_info{{git_version="{profile.kubernetes_version}"}} 1'
            yield _reading(node.name, VERSION, version)


def _reading(node: str, reading: ToolOutput, text: str) -> NodeReading:
    return NodeReading(
        node=node,
        reading=reading.name,
        probe="test",
        command=reading.words,
        exit_code=0,
        stdout=reduced(reading, printed(reading.words, text)),
    )


def _meta(item: Object, kind: str) -> Object | None:
    return item["metadata"] if item["kind"] == kind else None


def _proxies(profile: Profile, daemon_sets: list[Object]) -> Any:
    """Yield each node's kube-proxy Pod, as its DaemonSet makes it."""
    for item in daemon_sets:
        spec = item["spec"]["template"]["spec"]
        name = item["metadata"]["name"]
        for node in profile.nodes:
            if (
                name.startswith("kube-proxy")
                and spec["nodeSelector"]["kubernetes.io/os"] == node.os
            ):
                metadata = {"name": f"{name}-{node.name}", "namespace": "kube-system"}
                yield node.name, {"metadata": metadata, "spec": {**spec, "nodeName": node.name}}


def _logs(profile: Profile) -> Any:
    """Yield what kube-proxy's start script adds on overlay nodes, which only its log tells."""
    for node in profile.nodes:
        vip = addressing.source_vip(node, profile.cni)
        proxy = profile.kube_proxy
        if node.os is OS.WINDOWS and not proxy.runs_no_pod(node.os):
            dsr = str(profile.kube_proxy.dsr).lower()
            mode = profile.kube_proxy.mode
            flags = {
                "proxy-mode": "" if mode is ProxyMode.USERSPACE else mode,
                "enable-dsr": dsr,
                "source-vip": vip or "",
            }
            yield (
                node.name,
                "".join(f'I1 flags.go:64] FLAG: --{n}="{v}"\n' for n, v in flags.items()),
            )


BACKEND_ON_NODES = {
    "azure-l2tunnel",
    "eks-vpc-bridge",
    "hns-ipam-l2bridge",
    "win2022-l2bridge-dualstack",
}
"""Profiles whose plugin has one way to connect Pods, or tells it on nodes alone."""


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_discovered_as_tables_assume_it(name: str) -> None:
    """Plugin, backend, drivers, builds, versions and kube-proxy's settings are the assumed ones."""
    found, assumed = discovered(profiles.load(name)), cluster_facts(name)
    assert found.server_version == assumed.server_version
    assert found.cni.plugin.value == assumed.cni.plugin.value
    if name not in BACKEND_ON_NODES:
        assert found.cni.backend.value == assumed.cni.backend.value
    assert found.cni.mtu.value == assumed.cni.mtu.value
    if name != "linux":  # OutBoundNAT is a matter of Windows
        assert found.cni.nat_exceptions.known == assumed.cni.nat_exceptions.known
        assert found.cni.loopback_dsr.value == assumed.cni.loopback_dsr.value
    assert found.platform.value == assumed.platform.value
    for node, other in zip(found.nodes, assumed.nodes, strict=True):
        assert (node.pool, node.member) == (other.pool, other.member)
        assert (node.schedulable, node.empty.value) == (other.schedulable, other.empty.value)
        for fact in ("build", "cni_driver", "kubelet", "host_process", "firewall", "policies"):
            assert getattr(node, fact).value == getattr(other, fact).value, fact
        of_proxy = ("version", "mode", "dsr", "source_vip", "localhost_node_ports", "terminating")
        for fact in of_proxy:
            seen = getattr(node.kube_proxy, fact).value
            due = getattr(other.kube_proxy, fact).value
            if assumed_to_run(other.kube_proxy.mode.value):
                assert seen == due, fact


def assumed_to_run(mode: str | None) -> bool:
    """Whether a kube-proxy runs in that mode."""
    return mode != "none"


def test_every_shipped_profile_has_its_facts() -> None:
    """No profile is without a line in the tables of expectations."""
    assert {profile.name for profile in profiles.available()} == set(PROFILES)


def test_azure_nodes_tell_no_pod_range_and_their_driver_is_stated() -> None:
    """The API knows neither pod ranges nor driver of Azure CNI; the lab's cluster profile has the driver."""
    facts = discovered(profiles.load("azure-l2tunnel"))
    assert all(node.pod_cidrs == () for node in facts.nodes)
    assert facts.pod_cidrs.value == (ip_network("172.30.0.0/16"),)
    driver = next(node for node in facts.nodes if node.os.value == "windows").cni_driver
    assert (driver.value, driver.origin) == ("l2tunnel", "cluster profile")


def test_antrea_takes_kube_proxys_place_on_windows() -> None:
    """Without kube-proxy the mode is none, read from Antrea's own configuration."""
    facts = discovered(profiles.load("antrea-transparent"))
    modes = {node.os.value: node.kube_proxy.mode for node in facts.nodes}
    assert modes["windows"].origin.endswith("antrea-windows-config: antreaProxy.proxyAll")
    assert (modes["linux"].value, modes["windows"].value) == ("nftables", "none")


HISTORIC = {path.stem: path for path in (manifests_path() / "lab" / "historic").glob("*.yaml")}
# node label, HostProcess, mode, DSR, and limitations that decide some check there
TABLE = {
    "k8s-19-1709-l2bridge": (
        (None, False, "kernelspace", False),
        {
            "dsr-source-ip-non-dsr",
            "nodeport-from-pod-own-node",
            "svc-max-64-backends",
            "plat-label-windows-build-old",
            "plat-kernel-image-match-older",
        },
    ),
    "k8s-114-1809-userspace": (
        (None, False, "userspace", False),
        {
            "svc-userspace-default",
            "svc-userspace-source",
            "svc-userspace-default-mode",
            "pf-introduced",
        },
    ),
    "k8s-119-1909-overlay": (
        ("10.0.18363", False, "kernelspace", False),
        {
            "lb-source-vip-without-dsr",
            "svc-max-64-backends-later-builds",
            "etp-local-old",
        },
    ),
    "k8s-114-1803-overlay": (
        (None, False, "kernelspace", False),
        {
            "etp-local-old",
            "itp-local",
            "dsr-source-vip-non-dsr",
            "plat-pod-os-field-api",
            "plat-label-windows-build-old",
            "plat-kernel-image-match-older",
            "node-svc-vip-1803-overlay",
        },
    ),
    "k8s-118-1903-userspace": (
        ("10.0.18362", False, "userspace", False),
        {
            "svc-userspace-default",
            "svc-userspace-default-mode",
            "plat-kernel-image-match-between",
        },
    ),
    "k8s-123-20h2-overlay-dsr": (
        ("10.0.19042", True, "kernelspace", True),
        {
            "aff-clientip-hns",
            "node-svc-vip-dsr-host-rules",
            "fields-behind-gates",
            "plat-kernel-image-match-between",
        },
    ),
}


def test_every_historic_profile_is_in_the_table() -> None:
    """Historic profiles are not among those that a lab is run with, and each has its line here."""
    assert set(HISTORIC) == set(TABLE)
    assert not set(HISTORIC) & {profile.name for profile in profiles.available()}


@pytest.mark.parametrize("name", TABLE)
def test_conditions_hold_on_historic_clusters(name: str) -> None:
    """Old versions and builds are discovered, nothing is undecided, and their limitations decide."""
    profile = profiles.load(str(HISTORIC[name]))
    facts = discovered(profile, OWN_IMAGE)
    node = next(node for node in facts.nodes if node.os.value == "windows")
    labels = node_object(profile.node(node.name), profile)["metadata"]["labels"]
    proxy = node.kube_proxy
    told = (
        labels.get("node.kubernetes.io/windows-build"),
        node.host_process.value,
        proxy.mode.value,
        proxy.dsr.value,
    )
    assert told == TABLE[name][0]
    found = expectations(facts)
    assert [one.undecided for one in found.values() if one.undecided] == []
    decided = {one.limitation.id for one in found.values() if one.limitation is not None}
    assert decided >= TABLE[name][1]
