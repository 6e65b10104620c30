"""A night of each CI file: what is called, how the job ends, and what is kept of it.

The shell is run as its system runs it; in the place of a cluster's run stands the recorded one of ``reports/sample``.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.ci.ci_files import AZURE, FILES, GITHUB, ROOT
from tests.ci.systems import SYSTEMS
from tests.ci.workspace import RUN_ID, SECRET, RecordedRun

SAMPLE = ROOT / "reports" / "sample"
KEPT = {"junit.xml", "results.json", "summary.md"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documents of a finished run, with one flow's checks, so that a history is read quickly."""
    folder = tmp_path_factory.mktemp("recorded")
    for name in KEPT - {"results.json"}:
        shutil.copy(SAMPLE / name, folder)
    data = json.loads((SAMPLE / "results.json").read_text("utf-8"))
    data["checks"] = [one for one in data["checks"] if one["flow"] == "pod-to-pod-ip"]
    (folder / "results.json").write_text(json.dumps(data), "utf-8")
    return folder


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (1, 1), (6, 6), (7, 7), (8, 0)])
@pytest.mark.parametrize("file", FILES)
def test_a_job_ends_as_its_run(
    file: str, code: int, ends: int, tmp_path: Path, recorded: Path
) -> None:
    """Deviations and what could not be judged fail the job; known bugs, as documented, do not; reports are kept always."""
    night = SYSTEMS[file](RecordedRun(tmp_path, code, recorded))
    assert night.code == ends, night.said
    assert night.junit.read_text("utf-8") == (recorded / "junit.xml").read_text("utf-8")
    assert {*KEPT, "history.html"} == {one.name for one in night.report.iterdir()}
    assert [one.name for one in night.history.iterdir()] == [RUN_ID]
    assert [one.name for one in (night.history / RUN_ID).iterdir()] == ["results.json"]


@pytest.mark.parametrize("file", FILES)
def test_what_the_repository_holds_is_used(file: str, tmp_path: Path, recorded: Path) -> None:
    """A baseline makes the job fail on what is new alone, and a cluster profile is named, where the files are there."""
    workspace = RecordedRun(tmp_path, 0, recorded)
    for name in ("baseline.yaml", "cluster-profile.yaml"):
        (workspace.folder / name).touch()
    SYSTEMS[file](workspace)
    assert workspace.called.words[3:] == [
        *("--report-dir", "reports"),
        *("--cluster-profile", "cluster-profile.yaml"),
        *("--baseline", "baseline.yaml", "--fail-on", "new"),
    ]


@pytest.mark.parametrize("file", FILES)
def test_without_them_nothing_is_named(file: str, tmp_path: Path, recorded: Path) -> None:
    """The pinned version is installed, and the run gets the secret's kubeconfig, which nobody else may read."""
    workspace = RecordedRun(tmp_path, 0, recorded)
    SYSTEMS[file](workspace)
    assert workspace.installed == "install nettests==0.1.0"
    called = workspace.called
    assert [called.words[0], *called.words[3:]] == ["run", "--report-dir", "reports"]
    assert (called.kubeconfig, called.mode) == (f"{SECRET}\n", 0o600)


@pytest.mark.parametrize("file", [GITHUB, AZURE])
def test_the_summary_is_the_job_s(file: str, tmp_path: Path, recorded: Path) -> None:
    """Where the system shows a job's summary, it is the run's, also after a failure."""
    night = SYSTEMS[file](RecordedRun(tmp_path, 1, recorded))
    assert night.summary == (recorded / "summary.md").read_text("utf-8")


@pytest.mark.parametrize("file", FILES)
def test_a_history_has_ninety_nights(file: str, tmp_path: Path, recorded: Path) -> None:
    """The oldest nights go, so that a cache does not grow for ever; the newest one is in it."""
    workspace = RecordedRun(tmp_path, 0, recorded)
    beside = (workspace.folder, tmp_path)
    for folder in beside:
        for number in range(95):
            (folder / "history" / f"20260101-{number:06d}-aaaa").mkdir(parents=True)
    night = SYSTEMS[file](workspace)
    left = sorted(one.name for one in night.history.iterdir())
    assert len(left) == 90
    assert (left[0], left[-1]) == ("20260101-000006-aaaa", RUN_ID)


@pytest.mark.parametrize("file", FILES)
def test_a_job_that_wrote_nothing_fails(file: str, tmp_path: Path, recorded: Path) -> None:
    """Wrong usage ends without a report: the job is red, and the history as it was."""
    night = SYSTEMS[file](RecordedRun(tmp_path, 4, recorded))
    assert night.code != 0
    assert not night.history.exists()
