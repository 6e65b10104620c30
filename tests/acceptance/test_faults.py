"""Faults at mechanism level turn exactly the affected checks red, or unknown for the channel."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nettests.model.check_id import member_of
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import BROKEN, FinishedRun, members_of, run_on

NAMES = ("pod-to-external-dns",)
LATE = (
    "service-65-backends",
    "service-no-endpoints",
    "itp-local-own-node",
    "itp-local-no-local-backend",
)
SERVED = ("pod-to-service-clusterip", "dsr-source-address")
SERVICES = (*SERVED, "pod-to-pod-ip")


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A lab that is broken and mended by each test."""
    with lab("win2019-l2bridge") as up:
        yield up


@pytest.fixture
def mended(up_lab: UpLab) -> Iterator[UpLab]:
    """The lab, with every fault cleared afterwards."""
    yield up_lab
    up_lab.fault("clear")


def flows(*names: str) -> list[str]:
    """Options that select flows."""
    return [f"--flow={name}" for name in names]


def changed(run: FinishedRun, verdicts: set[str]) -> set[str]:
    """The checks with one of these verdicts."""
    return {check for check, verdict in run.verdicts.items() if verdict in verdicts}


@pytest.mark.nightly
def test_without_dns_exactly_the_names_fail(mended: UpLab, tmp_path: Path) -> None:
    """With the cluster DNS silent every check by name is red, none by address, and clear restores."""
    selected = flows(*NAMES, "pod-to-pod-ip")
    mended.fault("inject", "dns-down")
    broken = run_on(mended, tmp_path / "broken", *selected)
    ran = {check for check, verdict in broken.verdicts.items() if verdict != "skipped"}
    by_name = {check for check in ran if check.split("/")[0] in NAMES}
    open_ended = {
        check["id"] for check in broken.results["checks"] if check["verdict"] == "recorded"
    }
    assert changed(broken, {"fail"}) == by_name - open_ended, broken.printed
    assert broken.exit_code == 1
    leading = broken.results["incidents"][0]
    assert leading["cause"] == "Cluster DNS does not answer"
    assert set(leading["checks"]) == by_name - open_ended
    assert "Cluster DNS does not answer: " in broken.printed

    mended.fault("clear")
    restored = run_on(mended, tmp_path / "restored", *selected)
    assert changed(restored, {"fail", "lifted", "flaky", "unknown"}) == set(), restored.printed


def test_without_an_upstream_names_that_nothing_has_are_not_red(
    mended: UpLab, tmp_path: Path
) -> None:
    """Where DNS cannot forward, names outside fail and nothing else does: ``fqdn`` stays in the cluster's domain."""
    absent = "dns-no-such-name"
    mended.fault("inject", "dns-upstream-down")
    run = run_on(mended, tmp_path, *flows(*NAMES, absent, "dns-via-service"))
    outside = set(run.flow(*NAMES))
    assert outside
    assert changed(run, {"fail"}) == outside, run.printed
    assert changed(run, {"lifted", "flaky", "unknown", "recorded"}) == set(), run.printed
    probed = {
        " ".join(record["raw"]["command"])
        for record in run.records
        if record["record"] == "raw"
        and record["raw"]["purpose"] == "check"
        and record["raw"]["check"].startswith(f"{absent}/")
        and "/fqdn/" in record["raw"]["check"]
    }
    assert probed
    assert all(".svc.cluster.local." in one for one in probed), probed
    refused = {check["observed"]["outcome"] for check in run.flow(absent).values()}
    assert refused == {"nxdomain", "servfail"}


def test_missing_service_rules_fail_that_service_from_that_node(
    mended: UpLab, tmp_path: Path
) -> None:
    """Without one Service's rules on one node, exactly its checks from that node fail."""
    mended.fault(
        "inject", "service-rules-missing", "--service", "svc-server-windows-1-2", "--node", "win-1"
    )
    run = run_on(mended, tmp_path, *flows(*SERVICES), timing=BROKEN)
    by_member = {
        (check["flow"], label): verdict
        for check in run.results["checks"]
        if check["verdict"] != "skipped"
        for label, verdict in members_of(check).items()
    }
    served = "win-1 → win-2"  # the pair of the Service's clients there and of its only backend
    expected = {(flow, served) for flow in SERVED}
    assert {one for one, verdict in by_member.items() if verdict == "fail"} == expected, run.printed
    assert not {"lifted", "unknown", "flaky"} & set(by_member.values()), run.printed


@pytest.mark.nightly
def test_a_port_without_rules_fails_beside_one_that_has_them(mended: UpLab, tmp_path: Path) -> None:
    """Without the rules of one port of a Service its TCP checks from that node fail: what dials both ports names them."""
    service = "svc-server-windows-1-2"
    missing = ("service-rules-missing", "--service", service, "--port=clientip", "--node=win-1")
    mended.fault("inject", *missing)
    run = run_on(mended, tmp_path, *flows(*SERVED))
    failed = {
        (check["flow"], check["protocol"], member["member"]): member["observed"]
        for check in run.results["checks"]
        if "members" in check
        for member in check["members"]["deviating"]
    }
    late, asked = ((flow, "tcp", "win-1 → win-2") for flow in SERVED)
    assert failed == {late: "connected", asked: "connected at port 80, timed_out at port 82"}, (
        run.printed
    )
    assert changed(run, {"fail"}), run.printed
    assert changed(run, {"lifted", "unknown", "flaky"}) == set(), run.printed


def test_rules_that_come_late_are_waited_for(mended: UpLab, tmp_path: Path) -> None:
    """While rules lag behind the API by seconds, Services are probed when their node has all that was said."""
    mended.fault("inject", "slow-rules", "--seconds", "2")
    hasty = "timing: {convergence: 12, failures: 1}\n"  # one Service of 65 backends never converges
    late = run_on(mended, tmp_path, *flows(*LATE), "--enable=costly", timing=hasty)
    assert set(late.verdicts.values()) >= {"pass", "limited"}
    assert changed(late, {"fail", "lifted", "unknown", "flaky"}) == set(), late.printed


@pytest.mark.nightly
def test_rules_that_come_too_late_fail(mended: UpLab, tmp_path: Path) -> None:
    """Services that answer only after their deadline fail from each node, whatever is seen in the end."""
    mended.fault("inject", "slow-rules", "--seconds", "40")
    hasty = "timing: {convergence: 3, failures: 1}\n"
    late = run_on(mended, tmp_path, *flows("pod-to-service-clusterip"), timing=hasty)
    members = [one for one in late.records if one["record"] == "done" and member_of(one["check"])]
    told = [record["late"] for record in members]
    assert told
    assert all(
        text.startswith("Service svc-server-") and text.endswith("within 3 s") for text in told
    )
    assert changed(late, {"fail"}) == {
        one for one in late.verdicts if late.verdicts[one] != "skipped"
    }


def test_a_dead_channel_makes_checks_unknown_never_red_or_green(
    mended: UpLab, tmp_path: Path
) -> None:
    """With the control channels of a node down, what is tested from it is unknown and the run says so."""
    mended.fault("inject", "channel-down", "--node", "win-1")
    hasty = (
        "timing: {convergence: 30, listening: 5, failures: 1}\n"  # a probe is given up after that
    )
    selected = flows("pod-to-pod-ip", "node-to-service-clusterip")
    run = run_on(mended, tmp_path, *selected, timing=hasty)
    others = {"pod-to-pod-ip": {"pass"}, "node-to-service-clusterip": {"limited"}}
    for flow, of_windows in others.items():
        assert run.by_source(flow) == {
            "win-1": {"unknown"},
            "win-2": of_windows,
            "linux-1": {"pass"},
            "linux-2": {"pass"},
        }, run.printed
    assert run.exit_code == 6


def test_a_missing_load_balancer_deviates_on_that_node_only(mended: UpLab, tmp_path: Path) -> None:
    """HNS without the DNS Service's load balancers fails the inspection, with the step that repairs it."""
    selected = flows("hns-load-balancers", "hns-configuration")
    mended.fault(
        "inject", "service-rules-missing", "--node=win-1", "--service=kube-system/kube-dns"
    )
    broken = run_on(mended, tmp_path / "broken", *selected)
    assert changed(broken, {"fail"}) == {"hns-load-balancers/windows-1/load-balancers"}
    (check,) = [one for one in broken.results["checks"] if one["verdict"] == "fail"]
    assert "no load balancer for kube-system/kube-dns at 10.96.0.10:53/UDP" in check["message"]
    assert "restart kube-proxy" in check["next_step"]
