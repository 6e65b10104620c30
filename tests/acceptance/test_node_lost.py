"""A node that turns NotReady in the middle of a run is told, and nothing that depends on it is red for it."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import COMMAND
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import HASTY, FinishedRun, members_of, merged

LOST = "win-2"
FLOWS = (
    *("pod-to-service-clusterip", "pod-to-pod-ip", "node-to-service-clusterip"),
    *("service-distribution", "session-affinity"),
)
DELAY_SECONDS = 0.6
"""Of each API request: processes on nodes begin so late, and some only after the node was lost."""
TOLD = "node win-2 turned NotReady: NodeStatusUnknown: Kubelet stopped posting node status."


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A lab with two nodes of each system."""
    with lab("win2022-l2bridge-dsr") as up:
        yield up


def until(condition: Callable[[], bool], running: "subprocess.Popen[str]") -> None:
    """Wait on a condition as long as the run goes on."""
    while not condition():
        assert running.poll() is None, running.communicate()[0]
        time.sleep(0.05)


def written(directory: Path, record: str) -> list[dict[str, Any]]:
    """Return the records of a kind that a run has written so far."""
    journals = list(directory.glob("2*/journal.jsonl"))
    lines = journals[0].read_text().splitlines(keepends=True) if journals else []
    records = [json.loads(line) for line in lines if line.endswith("\n")]
    return [one for one in records if one["record"] == record]


@pytest.fixture(scope="module")
def lossy(up_lab: UpLab, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run in which a node is lost once something was probed, and found when everything was."""
    directory = tmp_path_factory.mktemp("lost")
    # Every process takes a little: the node is lost in the middle on fast machines, too.
    up_lab.fault("inject", "slow-api", "--rate=1", f"--seconds={DELAY_SECONDS}")
    profile = directory / "cluster-profile.yaml"
    profile.write_text(merged(Path(up_lab.cluster_profile).read_text(), HASTY))
    running = subprocess.Popen(
        [
            *(*COMMAND, "run", f"--kubeconfig={up_lab.kubeconfig}", f"--report-dir={directory}"),
            *(f"--cluster-profile={profile}", "--quiet", *(f"--flow={name}" for name in FLOWS)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until(lambda: bool(written(directory, "raw")), running)
    up_lab.fault("inject", "kubelet-silent", f"--node={LOST}", "--seconds=0")
    planned = {one["check"]["id"] for one in written(directory, "planned")}
    until(lambda: planned <= {one["check"] for one in written(directory, "done")}, running)
    up_lab.fault("clear")
    printed, _ = running.communicate(timeout=300)
    return FinishedRun(
        profile=up_lab.profile,
        exit_code=running.returncode,
        printed=printed,
        directory=directory / "latest",
    )


def test_it_is_told_where_people_look_first(lossy: FinishedRun) -> None:
    """An event of the run: in the journal, on the terminal, on top of the page and of the summary."""
    events = [one for one in lossy.records if one["record"] == "event" and TOLD in one["text"]]
    assert [one["notable"] for one in events] == [True]
    assert TOLD in lossy.printed
    assert f"- {TOLD}" in (lossy.directory / "summary.md").read_text()
    top = (lossy.directory / "report.html").read_text().partition("<h2")[0]
    assert TOLD in top


def test_what_depends_on_it_is_unknown_and_the_rest_is_judged(lossy: FinishedRun) -> None:
    """Silence of a node that nobody hears of proves nothing: no check is red, each unknown one says why."""
    checks = [check for check in lossy.results["checks"] if "members" in check]
    deviating = [member for check in checks for member in check["members"]["deviating"]]
    assert deviating, lossy.printed
    assert {member["verdict"] for member in deviating} == {"unknown"}, lossy.printed
    assert lossy.exit_code == 6
    why = f"node {LOST} was not Ready while this was probed (NodeStatusUnknown"
    assert all(why in member["message"] for member in deviating)
    assert all("kubectl describe node" in member["next_step"] for member in deviating)
    verdicts = [one for check in checks for one in members_of(check).items()]
    assert {label for label, verdict in verdicts if verdict == "pass" and LOST not in label}


def test_nothing_is_left_once_it_is_back(lossy: FinishedRun) -> None:
    """Its Pods go with the run's namespace."""
    assert "left behind" not in lossy.printed
