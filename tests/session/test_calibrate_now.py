"""``nettests calibrate`` asks one node of each kind, and the answers become a table and, where one is not understood, a bundle."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.export.bundle import unpack
from nettests.model.calibration import Calibration, KnownQuestion
from nettests.model.exit_code import ExitCode
from nettests.model.facts import ClusterFacts, known
from nettests.model.journal_records import Calibrated
from nettests.model.run_folder import JOURNAL
from nettests.model.words import OS
from nettests.plan import build, load
from nettests.report.instruments import instrument_rows
from nettests.resources import suites_path
from nettests.session.calibrate_local import CalibratedNow
from nettests.session.calibrate_now import _plan, calibrate_now
from nettests.session.journal import Journal
from nettests.session.report_dir import write_head
from nettests.session.run_options import RunOptions
from tests.plan.clusters import mixed
from tests.session.labs import FLOWS, Lab, namespaces

FACTS: ClusterFacts = mixed()
PLAN = build(FACTS, load([suites_path()]).flows)


def chosen(facts: ClusterFacts) -> dict[str, set[str]]:
    """The nodes that are asked, each with the kinds of its Pods."""
    nodes: dict[str, set[str]] = {}
    for pod in _plan(PLAN, facts).pods:
        nodes.setdefault(pod.node, set()).add(pod.purpose)
    return nodes


def test_one_node_of_each_kind_is_asked() -> None:
    """In a Pod of its own, and as itself."""
    nodes = chosen(FACTS)
    kinds = {(node.os, node.build.value, node.runtime.value, node.os_image) for node in FACTS.nodes}
    assert len(nodes) == len(kinds)
    assert {facts.os for facts in FACTS.nodes if facts.name in nodes} == set(OS)
    assert all(purposes == {"probe", "node"} for purposes in nodes.values())


def test_another_runtime_is_another_kind_and_a_cordoned_node_is_left_alone() -> None:
    """Programs start as the runtime starts them; nothing is put where nobody may put anything."""
    first, *others = FACTS.nodes
    newer = replace(first, name="newer", runtime=known("containerd://9.9", "test"))
    more = replace(FACTS, nodes=(first, *others, newer))
    assert set(chosen(more)) == {*chosen(FACTS), "newer"}
    cordoned = replace(more, nodes=(first, *others, replace(newer, schedulable=False)))
    assert set(chosen(cordoned)) == set(chosen(FACTS))


def test_only_pods_that_checks_let_ping_are_asked_to() -> None:
    """The plan that is deployed has the checks by which Linux Pods get that right."""
    plan = _plan(PLAN, FACTS)
    assert plan.checks
    assert {check.source.probe for check in plan.checks} <= {pod.name for pod in plan.pods}
    assert not any(check.members for check in plan.checks)


CALIBRATION = Calibration(
    node="win-secret",
    vantage="node",
    os=OS.WINDOWS,
    probe="node-windows-1-1",
    questions=(KnownQuestion(name="ping/itself", words=("ping", "-n", "1", "127.0.0.1")),),
    command=("cmd.exe", "/c", "ping"),
    exit_code=3,
    stdout="~0~\nCvat jveq nhftrshrueg\n~0.1~\n",
    stderr="~0~\n",
)


def test_what_is_not_understood_leaves_in_a_bundle_without_names(tmp_path: Path) -> None:
    """The tool's own words stay, the node's name does not."""
    with Journal(tmp_path / JOURNAL) as journal:
        write_head(journal, RunOptions(), "r", context="", server="", digests=())
        journal.write(Calibrated(calibration=CALIBRATION))
    made = CalibratedNow(folder=tmp_path, rows=instrument_rows([CALIBRATION]), remarks=())
    assert made.exit_code is ExitCode.UNKNOWN
    bundle = made.bundled().bundle
    assert bundle is not None
    (text,) = [
        content.decode()
        for name, content in unpack(bundle.read_bytes(), bundle.name).items()
        if name == JOURNAL
    ]
    assert "Cvat jveq nhftrshrueg" in text
    assert "win-secret" not in text


def test_nothing_asked_is_nothing_understood(tmp_path: Path) -> None:
    """And leaves no bundle."""
    made = CalibratedNow(folder=tmp_path, rows=(), remarks=())
    assert made.exit_code is ExitCode.NOTHING_JUDGED
    assert made.bundled() == made


@pytest.mark.lab
def test_a_cluster_is_calibrated_and_left_as_it_was(lab: Lab) -> None:
    """All is understood on a healthy lab; the journal has the answers, the cluster nothing."""
    options = RunOptions(
        kubeconfig=lab.kubeconfig, cluster_profile=lab.cluster_profile, report_dir=lab.directory
    )
    calibrated = calibrate_now(options, FLOWS)
    assert calibrated.exit_code is ExitCode.OK, calibrated.rows
    assert calibrated.remarks == ()
    instruments = {(row.vantage, row.instrument) for row in calibrated.rows}
    assert {("pod", "dial"), ("node", "curl"), ("pod", "ping"), ("node", "exec")} <= instruments
    records = (calibrated.folder / JOURNAL).read_text("utf-8").splitlines()
    assert {"run", "facts", "calibration", "end"} <= {
        json.loads(line)["record"] for line in records
    }
    assert namespaces(lab.connect()) == []
