"""``nettests watch`` on a lab: what fails for a while is kept with its first round, and an API that is away ends nothing."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import connect
from nettests.model.exit_code import ExitCode
from nettests.model.labels import RUN_LABEL
from tests.acceptance.command import COMMAND
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import HASTY, merged

pytestmark = pytest.mark.lab

PROFILE = "win2022-l2bridge-dsr"
LONG = 120.0
"""Seconds for what comes within a round or two."""


class Watching:
    """A watch under way; ``rounds`` are those that its journal holds by now."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.folder = folder

    @property
    def directory(self) -> Path:
        """The folder of the run."""
        return (self.folder / "latest").resolve()

    def rounds(self) -> list[dict[str, Any]]:
        """Return the rounds so far."""
        journal = self.directory / "journal.jsonl"
        if not journal.exists():
            return []
        lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
        records = [json.loads(line) for line in lines if line.endswith("\n")]
        return [one for one in records if one["record"] == "round"]

    def wait_for(self, more: int, *, red: bool = False, lost: bool = False) -> None:
        """Wait for so many more rounds that are red, lost, or neither, as it is said."""
        seen = len(self.rounds())
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline:
            new = self.rounds()[seen:]
            if sum((bool(one["red"]), bool(one.get("lost"))) == (red, lost) for one in new) >= more:
                return
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.2)
                raise AssertionError("the watch ended")
        raise AssertionError(f"rounds after {LONG:.0f} s: {self.rounds()[seen:]}")

    def end(self) -> tuple[int, str, dict[str, Any]]:
        """Interrupt it as Ctrl-C does; return exit code, output and ``results.json``."""
        self.process.send_signal(signal.SIGINT)
        printed, _ = self.process.communicate(timeout=LONG)
        results = json.loads((self.directory / "results.json").read_text(encoding="utf-8"))
        return self.process.returncode, printed, results


@contextmanager
def watching(up: UpLab, folder: Path, *options: str) -> Iterator[Watching]:
    """Start a watch of the flow from Pod to Pod with a round every second, which takes one negative answer for an answer."""
    profile = folder / "cluster-profile.yaml"
    profile.write_text(merged(Path(up.cluster_profile).read_text(), HASTY))
    process = subprocess.Popen(
        [
            *(*COMMAND, "watch", "--every=1s", "--for=1h", "--flow=pod-to-pod-ip"),
            *(f"--kubeconfig={up.kubeconfig}", f"--cluster-profile={profile}"),
            *(f"--report-dir={folder}", *options),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - no thread of this process is in the way
    )
    try:
        yield Watching(process, folder)
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=LONG)


def _heed_interrupts() -> None:
    """Undo what a shell does to what it starts in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_what_fails_for_a_while_is_kept(tmp_path: Path) -> None:
    """Packets of one pair are lost for some rounds: the pair has a rate, diagnostics and an incident that names it.

    While the API server answers nothing rounds are lost, and those after it are judged again. At the end it tells its metrics.
    """
    metrics = tmp_path / "nettests.prom"
    with lab(PROFILE) as up, watching(up, tmp_path, f"--metrics={metrics}") as watch:
        watch.wait_for(2)
        up.fault("inject", "packet-loss", "--from=win-2", "--to=linux-1", "--rate=1")
        watch.wait_for(2, red=True)
        up.fault("clear")
        watch.wait_for(2)
        up.fault("inject", "api-errors", "--rate=1")
        up.fault("inject", "channel-down")
        watch.wait_for(1, lost=True)
        up.fault("clear")
        watch.wait_for(2)
        code, printed, results = watch.end()
    rounds = results["rounds"]
    assert code == 1, printed
    assert rounds["judged"] == rounds["count"] - sum(one["rounds"] for one in rounds["lost"])
    assert rounds["lost"]
    assert 2 <= rounds["red"] < rounds["judged"]
    # Rounds that the API server left in the middle say nothing of any pair.
    assert {one["name"] for one in rounds["pairs"]} == {"win-2 → linux-1", "linux-1 → win-2"}
    assert "win-2" in results["incidents"][0]["cause"]
    assert any(one["subject"] == "node win-2" for one in results["diagnostics"])
    assert f"{rounds['count']} rounds: {rounds['red']} with failures" in printed
    assert f"metrics: {metrics}" in printed
    assert 'flow="pod-to-pod-ip",verdict="fail"' in metrics.read_text()
    kept = [one for one in results["checks"] if one["verdict"] == "pass"]
    assert kept
    assert all(one["attempts"] or one.get("members") for one in kept)


def test_a_pod_that_is_deleted_is_no_failure_of_a_path(tmp_path: Path) -> None:
    """Somebody deletes a server in the middle of a watch: what needs it is unknown for that reason, also in that round.

    All else is judged, and the node is named that it stood on.
    """
    with lab(PROFILE) as up, watching(up, tmp_path) as watch:
        watch.wait_for(2)
        connection = connect(Path(up.kubeconfig), None)
        (pod,) = (
            one
            for one in connection.items("/api/v1/pods", labelSelector=RUN_LABEL)
            if one["metadata"]["name"].startswith("server-windows-")
            and one["spec"]["nodeName"] == "win-2"
        )
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        connection.delete(f"/api/v1/namespaces/{namespace}/pods/{name}")
        watch.wait_for(4)
        code, printed, results = watch.end()
    rounds = results["rounds"]
    assert (code, rounds["red"], rounds["lost"]) == (ExitCode.INTERRUPTED, 0, []), printed
    assert rounds["unknown"] >= 3
    assert rounds["unknown_nodes"][0]["name"] == "win-2"
    told = [one["text"] for one in results["events"] if one.get("notable")]
    assert any(f"on win-2 no longer stands: pod {name}" in one for one in told), told
    verdicts = {one["id"]: one for one in results["checks"]}
    assert {one["verdict"] for one in verdicts.values()} == {"pass", "unknown"}
    assert (
        "no longer stands" in verdicts["pod-to-pod-ip/linux-1/windows-1/other-node/tcp"]["message"]
    )
