"""Upgrades on known facts, with the shipped suites and manifests: every change is explained, and a fault is not."""

from dataclasses import replace
from itertools import permutations

import pytest

from nettests.compare.changes import Explained, Kind
from nettests.compare.difference import difference
from nettests.compare.recorded import RecordedRun
from nettests.model.check_id import parent_of
from nettests.model.exit_code import ExitCode
from nettests.model.facts import known
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import Outcome, Verdict
from tests.compare.runs import but, quiet_run, recorded, results
from tests.facts import PROFILES, cluster_facts, with_windows

UPGRADES = [
    ("win2019-l2bridge", "win2022-l2bridge-dsr"),
    ("win2019-l2bridge", "win2022-overlay-dsr"),
    ("win2019-overlay", "win2022-overlay-dsr"),
    ("win2022-l2bridge-dsr", "antrea-transparent"),
]
OLD, NEW = "win2019-l2bridge", "win2022-l2bridge-dsr"


@pytest.mark.parametrize(("old", "new"), UPGRADES)
def test_an_upgrade_that_does_as_documented_is_explained_and_no_worse(old: str, new: str) -> None:
    """Where each cluster behaves as documented for its own facts, each change names a fact, and nothing is worse."""
    found = difference(quiet_run(cluster_facts(old)), quiet_run(cluster_facts(new)))
    assert len(found.changed) > 20
    assert found.unexplained == ()
    assert all(one.why and one.why.causes for one in found.changed)
    assert (found.worse, found.exit_code) == ((), ExitCode.OK)


@pytest.mark.nightly
def test_every_cluster_against_every_other_is_explained() -> None:
    """The same for all ordered pairs of the lab's profiles, those that share few node pools included."""
    runs = {name: quiet_run(cluster_facts(name)) for name in PROFILES}
    odd = {
        f"{old} → {new}: {one.id}"
        for old, new in permutations(runs, 2)
        for one in difference(runs[old], runs[new]).unexplained
    }
    assert odd == set()


def test_a_fault_beside_an_upgrade_is_the_only_new_failure() -> None:
    """What breaks at the same time is told from all that the upgrade changed: it alone is worse, and unexplained."""
    broken = but("pod-to-pod-ip", Outcome.TIMED_OUT, "linux-1/windows-1", "tcp")
    after = recorded(results(cluster_facts(NEW), broken))
    found = difference(quiet_run(cluster_facts(OLD)), after)
    (failure,) = found.worse
    assert failure == "pod-to-pod-ip/linux-1/windows-1/other-node/tcp"
    assert [one.id for one in found.unexplained] == [failure]
    assert found.exit_code is ExitCode.TESTS_FAILED


def test_what_stays_open_and_hangs_on_a_fact_more_is_explained_by_it() -> None:
    """A ping of a Windows node hangs on its firewall before, and on OutBoundNAT's exceptions too once they leave it out."""
    before = with_windows(cluster_facts(NEW), firewall=known(True, "test"))
    nodes = before.cni.nat_exceptions.value
    assert nodes
    only_pods = known(tuple(one for one in nodes if str(one).startswith("10.")), "test")
    after = replace(before, cni=replace(before.cni, nat_exceptions=only_pods))
    check = "icmp-pod-to-node/windows-1/windows-1/other-node/icmp"
    flow, _, rest = check.partition("/")
    silent = but(flow, Outcome.TIMED_OUT, rest)
    found = difference(
        recorded(results(before, flows=[flow])), recorded(results(after, silent, flows=[flow]))
    )
    (one,) = [changed for changed in found.changed if changed.id == check]
    assert one.before.verdict is one.after.verdict is Verdict.RECORDED
    assert one.why is not None
    assert one.why.explained is Explained.EXPLAINED
    assert [cause.fact for cause in one.why.causes] == ["OutBoundNAT exceptions"]


def test_a_limitation_that_stays_although_it_should_go_is_a_failure_with_its_fact() -> None:
    """DSR is on now and the source is still rewritten: the expectation changed by that fact, and the cluster did not."""
    flow = "dsr-source-address"
    old = results(cluster_facts(OLD), flows=[flow])
    same = {one.id: one.expectation.expected for one in old.checks if one.expectation}
    stays = results(
        cluster_facts(NEW),
        lambda check, expectation: same.get(parent_of(check.id)) or expectation.claim,
        flows=[flow],
    )
    found = difference(recorded(old), recorded(stays))
    changed = found.of(Kind.NEW_FAILURE)
    assert changed
    assert {one.before.verdict for one in changed} == {Verdict.LIMITED}
    for one in changed:
        assert one.why is not None
        assert one.why.explained is Explained.EXPLAINED
        assert "the cluster did not" in one.why.text
        assert [str(cause) for cause in one.why.causes] == ["source DSR: off → on"]


def test_another_failure_where_something_else_is_expected_is_not_explained_by_that() -> None:
    """A limitation goes with a fact, and neither the old nor the new outcome comes: the fact is no excuse."""
    flow = "dsr-source-address"
    before = recorded(results(cluster_facts(OLD), flows=[flow]))
    other = results(cluster_facts(NEW), but(flow, Outcome.REFUSED), flows=[flow])
    found = difference(before, recorded(other))
    assert {one.before.verdict for one in found.changed} == {Verdict.LIMITED, Verdict.PASS}
    assert {one.id for one in found.unexplained} == set(found.worse)
    assert len(found.worse) == len(before.checks)


def patched(build: str) -> RecordedRun:
    """A cluster of which only the patch level of Windows differs."""
    patch = known(WindowsBuild.parse(build), "test")
    facts = with_windows(cluster_facts(OLD), build=patch)
    return recorded(results(facts, but("pod-to-pod-ip", Outcome.REFUSED, "windows-1/windows-1")))


def test_a_fact_that_no_expectation_depends_on_explains_nothing() -> None:
    """A patch came, and Pods do not reach Pods: no document speaks of both, so it only changed meanwhile."""
    found = difference(quiet_run(cluster_facts(OLD)), patched("17763.1340"))
    assert [str(one) for one in found.facts] == ["windows-1 build: 17763.1339 → 17763.1340"]
    assert {one.id.partition("/")[0] for one in found.changed} == {"pod-to-pod-ip"}
    assert set(found.unexplained) == set(found.changed) != set()


def test_a_new_minor_release_explains_by_the_version_of_the_api_server() -> None:
    """Only Kubernetes changes, and each change of an expectation names it."""
    facts = cluster_facts(OLD)
    newer = replace(facts, server_version=KubernetesVersion(1, 33, 5), server_git_version="v1.33.5")
    found = difference(quiet_run(facts), quiet_run(newer))
    assert [str(one) for one in found.facts] == ["Kubernetes: 1.24.17 → 1.33.5"]
    assert found.changed
    for one in found.changed:
        assert one.why is not None
        assert [cause.fact for cause in one.why.causes] == ["Kubernetes"]
