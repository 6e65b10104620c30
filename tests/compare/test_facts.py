"""Which facts changed: of the cluster, of node pools, of single nodes, and of how the run was made."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.compare.difference import difference
from nettests.compare.fact_changes import join_nodes
from nettests.compare.recorded import RecordedRun
from nettests.model.facts import ClusterFacts, Fact, NodeFacts, known, unknown
from nettests.model.journal_records import ManifestFile
from nettests.model.observation import Pull
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import OS
from tests.compare.runs import quiet_run
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
RUN = replace(quiet_run(FACTS), checks=())


def told(after: RecordedRun, before: RecordedRun = RUN) -> list[str]:
    """Return the changed facts in words."""
    return [str(one) for one in difference(before, after).facts]


def of(facts: ClusterFacts) -> RecordedRun:
    return replace(RUN, facts=facts)


def nodes(change: Any, *names: str) -> ClusterFacts:
    """Return the facts with some nodes changed, all Windows nodes where none is named."""
    wanted = names or tuple(one.name for one in FACTS.nodes if one.os is OS.WINDOWS)
    found = tuple(change(one) if one.name in wanted else one for one in FACTS.nodes)
    return replace(FACTS, nodes=found)


def built(build: str) -> Any:
    return lambda node: replace(node, build=known(WindowsBuild.parse(build), "test"))


def test_a_pool_that_changed_as_a_whole_is_one_change() -> None:
    """Two nodes of one pool got the same build: that is one line, of the pool."""
    assert told(of(nodes(built("17763.2000")))) == ["windows-1 build: 17763.1339 → 17763.2000"]


def test_a_node_that_changed_alone_is_named() -> None:
    """A patch that one node of a pool got is told of this node."""
    assert told(of(nodes(built("17763.2000"), "win-2"))) == [
        "win-2 (windows-1) build: 17763.1339 → 17763.2000"
    ]


def test_nodes_that_changed_differently_are_told_apart() -> None:
    """Each value is a line of its own."""
    first = nodes(built("17763.2000"), "win-1")
    both = replace(
        first, nodes=tuple(built("17763.3000")(n) if n.name == "win-2" else n for n in first.nodes)
    )
    assert told(of(both)) == [
        "win-1 (windows-1) build: 17763.1339 → 17763.2000",
        "win-2 (windows-1) build: 17763.1339 → 17763.3000",
    ]


def other_runtime(node: NodeFacts) -> Fact[str]:
    """Another runtime of the same version."""
    return known(str(node.runtime.value).replace("containerd", "cri-o"), "test")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda n: replace(n, kubelet=known(KubernetesVersion(1, 25, 1), "t")), "kubelet"),
        (lambda n: replace(n, runtime=known("containerd://1.6.99", "t")), "runtime's version"),
        (lambda n: replace(n, runtime=other_runtime(n)), "runtime"),
        (lambda n: replace(n, os_image="Windows Server 2025"), "OS image"),
        (lambda n: replace(n, cni_driver=known("overlay", "t")), "network driver"),
        (lambda n: replace(n, firewall=known(value=False, origin="t")), "firewall"),
        (lambda n: replace(n, kube_proxy=replace(n.kube_proxy, dsr=known(True, "t"))), "DSR"),
        (
            lambda n: replace(n, kube_proxy=replace(n.kube_proxy, mode=known("userspace", "t"))),
            "kube-proxy mode",
        ),
    ],
)
def test_each_setting_of_nodes_is_compared(change: Any, expected: str) -> None:
    """Exactly the setting that changed is told."""
    assert [one.partition(":")[0] for one in told(of(nodes(change)))] == [f"windows-1 {expected}"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"server_version": KubernetesVersion(1, 25, 1)}, "Kubernetes"),
        ({"cni": replace(FACTS.cni, plugin=known("calico", "t"))}, "CNI plugin: flannel → calico"),
        ({"cni": replace(FACTS.cni, backend=known("vxlan", "t"))}, "CNI backend: host-gw → vxlan"),
        ({"cni": replace(FACTS.cni, mtu=known(1450, "t"))}, "MTU of Pods: 1500 → 1450"),
        ({"cni": replace(FACTS.cni, mtu=unknown("gone"))}, "MTU of Pods: 1500 → unknown"),
        ({"external_target": None}, "external target: 198.51.100.10"),
    ],
)
def test_each_fact_of_the_cluster_is_compared(change: dict[str, Any], expected: str) -> None:
    """The first line is the fact that changed."""
    assert told(of(replace(FACTS, **change)))[0].startswith(expected)


def test_what_changes_while_networking_does_not_is_no_fact() -> None:
    """Addresses, context and the pairs of the sweep differ from one run to the next."""
    other = nodes(lambda n: replace(n, addresses=(), pod_cidrs=()))
    fleet = replace(other.fleet, seed=99)
    assert told(of(replace(other, context="other", fleet=fleet, dns_pods=unknown("x")))) == []


def test_an_unknown_fact_for_another_reason_is_none() -> None:
    """Why a fact could not be read is no change of it."""
    one, two = (nodes(lambda n, why=why: replace(n, firewall=unknown(why))) for why in "ab")
    assert told(of(two), of(one)) == []


def renamed(node: NodeFacts) -> NodeFacts:
    return replace(node, name=f"{node.name}-new")


def test_a_renamed_node_is_the_one_at_its_place() -> None:
    """A node that was replaced under another name is told as such, and compared with the one before it."""
    after = nodes(lambda n: built("17763.2000")(renamed(n)), "win-2")
    assert told(of(after)) == [
        "windows-1 node name: win-2 → win-2-new",
        "win-2-new (windows-1) build: 17763.1339 → 17763.2000",
    ]


def test_a_node_that_came_counts() -> None:
    """A pool that grew has another number of nodes; nobody is renamed by that."""
    more = replace(FACTS, nodes=(*FACTS.nodes, replace(FACTS.nodes[-1], name="win-3", member=3)))
    assert told(of(more)) == ["windows-1 nodes: 2 → 3"]
    assert told(of(FACTS), of(more)) == ["windows-1 nodes: 3 → 2"]


def test_an_added_pool_is_told() -> None:
    """Its number of nodes was none before."""
    added = replace(FACTS.nodes[-1], name="win-9", pool="windows-2", member=1)
    assert told(of(replace(FACTS, nodes=(*FACTS.nodes, added)))) == ["windows-2 nodes: absent → 1"]


def test_a_node_that_changed_its_pool_stays_the_node_of_its_name() -> None:
    """An upgrade in place splits a pool: the node is compared with itself, and its new pool is told."""
    moved = nodes(lambda n: replace(built("20348.3207")(n), pool="windows-2", member=1), "win-2")
    assert told(of(moved)) == [
        "windows-1 nodes: 2 → 1",
        "windows-2 nodes: absent → 1",
        "windows-2 node pool: windows-1 → windows-2",
        "windows-2 build: 17763.1339 → 20348.3207",
    ]


def test_nodes_in_other_pools_are_warned_of() -> None:
    """Ids name pools: a check of windows-1 is one of other nodes then."""
    moved = nodes(lambda n: replace(n, pool="windows-2"), "win-1", "win-2")
    (warning,) = [one for one in difference(RUN, of(moved)).warnings if "pools" in one]
    assert "win-1: windows-1 → windows-2, … and 1 more" in warning
    assert not [one for one in difference(RUN, RUN).warnings if "pools" in one]


def test_nodes_are_joined_once_each() -> None:
    """No node of either run is joined twice, and the mirror joins the same."""
    other = nodes(renamed, "win-1")
    swapped = replace(other, nodes=tuple(reversed(other.nodes)))
    there, back = join_nodes(FACTS, swapped), join_nodes(swapped, FACTS)
    pairs = {(a.name, b.name) for a, b in there.pairs}
    assert len(pairs) == len(FACTS.nodes)
    assert pairs == {(b.name, a.name) for a, b in back.pairs}
    assert there.later("win-1 → linux-1") == "win-1-new → linux-1"
    assert back.later("win-1-new → linux-1") == "win-1 → linux-1"


def test_runs_without_facts_have_no_nodes_to_join() -> None:
    """A run that could not start is compared all the same."""
    assert join_nodes(None, FACTS).pairs == join_nodes(FACTS, None).pairs == ()
    assert told(replace(RUN, facts=None)) == []


def how(**fields: Any) -> RecordedRun:
    return replace(RUN, run=replace(RUN.run, **fields))


def test_how_a_run_was_made_is_a_fact_of_it() -> None:
    """Versions, manifests by digest, suites, the cluster profile and options that choose are compared."""
    other = ManifestFile(file="manifests/limitations/base.yaml", sha256="4a" * 32)
    site = ManifestFile(file="site.yaml", sha256="5b" * 32)
    assert told(how(nettests="0.2.0")) == ["nettests: 0.1.0 → 0.2.0"]
    assert told(how(manifests=(other, site))) == [
        "manifest manifests/limitations/base.yaml: 3f3f3f3f3f3f → 4a4a4a4a4a4a",
        "manifest site.yaml: absent → 5b5b5b5b5b5b",
    ]
    assert told(how(suites=("mine/suites",))) == ["suites: absent → suites"]
    assert told(how(cluster_profile="etc/mine.yaml")) == ["cluster profile: absent → mine.yaml"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["run", "--flow=a"], ["run", "--flow", "a"], []),
        (["run", "--flow=a"], ["run", "--flow=b"], ["options: --flow=a → --flow=b"]),
        (["run"], ["run", "--enable=costly"], ["options: absent → --enable=costly"]),
        (["run", "--report-dir=x", "-q"], ["run", "--report-dir=y"], []),
    ],
)
def test_options_that_choose_are_told_and_others_are_not(
    before: list[str], after: list[str], expected: list[str]
) -> None:
    """Which checks, nodes and images: that explains checks of one run alone; where reports go does not."""
    assert told(how(argv=tuple(after)), how(argv=tuple(before))) == expected


def test_images_are_compared_where_both_runs_pulled_some() -> None:
    """A run that pulled nothing beforehand names no image, which is no other image."""
    one, two = (
        replace(RUN, pulls=(Pull(image=f"agnhost:{tag}", node="win-1", seconds=1.0),))
        for tag in ("2.63", "2.64")
    )
    assert told(two, one) == ["probe images: agnhost:2.63 → agnhost:2.64"]
    assert told(two, RUN) == []


@pytest.mark.parametrize(
    ("servers", "warned"),
    [
        (("https://127.0.0.1:6443", "https://127.0.0.1:7443"), False),
        (("https://api.one.test:6443", "https://api.two.test:6443"), True),
        (("https://api.one.test", "https://api.one.test:6443/x"), False),
        (("https://[::1", "https://[::1"), False),
    ],
)
def test_two_clusters_are_a_warning_and_no_error(servers: tuple[str, str], *, warned: bool) -> None:
    """Another port is another tunnel; another host may be another cluster."""
    old, new = (how(server=server, run_id=server) for server in servers)
    found = difference(old, new).warnings
    assert any("different API servers" in one for one in found) is warned


@pytest.mark.parametrize(
    ("server", "contexts", "warned"),
    [
        ("https://127.0.0.1:6443", ("kind-a", "kind-b"), True),
        ("https://127.0.0.1:6443", ("kind-a", "kind-a"), False),
        ("https://api.one.test:6443", ("admin", "reader"), False),
    ],
)
def test_two_contexts_at_this_machine_may_be_two_clusters(
    server: str, contexts: tuple[str, str], *, warned: bool
) -> None:
    """The address of a tunnel is that of every tunnel; elsewhere a context is a name for the same server."""
    old, new = (how(server=server, context=context) for context in contexts)
    said = [one for one in difference(old, new).warnings if "different contexts" in one]
    assert bool(said) is warned
    assert all(context in one for one in said for context in contexts)


def test_runs_in_the_wrong_order_and_runs_that_broke_off_are_warned_of() -> None:
    """What misleads a reader is said first."""
    earlier = how(run_id="x", started="2026-11-23T00:00:00+00:00", complete=False)
    found = difference(RUN, earlier).warnings
    assert any("started before the first" in one for one in found)
    assert any("the second run broke off" in one for one in found)
