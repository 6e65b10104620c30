"""What a run collects around failing checks: the telling lines, no secrets, linked from its report."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from nettests.diagnose.allowed import LEFT_OUT
from nettests.model.cluster_profile import DiagnosticsLimits
from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.objects import connect
from tests.acceptance.runs import BROKEN, HASTY, FinishedRun, run_on
from tests.report.opened import opened, unpacked

SERVICE = "svc-server-windows-1-2"
SECRET = "hunter2-planted"
FLOWS = ("--flow=pod-to-service-clusterip", "--flow=hns-configuration")


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A lab for the tests of this module."""
    with lab("win2019-l2bridge") as up:
        yield up


@pytest.fixture(scope="module")
def broken(up_lab: UpLab, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run with one Service's rules missing on one node, and secrets planted where they might leak."""
    annotate(up_lab, "win-1", {"vault.test/token": SECRET, "note": f"password={SECRET}"})
    up_lab.fault("inject", "service-rules-missing", "--service", SERVICE, "--node", "win-1")
    try:
        return run_on(up_lab, tmp_path_factory.mktemp("broken"), *FLOWS, timing=BROKEN)
    finally:
        up_lab.fault("clear")


def annotate(up: UpLab, node: str, annotations: dict[str, str]) -> None:
    """Annotate a node, as anybody might who is careless with secrets."""
    objects = connect(up.kubeconfig)
    try:
        objects.api.patch_node(node, {"metadata": {"annotations": annotations}})
    finally:
        objects.close()


def folder(run: FinishedRun) -> Path:
    """The run's diagnostics."""
    return run.directory / "diagnostics"


def test_the_missing_load_balancer_shows(broken: FinishedRun) -> None:
    """The node has load balancers for other Services and none with this one's address, and its slice is there."""
    service = (folder(broken) / "services" / SERVICE / "service.yaml").read_text()
    (address,) = {
        line.split()[-1] for line in service.splitlines() if line.startswith("  clusterIP:")
    }
    listed = json.loads((folder(broken) / "nodes/win-1/hns-load-balancers.json").read_text())
    vips = {vip for one in listed for policy in one["Policies"] for vip in policy["VIPs"]}
    assert len(vips) > 5
    assert address not in vips
    slices = (folder(broken) / "services" / SERVICE / "endpointslices.yaml").read_text()
    assert "ready: true" in slices
    assert "--proxy-mode" in (folder(broken) / "nodes/win-1/kube-proxy.log").read_text()


def test_each_failing_check_leads_to_what_it_passes(broken: FinishedRun) -> None:
    """Nodes, Service and Pods of the member that fails are its diagnostics, those of others are not; a passing check has none."""
    assert set(broken.verdicts.values()) >= {"fail", "pass"}, broken.printed
    for check in broken.results["checks"]:
        if check["verdict"] != "fail":
            assert "diagnostics" not in check, check["id"]
            continue
        ends = ("nodes/win-1", "nodes/win-2", "pods/probe-windows-1-1", "pods/server-windows-1-2")
        on_its_way = (*ends, f"services/{SERVICE}")
        assert set(check["diagnostics"]) == {f"diagnostics/{folder}" for folder in on_its_way}
    assert "diagnostics/nodes/win-1" in broken.printed
    assert "diagnostics/index.md" in broken.printed


def test_every_link_of_the_report_resolves(broken: FinishedRun) -> None:
    """What the report links below its folder is there, and everything that was collected is linked."""
    page = opened((broken.directory / "report.html").read_text())
    links = {unquote(one) for one in page.xpath("//a/@href") if one.startswith("diagnostics/")}
    assert links
    assert [one for one in links if not (broken.directory / one).exists()] == []
    written = {path for path in folder(broken).rglob("*") if path.is_file()}
    linked = {(broken.directory / one) for one in links}
    assert {path.name for path in written - linked} == {"index.md"}


def test_bounds_hold_and_what_is_missing_has_a_reason(broken: FinishedRun) -> None:
    """No file exceeds its bound, nor all of them theirs; tools that the lab lacks are named."""
    limits = DiagnosticsLimits()
    sizes = [path.stat().st_size for path in folder(broken).rglob("*") if path.is_file()]
    assert max(sizes) <= limits.item_bytes
    assert sum(sizes) <= limits.total_bytes
    assert "not available" in (folder(broken) / "index.md").read_text()


def test_planted_secrets_are_taken_out(broken: FinishedRun) -> None:
    """The node's annotations are collected without the secrets in them."""
    texts = [unpacked(path.read_text()) for path in broken.directory.rglob("*") if path.is_file()]
    assert not [text for text in texts if SECRET in text]
    node = (folder(broken) / "nodes/win-1/node.yaml").read_text()
    assert node.count(LEFT_OUT) >= 2


def test_a_run_without_failures_collects_nothing(up_lab: UpLab, tmp_path: Path) -> None:
    """Nothing is read and nothing written where nothing fails."""
    run = run_on(up_lab, tmp_path, "--flow=node-to-pod")
    assert run.exit_code == 0, run.printed
    assert not folder(run).exists()


@pytest.mark.nightly
def test_collecting_can_be_turned_off(up_lab: UpLab, tmp_path: Path) -> None:
    """With no subjects allowed a failing run leaves no diagnostics, and its verdicts are the same."""
    up_lab.fault("inject", "service-rules-missing", "--service", SERVICE, "--node", "win-1")
    off = f"{HASTY}diagnostics: {{subjects: 0}}\n"
    run = run_on(up_lab, tmp_path, "--flow=pod-to-service-clusterip", timing=off)
    up_lab.fault("clear")
    assert "fail" in run.verdicts.values(), run.printed
    assert not folder(run).exists()


def test_rejudged_documents_lead_to_the_run_s_diagnostics(
    broken: FinishedRun, tmp_path: Path
) -> None:
    """A run that is judged again elsewhere brings its diagnostics along."""
    nettests("rejudge", str(broken.directory), f"--report-dir={tmp_path}")
    page = opened((tmp_path / "report.html").read_text())
    links = [unquote(one) for one in page.xpath("//a/@href") if "diagnostics/" in one]
    assert links
    assert [one for one in links if not (tmp_path / one).exists()] == []
