"""A bug that the documents know of, and leave the outcome open for, is never green where it shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import run_on

LOST = "itp-local-server-windows-1-1"
"""The Service whose ClusterIP kube-proxy loses (kubernetes/kubernetes#133928)."""
FLOWS = ("--flow=itp-local-own-node", "--flow=pod-to-pod-ip", "--flow=pod-to-service-clusterip")


@pytest.fixture(scope="module")
def broken() -> Iterator[UpLab]:
    """A lab of a release with the bug, on which it shows."""
    with lab("win2022-l2bridge-dsr") as up:
        up.fault("inject", "service-rules-missing", f"--service={LOST}", "--node=win-1")
        yield up


@pytest.mark.nightly
def test_a_bug_that_shows_has_its_own_verdict_headline_and_exit_code(
    broken: UpLab, tmp_path: Path
) -> None:
    """All else is as documented: the run says which bug it met and ends with 8, or with 1 where told so."""
    run = run_on(broken, tmp_path, *FLOWS, "--fail-on=known-bugs")
    shown = {one for one, verdict in run.verdicts.items() if verdict == "known-bug"}
    assert shown == {"itp-local-own-node/windows-1/windows-1/same-node/tcp"}, run.printed
    assert run.exit_code == 1
    assert "but for a known bug that shows (itp-local-balancer-lost)" in run.printed
    assert "◆" in (run.directory / "summary.md").read_text().splitlines()[0]
    again = nettests("rejudge", str(run.directory), f"--report-dir={tmp_path / 'again'}")
    assert again.returncode == 8, again.stderr
