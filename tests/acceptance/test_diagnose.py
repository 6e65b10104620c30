"""``nettests diagnose``: diagnostics without a run, of whole clusters, single nodes and kept runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.objects import connect
from tests.acceptance.runs import run_on

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A lab for the tests of this module."""
    with lab("win2019-l2bridge") as up:
        yield up


def cluster(up: UpLab) -> tuple[str, str]:
    """Options that name the lab's cluster."""
    return f"--kubeconfig={up.kubeconfig}", f"--cluster-profile={up.cluster_profile}"


def namespaces(up: UpLab) -> list[str]:
    """The namespaces that runs have made and not removed."""
    objects = connect(up.kubeconfig)
    try:
        names = [item.metadata.name for item in objects.api.list_namespace().items]
    finally:
        objects.close()
    return [name for name in names if name.startswith("nettests-")]


def test_without_anything_named_all_nodes_are_read_and_nothing_is_made(
    up_lab: UpLab, tmp_path: Path
) -> None:
    """Every node and the DNS have their objects and logs; the nodes' own tools are named as not run."""
    done = nettests("diagnose", *cluster(up_lab), f"--to={tmp_path}")
    assert done.returncode == 0, done.stderr
    found = {path.parent.name for path in (tmp_path / "nodes").glob("*/node.yaml")}
    assert {"win-1", "win-2"} < found
    assert "--proxy-mode" in (tmp_path / "nodes/win-1/kube-proxy.log").read_text()
    assert (tmp_path / "dns" / "configmap.yaml").exists()
    assert "not requested: --hosts" in done.stdout
    assert str(tmp_path / "index.md") in done.stdout
    assert namespaces(up_lab) == []


def test_hosts_probes_the_nodes_themselves_and_leaves_nothing(
    up_lab: UpLab, tmp_path: Path
) -> None:
    """A Pod stands on the named nodes for a moment; afterwards its namespace is gone."""
    done = nettests("diagnose", *cluster(up_lab), "--node=win-1", "--hosts", f"--to={tmp_path}")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "nodes" / "win-1"
    assert "10.96.0.10" in (folder / "hns-load-balancers.json").read_text()
    assert "Version 10.0.17763" in (folder / "windows-version.txt").read_text()
    assert "there is no vfpctrl.exe" in done.stdout
    assert namespaces(up_lab) == []


def test_a_kept_run_is_looked_at_through_its_own_pods(up_lab: UpLab, tmp_path: Path) -> None:
    """With the run's id the Pods of a check are there, and HNS by the nodes' own Pods; nothing is made."""
    run = run_on(up_lab, tmp_path / "run", "--flow=node-to-pod", "--keep")
    check = next(one["id"] for one in run.results["checks"] if one["source"]["role"] == "windows-1")
    kept = run.results["run"]["run_id"]
    to = tmp_path / "to"
    done = nettests("diagnose", *cluster(up_lab), f"--run={kept}", f"--check={check}", f"--to={to}")
    assert done.returncode == 0, done.stderr
    assert (to / "nodes" / "win-1" / "windows-version.txt").exists(), done.stdout
    assert (to / "nodes" / "win-1" / "hns-endpoints.json").exists(), done.stdout
    assert list((to / "pods").glob("*/pod.yaml")), done.stdout
    assert namespaces(up_lab) == [f"nettests-{kept}"]
    gone = nettests("gc", f"--kubeconfig={up_lab.kubeconfig}", f"--run={kept}", "--yes")
    assert gone.returncode == 0, gone.stderr


def test_what_the_cluster_does_not_have_is_named_with_the_nearest(
    up_lab: UpLab, tmp_path: Path
) -> None:
    """A node or check that is not there is an error with a hint, and nothing is collected."""
    done = nettests("diagnose", *cluster(up_lab), "--node=win1", f"--to={tmp_path}")
    assert done.returncode == 4
    assert "no node 'win1'" in done.stderr
    assert "did you mean 'win-1'?" in done.stderr
    assert list(tmp_path.iterdir()) == []
