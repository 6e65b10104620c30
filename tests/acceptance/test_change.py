"""What changes while a cluster runs: new Pods and endpoints that come and go, on labs that do not follow."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import run_on

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
    flows = ("--flow=service-endpoints-changed", "--flow=nodeport-endpoints-changed")
    wanted = (*flows, "--enable=disruptive")
    healthy = run_on(mended, tmp_path / "healthy", *wanted, timing=HASTY)
    assert set(healthy.verdicts.values()) == {"pass"}, healthy.printed
    mended.fault("inject", "endpoints-frozen")
    frozen = run_on(mended, tmp_path / "frozen", *wanted, timing=HASTY)
    assert set(frozen.verdicts.values()) == {"fail"}, frozen.printed
    for one in frozen.results["checks"]:
        assert "in place, and its rules did not follow; server-" in one["message"]
