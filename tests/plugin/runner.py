"""Whole pytest runs with the plugin, on canned answers, and a vendor's suite for them."""

import json
from pathlib import Path
from typing import Any

import pytest

from nettests.resources import suites_path

CHECKOUT = Path(__file__).parents[2]

VENDOR_SUITE = '''
"""A vendor's own suite."""
from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Protocol, TargetKind, VantageKind
from nettests.plan import Matrix, flow

@flow("vendor-local", source=VantageKind.POD, target=TargetKind.SERVICE_CLUSTERIP,
      matrix=Matrix.NEAREST, protocols=(Protocol.TCP,), check_class=CheckClass.DEFAULT,
      sources=(Source(document="Vendor guide"),))
def test_vendor_local(verdict):
    """A pod reaches a Service that is backed on its own node."""
    assert verdict.accepted, verdict.message
'''

VENDOR_MANIFEST = """
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: cni
limitations:
  - id: vendor-no-local-service
    summary: Windows pods do not reach Services on their own node.
    when:
      source: {os: windows}
    flows: [vendor-local]
    expected: EXPECTED
    mechanism: A test.
    category: by-design
    sources: [{document: Vendor guide, section: "3"}]
"""


class Ran:
    """A finished pytest run and its documents."""

    def __init__(self, result: pytest.RunResult, folder: Path) -> None:
        self.result = result
        self.code = int(result.ret)
        self.out = result.stdout.str() + result.stderr.str()
        reports = folder / "reports"
        # ``latest`` names no run that could not start.
        self.directory = max(
            reports.glob("2*"), key=lambda run: run.stat().st_mtime_ns, default=reports / "latest"
        )

    @property
    def results(self) -> dict[str, Any]:
        """The parsed results.json."""
        parsed: dict[str, Any] = json.loads((self.directory / "results.json").read_text())
        return parsed

    @property
    def verdicts(self) -> dict[str, str]:
        """Verdict by check id."""
        return {check["id"]: check["verdict"] for check in self.results["checks"]}

    @property
    def records(self) -> list[dict[str, Any]]:
        """The journal."""
        lines = (self.directory / "journal.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


class Runner:
    """Runs pytest with the plugin on canned answers."""

    def __init__(self, pytester: pytest.Pytester, patch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        self.patch = patch
        ini = pytester.makeini("[pytest]\naddopts = --import-mode=importlib\n")
        # Suites lie in a checkout with a configuration of its own, which must not matter here.
        self.fixed = (f"--config-file={ini}", f"--rootdir={pytester.path}", "-pno:randomly")
        patch.setenv("PYTHONPATH", str(CHECKOUT))
        patch.delenv("NO_COLOR", raising=False)

    def __call__(
        self,
        *arguments: str | Path,
        answers: dict[str, str] | None = None,
        suites: tuple[Path, ...] = (suites_path(),),
        environment: dict[str, str] | None = None,
    ) -> Ran:
        """Run the suites with these answers (parts of check ids to words)."""
        self.patch.setenv("NETTESTS_ANSWERS", json.dumps(answers or {}))
        for name, value in (environment or {}).items():
            self.patch.setenv(name, value)
        plugin = ["-pno:nettests", "-pnettests.plugin", "-ptests.plugin.standin"]
        done = self.pytester.runpytest_subprocess(
            *self.fixed, *plugin, "--context=stated", *suites, *arguments, timeout=120
        )
        return Ran(done, self.pytester.path)


def vendor(folder: Path, expected: str) -> tuple[Path, Path]:
    """Write a vendor's suite and manifest outside the package."""
    folder.mkdir()
    suite, manifest = folder / "test_vendor.py", folder / "vendor.yaml"
    suite.write_text(VENDOR_SUITE)
    manifest.write_text(VENDOR_MANIFEST.replace("EXPECTED", expected))
    return suite, manifest
