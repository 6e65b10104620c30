"""What is told of entries whose nodes, drivers or versions differ or are not known, word for word."""

from dataclasses import replace
from datetime import date

import pytest

from nettests.errors import ManifestError
from nettests.expect import explain, read_manifest, resolve
from nettests.expect.condition import Truth
from nettests.model.check import Case, Target
from nettests.model.facts import known, unknown
from nettests.model.versions import KubernetesVersion
from nettests.model.words import Question, TargetKind
from tests.expect.entries import check, manifest, text
from tests.expect.test_told import FACTS, NO, OPEN, REFUSED, TIMED_OUT, YES, findings


def test_entries_of_cases_speak_of_those_alone() -> None:
    """A check without a case, or of another one, is none of theirs."""
    one = manifest(one=f"{TIMED_OUT}\ncases: [a]")
    target = Target(kind=TargetKind.POD)
    for case, considered in ((Case(label="a"), 1), (Case(label="b"), 0), (None, 0)):
        probed = check(target=target, case=case, question=Question.START)
        assert len(explain(probed, FACTS, [one]).considered) == considered


@pytest.mark.parametrize(
    ("wanted", "truth", "which"), [(">=1.10", YES, "each"), ("<1.10", NO, "none")]
)
def test_a_kube_proxy_whose_version_nobody_knows_is_within_the_skew(
    wanted: str, truth: Truth, which: str
) -> None:
    """Where all versions that may go with the API server are in a range, or none, the answer is known."""
    nodes = tuple(
        replace(one, kube_proxy=replace(one.kube_proxy, version=unknown("a host service")))
        for one in FACTS.nodes
    )
    told = findings(f"{{source: {{kube_proxy: '{wanted}'}}}}", facts=replace(FACTS, nodes=nodes))
    assert told == (
        (
            truth,
            (
                f"source kube-proxy in {wanted}: {which} that the version skew policy allows beside "
                "Kubernetes 1.24.17 is (a host service)"
            ),
        ),
    )
    between = findings("{source: {kube_proxy: '>=1.24.5'}}", facts=replace(FACTS, nodes=nodes))
    assert between == ((OPEN, "source kube-proxy in >=1.24.5: unknown (a host service)"),)


@pytest.mark.parametrize(
    ("wanted", "truth"),
    [("l2bridge, overlay, l2tunnel", YES), ("transparent, nat", NO), ("l2bridge", OPEN)],
)
def test_a_driver_that_nobody_reads_is_one_of_its_plugins(wanted: str, truth: Truth) -> None:
    """Where every driver that the plugin makes is in the list, or none, the answer is known, with its reason."""
    nodes = tuple(replace(one, cni_driver=unknown("no file is read")) for one in FACTS.nodes)
    facts = replace(FACTS, nodes=nodes, cni=replace(FACTS.cni, plugin=known("azure-cni", "a Pod")))
    ((found, told),) = findings(f"{{source: {{driver: [{wanted}]}}}}", facts=facts)
    assert found is truth
    assert told.startswith(f"source network driver in {wanted}: ")
    each = "azure-cni makes l2bridge or l2tunnel (a Pod)"
    assert told.endswith("unknown (no file is read)" if truth is OPEN else each)


def test_where_no_kube_proxy_runs_no_version_is_in_a_range() -> None:
    """The network plugin serves Services itself: the sentence says by which fact that is known."""
    nodes = tuple(
        replace(one, kube_proxy=replace(one.kube_proxy, mode=known("none", "Cilium's own")))
        for one in FACTS.nodes
    )
    assert findings("{source: {kube_proxy: '>=1.0'}}", facts=replace(FACTS, nodes=nodes)) == (
        (NO, "source kube-proxy in >=1.0: none runs there (Cilium's own)"),
    )


def test_a_version_that_is_known_goes_before_what_the_skew_policy_allows() -> None:
    """A kube-proxy that is older than it may be is as old as it is."""
    old = known(KubernetesVersion(1, 10), "its image")
    nodes = tuple(
        replace(one, kube_proxy=replace(one.kube_proxy, version=old)) for one in FACTS.nodes
    )
    assert findings("{source: {kube_proxy: '>=1.20'}}", facts=replace(FACTS, nodes=nodes)) == (
        (NO, "source kube-proxy in >=1.20: 1.10.0 (its image)"),
    )


def test_nodes_of_a_node_pool_that_differ_are_told() -> None:
    """A Service over a node pool meets a condition where all of its nodes do; where some do not, none is named."""
    pool = FACTS.node("win-1").pool
    over = Target(kind=TargetKind.SERVICE_CLUSTERIP, pool=pool, os=FACTS.node("win-1").os)
    one = replace(
        FACTS.node("win-1"),
        kube_proxy=replace(FACTS.node("win-1").kube_proxy, dsr=known(value=True, origin="log")),
    )
    nodes = tuple(one if node.name == "win-1" else node for node in FACTS.nodes)
    told = findings("{target: {dsr: true}}", check(target=over), replace(FACTS, nodes=nodes))
    assert told == ((NO, f"the nodes of the target, {pool}, differ in it"),)
    alike = findings("{target: {dsr: true}}", check(target=over))
    assert alike == ((NO, "target DSR: off (kube-proxy's log), not on"),)


def test_an_entry_without_a_date_hides_none_that_has_expired() -> None:
    """Each is looked at, in whatever order they are read."""
    both = [manifest(base=REFUSED), manifest("site", one="cancels: [base]")]
    with pytest.raises(ManifestError, match="one was to be reviewed by 2026-12-31"):
        resolve([check()], FACTS, both, today=date(2027, 1, 1))


def test_every_answer_that_satisfies_an_entry_is_expected() -> None:
    """Of a list of answers, with the source that is seen in any of them."""
    entry = manifest(one="expected: {outcome: [connected, replied], source: client-node}")
    found = resolve([check()], FACTS, [entry])[check().id]
    assert str(found.expected) == "connected or replied, source = client-node"


def test_a_bug_brings_its_summary() -> None:
    """A judgement tells it beside the id."""
    body = "expected: unspecified\nwhen_present: {outcome: [timed_out, refused]}"
    entry = read_manifest(text(one=body).replace("category: platform", "category: bug"), "m.yaml")
    (bug,) = resolve([check()], FACTS, [entry])[check().id].known_bugs
    assert (bug.id, bug.summary, str(bug.shows)) == ("one", "in short", "refused or timed_out")


def test_entries_that_state_a_part_agree_on_the_claims_other_parts() -> None:
    """The claim's outcome is that of both: only what they state can contradict."""
    same = "expected: {source: client-node}"
    found = resolve([check()], FACTS, [manifest(one=same, two=same)])[check().id]
    assert str(found.expected) == "connected, source = client-node"
    with pytest.raises(
        ManifestError, match="connected, source = client-node and connected, source"
    ):
        resolve([check()], FACTS, [manifest(one=same, two="expected: {source: source-vip}")])
