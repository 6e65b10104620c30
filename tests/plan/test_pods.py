"""Cases whose Pods start: on which systems they are probed, and when they cannot be."""

import itertools
from dataclasses import replace

import pytest

from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts
from nettests.model.words import OS, CheckClass, Question
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import cluster, mixed, node

REQUEST_A_SERVER = {
    "network-policy",
    "pod-hook-other-node",
    "new-pod-first-packets",
    "new-pods-at-once",
}
FLOWS = [flow for flow in load([suites_path()]).flows if flow.question is Question.START]


def plan(facts: ClusterFacts) -> Plan:
    """Return what is planned of all flows that let Pods start."""
    return build(facts, FLOWS, frozenset(CheckClass))


def test_a_case_of_one_system_is_run_there_alone() -> None:
    """Windows' own fields are probed on Windows nodes, and a Pod of another system on either."""
    checks = plan(mixed()).checks
    assert {c.source.os for c in checks if c.flow == "windows-run-as-user-name"} == {OS.WINDOWS}
    assert {c.id for c in checks if c.flow == "pod-of-other-os"} == {
        "pod-of-other-os/linux-1/windows-pod",
        "pod-of-other-os/windows-1/linux-pod",
    }


def test_every_case_has_a_counter_case() -> None:
    """A Pod that does not start counts beside one that does, and where it queries a server, beside one that is answered."""
    for check in (one for whole in plan(mixed()).checks for one in whole.each):
        proofs = ["path", "target"] if check.flow in REQUEST_A_SERVER else ["path"]
        assert [control.proves for control in check.controls] == proofs, check.id


def test_a_source_pod_a_server_leaves_the_proof_of_it_to_a_probe_on_its_node() -> None:
    """That the server answers is probed from the node on which the Pod starts, of the server that it probes."""
    whole_checks = (c for c in plan(mixed()).checks if c.flow in REQUEST_A_SERVER)
    checks = [one for whole in whole_checks for one in whole.each]
    assert {(c.source.os, c.target.os) for c in checks} == set(itertools.product(OS, OS))
    for check in checks:
        proof = check.controls[1].action
        assert (proof.source.node, proof.target.node) == (check.source.node, check.target.node)
        assert check.source.node != check.target.node


def test_no_resident_pod_is_needed() -> None:
    """The check makes its own, but for the server that another Pod probes."""
    flows = [flow for flow in FLOWS if flow.name not in REQUEST_A_SERVER]
    assert build(mixed(), flows, frozenset(CheckClass)).pods == ()


@pytest.mark.parametrize(
    ("denied", "flow"),
    [("get pods/exec", "windows-run-as-user-name")],
)
def test_what_the_identity_may_not_do_is_skipped(denied: str, flow: str) -> None:
    """A command in the Pod needs the permission to run one; other Pods start all the same."""
    whole = plan(replace(mixed(), denied=(denied,)))
    assert {skip.reason for skip in whole.skips if skip.flow == flow} == {
        f"this identity may not {denied}"
    }
    assert any(c.flow == "pod-probes" for c in whole.checks)


def test_host_process_pods_need_nodes_that_run_them() -> None:
    """Where a node has no HostProcess containers the Pod is not made, and the reason says so."""
    facts = cluster(node("linux-1", 1), node("windows-1", 1, host_process=False))
    found = [skip for skip in plan(facts).skips if skip.flow == "hostprocess-pod-network"]
    assert [skip.id for skip in found] == ["hostprocess-pod-network/windows-1/address"]
    assert "has no HostProcess containers" in found[0].reason
