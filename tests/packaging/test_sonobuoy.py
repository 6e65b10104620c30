"""The plugin definition: what Sonobuoy reads of it, and what its container delivers."""

import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ci.test_schemas import unknown_fields

PLUGIN = Path(__file__).parents[2] / "manifests" / "sonobuoy" / "nettests.yaml"
CONFIG = {
    *("driver", "plugin-name", "skip-cleanup", "result-format", "result-files"),
    *("description", "source-url", "order"),
}
"""What Sonobuoy's ``SonobuoyConfig`` has."""


@pytest.fixture
def plugin() -> dict[str, Any]:
    """The definition."""
    return dict(yaml.safe_load(PLUGIN.read_text()))


def start(plugin: dict[str, Any], results: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start what the container runs, with this environment's ``nettests``."""
    results.mkdir()
    places = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": places, "SONOBUOY_RESULTS_DIR": str(results)}
    command = [*plugin["spec"]["command"], *plugin["spec"]["args"], *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


def delivered(results: Path) -> Path:
    """The file that ``done`` names, which another user can read."""
    report = Path((results / "done").read_text())
    assert report.parent == results
    assert report.stat().st_mode & 0o444 == 0o444
    return report


def test_sonobuoy_accepts_the_definition(plugin: dict[str, Any]) -> None:
    """It has the fields of Sonobuoy, of a container and of a Pod's spec, and its results are where the worker looks."""
    config, spec = plugin["sonobuoy-config"], plugin["spec"]
    assert plugin.keys() == {"sonobuoy-config", "spec", "podSpec"}
    assert config.keys() <= CONFIG
    assert (config["driver"], config["result-format"]) == ("Job", "junit")
    assert unknown_fields(spec, "V1Container", "spec") == []
    assert unknown_fields(plugin["podSpec"], "V1PodSpec", "podSpec") == []
    assert spec["volumeMounts"] == [{"name": "results", "mountPath": "/tmp/sonobuoy/results"}]


def test_a_run_that_could_not_start_is_delivered_with_its_exit_code(
    plugin: dict[str, Any], tmp_path: Path
) -> None:
    """Its report, with the ``junit.xml`` that the aggregator reads."""
    with start(plugin, tmp_path / "results", f"--kubeconfig={tmp_path / 'none'}") as run:
        assert run.wait(60) == 7
    with tarfile.open(delivered(tmp_path / "results")) as packed:
        assert "junit.xml" in {Path(name).name for name in packed.getnames()}


def test_wrong_usage_is_delivered_as_a_sentence(plugin: dict[str, Any], tmp_path: Path) -> None:
    """Sonobuoy would wait for hours without a file."""
    with start(plugin, tmp_path / "results", "--no-such-option") as run:
        assert run.wait(60) != 0
    assert "left no report" in delivered(tmp_path / "results").read_text()


def test_a_plugin_that_is_ended_ends_its_run_first(plugin: dict[str, Any], tmp_path: Path) -> None:
    """SIGTERM goes on to the run, whose clean-up is waited for."""
    ended = tmp_path / "ended"
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    program = tmp_path / "nettests"
    program.write_text(
        f"#!/bin/sh\ntrap 'sleep 0.3; touch {ended}; exit 9' TERM\necho begun > {begun}\n"
        "while :; do sleep 0.05; done\n"
    )
    program.chmod(0o755)
    plugin["spec"]["command"][2] = f"PATH={tmp_path}:$PATH\n{plugin['spec']['command'][2]}"
    with start(plugin, tmp_path / "results") as run:
        begun.read_text()
        run.send_signal(signal.SIGTERM)
        assert run.wait(30) == 9
    assert ended.exists()
    assert "exit code 9" in delivered(tmp_path / "results").read_text()
