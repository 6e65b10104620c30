"""Each CI file tests a lab: its shell is run as its system runs it, and calls the real ``pip`` and ``nettests``."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.labs import UpLab, lab
from tests.ci.ci_files import FILES, GITHUB
from tests.ci.systems import SYSTEMS, Night
from tests.ci.workspace import Workspace

pytestmark = [pytest.mark.lab, pytest.mark.nightly]

PROGRAMS = Path(sys.executable).parent
ONE_FLOW = f"""#!/bin/sh
if [ "$1" = run ]; then set -- "$@" --flow=pod-to-pod-ip; fi
exec {PROGRAMS}/nettests "$@"
"""
"""All flows would take minutes."""
BROKEN = ("packet-loss", "--from=win-1", "--to=linux-1", "--rate=1")


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """Two nodes of each system, for all nights."""
    with lab("win2019-l2bridge") as up:
        yield up


def a_night(file: str, folder: Path, up: UpLab) -> Night:
    """Run a CI file's shell in a fresh checkout, beside a cluster profile."""
    folder.mkdir()
    workspace = Workspace(
        folder,
        {"nettests": ONE_FLOW},
        kubeconfig=Path(up.kubeconfig).read_text("utf-8"),
        PATH=f"{folder / 'tools'}:{PROGRAMS}:{os.environ['PATH']}",
        # What is installed already satisfies NETTESTS_FROM: nothing is fetched.
        PIP_NO_INDEX="1",
    )
    profile = Path(up.cluster_profile).read_text("utf-8")
    (workspace.folder / "cluster-profile.yaml").write_text(profile, "utf-8")
    return SYSTEMS[file](workspace)


@pytest.mark.parametrize("file", FILES)
def test_a_ci_file_tests_a_cluster(file: str, up_lab: UpLab, tmp_path: Path) -> None:
    """On a lab that is in order the job passes, with the report of a run and a history of one night."""
    night = a_night(file, tmp_path / "green", up_lab)
    assert night.code == 0, night.said
    assert "Requirement already satisfied: nettests==0.1.0" in night.said
    results = json.loads((night.report / "results.json").read_text("utf-8"))
    assert {check["verdict"] for check in results["checks"]} == {"pass"}
    assert "<failure" not in night.junit.read_text("utf-8")
    assert len(list(night.history.iterdir())) == 1
    assert (night.report / "history.html").exists()


def test_a_broken_cluster_fails_the_job(up_lab: UpLab, tmp_path: Path) -> None:
    """Where packets are lost the job fails, with failures in JUnit, a summary that names the node, and its history."""
    up_lab.fault("inject", *BROKEN)
    try:
        night = a_night(GITHUB, tmp_path / "red", up_lab)
    finally:
        up_lab.fault("clear")
    assert night.code == 1, night.said
    assert "<failure" in night.junit.read_text("utf-8")
    assert "win-1" in night.summary
    assert len(list(night.history.iterdir())) == 1
