"""The shipped limitation manifests: valid, free of overlaps, sourced, and each entry of use."""

import json
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import jsonschema
import pytest

from nettests.expect import Limitation, lint
from nettests.model.check_id import parent_of, parts_of
from nettests.model.facts import ClusterFacts, Fact, known, unknown
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import Category, Family, Outcome
from nettests.resources import manifests_path
from nettests.rules import RULES
from tests.facts import PROFILES, Shape, cluster_facts, with_linux_proxy, with_windows
from tests.manifests.shipped import (
    FILES,
    FOLDER,
    entries,
    expectations,
    expected_at,
    flows,
    manifests,
)


def test_the_published_schema_is_one() -> None:
    """The schema is a valid JSON Schema of draft 2020-12, with a description for people."""
    file = manifests_path() / "schema" / "limitations.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["description"]


def test_nothing_is_to_be_repaired() -> None:
    """No two entries overlap provably, and every flow that an entry covers is declared by a suite."""
    assert lint(manifests(), flows=[flow.name for flow in flows()]) == ()


def test_every_case_of_an_entry_exists() -> None:
    """An entry's cases are labels of cases of the flows that it covers."""
    labels = {flow.name: {case.label for case in flow.cases} for flow in flows()}
    for entry in entries():
        known = set().union(*(labels[name] for name in entry.flows))
        assert set(entry.cases) <= known, entry.id


READ_WHOLE = {"address", "message"}
"""Where a Pod's case deviates in one way only; what a command or a server says may be wrong in many, and the time until a
Pod is gone is its kubelet's, too."""
OTHER_TEXT = {"dns-mounted-file", "pod-file-modes", "pod-memory-volume"}
"""Flows whose command has nothing to say but its text: it prints other suffixes, the file that it may not read, or
another file system, or fails in another way and is unknown."""


def test_no_entry_excuses_whatever_a_pod_may_say() -> None:
    """An entry that expects ``deviates`` of a command's output would be satisfied by any wrong output."""
    loose = {
        flow.name
        for flow in flows()
        for case in flow.cases
        if case.then is not None and case.then.how not in READ_WHOLE
    } - OTHER_TEXT
    assert loose
    excusing = [
        (entry.id, name)
        for entry in entries()
        for name in loose.intersection(entry.flows)
        if entry.deviation is not None and entry.deviation.outcome is Outcome.DEVIATES
    ]
    assert excusing == []


def test_every_file_lies_in_the_folder_of_its_layer() -> None:
    """Folders are layers; a site's own layer is not shipped."""
    for file, manifest in zip(FILES, manifests(), strict=True):
        assert file.relative_to(FOLDER).parts[0] == manifest.layer.name.lower()
    assert {manifest.layer.name for manifest in manifests()} == {"BASE", "CNI", "PLATFORM"}


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: str(entry.id))
def test_every_entry_is_written_for_people(entry: Limitation) -> None:
    """Summary and mechanism are sentences, sources name a document, addresses are no documents."""
    for text in (entry.summary, entry.mechanism):
        assert text.endswith("."), text
        assert len(text.split()) > 4, text
    for source in entry.sources:
        assert not source.document.startswith("http"), source
        assert source.section or source.address, source


RELEASES = ("1.21", "1.22", "1.23", "1.32")
"""Releases between which the API server learnt fields."""


def shapes() -> dict[str, Shape]:
    """Return clusters beside the lab's profiles that entries are written for."""
    return {
        "before the annual channel": Shape(kubernetes="1.30", backend="host-gw", build="20349.1"),
        "patched 17763, no DSR": Shape(kubernetes="1.24.17", backend="host-gw", build="17763.2000"),
        "17763 between the updates that may have brought DSR": Shape(
            kubernetes="1.24.17", backend="host-gw", build="17763.1400", dsr=True
        ),
        "Microsoft's managed clusters": Shape(
            kubernetes="1.33.5",
            plugin="azure-cni",
            backend="vnet",
            build="20348.3207",
            platform="aks",
        ),
        "AKS overlay of before April 2023": Shape(
            kubernetes="1.26",
            plugin="azure-cni",
            backend="overlay",
            build="20348.1607",
            platform="aks",
        ),
        "Kubernetes 1.14": Shape(kubernetes="1.14", backend="host-gw", build="17763.2000"),
        "kube-proxy 1.15": Shape(kubernetes="1.15", backend="host-gw", build="17763.2000"),
        "20348 with kube-proxy 1.18": Shape(
            kubernetes="1.18", backend="host-gw", build="20348.100"
        ),
        "DSR with kube-proxy 1.19": Shape(
            kubernetes="1.19", backend="host-gw", build="17763.2000", dsr=True
        ),
        "DSR with kube-proxy 1.20": Shape(
            kubernetes="1.20", backend="host-gw", build="17763.2000", dsr=True
        ),
        "overlay with kube-proxy 1.17": Shape(
            kubernetes="1.17",
            backend="vxlan",
            build="17763.1217",
            driver="overlay",
            source_vip=True,
        ),
        "overlay with kube-proxy 1.19": Shape(
            kubernetes="1.19",
            backend="vxlan",
            build="17763.1217",
            driver="overlay",
            source_vip=True,
        ),
        "1803 overlay": Shape(
            kubernetes="1.14",
            backend="vxlan",
            build="17134.1",
            driver="overlay",
            source_vip=True,
        ),
        "20348 overlay of later Kubernetes": Shape(
            kubernetes="1.33.5",
            backend="vxlan",
            build="20348.3207",
            driver="overlay",
            source_vip=True,
        ),
        "early 20348 with DSR": Shape(
            kubernetes="1.24.17", backend="host-gw", build="20348.500", dsr=True
        ),
        "20348 of spring 2024": Shape(kubernetes="1.24.17", backend="host-gw", build="20348.2340"),
        "20348.2582": Shape(kubernetes="1.24.17", backend="host-gw", build="20348.2582"),
        "20348 of December 2025": Shape(
            kubernetes="1.34", backend="host-gw", build="20348.4529", plugin="calico"
        ),
        "26100 of December 2025": Shape(
            kubernetes="1.34", backend="host-gw", build="26100.7462", plugin="calico"
        ),
        "20348 overlay": Shape(
            kubernetes="1.28", backend="vxlan", build="20348.500", driver="overlay", source_vip=True
        ),
        "early 17763 overlay": Shape(
            kubernetes="1.24", backend="vxlan", build="17763.100", driver="overlay", source_vip=True
        ),
        **{f"both families, {note}": dual(**changes) for note, changes in DUAL_STACK.items()},
        **{f"Kubernetes {one}": Shape(kubernetes=one, backend="host-gw") for one in RELEASES},
    }


DUAL_STACK: dict[str, dict[str, str]] = {
    "Kubernetes 1.18": {"kubernetes": "1.18"},
    "Kubernetes 1.20": {"kubernetes": "1.20", "plugin": "sdnbridge"},
    "Kubernetes 1.26": {"kubernetes": "1.26", "plugin": "sdnbridge"},
    "17763": {"build": "17763.3165", "plugin": "sdnbridge"},
    "18363": {"build": "18363.1256", "plugin": "sdnbridge"},
    "17763 with kube-proxy 1.36": {"build": "17763.3165", "kubernetes": "1.36"},
    "19041 of before its autumn": {"build": "19041.572"},
    "overlay": {"driver": "overlay", "backend": "vxlan"},
    "sdnbridge": {"plugin": "sdnbridge"},
    "Calico": {"plugin": "calico", "backend": "windows-bgp"},
    "EKS": {"plugin": "aws-vpc-cni"},
    "Antrea": {"plugin": "antrea", "driver": "transparent", "mode": "none"},
}


def dual(
    *,
    kubernetes: str = "1.33.5",
    build: str = "20348.3207",
    driver: str = "l2bridge",
    backend: str = "routes",
    plugin: str = "flannel",
    mode: str = "kernelspace",
) -> Shape:
    """Return the shape of a dual-stack cluster."""
    return Shape(
        kubernetes=kubernetes,
        build=build,
        driver=driver,
        backend=backend,
        plugin=plugin,
        mode=mode,
        families=(Family.IPV4, Family.IPV6),
    )


def test_every_entry_applies_somewhere() -> None:
    """Some cluster shows each entry: none is written past every check of the shipped suites."""
    clusters = [cluster_facts(name) for name in PROFILES]
    clusters += [cluster_facts(shape) for shape in shapes().values()]
    base = cluster_facts("win2019-l2bridge")
    userspace = with_windows(base, kube_proxy={"mode": known("userspace", "test")})
    clusters.append(userspace)
    for runtime in ("containerd://2.0.5", "docker://20.10.9"):
        clusters.append(with_windows(base, runtime=known(runtime, "test")))
    unstated = replace(base.cni, nat_exceptions=unknown("not stated"))
    everything = replace(base.cni, nat_exceptions=known((ip_network("0.0.0.0/0"),), "test"))
    clusters += [replace(base, cni=unstated), replace(base, cni=everything)]
    azure = replace(everything, plugin=known("azure-cni", "test"))
    clusters += [replace(base, cni=azure)]
    clusters.append(replace(base, cni=replace(base.cni, plugin=known("azure-cni", "test"))))
    both = cluster_facts("win2022-l2bridge-dualstack")
    clusters.append(replace(both, cni=replace(both.cni, plugin=known("azure-cni", "test"))))
    clusters.append(with_windows(cluster_facts("azure-l2tunnel"), policies=unknown("not listed")))
    for plugin in ("calico", "antrea"):
        facts = cluster_facts(Shape(kubernetes="1.30", backend="host-gw", build="20348.3207"))
        clusters.append(replace(facts, cni=replace(facts.cni, plugin=known(plugin, "test"))))
    clusters += unread(cluster_facts("win2022-l2bridge-dsr"))
    clusters.append(replace(base, platform=known("gke", "test")))
    used = {
        name for facts in clusters for one in expectations(facts).values() for name in one.entries
    }
    assert {entry.id for entry in entries()} - used == set()


def unread(facts: ClusterFacts) -> list[ClusterFacts]:
    """Return the cluster without what settings say: firewall, loopbackDSR, NodePorts at loopback, and other modes."""
    proxies: list[dict[str, Fact[Any]]] = [
        {"mode": known("iptables", "test")},
        {"mode": known("iptables", "test"), "localhost_node_ports": unknown("not read")},
        {"mode": known("none", "test")},
        {"version": known(KubernetesVersion(1, 37), "test")},
        {"version": known(KubernetesVersion(1, 24), "test"), "terminating": unknown("no Pod")},
    ]
    return [
        with_windows(facts, firewall=unknown("not stated")),
        with_windows(facts, dns_suffixes=known(("{namespace}.svc.cluster.local",), "test")),
        replace(facts, cni=replace(facts.cni, loopback_dsr=unknown("not read"))),
        replace(facts, cni=replace(facts.cni, loopback_dsr=known(value=False, origin="test"))),
        *(with_linux_proxy(facts, **proxy) for proxy in proxies),
    ]


def test_azure_cni_needs_no_stated_driver() -> None:
    """A driver that is not told leaves no check undecided; rules about one are planned, and skipped once HNS tells it."""
    facts = cluster_facts("azure-l2tunnel")
    stated = expectations(facts)
    unread = expectations(with_windows(facts, cni_driver=unknown("no object tells it")))
    assert [check for check, one in unread.items() if one.undecided] == []
    further = {parts_of(parent_of(name))[-1] for name in unread.keys() - stated.keys()}
    assert "empty-source-vip" in further
    assert [name for name in further if not any(one.reported for one in RULES[name].about)] == []
    assert [name for name, one in stated.items() if one.expected != unread[name].expected] == []


def test_builds_without_patch_level_are_undecided_not_guessed() -> None:
    """Where only the build is known, checks that depend on its patch level say so."""
    facts = with_windows(
        cluster_facts("win2019-l2bridge"), build=known(WindowsBuild(17763), "windows-build")
    )
    undecided = {check.split("/")[0] for check, one in expectations(facts).items() if one.undecided}
    assert undecided == {
        "etp-local-client-address",
        "etp-local-no-local-backend",
        "loadbalancer-preserve-destination",
        "node-to-service-clusterip",
        "node-to-service-source-address",
        "nodeport-from-local-node",
        "nodeport-from-node-source-address",
        "service-65-backends",
        "flannel-host-configuration",
        "witnessed-preserve-destination",
    }


def test_known_bugs_never_show_as_what_a_flow_claims() -> None:
    """Where a bug leaves an outcome open, each of its outcomes is another than the claim's: it cannot be met by a healthy cluster."""
    shape = Shape(kubernetes="1.24.9", backend="host-gw", build="20348.500", dsr=True)
    facts = [cluster_facts(shape), cluster_facts(replace(shape, build="20348.2600"))]
    open_ones = [one for each in facts for one in expectations(each).values() if not one.expected]
    known_bugs = [(one, bug) for one in open_ones for bug in one.known_bugs]
    assert {bug.id for _, bug in known_bugs} >= {
        "cni-kb5040437",
        "flow-pod-pod-l2bridge-2022-dsr-bug",
        "icmp-l2bridge-2024-regression",
        "svc-clusterip-missing-etp-local",
    }
    for one, bug in known_bugs:
        shows = bug.shows
        assert one.claim.outcome not in shows.outcomes or (
            (shows.source_seen, shows.distribution)
            != (one.claim.source_seen, one.claim.distribution)
        ), bug


def test_what_documents_leave_open_is_no_known_bug() -> None:
    """Only entries of category bug name one: documents that differ or are silent do not."""
    for profile in PROFILES:
        for check, one in expectations(cluster_facts(profile)).items():
            if one.expected is None and one.limitation and one.limitation.category is Category.BUG:
                assert one.known_bugs, check
            if one.expected is not None:
                assert one.known_bugs == (), check
    by_id = {entry.id: entry for entry in entries()}
    assert by_id["nodeport-local-open"].when_present is None
    assert all(entry.settled_by for entry in entries() if entry.is_open)


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ({"mode": "nftables"}, "refused"),
        ({"mode": "ipvs"}, "refused"),
        ({"mode": "iptables"}, "nodeport-localhost-linux: connected"),
        ({"mode": "iptables", "localhost_node_ports": False}, "refused"),
        (
            {"mode": "iptables", "localhost_node_ports": None},
            "nodeport-localhost-linux-unread: unspecified",
        ),
        ({"mode": "none"}, "svc-without-kube-proxy: unspecified"),
    ],
)
def test_the_mode_decides_whether_linux_serves_nodeports_at_loopback(
    proxy: dict[str, Any], said: str
) -> None:
    """ "Localhost NodePorts are never allowed with other proxy modes" than iptables, where a flag decides."""
    given = {name: Fact(value, "test") for name, value in proxy.items()}
    facts = with_linux_proxy(cluster_facts("win2022-l2bridge-dsr"), **given)
    check = "nodeport-localhost/linux-1/linux-1/same-node/tcp/backend-local"
    assert expected_at(facts, check) == said


@pytest.mark.parametrize(
    ("loopback", "reached", "seen"),
    [
        (True, "connected", "connected, source = client-node"),
        (
            False,
            "svc-hairpin-dsr: refused or timed_out or unreachable",
            "svc-hairpin-dsr: refused or timed_out or unreachable",
        ),
        (None, "svc-hairpin-dsr-unread: unspecified", "svc-hairpin-dsr-unread: unspecified"),
    ],
)
def test_loopback_dsr_decides_whether_a_pod_reaches_itself(
    loopback: bool | None, reached: str, seen: str
) -> None:
    """Where the option is read or stated a hairpin is judged, and by the address that it shows."""
    facts = cluster_facts("win2022-overlay-dsr")
    facts = replace(facts, cni=replace(facts.cni, loopback_dsr=Fact(loopback, "test")))
    path = "windows-1/windows-1/same-node/tcp"
    assert expected_at(facts, f"service-hairpin/{path}") == reached
    assert expected_at(facts, f"service-hairpin-source/{path}") == seen


@pytest.mark.parametrize(
    ("firewall", "said"),
    [
        (True, "flow-closed-port-node: timed_out"),
        (False, "refused"),
        (None, "flow-closed-port-node-unstated: refused or timed_out"),
    ],
)
def test_the_firewall_decides_what_a_closed_port_of_a_node_says(
    firewall: bool | None, said: str
) -> None:
    """On it hides the port, off it does not; where nobody states it both are good."""
    facts = with_windows(cluster_facts("win2022-l2bridge-dsr"), firewall=Fact(firewall, "test"))
    assert expected_at(facts, "pod-to-node-closed-port/linux-1/windows-1/other-node/tcp") == said
