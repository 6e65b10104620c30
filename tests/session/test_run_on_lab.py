"""Runs on an emulated cluster: real pods, real packets, nothing left behind.

The lab is a separate product: without it these tests are left out, and nothing else is.
"""

import random
import signal
import subprocess
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from nettests.cluster.apply import CreatedObjects
from nettests.cluster.collect import remove
from nettests.cluster.follow import delete_pod
from nettests.cluster.leftovers import find
from nettests.cluster.owner_marks import Ownership
from nettests.model.check import Plan
from nettests.model.labels import RUN_LABEL
from nettests.model.words import Outcome, Verdict
from nettests.session.deploying import Standing
from nettests.session.journal import Follower
from nettests.session.observing import Diagnose, Observing, Once
from nettests.session.run import Run
from nettests.session.run_objects import clean_up, ownership
from nettests.session.run_options import Progress
from tests.session.labs import Lab, eventually, namespaces

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        find_spec("nettests.lab") is None, reason="the lab is not part of this tree"
    ),
]
RUN = """
import sys
from pathlib import Path
from nettests.plan import load
from nettests.resources import suites_path
from nettests.session.run_options import RunOptions
from nettests.session.prepare import prepare
from nettests.session.run import Run
profile = Path(sys.argv[3]) if sys.argv[3:] else None
prepared = prepare(RunOptions(kubeconfig=Path(sys.argv[1]), report_dir=Path(sys.argv[2]),
                              cluster_profile=profile),
                   load([suites_path()]).flows)
run = Run(prepared, lambda progress: print(progress.stage, prepared.run_id, flush=True))
run.start([check.id for check in prepared.blueprint.plan.checks])
sys.stdin.read()
"""


def test_checks_are_observed_on_real_packets(lab: Lab) -> None:
    """Pod to pod and pod to Service connect, the server sees the pod, and the namespace goes."""
    prepared = lab.prepare()
    wanted = {"pod-to-pod-ip", "pod-to-service-clusterip", "node-to-pod"}
    checks = [check for check in prepared.blueprint.plan.checks if check.flow in wanted]
    stages: list[str] = []
    run = Run(prepared, lambda progress: stages.append(progress.stage))
    run.start([check.id for check in checks])
    follower = Follower(run.journal.path)
    for check in checks:
        follower.wait(check.id, timeout=60)
    seen = run.judging.observations
    run.finish(exit_code=0, counts={})
    assert {item.outcome for item in seen.values()} == {Outcome.CONNECTED, Outcome.REPLIED}
    assert all(item.trusted and item.agreed for item in seen.values())
    assert list(dict.fromkeys(stages)) == ["deploy", "converge", "observe", "clean up", "done"]
    assert namespaces(lab.connect(), prepared.run_id) == []


class Robbing(Once):
    """Deletes one of the servers as soon as all stands."""

    robbed = ""

    def observe(
        self, plan: Plan, standing: Standing, observing: Observing, diagnose: Diagnose
    ) -> None:
        self.robbed = min(name for name in standing.deployment.pods if name.startswith("server-"))
        delete_pod(standing.access.connection, standing.blank.namespace, self.robbed)
        super().observe(plan, standing, observing, diagnose)


def test_a_server_that_is_deleted_in_the_middle_is_no_failure(lab: Lab) -> None:
    """What dials it is ``unknown`` and names it, what dials others passes, and nothing is left behind."""
    prepared = lab.prepare()
    wanted = {"pod-to-pod-ip", "node-to-pod"}
    checks = [check for check in prepared.blueprint.plan.checks if check.flow in wanted]
    robbing = Robbing()
    run = Run(prepared, observation=robbing)
    run.start([check.id for check in checks])
    follower = Follower(run.journal.path)
    done = {check.id: follower.wait(check.id, timeout=60) for check in checks}
    run.finish(exit_code=6, counts={})
    for check in checks:
        dialling = {one.label for one in check.members if one.action.target.pod == robbing.robbed}
        assert 0 < len(dialling) < len(check.members)
        judgement = done[check.id].judgement
        assert judgement is not None
        assert judgement.verdict is Verdict.UNKNOWN
        (unknown,) = judgement.members  # those that passed are left out
        assert (unknown.verdict, set(unknown.labels)) == (Verdict.UNKNOWN, dialling), check.id
        assert f"pod {robbing.robbed} no longer stands" in unknown.message
    assert namespaces(lab.connect(), prepared.run_id) == []


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


@pytest.fixture
def soon_expired(lab: Lab) -> Path:
    """A cluster profile of runs whose lease nobody waits for."""
    profile = lab.directory / "lease.yaml"
    profile.write_text(
        "{apiVersion: nettests.dev/v1alpha1, kind: ClusterProfile, timing: {lease: 2}}"
    )
    return profile


def test_what_a_killed_run_leaves_is_found_by_its_label(lab: Lab, soon_expired: Path) -> None:
    """After ``kill -9`` the namespace stands, owned and dated, and its marks are all that is needed."""
    harness = subprocess.Popen(
        [sys.executable, "-c", RUN, str(lab.kubeconfig), str(lab.directory), str(soon_expired)],
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
    for left in namespaces(connection, run_id):
        marks = Ownership.of(left)
        assert marks is not None
        assert marks.owner
        assert marks.created <= datetime.now(UTC) < marks.expires
    assert remove(connection, find(connection, seconds=2), wait=30) == {}
    assert namespaces(connection, run_id) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_run_killed_at_any_moment_leaves_nothing_that_is_not_collected(
    lab: Lab, soon_expired: Path, seed: int
) -> None:
    """After ``kill -9`` and collection no namespace of the run stands (scripts/killing.py: 30 times)."""
    harness = subprocess.Popen(
        [sys.executable, "-c", RUN, str(lab.kubeconfig), str(lab.directory), str(soon_expired)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert harness.stdout is not None
    for _ in range(random.Random(seed).randrange(1, 12)):
        harness.stdout.readline()  # a moment is a number of its signs of life
    harness.kill()
    harness.communicate()
    connection = lab.connect()
    left = find(connection, seconds=2)
    assert all(found.removable for found in left)
    assert not left or remove(connection, left, wait=30) == {}
    assert find(connection, watch=False) == ()
    assert namespaces(connection) == []


def test_somebody_elses_run_is_left_alone(lab: Lab) -> None:
    """Clean-up of one run does not touch another's namespace."""
    connection = lab.connect()
    other = {"name": "nettests-other", "labels": {RUN_LABEL: "other"}}
    connection.create("/api/v1/namespaces", {"metadata": other})
    assert clean_up(connection, ownership("other"), CreatedObjects(), wait=5) == ""
    assert len(namespaces(connection, "other")) == 1
    connection.delete("/api/v1/namespaces/nettests-other")
