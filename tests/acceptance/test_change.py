"""What changes while a cluster runs: new Pods and endpoints that come and go, on labs that do not follow."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import FinishedRun, run_on

HASTY = "timing: {convergence: 6, convergenceLinux: 6, failures: 1}\n"
ACROSS = "windows-1/linux-1 or linux-1/windows-1 or external"
"""Checks in which each node is a source, and backends are of either system."""
FROZEN = (
    "service-endpoints-changed",
    "nodeport-endpoints-changed",
    "loadbalancer-endpoints-changed",
    "service-pod-replaced",
)
LOST = ("service-sibling-deleted", "service-port-renamed")
NODES = ("win-1", "win-2", "linux-1", "linux-2")
IDLE = ("pod-to-service-idle", "pod-to-external-idle")
PASSING = {node: {"pass"} for node in NODES}
ON_WIN_1_ALONE = PASSING | {"win-1": {"fail"}}
"""What members of each node come to where one alone is broken."""


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


@pytest.fixture(scope="module")
def healthy(up_lab: UpLab, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """All flows of changes on the lab in order, in one run; before any fault, and after it was mended."""
    return run_on(up_lab, tmp_path_factory.mktemp("healthy"), *wanted(*FROZEN, *LOST, *IDLE))


@pytest.fixture(scope="module")
def broken(up_lab: UpLab, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Faults that do not touch each other's flows, in one run."""
    up_lab.fault("inject", "shared-endpoints-lost", "--node", "win-1")
    up_lab.fault("inject", "renamed-ports-lost", "--node", "win-1")
    for node in ("win-1", "linux-1"):
        up_lab.fault("inject", "idle-flows-forgotten", "--node", node)
        up_lab.fault("inject", "idle-outside-flows-forgotten", "--node", node)
    run = run_on(up_lab, tmp_path_factory.mktemp("broken"), *wanted(*LOST, *IDLE), timing=HASTY)
    up_lab.fault("clear")
    return run


def test_new_pods_without_network_at_first_fail_on_their_node_alone(
    mended: UpLab, tmp_path: Path
) -> None:
    """Each check of new Pods on that node is red, no other, and the incident says for how long."""
    mended.fault("inject", "late-pod-network", "--node", "win-1", "--seconds", "4")
    run = run_on(mended, tmp_path, "--flow=new-pod-first-packets", "--flow=pod-to-pod-ip")
    assert run.by_source("new-pod-first-packets") == ON_WIN_1_ALONE, run.printed
    assert set().union(*run.by_source("pod-to-pod-ip").values()) == {"pass"}, run.printed
    (incident,) = run.results["incidents"]
    assert re.fullmatch(
        r"New Pods on win-1 reach nothing for their first [456] s", incident["cause"]
    ), incident["cause"]


def test_everything_that_changes_passes_where_rules_follow(healthy: FinishedRun) -> None:
    """Documents leave idle connections of Windows nodes open, and nothing else."""
    for flow in (*FROZEN, *LOST):
        assert healthy.by_source(flow) == PASSING, healthy.printed
    of_windows = {"win-1": {"recorded"}, "win-2": {"recorded"}}
    for flow in IDLE:
        assert healthy.by_source(flow) == PASSING | of_windows, healthy.printed


def test_endpoints_that_change_in_place_and_are_ignored_fail(
    healthy: FinishedRun, mended: UpLab, tmp_path: Path
) -> None:
    """Where updates are ignored each check names who answers instead."""
    mended.fault("inject", "endpoints-frozen")
    frozen = run_on(mended, tmp_path, *wanted(*FROZEN), timing=HASTY)
    assert set(frozen.verdicts.values()) == {"fail"}, frozen.printed
    assert frozen.verdicts.keys() <= healthy.verdicts.keys()
    for one in frozen.results["checks"]:
        assert "and its rules did not follow in 6 s; server-" in one["message"]


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (
            "service-sibling-deleted",
            "over the same endpoints was deleted, and this one lost server-",
        ),
        ("service-port-renamed", "ports were renamed in place and left with server-"),
    ],
)
def test_a_service_that_is_lost_with_a_change_beside_it_fails_on_that_node(
    broken: FinishedRun, flow: str, said: str
) -> None:
    """Whoever probes from the node whose proxy loses it is red with what was changed, and from others it passes."""
    assert broken.by_source(flow) == ON_WIN_1_ALONE, broken.printed
    failed = [one for one in broken.results["checks"] if one["flow"] == flow]
    assert all(said in one["message"] for one in failed if one["verdict"] == "fail")


@pytest.mark.parametrize("flow", IDLE)
def test_silent_connections_that_are_lost_fail_or_are_the_known_bug(
    broken: FinishedRun, flow: str
) -> None:
    """On a Linux node nothing promises less; of Windows nodes it was reported, and is told as that where it shows."""
    assert broken.by_source(flow) == {
        "win-1": {"known-bug"},
        "win-2": {"recorded"},
        "linux-1": {"fail"},
        "linux-2": {"pass"},
    }


def test_endpoints_that_one_node_of_many_ignores_are_red_there_alone(
    mended: UpLab, tmp_path: Path
) -> None:
    """It is the second node of its node pool; the incident names it, and who is still answered."""
    mended.fault("inject", "endpoints-frozen", "--node", "win-2")
    mended.fault("inject", "readdressed-endpoints-lost", "--node", "linux-2")
    flows = ("service-endpoints-changed", "service-pod-same-address")
    run = run_on(mended, tmp_path, *wanted(*flows), timing=HASTY)
    changed, readdressed = (run.by_source(flow) for flow in flows)
    others = {"win-1": {"pass"}, "linux-1": {"pass"}}
    assert changed == {**others, "win-2": {"fail"}, "linux-2": {"pass"}}, run.printed
    assert readdressed == {**others, "win-2": {"fail"}, "linux-2": {"fail"}}, run.printed
    causes = " ".join(one["cause"] for one in run.results["incidents"])
    assert "through the Service proxy of win-2 are still answered by server-" in causes


def wanted(*flows: str) -> list[str]:
    """Return the options that run these flows, whatever their class, from each node to the other system's."""
    chosen = (f"--flow={flow}" for flow in flows)
    return [*chosen, "--enable=disruptive,exposed,costly", "--", "-k", ACROSS]
