"""Which nodes, Services and Pods are looked at when checks fail, and which come first."""

from nettests.diagnose import Subject, chosen, subjects_of
from nettests.model.check import Check, Plan
from nettests.model.words import TargetKind, Verdict
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import alone
from tests.report.cluster import FACTS

FLOWS = load([suites_path()]).flows
PLAN: Plan = alone(build(FACTS, FLOWS))


def checks(flow: str, *, windows: bool = True) -> list[Check]:
    """The checks of a flow whose source is a Windows node."""
    return [
        check
        for check in PLAN.checks
        if check.flow == flow and (check.source.os == "windows") is windows
    ]


def test_a_check_of_a_service_passes_both_nodes_the_service_and_both_pods() -> None:
    """Source node and backend's node, the Service, the probe and the server that should have answered."""
    check = next(
        one
        for one in checks("pod-to-service-clusterip")
        if one.target.node not in {None, one.source.node}
    )
    found = subjects_of(check, PLAN)
    assert Subject("node", check.source.node or "") in found
    assert Subject("node", check.target.node or "") in found
    assert Subject("service", check.target.service or "") in found
    assert Subject("pod", check.source.probe) in found
    assert sum(one.kind == "pod" for one in found) == 2
    assert not any(one.kind == "dns" for one in found)


def test_a_name_adds_the_cluster_dns() -> None:
    """What is tested by name may fail in the DNS."""
    check = next(one for one in PLAN.checks if one.target.kind is TargetKind.SERVICE_FQDN)
    assert Subject("dns", "kube-dns") in subjects_of(check, PLAN)


def test_a_question_to_the_api_server_has_no_subject() -> None:
    """An object that was admitted or rejected stands nowhere."""
    check = next(one for one in PLAN.checks if one.target.kind is TargetKind.API_SERVER)
    assert subjects_of(check, PLAN) == ()


def test_a_shared_node_is_one_subject_with_all_its_checks() -> None:
    """Many failing checks of one node are collected once and linked from each."""
    failing = [(check, Verdict.FAIL) for check in checks("pod-to-service-clusterip")]
    wanted, left_out = chosen(failing, PLAN, 99)
    assert left_out == ()
    assert len({one.subject for one in wanted}) == len(wanted)
    node = next(one for one in wanted if one.subject.kind == "node")
    assert set(node.checks) == {check.id for check, _ in failing}


def test_the_most_urgent_come_first_and_the_rest_is_named() -> None:
    """Beyond the bound, subjects of ``fail`` stay and those of ``flaky`` alone are left out by name."""
    flaky = [(check, Verdict.FLAKY) for check in checks("pod-to-pod-ip", windows=False)]
    fail = [(checks("pod-to-pod-ip")[0], Verdict.FAIL)]
    urgent = set(subjects_of(fail[0][0], PLAN))
    wanted, left_out = chosen([*flaky, *fail], PLAN, len(urgent))
    assert {one.subject for one in wanted} == urgent
    assert left_out
    assert not urgent & set(left_out)
