"""A run's stages without a cluster that works: what is refused, what is recorded, what is left behind."""

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import main_thread
from typing import Any

import pytest

from nettests.cluster.failures import ClosedError
from nettests.errors import ClusterError, ManifestError, PathError
from nettests.model.journal_records import Done
from nettests.model.words import Outcome, Question
from nettests.parse import observation_of
from nettests.plan import load
from nettests.plan.selection import select
from nettests.private import require_writable
from nettests.resources import suites_path
from nettests.session import node_monitor
from nettests.session.blueprint import read_manifests
from nettests.session.journal import Follower
from nettests.session.prepare import prepare
from nettests.session.process import ending_signals
from nettests.session.recorded_runs import results_of, runs_in
from nettests.session.report_dir import new_run_id, newest, record_failed_start
from nettests.session.run import Run
from nettests.session.run_options import Keep, Progress, RunOptions
from tests.cluster.api import Api, Reply, Request, serving, status, write_kubeconfig
from tests.cluster.recorded import linux_node, windows_node
from tests.full_disk import room

FLOWS = load([suites_path()]).flows


class Cluster:
    """An API server that knows nodes and nothing else; ``denied`` verbs are refused in reviews."""

    def __init__(self) -> None:
        self.denied: set[str] = set()
        self.made: dict[str, Any] = {}
        self.began: list[str] = []
        self.lease: Any = None
        self.listed: Callable[[], None] = lambda: None
        """Called once, when namespaces are listed, as a clean-up does."""
        self.create_pods: Callable[[Request], Reply] = lambda _: status(403, "Forbidden", "quota")

    @property
    def namespaces(self) -> list[str]:
        """The namespaces that stand."""
        return list(self.made)

    def _lease(self, request: Request) -> Reply:
        if request.method in {"POST", "PUT"}:
            self.lease = request.body
            return Reply(status=201, body=self.lease)
        return Reply(body=self.lease) if self.lease else status(404, "NotFound", "no lease")

    def __call__(self, request: Request) -> Reply:
        path, _, _ = request.path.partition("?")
        if path == "/version":
            return Reply(body={"gitVersion": "v1.29.4"})
        if path == "/api/v1/nodes":
            return Reply(body={"metadata": {}, "items": [linux_node(), windows_node()]})
        if path.endswith("selfsubjectaccessreviews"):
            attributes = request.body["spec"]["resourceAttributes"]
            allowed = f"{attributes['verb']} {attributes['resource']}" not in self.denied
            return Reply(status=201, body={"status": {"allowed": allowed}})
        return self._namespaced(request, path)

    def _namespaced(self, request: Request, path: str) -> Reply:
        if path.startswith("/api/v1/namespaces") and request.method == "DELETE":
            del self.made[path.rpartition("/")[2]]
            return Reply(body={})
        if path == "/api/v1/namespaces" and request.method == "POST":
            metadata = {**request.body["metadata"], "uid": "u1"}
            self.began.append(metadata["name"])
            self.made[metadata["name"]] = {**request.body, "metadata": metadata}
            return Reply(status=201, body=request.body)
        if path == "/api/v1/namespaces":
            listed, self.listed = self.listed, lambda: None
            listed()
            return Reply(body={"metadata": {}, "items": list(self.made.values())})
        if path.partition("/leases")[1]:
            return self._lease(request)
        if request.method == "POST":
            return self.create_pods(request)
        return status(404, "NotFound", f"{path} not found")


@pytest.fixture
def cluster() -> Cluster:
    """The server's state."""
    return Cluster()


@pytest.fixture
def options(cluster: Cluster, tmp_path: Path) -> Iterator[RunOptions]:
    """Options of a run against the server."""
    with serving(cluster) as api:
        yield _options(api, tmp_path)


def _options(api: Api, directory: Path) -> RunOptions:
    return RunOptions(
        kubeconfig=write_kubeconfig(directory / "kubeconfig", api.url),
        report_dir=directory / "reports",
        argv=("nettests", "run"),
    )


def records(directory: Path, kind: str) -> list[dict[str, Any]]:
    """Return a journal's records of one kind."""
    lines = (directory / "journal.jsonl").read_text().splitlines()
    return [record for line in lines if (record := json.loads(line))["record"] == kind]


def test_a_run_id_is_a_dns_label() -> None:
    """``nettests-<run id>`` has to be a namespace's name; two runs never share an id."""
    ids = {new_run_id() for _ in range(50)}
    assert len(ids) > 1
    for run_id in ids:
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", f"nettests-{run_id}")


def test_prepare_reads_the_cluster_and_writes_nothing(options: RunOptions) -> None:
    """Facts, plan and expectations are there; no directory and no object is."""
    prepared = prepare(options, FLOWS)
    assert {node.name for node in prepared.blueprint.facts.nodes} == {"n1", "w1"}
    assert prepared.blueprint.plan.checks
    checks = prepared.blueprint.plan.checks
    members = {each.id for check in checks for each in check.each}
    assert set(prepared.blueprint.expectations) == {check.id for check in checks} | members
    assert not options.report_dir.exists()


def test_who_may_create_no_pods_is_tested_what_needs_none(
    cluster: Cluster, options: RunOptions
) -> None:
    """Without permission to create pods no namespace is made, and checks that only read are run."""
    cluster.denied = {"create pods"}
    prepared = prepare(options, FLOWS)
    plan = prepared.blueprint.plan
    assert {check.action.question for check in plan.checks} == {Question.INSPECT}
    reasons = {skip.id: skip.reason for skip in plan.skips}
    assert "create pods" in reasons["pod-to-pod-ip/linux-1/windows-1/other-node/tcp"]
    run = Run(prepared)
    run.start([check.id for check in plan.checks])
    for check in plan.checks:
        assert Follower(run.journal.path).wait(check.id, timeout=60).distrust is None
    run.finish(exit_code=7, counts={})
    assert cluster.began == []


def test_a_broken_manifest_is_reported_before_the_cluster_is_contacted(tmp_path: Path) -> None:
    """The user's own manifest is read first, and its error is the one that is seen."""
    broken = tmp_path / "mine.yaml"
    broken.write_text("apiVersion: nettests.dev/v1alpha1\nkind: Nonsense\n")
    options = RunOptions(kubeconfig=tmp_path / "nosuch", manifests=(broken,))
    with pytest.raises(ManifestError, match=r"mine\.yaml"):
        prepare(options, FLOWS)


def test_a_missing_manifest_is_said(tmp_path: Path) -> None:
    """A file that does not exist is an error with its name."""
    with pytest.raises(ManifestError, match=r"nosuch\.yaml cannot be read"):
        read_manifests([tmp_path / "nosuch.yaml"])


def test_shipped_manifests_are_digested_under_their_short_names() -> None:
    """Reports name shipped files by their place in the project, with the content's digest."""
    _, digests = read_manifests()
    assert digests
    for digest in digests:
        assert digest.file.startswith("manifests/limitations/")
        assert re.fullmatch(r"[0-9a-f]{64}", digest.sha256)


def test_a_run_that_could_not_start_leaves_a_journal(tmp_path: Path) -> None:
    """The reason is in a journal of its own; ``latest`` stays what it was, and nothing is compared with it."""
    options = RunOptions(report_dir=tmp_path / "reports")
    directory = record_failed_start(options, ClusterError("no kubeconfig"), exit_code=4)
    assert "no kubeconfig" in records(directory, "event")[0]["text"]
    assert records(directory, "end")[0]["exit_code"] == 4
    assert not (tmp_path / "reports" / "latest").exists()
    assert newest(tmp_path / "reports") == directory
    assert runs_in(tmp_path / "reports") == []
    with pytest.raises(PathError, match="holds no run"):
        results_of("latest", tmp_path / "reports")


def test_when_nothing_stands_every_check_is_distrusted_and_nothing_is_left(
    cluster: Cluster, options: RunOptions
) -> None:
    """Pods are refused by admission: each waiting test gets the reason, the namespace goes."""
    prepared = prepare(options, FLOWS)
    told: list[Progress] = []
    run = Run(prepared, told.append)
    check = next(c for c in prepared.blueprint.plan.checks if c.flow == "pod-to-pod-ip")
    run.start([check.id])
    finished = Follower(run.journal.path).wait(check.id, timeout=60)
    assert "none of" in str(finished.distrust)
    assert "quota" in str(finished.distrust)
    run.finish(exit_code=6, counts={"unknown": 1})
    run.stop()
    assert cluster.namespaces == []
    assert told[-1].stage == "done"
    assert records(run.directory, "end")[0]["counts"] == {"unknown": 1}


def test_a_full_disk_ends_a_run_and_its_objects_go(cluster: Cluster, options: RunOptions) -> None:
    """Nothing more can be written down: no test waits for it, and the cluster is left as it was."""
    prepared = prepare(options, FLOWS)
    run = Run(prepared)
    check = next(c for c in prepared.blueprint.plan.checks if c.flow == "pod-to-pod-ip")
    with room(run.journal.path.stat().st_size + 20_000):

        def fill(_: Request) -> Reply:
            run.journal.event("x" * 20_000)
            return status(403, "Forbidden", "quota")

        cluster.create_pods = fill
        run.start([check.id])
        finished = Follower(run.journal.path).wait(check.id, timeout=60)
        run.finish(exit_code=6, counts={"unknown": 1})
    assert finished.distrust == "the run ended before this check was observed"
    assert "File too large" in run.journal.broken
    assert cluster.began
    assert cluster.namespaces == []


def test_an_api_server_that_is_gone_ends_a_run(
    cluster: Cluster, options: RunOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing more is begun; who reads the report sees why where they look first."""
    monkeypatch.setattr(node_monitor, "GONE_SECONDS", 0.0)
    monkeypatch.setattr(node_monitor, "LOOK_SECONDS", 0.01)
    prepared = prepare(options, FLOWS)
    run = Run(prepared)

    def wait(_: Request) -> Reply:
        deadline = time.monotonic() + 30
        while "answered nothing" not in run.journal.path.read_text() and (
            time.monotonic() < deadline
        ):
            time.sleep(0.01)
        return status(403, "Forbidden", "quota")

    cluster.create_pods = wait
    check = next(c for c in prepared.blueprint.plan.checks if c.flow == "pod-to-pod-ip")
    run.start([check.id])
    told = Follower(run.journal.path).wait(check.id, timeout=60).distrust
    run.finish(exit_code=6, counts={})
    stopped = "the run was stopped: the API server has answered nothing for 0 s"
    (event,) = [one for one in records(run.directory, "event") if one["text"] == stopped]
    assert event["notable"]
    assert told is not None
    assert cluster.namespaces == []


def test_who_is_too_impatient_for_the_clean_up_gets_it_nevertheless(
    cluster: Cluster, options: RunOptions
) -> None:
    """A second Ctrl-C in the middle of it ends the waiting, not the connection that it takes."""
    prepared = prepare(replace(options, keep=Keep.ON_FAILURE), FLOWS)
    run = Run(prepared)
    check = next(c for c in prepared.blueprint.plan.checks if c.flow == "pod-to-pod-ip")
    run.start([check.id])
    Follower(run.journal.path).wait(check.id, timeout=60)
    cluster.listed = lambda: signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run.finish(exit_code=2, counts={})
    run.close()
    assert (cluster.namespaces, run.run_objects.left_behind) == ([], "")
    with pytest.raises(ClosedError):
        prepared.connection.get("/version")


def test_only_the_selected_is_planned_and_recorded(options: RunOptions) -> None:
    """The journal says what was planned of the selection: checks with expectations, and skips."""
    prepared = prepare(options, FLOWS)
    plan = prepared.blueprint.plan
    run = Run(prepared)
    run.start([plan.checks[3].id, plan.skips[0].id])
    run.finish(exit_code=0, counts={})
    assert [item["check"]["id"] for item in records(run.directory, "planned")] == [
        plan.checks[3].id
    ]
    assert "expectation" in records(run.directory, "planned")[0]
    assert [item["skip"]["id"] for item in records(run.directory, "skip")] == [plan.skips[0].id]
    (head,) = records(run.directory, "run")
    assert (head["context"], head["argv"]) == ("test", ["nettests", "run"])
    assert records(run.directory, "facts")[0]["facts"]["context"] == "test"


def test_a_selection_deploys_no_more_than_it_needs(options: RunOptions) -> None:
    """One pod-to-pod check needs its probe, its target and its controls, and no Service."""
    made = prepare(options, FLOWS).blueprint
    check = next(item for item in made.plan.checks if item.flow == "pod-to-pod-ip")
    part = select(made.plan, made.facts, [check.id])
    assert part.checks == (check,)
    assert part.services == ()
    assert {check.source.probe, check.target.pod} <= {pod.name for pod in part.pods}
    assert len(part.pods) < len(made.plan.pods)


def test_a_run_of_skips_alone_touches_no_cluster(cluster: Cluster, options: RunOptions) -> None:
    """Nothing is deployed for checks that do not apply."""
    prepared = prepare(options, FLOWS)
    run = Run(prepared)
    run.start([prepared.blueprint.plan.skips[0].id])
    run.finish(exit_code=0, counts={"skipped": 1})
    assert cluster.namespaces == []
    (event,) = records(run.directory, "event")
    assert event["text"].startswith("the API server was sent ")


def test_distrust_outlives_good_answers(options: RunOptions) -> None:
    """What the journal distrusts stays untrusted, and a check without answers says why."""
    check = prepare(options, FLOWS).blueprint.plan.checks[0]
    seen = observation_of(
        check, Done(check=check.id, distrust="the probe is in the wrong place"), ()
    )
    assert (seen.trusted, seen.outcome) == (False, Outcome.PROBE_FAILED)
    assert seen.distrust == "the probe is in the wrong place"
    assert observation_of(check, Done(check=check.id), ()).distrust == "nothing was probed"


@pytest.mark.parametrize("place", ["/proc/nettests", "file/below"])
def test_a_report_folder_that_cannot_be_written_is_refused(tmp_path: Path, place: str) -> None:
    """Nobody finds out at the end of a run that its report has no place."""
    (tmp_path / "file").touch()
    with pytest.raises(PathError, match="no report can be written to"):
        require_writable(tmp_path / place)


def test_an_empty_folder_of_manifests_is_refused(tmp_path: Path) -> None:
    """A folder without manifests is a mistake, not a site without limitations."""
    with pytest.raises(ManifestError, match="holds no manifest"):
        read_manifests([tmp_path])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_interrupt_as_ctrl_c_does(number: signal.Signals) -> None:
    """A service manager's and a closed terminal's signal unwind the block, and only the block."""
    inherited = signal.signal(number, signal.SIG_DFL)  # nohup has SIGHUP ignored
    try:
        with pytest.raises(KeyboardInterrupt), ending_signals():
            signal.raise_signal(number)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, inherited)
