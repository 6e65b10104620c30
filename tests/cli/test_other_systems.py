"""Windows and macOS workstations: a command works there, or says in one sentence what to do."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from nettests.cli import COMMANDS
from tests.cli.other_system import MACOS, SYSTEMS, WINDOWS

pytestmark = pytest.mark.lab  # `nettests lab` is one of the commands

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "reports" / "sample"
RUNS = ("20260101-000000-aaaa", "20260102-000000-bbbb")
HELP = tuple(f"{name} --help" for of in COMMANDS.values() for name in of)
WITHOUT_CLUSTER = (
    "list flows",
    "list limitations",
    "list cluster-profiles",
    f"diff runs/{RUNS[0]} runs/{RUNS[1]}",
    "history runs",
    f"open runs/{RUNS[1]}",
    f"rejudge runs/{RUNS[1]}",
    f"export runs/{RUNS[1]} --output bundle.zip",
    f"baseline accept runs/{RUNS[1]} --check dns-* --reason known --expires 2099-12-31 --to baseline.yaml",
    f"baseline stale runs/{RUNS[1]} --baseline baseline.yaml",
    "job render --image nettests:test",
    "lint",
    "catalogue",
)
NOWHERE = "--kubeconfig /nonexistent"
READING = tuple(
    f"{name} {NOWHERE}"
    for name in ("preflight", "discover", "plan", "images", "render", "gc", "explain a/b")
)
POSIX = tuple(
    f"{name} {NOWHERE}" for name in ("run", "watch", "trace a/b", "diagnose", "calibrate")
)
NO_CLUSTER = "no kubeconfig: /nonexistent does not exist"
ELSEWHERE = (
    "Error: this command needs Linux or macOS\n"
    "  → on Windows start nettests in WSL 2, or in the cluster: nettests job\n"
)
NO_LAB = (
    "Error: the lab is made of Linux network namespaces\n"
    "  → on Windows start it in WSL 2, on macOS in a Linux virtual machine\n"
)
Outcomes = Mapping[str, tuple[int, str]]
"""The exit code and the output of each command line."""


def environment_of(system: str, folder: Path) -> dict[str, str]:
    """Return an environment whose Python is the other system's."""
    script = Path(__file__).with_name("other_system.py")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" {system} "$@"\n', "utf-8")
    python.chmod(0o755)
    return {**os.environ, "OTHER_PYTHON": str(python), "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> str:
    """The other system."""
    return str(request.param)


@pytest.fixture(scope="module")
def outcomes(system: str, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """All commands, run in one process as if on the other system."""
    folder = tmp_path_factory.mktemp(system)
    for name in RUNS:
        shutil.copytree(SAMPLE, folder / "runs" / name)
    lines = (*HELP, *WITHOUT_CLUSTER, *READING, *POSIX, "plan --lab")
    environment = environment_of(system, folder)
    done = subprocess.run(
        [environment["OTHER_PYTHON"]],
        input=json.dumps([line.split() for line in lines]),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    # What a command starts prints before.
    results = json.loads(done.stdout.splitlines()[-1])
    return {line: (code, output) for line, (code, output) in zip(lines, results, strict=True)}


def test_each_command_explains_itself(outcomes: Outcomes) -> None:
    """No module that ``--help`` loads needs what Linux alone has."""
    for line in HELP:
        code, output = outcomes[line]
        assert code == 0, f"{line}: {output}"
        assert line == "lab --help" or "Usage: " in output, f"{line}: {output}"


def test_what_needs_no_cluster_works(outcomes: Outcomes) -> None:
    """Lists, comparisons, histories and judgements of recorded runs end well."""
    for line in WITHOUT_CLUSTER:
        code, output = outcomes[line]
        assert code == 0, f"{line}: {output}"


def test_what_reads_a_cluster_looks_for_one(outcomes: Outcomes) -> None:
    """Preflight, discovery, plans and clean-up come as far as the kubeconfig."""
    for line in READING:
        output = outcomes[line][1]
        assert NO_CLUSTER in " ".join(output.split()), f"{line}: {output}"


def test_a_run_needs_another_system_than_windows(system: str, outcomes: Outcomes) -> None:
    """On Windows one sentence says so before a cluster is looked for; a Mac looks for the cluster."""
    for line in POSIX:
        code, output = outcomes[line]
        assert code != 0, f"{line}: {output}"
        assert (output == ELSEWHERE) is (system == WINDOWS), f"{line}: {output}"
        assert (NO_CLUSTER in " ".join(output.split())) is (system == MACOS), f"{line}: {output}"


def test_a_lab_is_started_on_linux_alone(system: str, outcomes: Outcomes, tmp_path: Path) -> None:
    """With ``--lab`` and of ``nettests lab`` the same sentence; its profiles are listed everywhere."""
    assert outcomes["plan --lab"][1] == NO_LAB
    environment = environment_of(system, tmp_path)

    def of_lab(word: str) -> subprocess.CompletedProcess[str]:
        words = [environment["OTHER_PYTHON"], "-m", "nettests.lab", word]
        return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)

    up = of_lab("up")
    assert (up.returncode, up.stderr) == (4, NO_LAB)
    listed = of_lab("profiles")
    assert (listed.returncode, "win2019-l2bridge\n" in listed.stdout) == (0, True)
    assert listed.stdout.splitlines()[-1].endswith("in a Linux virtual machine")
