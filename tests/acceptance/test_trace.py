"""Traces on a lab: a check's packets are followed on both nodes, a run traces what leads its incidents, and nothing stays."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nettests.model.exit_code import ExitCode
from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab

pytestmark = pytest.mark.nightly
CHECK = "pod-to-service-clusterip/windows-1/linux-1/other-node/tcp"


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A lab that is broken by each test."""
    with lab("win2022-l2bridge-dsr") as up:
        yield up


def of(up: UpLab) -> tuple[str, str]:
    return f"--kubeconfig={up.kubeconfig}", f"--cluster-profile={up.cluster_profile}"


def pods(up: UpLab) -> list[str]:
    """Namespaces and Pods of runs that are still there."""
    done = nettests("gc", f"--kubeconfig={up.kubeconfig}")
    return [line for line in done.stdout.splitlines() if "nettests-" in line]


def test_a_trace_names_the_node_without_rules(up_lab: UpLab, tmp_path: Path) -> None:
    """Both ends capture, the finding is the node's that does not translate, and everything is removed."""
    up_lab.fault("inject", "service-rules-missing", "--service=nettests-*/*", "--node=win-1")
    done = nettests("trace", CHECK, *of(up_lab), f"--to={tmp_path / 'trace'}")
    up_lab.fault("clear")
    assert done.returncode == ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert "untranslated" in done.stdout
    assert "where     win-1" in done.stdout
    assert (tmp_path / "trace/win-1.pcap").stat().st_size > 24
    assert not pods(up_lab)


def test_a_run_traces_its_leading_incident(up_lab: UpLab, tmp_path: Path) -> None:
    """Among the events of the report is what was found, and the page of the trace is in the run's folder."""
    up_lab.fault("inject", "packet-loss", "--from=win-1", "--to=linux-1")
    flow = "--flow=pod-to-pod-ip"
    nettests("run", "--quiet", "--trace", flow, *of(up_lab), f"--report-dir={tmp_path}")
    up_lab.fault("clear")
    results = json.loads((tmp_path / "latest/results.json").read_text("utf-8"))
    events = [one["text"] for one in results["events"] if one["text"].startswith("trace of ")]
    assert any("the reply was lost on its way back" in text for text in events), results["events"]
    assert list((tmp_path / "latest/traces").glob("*/trace.html"))


def test_a_green_run_traces_nothing(up_lab: UpLab, tmp_path: Path) -> None:
    """Without a failing check no Pod is created for a trace, and nothing is written."""
    nettests(
        "run", "--quiet", "--trace", "--flow=pod-to-pod-ip", *of(up_lab), f"--report-dir={tmp_path}"
    )
    assert not (tmp_path / "latest/traces").exists()
