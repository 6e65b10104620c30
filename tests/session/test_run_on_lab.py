"""Runs on an emulated cluster: real pods, real packets, nothing left behind.

The lab is a separate product: without it these tests are left out, and nothing else is.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import Connection, connect
from nettests.cluster.apply import RUN_LABEL
from nettests.model.words import Outcome
from nettests.plan import load
from nettests.resources import suites_path
from nettests.session.cleanup import clean_up
from nettests.session.journal import Follower
from nettests.session.observed import observed
from nettests.session.options import Progress, RunOptions
from nettests.session.run import Prepared, Run, prepare

pytestmark = pytest.mark.skipif(
    find_spec("nettests.lab") is None, reason="the lab is not part of this tree"
)
FLOWS = load([suites_path()]).flows
RUN = """
import sys
from pathlib import Path
from nettests.plan import load
from nettests.resources import suites_path
from nettests.session.options import RunOptions
from nettests.session.run import Run, prepare
prepared = prepare(RunOptions(kubeconfig=Path(sys.argv[1]), report_dir=Path(sys.argv[2])),
                   load([suites_path()]).flows)
run = Run(prepared, lambda progress: print(progress.stage, prepared.run_id, flush=True))
run.start([check.id for check in prepared.blueprint.plan.checks])
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class Lab:
    """A running lab."""

    kubeconfig: Path
    cluster_profile: Path
    directory: Path

    def prepare(self) -> Prepared:
        """Prepare a run on it."""
        options = RunOptions(
            kubeconfig=self.kubeconfig,
            cluster_profile=self.cluster_profile,
            report_dir=self.directory,
        )
        return prepare(options, FLOWS)

    def connect(self) -> Connection:
        """Connect to it."""
        return connect(self.kubeconfig, None)


def lab_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the lab."""
    return subprocess.run(
        [sys.executable, "-m", "nettests.lab", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of Linux nodes, shared by the module."""
    name = f"session-{os.getpid()}"
    started = lab_command("up", "--profile", "linux", "--name", name, "--json")
    if started.returncode != 0:
        pytest.skip(f"no lab here: {started.stderr.strip() or started.stdout.strip()}")
    told = json.loads(started.stdout.splitlines()[-1])
    try:
        yield Lab(
            Path(told["kubeconfig"]),
            Path(told["cluster_profile"]),
            tmp_path_factory.mktemp("reports"),
        )
    finally:
        lab_command("down", "--name", name)


def namespaces(connection: Connection, run_id: str | None = None) -> list[dict[str, Any]]:
    """Return the namespaces that runs have made."""
    selector = RUN_LABEL if run_id is None else f"{RUN_LABEL}={run_id}"
    return connection.items("/api/v1/namespaces", labelSelector=selector)


def eventually(condition: Callable[[], bool]) -> None:
    """Wait on a condition, for a while."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.05)


def test_checks_are_observed_on_real_packets(lab: Lab) -> None:
    """Pod to pod and pod to Service connect, the server sees the pod, and the namespace goes."""
    prepared = lab.prepare()
    wanted = {"pod-to-pod-ip", "pod-to-service-clusterip", "node-to-pod"}
    checks = [check for check in prepared.blueprint.plan.checks if check.flow in wanted]
    stages: list[str] = []
    run = Run(prepared, lambda progress: stages.append(progress.stage))
    run.start([check.id for check in checks])
    follower = Follower(run.journal.path)
    seen = {check.id: observed(check, follower.wait(check.id, timeout=60)) for check in checks}
    run.finish(exit_code=0, counts={})
    assert {item.outcome for item in seen.values()} == {Outcome.CONNECTED, Outcome.REPLIED}
    assert all(item.trusted and item.agreed for item in seen.values())
    assert list(dict.fromkeys(stages)) == ["deploy", "converge", "observe", "clean up", "done"]
    assert namespaces(prepared.connection, prepared.run_id) == []


def test_stopping_in_the_middle_leaves_nothing(lab: Lab) -> None:
    """``stop`` while the probes come up removes everything and answers for every check."""
    prepared = lab.prepare()
    run: Run
    begun: list[Progress] = []
    run = Run(prepared, begun.append)
    checks = prepared.blueprint.plan.checks
    run.start([check.id for check in checks])
    eventually(lambda: bool(begun))
    run.stop()
    run.stop()
    assert namespaces(prepared.connection, prepared.run_id) == []
    follower = Follower(run.journal.path)
    finished = [follower.wait(check.id, timeout=5) for check in checks]
    assert any("stopped" in (item.distrust or "") for item in finished)
    run.finish(exit_code=2, counts={})


def test_what_a_killed_run_leaves_is_found_by_its_label(lab: Lab) -> None:
    """After ``kill -9`` the namespace stands, owned and dated, and clean-up needs its id alone."""
    harness = subprocess.Popen(
        [sys.executable, "-c", RUN, str(lab.kubeconfig), str(lab.directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert harness.stdout is not None
    assert harness.stdin is not None
    _, run_id = harness.stdout.readline().split()
    connection = lab.connect()
    eventually(lambda: bool(namespaces(connection, run_id)))
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    harness.stdin.close()
    (left,) = namespaces(connection, run_id)
    labels = left["metadata"]["labels"]
    assert labels["nettests.dev/owner"]
    assert int(labels["nettests.dev/expires"]) > time.time()
    assert clean_up(connection, run_id, wait=30) == ""
    assert namespaces(connection, run_id) == []


def test_somebody_elses_run_is_left_alone(lab: Lab) -> None:
    """Clean-up of one run does not touch another's namespace."""
    connection = lab.connect()
    other = {"name": "nettests-other", "labels": {RUN_LABEL: "other"}}
    connection.create("/api/v1/namespaces", {"metadata": other})
    assert clean_up(connection, "no-such-run", wait=5) == ""
    assert len(namespaces(connection, "other")) == 1
    connection.delete("/api/v1/namespaces/nettests-other")
