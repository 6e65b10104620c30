"""Conditions on facts: they hold, do not hold, or cannot be decided, and say by which fact."""

from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from nettests.expect import resolve
from nettests.model.check import Case, Check, Target
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts, Fact, Network, known, unknown
from nettests.model.service import ServiceSettings
from nettests.model.versions import KubernetesVersion, VersionRange, WindowsBuild
from nettests.model.words import (
    OS,
    Family,
    Outcome,
    Placement,
    Protocol,
    Question,
    Resolver,
    TargetKind,
)
from tests.expect.entries import check, manifest
from tests.facts import Shape, cluster_facts, with_windows

FACTS = cluster_facts("win2019-l2bridge")
LEADING_OUTSIDE = ServiceSettings(label="external-name", type="ExternalName", external_name=True)


def expectation(
    when: str, probed: Check, facts: ClusterFacts = FACTS, more: str = ""
) -> Expectation:
    """Return what is expected of a check when one entry with this condition is known."""
    body = f"{more}\nexpected: {{outcome: timed_out}}\nwhen: {when}"
    return resolve([probed], facts, [manifest(one=body)])[probed.id]


def applies(when: str, probed: Check | None = None, facts: ClusterFacts = FACTS) -> bool:
    """Whether the entry decides the check."""
    found = expectation(when, probed or check(), facts)
    assert found.undecided is None, found.undecided
    return found.limitation is not None


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("{source: {os: windows}}", True),
        ("{source: {os: linux}}", False),
        ("{target: {os: windows}}", True),
        ("{source: {build: '<17763.1432'}}", True),
        ("{source: {build: '>=17763.1432'}}", False),
        ("{source: {build: '>=17763 <20348'}}", True),
        ("{source: {build: '==17763.1339'}}", True),
        ("{source: {kubelet: '>=1.24'}}", True),
        ("{source: {kubelet: '<1.24'}}", False),
        ("{source: {kube_proxy: '>=1.24.17 <1.25'}}", True),
        ("{source: {runtime: [containerd]}}", True),
        ("{source: {runtime: [docker]}}", False),
        ("{source: {runtime_version: '>=1.7 <1.7.21'}}", True),
        ("{source: {runtime_version: '>=2.0'}}", False),
        ("{source: {driver: [l2bridge, overlay]}}", True),
        ("{source: {driver: [overlay]}}", False),
        ("{source: {mode: [kernelspace]}}", True),
        ("{source: {dsr: false}}", True),
        ("{source: {dsr: true}}", False),
        ("{source: {host_process: true}}", True),
        ("{source: {host_process: false}}", False),
        ("{cluster: {kubernetes: '>=1.24 <1.25'}}", True),
        ("{cluster: {kubernetes: '>=1.25'}}", False),
        ("{cluster: {cni: [flannel]}}", True),
        ("{cluster: {cni: [calico]}}", False),
        ("{cluster: {backend: [host-gw]}}", True),
        ("{placement: [other-node]}", True),
        ("{placement: [same-node, outside]}", False),
        ("{resolver: [nslookup]}", False),
        (
            "{source: {os: windows, dsr: false}, target: {os: windows}, placement: [other-node]}",
            True,
        ),
        (
            "{source: {os: windows, dsr: true}, target: {os: windows}, placement: [other-node]}",
            False,
        ),
    ],
)
def test_every_condition(when: str, *, holds: bool) -> None:
    """Each kind of condition holds exactly where its fact meets it; all of an entry's have to."""
    assert applies(when) is holds


@pytest.mark.parametrize(
    "key", ["build: '<20348'", "dsr: false", "driver: [l2bridge]", "host_process: true"]
)
def test_windows_settings_do_not_hold_on_linux(key: str) -> None:
    """What exists on Windows only is not unknown on Linux: it does not hold."""
    assert not applies(f"{{source: {{{key}}}}}", check("linux-1"))


@pytest.mark.parametrize("key", ["os: windows", "dsr: false", "kubelet: '>=1.0'"])
def test_what_is_outside_meets_no_condition_on_nodes(key: str) -> None:
    """A vantage or target outside the cluster has no node, and that is known."""
    assert not applies(f"{{source: {{{key}}}}}", check(None, placement=Placement.OUTSIDE))
    assert not applies(f"{{target: {{{key}}}}}", check(target=None, placement=Placement.OUTSIDE))


def test_resolver_protocol_and_family_are_told_apart() -> None:
    """An entry covers the resolvers, protocols and families that it names."""
    probed = check(resolver=Resolver.NSLOOKUP, protocol=Protocol.UDP)
    assert applies("{resolver: [nslookup]}", probed)
    assert not applies("{resolver: [system]}", probed)
    everywhere = "{source: {os: windows}}"
    assert expectation(everywhere, probed, more="protocols: [tcp]").limitation is None
    assert expectation(everywhere, probed, more="protocols: [udp]").limitation is not None
    assert expectation(everywhere, probed, more="families: [IPv6]").limitation is None
    six = check(family=Family.IPV6)
    assert expectation(everywhere, six, more="families: [IPv6]").limitation is not None


def test_a_runtime_that_names_no_version_is_undecided() -> None:
    """What cannot be read as a version is not compared."""
    facts = with_windows(FACTS, runtime=known("containerd://none", "test"))
    found = expectation("{source: {runtime_version: '>=1.7'}}", check(), facts)
    assert "not a Kubernetes version: 'none'" in (found.undecided or "")


def test_cases_are_told_apart() -> None:
    """An entry with cases covers their checks, and none that tests nothing of that kind."""
    more, always = "cases: [hostUsers]", "{source: {os: windows}}"
    for label, covered in (("hostUsers", True), ("hostPID", False)):
        probed = check(case=Case(label=label))
        assert (expectation(always, probed, more=more).limitation is not None) is covered
    assert expectation(always, check(), more=more).limitation is None


UNKNOWN: list[tuple[str, dict[str, Any]]] = [
    ("driver: [l2bridge]", {"cni_driver": unknown("it cannot be read")}),
    ("build: '<20348'", {"build": unknown("it cannot be read")}),
    ("dsr: false", {"kube_proxy": {"dsr": unknown("it cannot be read")}}),
    ("mode: [kernelspace]", {"kube_proxy": {"mode": unknown("it cannot be read")}}),
    ("kube_proxy: '<1.24'", {"kube_proxy": {"version": unknown("it cannot be read")}}),
    ("runtime: [containerd]", {"runtime": unknown("it cannot be read")}),
    ("runtime_version: '>=1.7'", {"runtime": unknown("it cannot be read")}),
]


@pytest.mark.parametrize(("key", "changes"), UNKNOWN)
def test_an_unknown_fact_leaves_the_check_undecided(key: str, changes: dict[str, Any]) -> None:
    """What cannot be read is not guessed: the check says which fact is missing, and why."""
    facts = with_windows(FACTS, **changes)
    found = expectation(f"{{source: {{os: windows, {key}}}}}", check(), facts)
    assert found.expected is None
    assert found.limitation is None
    assert found.undecided is not None
    assert "it cannot be read" in found.undecided


@pytest.mark.parametrize(("key", "changes"), UNKNOWN)
def test_an_unknown_fact_does_not_matter_where_the_rest_fails(
    key: str, changes: dict[str, Any]
) -> None:
    """An entry that cannot apply anyway leaves nothing undecided."""
    facts = with_windows(FACTS, **changes)
    assert not applies(f"{{source: {{{key}}}, placement: [same-node]}}", facts=facts)


def test_an_unknown_fact_does_not_matter_where_the_outcome_is_the_same() -> None:
    """Whether a second entry applies is no question when it expects what is expected anyway."""
    facts = with_windows(FACTS, cni_driver=unknown("it cannot be read"))
    probed = check()
    same = manifest(
        one="expected: {outcome: timed_out}",
        two="expected: {outcome: timed_out}\nwhen: {source: {driver: [overlay]}}",
    )
    assert resolve([probed], facts, [same])[probed.id].undecided is None
    as_claimed = "expected: {outcome: connected}\nwhen: {source: {driver: [overlay]}}"
    assert resolve([probed], facts, [manifest(one=as_claimed)])[probed.id].undecided is None


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ("<1.22", False),
        ("<1.22.1", None),
        (">=1.22", True),
        (">=1.22.1", None),
        (">=1.20 <1.25", True),
        (">=1.23 <1.24", None),
        ("<=1.24.17", None),
        (">1.24.99", None),
        (">=1.25", False),
        ("==1.24.17", None),
        ("==1.20", None),
    ],
)
def test_an_unread_kube_proxy_follows_the_version_skew_policy(
    wanted: str, *, holds: bool | None
) -> None:
    """A kube-proxy of unknown version beside 1.24 is any of 1.22 to 1.24: only ranges that split these stay open."""
    reason = "no kube-proxy Pod runs there"
    facts = with_windows(FACTS, kube_proxy={"version": unknown(reason)})
    found = expectation(f"{{source: {{kube_proxy: '{wanted}'}}}}", check(), facts)
    assert (found.undecided is None, found.limitation is not None) == (
        holds is not None,
        holds is True,
    )
    if found.limitation is not None:
        because = " ".join(found.limitation.because)
        assert "version skew policy" in because
        assert reason in because


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ("l2bridge, l2tunnel, overlay", True),
        ("l2tunnel, l2bridge", True),
        ("overlay, transparent", False),
        ("l2bridge", None),
        ("l2tunnel, overlay", None),
    ],
)
def test_an_unread_driver_of_azure_cni_is_one_that_it_makes(
    wanted: str, *, holds: bool | None
) -> None:
    """Azure CNI makes l2bridge or l2tunnel: only conditions that tell these two apart stay open."""
    facts = with_windows(FACTS, cni_driver=unknown("no object tells it"))
    facts = replace(facts, cni=replace(facts.cni, plugin=known("azure-cni", "DaemonSet azure-cns")))
    found = expectation(f"{{source: {{driver: [{wanted}]}}}}", check(), facts)
    assert (found.undecided is None, found.limitation is not None) == (
        holds is not None,
        holds is True,
    )
    if found.limitation is not None:
        assert "azure-cni makes l2bridge or l2tunnel" in " ".join(found.limitation.because)


def test_a_stated_driver_of_azure_cni_comes_first() -> None:
    """What the cluster profile says is not overruled by what the plugin usually makes."""
    facts = with_windows(FACTS, cni_driver=known("transparent", "cluster profile"))
    facts = replace(facts, cni=replace(facts.cni, plugin=known("azure-cni", "DaemonSet azure-cns")))
    found = expectation("{source: {driver: [l2bridge, l2tunnel]}}", check(), facts)
    assert (found.undecided, found.limitation) == (None, None)


@pytest.mark.parametrize("wanted", ["<1.16", ">=1.22", ">=1.20 <1.25", "<1.22.1"])
@pytest.mark.parametrize(
    "version",
    [unknown("no kube-proxy runs there"), known(KubernetesVersion(1, 24), "the image of its Pod")],
)
def test_a_replaced_kube_proxy_is_of_no_version(
    wanted: str, version: Fact[KubernetesVersion]
) -> None:
    """Where the plugin serves Services no range holds, whatever the policy allows or an idle Pod shows."""
    mode = known("none", "ConfigMap antrea-config: antreaProxy.proxyAll")
    facts = with_windows(FACTS, kube_proxy={"version": version, "mode": mode})
    found = expectation(f"{{source: {{kube_proxy: '{wanted}'}}}}", check(), facts)
    assert (found.undecided, found.limitation) == (None, None)


def test_from_1_28_on_the_skew_is_a_minor_wider() -> None:
    """Beside 1.28 a kube-proxy of unknown version may be 1.25, beside 1.27 it is 1.25 or newer, too."""
    for server, oldest in (("1.28.0", 25), ("1.27.4", 25), ("1.36.2", 33)):
        version = KubernetesVersion.parse(server)
        below = VersionRange.parse(f"<1.{oldest}", KubernetesVersion)
        above = VersionRange.parse(f"<1.{oldest + 1}", KubernetesVersion)
        assert below.holds_within_skew(version) is False
        assert above.holds_within_skew(version) is None


@pytest.mark.parametrize(
    ("wanted", "decided"),
    [("<17763.1432", False), (">=17763.379 <20348", False), ("<20348", True), (">=18362.5", True)],
)
def test_a_build_without_its_patch_level(wanted: str, *, decided: bool) -> None:
    """A missing patch level matters only for bounds inside that very build."""
    facts = with_windows(FACTS, build=known(WindowsBuild(17763), "label windows-build"))
    found = expectation(f"{{source: {{build: '{wanted}'}}}}", check(), facts)
    assert (found.undecided is None) is decided


def test_reasons_name_the_fact_and_its_origin() -> None:
    """A limitation that applies says why, part by part."""
    found = expectation("{source: {build: '<17763.1432', dsr: false}}", check())
    assert found.limitation is not None
    because = " / ".join(found.limitation.because)
    assert "17763.1339 (nodeInfo.kernelVersion)" in because
    assert "off (kube-proxy's log)" in because


def test_a_service_over_a_node_pool_has_a_system_but_no_node() -> None:
    """Conditions on the system of a whole node pool's Service hold; those on one node's settings do not."""
    over_pool = Target(
        kind=TargetKind.SERVICE_CLUSTERIP, os=OS.WINDOWS, service="affinity-windows-1"
    )
    probed = check(target=over_pool)
    assert applies("{target: {os: windows}}", probed)
    assert not applies("{target: {os: windows, dsr: false}}", probed)


def test_a_shape_of_ones_own() -> None:
    """The facts builder gives what tables of other versions need."""
    facts = cluster_facts(Shape(kubernetes="1.18", backend="host-gw", build="20348.500"))
    assert applies("{source: {kube_proxy: '<1.19', build: '>=20348'}}", facts=facts)
    assert expectation("{source: {os: windows}}", check()).claim.outcome is Outcome.CONNECTED


@pytest.mark.parametrize(
    ("network", "where"),
    [("172.30.0.0/24", "inside"), ("10.244.0.0/16", "outside"), (None, "unknown")],
)
def test_a_condition_may_test_where_the_target_lies_for_outboundnat(
    network: str | None, where: str
) -> None:
    """A node is inside the stated exceptions or outside; without a statement exactly that is known."""
    exceptions: Fact[tuple[Network, ...]] = unknown("not stated")
    if network:
        exceptions = known((ip_network(network),), "test")
    facts = replace(FACTS, cni=replace(FACTS.cni, nat_exceptions=exceptions))
    probed = check(target=Target(kind=TargetKind.NODE_IP, os=OS.LINUX, node="linux-2"))
    for word in ("inside", "outside", "unknown"):
        assert applies(f"{{nat_exception: [{word}]}}", probed, facts) is (word == where)


@pytest.mark.parametrize(
    ("target", "question", "where"),
    [
        (Target(kind=TargetKind.EXTERNAL_IP), Question.REACH, "inside"),
        (Target(kind=TargetKind.EXTERNAL_NAME), Question.REACH, "inside"),
        (Target(kind=TargetKind.SERVICE_FQDN, settings=LEADING_OUTSIDE), Question.REACH, "inside"),
        (Target(kind=TargetKind.SERVICE_FQDN), Question.REACH, "unknown"),
        (Target(kind=TargetKind.EXTERNAL_NAME), Question.RESOLVE, "unknown"),
    ],
)
def test_a_host_outside_is_the_same_host_by_name(
    target: Target, question: Question, where: str
) -> None:
    """Its names lead to its address; a question for one of them goes to a name server instead."""
    address = FACTS.external_target and FACTS.external_target.address
    exceptions: Fact[tuple[Network, ...]] = known((ip_network(str(address)),), "test")
    facts = replace(FACTS, cni=replace(FACTS.cni, nat_exceptions=exceptions))
    probed = check(target=target)
    probed = replace(probed, action=replace(probed.action, question=question))
    for word in ("inside", "outside", "unknown"):
        assert applies(f"{{nat_exception: [{word}]}}", probed, facts) is (word == where)


@pytest.mark.parametrize("kind", [TargetKind.POD_IP, TargetKind.EXTERNAL_IP])
def test_an_address_that_is_not_known_lies_nowhere(kind: TargetKind) -> None:
    """A pod's address is nobody's to know beforehand, nor is an external target that is not stated."""
    exceptions: Fact[tuple[Network, ...]] = known((ip_network("172.30.0.0/24"),), "test")
    cni = replace(FACTS.cni, nat_exceptions=exceptions)
    facts = replace(FACTS, cni=cni, external_target=None)
    probed = check(target=Target(kind=kind, os=OS.LINUX, node="linux-2"))
    for word, holds in (("inside", False), ("outside", False), ("unknown", True)):
        assert applies(f"{{nat_exception: [{word}]}}", probed, facts) is holds


@pytest.mark.parametrize(
    ("node", "backends", "where"),
    [
        ("win-1", ("server-windows-1-1",), "same-node"),
        ("win-1", ("server-windows-1-2", "server-windows-1-1-b"), "same-node"),
        ("win-1", ("server-windows-1-2",), "other-node"),
        ("win-1", (), None),
        (None, ("server-windows-1-1",), None),
    ],
)
def test_a_condition_may_test_where_backends_stand(
    node: str | None, backends: tuple[str, ...], where: str | None
) -> None:
    """Backends stand on the node whose address is tested or elsewhere; without either there is no place."""
    target = Target(kind=TargetKind.NODEPORT, os=OS.WINDOWS, node=node, backends=backends)
    for word in ("same-node", "other-node"):
        assert applies(f"{{backend_placement: [{word}]}}", check(target=target)) is (word == where)


def test_a_service_over_a_node_pool_has_the_settings_that_all_its_nodes_share() -> None:
    """A Service of a whole node pool stands on no one node: what all nodes of the node pool are, its target is."""
    probed = check(
        target=Target(kind=TargetKind.SERVICE_CLUSTERIP, pool="windows-1", os=OS.WINDOWS)
    )
    assert applies('{target: {build: ">=17763 <17764"}}', probed)
    assert not applies('{target: {build: ">=20348"}}', probed)
    first, second = (one for one in FACTS.nodes if one.pool == "windows-1")
    newer = replace(second, build=known(WindowsBuild.parse("20348.1"), "test"))
    mixed = replace(FACTS, nodes=(*(one for one in FACTS.nodes if one is not second), newer))
    assert first.build != newer.build
    assert not applies('{target: {build: ">=20348"}}', probed, mixed)
    assert not applies('{target: {build: ">=17763 <17764"}}', probed, mixed)
    nowhere = check(target=Target(kind=TargetKind.SERVICE_CLUSTERIP, os=OS.WINDOWS))
    assert not applies('{target: {build: ">=17763"}}', nowhere)
