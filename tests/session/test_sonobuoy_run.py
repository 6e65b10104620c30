"""Sonobuoy's contract: progress to its worker, a report it can read, and the file ``done`` last, whatever happens."""

import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nettests.cli import sonobuoy_commands as module
from nettests.cli.sonobuoy_commands import RESULTS_FILE, Journal, deliver_run, port_of
from nettests.errors import PlanError
from nettests.job.sonobuoy import DEFAULT_PORT
from tests.cluster.api import Api, Reply, Request, serving

SAMPLE = Path(__file__).parents[2] / "reports" / "sample"
RUN = """
import sys, time
from pathlib import Path
reports, how = Path(sys.argv[1]), sys.argv[2]
folder = reports / "20261125-021700-ab12"
lines = Path(sys.argv[3]).read_bytes().splitlines(keepends=True)
if how != "nothing":
    folder.mkdir(mode=0o700)
    with (folder / "journal.jsonl").open("wb") as journal:
        half = len(lines) // 2
        journal.write(b"".join(lines[:half]) + lines[half][:20])
        journal.flush()
        (reports / "begun").touch()
        if how == "ended":
            try:
                time.sleep(60)
            except KeyboardInterrupt:
                pass
        while how == "paced" and not (reports / "go").exists():
            time.sleep(0.02)
        journal.write(lines[half][20:] + b"".join(lines[half + 1:]))
    if how in ("whole", "paced"):
        (folder / "junit.xml").write_text("<testsuites/>")
        (folder / "results.json").write_text("{}")
sys.exit(1 if how in ("whole", "paced") else 9)
"""
"""What stands for ``nettests run``: it writes a recorded journal, slowly, and documents or none."""


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """The journal of a recorded run."""
    path = tmp_path / "recorded.jsonl"
    path.write_bytes((SAMPLE / "journal.jsonl").read_bytes())
    return path


@pytest.fixture
def worker() -> Iterator[Api]:
    """Sonobuoy's worker beside the plugin."""
    with serving(lambda _: Reply()) as api:
        yield api


def delivered(tmp_path: Path, journal: Path, how: str, port: int, patch: pytest.MonkeyPatch) -> tuple[int, list[str]]:  # fmt: skip
    """Deliver a run that goes as ``how`` says; its exit code, and what was said."""
    script = tmp_path / "run.py"
    script.write_text(RUN)
    popen = subprocess.Popen

    def instead(command: list[str], **options: Any) -> "subprocess.Popen[bytes]":
        assert command[1:4] == ["-m", "nettests", "run"]
        assert command[4] == f"--report-dir={tmp_path / 'reports'}"
        return popen([sys.executable, str(script), str(tmp_path / "reports"), how, str(journal)], **options)  # fmt: skip

    patch.setattr(subprocess, "Popen", instead)
    patch.setattr(module, "UPDATE_SECONDS", 0.1)
    said: list[str] = []
    code = deliver_run(("--flow=x",), tmp_path / "results", tmp_path / "reports", port, said.append)
    return code, said


def files_of(results: Path) -> dict[str, bytes]:
    """What Sonobuoy's worker would send: the file that ``done`` names."""
    named = Path((results / "done").read_text())
    assert named == results / RESULTS_FILE
    with tarfile.open(named) as packed:
        return {one.name: packed.extractfile(one).read() for one in packed}  # type: ignore[union-attr]


def port(api: Api) -> int:
    return int(api.url.rpartition(":")[2])


def test_a_run_is_delivered_with_its_exit_code(
    tmp_path: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its whole folder; the last update has every check that was judged, and an earlier one those so far."""

    def answer(request: Request) -> Reply:
        if request.body["completed"]:
            (tmp_path / "reports" / "go").touch()
        return Reply()

    records = [json.loads(line) for line in journal.read_text().splitlines()]
    judged = [line for line in records if line["record"] == "judged"]
    # Half of the verdicts stand in the first half: a recorded run is judged at its end.
    others = [line for line in records if line["record"] != "judged"]
    spread = [*others[: len(others) // 2], *judged, *others[len(others) // 2 :]]
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in spread))
    with serving(answer) as worker:
        code, said = delivered(tmp_path, journal, "paced", port(worker), monkeypatch)
    assert (code, said) == (1, [])
    files = files_of(tmp_path / "results")
    assert {name.partition("/")[2] for name in files} == {
        *("junit.xml", "results.json", "journal.jsonl"),
    }
    assert files["20261125-021700-ab12/journal.jsonl"] == journal.read_bytes()
    assert {one.path for one in worker.requests} == {"/progress"}
    told = [one.body["completed"] for one in worker.requests]
    assert told == sorted(told)
    assert 0 < next(number for number in told if number) < told[-1] == len(judged)
    last = worker.requests[-1].body
    assert last["total"] >= last["completed"]
    assert last.keys() <= {"msg", "total", "completed", "failures"}


def test_another_user_reads_what_is_delivered(tmp_path: Path, journal: Path, worker: Api, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """The worker runs as somebody else; what it does not need stays private."""
    umask = os.umask(0o077)
    try:
        delivered(tmp_path, journal, "whole", port(worker), monkeypatch)
    finally:
        os.umask(umask)
    results = tmp_path / "results"
    assert {path.stat().st_mode & 0o777 for path in results.iterdir()} == {0o644}
    assert sorted(path.name for path in results.iterdir()) == ["done", RESULTS_FILE]
    assert (tmp_path / "reports").stat().st_mode & 0o077 == 0


def test_done_comes_last(tmp_path: Path, journal: Path, worker: Api, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Whoever sees it finds the whole archive."""
    order: list[str] = []
    write = module._write_readable

    def noted(file: Path, data: bytes) -> None:
        order.append(file.name)
        assert not (file.parent / "done").exists()
        write(file, data)

    monkeypatch.setattr(module, "_write_readable", noted)
    delivered(tmp_path, journal, "whole", port(worker), monkeypatch)
    assert order == [RESULTS_FILE, "done"]


def test_a_run_that_left_nothing_is_delivered_as_that(tmp_path: Path, journal: Path, worker: Api, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Sonobuoy would wait for hours otherwise."""
    code, said = delivered(tmp_path, journal, "nothing", port(worker), monkeypatch)
    assert code == 9
    assert "the run has left no report" in said[0]
    assert b"exit code 9" in files_of(tmp_path / "results")["nettests/error.txt"]


def test_a_run_that_was_cut_delivers_its_journal(tmp_path: Path, journal: Path, worker: Api, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Documents can be made of it elsewhere."""
    code, _ = delivered(tmp_path, journal, "cut", port(worker), monkeypatch)
    assert code == 9
    assert [name.rpartition("/")[2] for name in files_of(tmp_path / "results")] == ["journal.jsonl"]


@pytest.mark.parametrize("reply", [Reply(status=500), Reply(cut=True), Reply(status=302, headers={"Location": "http://127.0.0.1:1/"})])  # fmt: skip
def test_a_worker_that_takes_no_progress_stops_nothing(tmp_path: Path, journal: Path, reply: Reply, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """It is told once, and the report is delivered."""
    with serving(lambda _: reply) as api:
        code, said = delivered(tmp_path, journal, "whole", port(api), monkeypatch)
    assert code == 1
    assert len(said) == 1
    assert "progress is not taken" in said[0]
    assert len(files_of(tmp_path / "results")) == 3


def test_progress_never_goes_through_a_proxy(tmp_path: Path, journal: Path, worker: Api, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """It is an address of the Pod's own."""
    with serving(lambda _: Reply()) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        delivered(tmp_path, journal, "whole", port(worker), monkeypatch)
    assert proxy.requests == []
    assert worker.requests


def test_a_plugin_that_is_ended_ends_its_run_first(tmp_path: Path, journal: Path, worker: Api, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """SIGTERM goes on to the run, whose clean-up is waited for, and what it left is delivered."""
    post = module._post

    def ended(*words: Any) -> str:
        if (tmp_path / "reports" / "begun").exists():
            (tmp_path / "reports" / "begun").unlink()
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)  # a signal interrupts it
        return post(*words)

    monkeypatch.setattr(module, "_post", ended)
    code, _ = delivered(tmp_path, journal, "ended", port(worker), monkeypatch)
    assert code == -signal.SIGTERM
    assert [name.rpartition("/")[2] for name in files_of(tmp_path / "results")] == ["journal.jsonl"]


def test_a_journal_of_before_is_not_this_run(tmp_path: Path, journal: Path) -> None:
    """Nor is the link ``latest``, nor a line that is no record."""
    old = tmp_path / "reports" / "old"
    old.mkdir(parents=True)
    (old / "journal.jsonl").write_bytes(journal.read_bytes())
    (tmp_path / "reports" / "latest").symlink_to("old")
    followed = Journal(tmp_path / "reports", frozenset({"old"}))
    followed.read_on()
    assert (followed.folder, followed.progress.total) == (None, 0)
    new = tmp_path / "reports" / "new"
    new.mkdir()
    (new / "journal.jsonl").write_bytes(b"{}\nnot json\n\xff\n")
    followed.read_on()
    assert (followed.folder, followed.progress.total) == (new, 0)


def test_the_port_is_sonobuoys() -> None:
    """Its default where it says nothing; what is no port is a mistake of the environment."""
    assert (port_of(""), port_of("1234")) == (DEFAULT_PORT, 1234)
    for text in ("0", "65536", "-1", "x", "80.5", "٣"):
        with pytest.raises(PlanError, match="which is no port"):
            port_of(text)


def test_the_command_delivers_a_run_that_could_not_start(tmp_path: Path, worker: Api) -> None:
    """As Sonobuoy calls it: without a cluster the run still leaves JUnit, which the aggregator reads."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KUBE")}
    environment = {
        **kept,
        "HOME": str(tmp_path / "nobody"),
        "SONOBUOY_RESULTS_DIR": str(tmp_path / "results"),
        "SONOBUOY_PROGRESS_PORT": str(port(worker)),
        "TMPDIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "nettests", "sonobuoy", "run", "--", "--flow=pod-to-pod-ip"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 7, done.stdout + done.stderr
    assert f"results: {tmp_path / 'results'}" in done.stdout
    files = {name.partition("/")[2]: text for name, text in files_of(tmp_path / "results").items()}
    assert b"no kubeconfig" in files["junit.xml"]
    assert {one.path for one in worker.requests} == {"/progress"}
