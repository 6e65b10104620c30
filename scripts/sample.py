"""Make ``reports/sample``: a whole run of the default lab profile, as a reader would get it.

``make sample`` runs the lab; with ``--render`` the documents are recreated from the committed journal,
which is enough when only their form changed. Paths of the machine that made it are taken out. Beside them lies what the
vendor profile of the lab's plugin claims, held against that run.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from nettests.conformance.conformance_report import ConformanceReport
from nettests.conformance.report_page import NAME
from nettests.conformance.vendor_files import read_vendor_files
from nettests.model.run_folder import JOURNAL
from nettests.plugin.documents import write_documents
from nettests.session.conformance_run import publish, report_of

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "reports" / "sample"
PROFILE = ROOT / "manifests" / "vendors" / "lab-flannel.yaml"
"""What is claimed of the plugin that the default lab has."""
CONFORMANCE = SAMPLE / NAME
NEUTRAL = {
    "argv": ["nettests", "run", "--lab"],
    "suites": ["suites"],
    "cluster_profile": "cluster-profile.yaml",
}
"""What the run's record says instead of one machine's paths."""


def main() -> int:
    """Return the exit code of the run, 0 when documents are only rendered again."""
    if sys.argv[1:] not in ([], ["--render"]):
        sys.exit("usage: sample.py [--render]")
    if sys.argv[1:] == ["--render"]:
        render()
        return 0
    with tempfile.TemporaryDirectory(prefix="nettests-sample-") as folder:
        command = [sys.executable, "-m", "nettests", "run", "--lab", f"--report-dir={folder}"]
        done = subprocess.run(command, cwd=ROOT, check=False)
        if done.returncode == 0:
            keep(Path(folder) / "latest")
        return done.returncode


def keep(run: Path) -> None:
    """Replace the sample by the journal of ``run`` and the documents made of it."""
    lines = (run / JOURNAL).read_text("utf-8").splitlines()
    shutil.rmtree(SAMPLE, ignore_errors=True)
    SAMPLE.mkdir(parents=True)
    (SAMPLE / JOURNAL).write_text("".join(f"{neutral(line)}\n" for line in lines), "utf-8")
    render()


def render() -> None:
    """Make the documents of the sample's journal, and the report on the plugin's claims."""
    write_documents(SAMPLE)
    publish(report(), CONFORMANCE)


def report() -> ConformanceReport:
    """Return what the sample says of the claims."""
    return report_of(SAMPLE, read_vendor_files(PROFILE))


def neutral(line: str) -> str:
    """Return a journal line without the paths of this machine."""
    record: dict[str, Any] = json.loads(line)
    if record["record"] != "run":
        return line
    return json.dumps({**record, **NEUTRAL}, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
