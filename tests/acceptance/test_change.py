"""What changes while a cluster runs: new Pods and endpoints that come and go, on labs that do not follow."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import FinishedRun, run_on

HASTY = "timing: {convergence: 6, convergenceLinux: 6}\n"


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A lab that is broken and mended by each test."""
    with lab("win2022-l2bridge-dsr") as up:
        yield up


@pytest.fixture
def mended(up_lab: UpLab) -> Iterator[UpLab]:
    """The lab, with every fault cleared afterwards."""
    yield up_lab
    up_lab.fault("clear")


def test_new_pods_without_network_at_first_fail_on_their_node_alone(
    mended: UpLab, tmp_path: Path
) -> None:
    """Each check of new Pods on that node is red, no other, and the incident says for how long."""
    mended.fault("inject", "late-pod-network", "--node", "win-1", "--seconds", "4")
    run = run_on(mended, tmp_path, "--flow=new-pod-first-packets", "--flow=pod-to-pod-ip")
    red = {one for one, verdict in run.verdicts.items() if verdict not in {"pass", "skipped"}}
    there = {
        one["id"]
        for one in run.results["checks"]
        if one["flow"] == "new-pod-first-packets" and one["source"]["node"] == "win-1"
    }
    assert red == there, run.printed
    assert {run.verdicts[one] for one in red} == {"fail"}
    (incident,) = run.results["incidents"]
    assert re.fullmatch(
        r"New Pods on win-1 reach nothing for their first [456] s", incident["cause"]
    ), incident["cause"]


def test_endpoints_that_change_in_place_and_are_ignored_fail(mended: UpLab, tmp_path: Path) -> None:
    """The run passes as long as rules follow; where updates are ignored each check names who answers instead."""
    flows = (
        "service-endpoints-changed",
        "nodeport-endpoints-changed",
        "loadbalancer-endpoints-changed",
        "service-pod-replaced",
    )
    wanted = (*(f"--flow={flow}" for flow in flows), "--enable=disruptive,exposed")
    healthy = run_on(mended, tmp_path / "healthy", *wanted, timing=HASTY)
    assert set(healthy.verdicts.values()) == {"pass"}, healthy.printed
    mended.fault("inject", "endpoints-frozen")
    frozen = run_on(mended, tmp_path / "frozen", *wanted, timing=HASTY)
    assert set(frozen.verdicts.values()) == {"fail"}, frozen.printed
    for one in frozen.results["checks"]:
        assert "and its rules did not follow in 6 s; server-" in one["message"]


def test_a_service_that_goes_with_its_sibling_fails_on_that_node(
    mended: UpLab, tmp_path: Path
) -> None:
    """Whoever probes from the node whose proxy loses it is red, and from others it passes."""
    wanted = ("--flow=service-sibling-deleted", "--enable=disruptive")
    healthy = run_on(mended, tmp_path / "healthy", *wanted, timing=HASTY)
    assert set(healthy.verdicts.values()) == {"pass"}, healthy.printed
    mended.fault("inject", "shared-endpoints-lost", "--node", "win-1")
    broken = run_on(mended, tmp_path / "broken", *wanted, timing=HASTY)
    assert members_by_source(broken) == on_win_1_alone(), broken.printed
    for one in broken.results["checks"]:
        if one["verdict"] == "fail":
            assert (
                "over the same endpoints was deleted, and this one lost server-" in one["message"]
            )


def test_ports_that_get_lost_by_their_new_names_fail_on_that_node(
    mended: UpLab, tmp_path: Path
) -> None:
    """The message says that the ports were renamed, and with which endpoints."""
    wanted = ("--flow=service-port-renamed", "--enable=disruptive")
    healthy = run_on(mended, tmp_path / "healthy", *wanted, timing=HASTY)
    assert set(healthy.verdicts.values()) == {"pass"}, healthy.printed
    mended.fault("inject", "renamed-ports-lost", "--node", "win-1")
    broken = run_on(mended, tmp_path / "broken", *wanted, timing=HASTY)
    assert members_by_source(broken) == on_win_1_alone(), broken.printed
    for one in broken.results["checks"]:
        if one["verdict"] == "fail":
            assert "ports were renamed in place and left with server-" in one["message"]


def test_endpoints_that_one_node_of_many_ignores_are_red_there_alone(
    mended: UpLab, tmp_path: Path
) -> None:
    """It is the second node of its node pool; the incident names it, and who is still answered."""
    mended.fault("inject", "endpoints-frozen", "--node", "win-2")
    mended.fault("inject", "readdressed-endpoints-lost", "--node", "linux-2")
    wanted = ("--flow=service-endpoints-changed", "--flow=service-pod-same-address")
    run = run_on(mended, tmp_path, *wanted, "--enable=disruptive", timing=HASTY)
    changed, readdressed = (members_by_source(run, flow.partition("=")[2]) for flow in wanted)
    others = {"win-1": {"pass"}, "linux-1": {"pass"}}
    assert changed == {**others, "win-2": {"fail"}, "linux-2": {"pass"}}, run.printed
    assert readdressed == {**others, "win-2": {"fail"}, "linux-2": {"fail"}}, run.printed
    causes = " ".join(one["cause"] for one in run.results["incidents"])
    assert "through the Service proxy of win-2 are still answered by server-" in causes


def test_silent_connections_that_are_lost_fail_or_are_the_known_bug(
    mended: UpLab, tmp_path: Path
) -> None:
    """On a Linux node nothing promises less; of Windows nodes it was reported, and is told as that where it shows."""
    wanted = ("--flow=pod-to-service-idle", "--flow=pod-to-external-idle", "--enable=costly")
    healthy = run_on(mended, tmp_path / "healthy", *wanted)
    assert verdicts_by_source(healthy) == {"win-1": {"recorded"}, "linux-1": {"pass"}}
    for node in ("win-1", "linux-1"):
        mended.fault("inject", "idle-flows-forgotten", "--node", node)
        mended.fault("inject", "idle-outside-flows-forgotten", "--node", node)
    broken = run_on(mended, tmp_path / "broken", *wanted)
    assert verdicts_by_source(broken) == {"win-1": {"known-bug"}, "linux-1": {"fail"}}


def on_win_1_alone() -> dict[str, set[str]]:
    """Return what members of each node come to where one alone is broken."""
    return {node: {"pass"} for node in ("win-2", "linux-1", "linux-2")} | {"win-1": {"fail"}}


def members_by_source(run: FinishedRun, flow: str = "") -> dict[str, set[str]]:
    """Return the verdicts of all members of a run's checks, or of those of a flow, by the node of the source."""
    found: dict[str, set[str]] = {}
    for one in run.results["checks"]:
        if flow not in {"", one["flow"]}:
            continue
        for member in one["members"]["deviating"]:
            found.setdefault(member["source"], set()).add(member["verdict"])
        for group in one["members"]["others"]:
            for label in group["members"]:
                found.setdefault(label.partition(" ")[0], set()).add(group["verdict"])
    return found


def verdicts_by_source(run: FinishedRun) -> dict[str, set[str]]:
    """Return the verdicts of a run by the node of the source."""
    found: dict[str, set[str]] = {}
    for one in run.results["checks"]:
        found.setdefault(one["source"]["node"], set()).add(one["verdict"])
    return found
