"""How much of what decides is run by its own tests, and how many lines of tests stand beside how much code.

``make coverage`` runs the offline tests of ``plan expect parse judge report`` under coverage.py, prints for each
package the lines and the branches that they ran, and ends with 1 where a package has less than 95 % of either.
Tests of other packages are left out on purpose: what decides has to be proven beside the code that decides.
Below that it prints source lines, test lines and their ratio for every package.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DECIDES = ("plan", "expect", "parse", "judge", "report")
DEMANDED = 95.0
"""Per cent of lines and of branches, in each package and in all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of a package's lines and branches were run."""

    lines: int = 0
    lines_run: int = 0
    branches: int = 0
    branches_run: int = 0

    def __add__(self, other: "Share") -> "Share":
        return Share(
            lines=self.lines + other.lines,
            lines_run=self.lines_run + other.lines_run,
            branches=self.branches + other.branches,
            branches_run=self.branches_run + other.branches_run,
        )

    @property
    def percentages(self) -> tuple[float, float]:
        """Of lines and of branches; of nothing all was run."""
        pairs = ((self.lines_run, self.lines), (self.branches_run, self.branches))
        return tuple(100 * run / all_ if all_ else 100.0 for run, all_ in pairs)  # type: ignore[return-value]

    @property
    def enough(self) -> bool:
        """Whether it is as much as is demanded."""
        return min(self.percentages) >= DEMANDED


def shares(report: Mapping[str, Any]) -> dict[str, Share]:
    """Read coverage.py's JSON report: each package below ``nettests`` with what was run of it."""
    by_package: dict[str, Share] = {}
    for file, measured in report["files"].items():
        package = Path(file).parts[1]
        counted = measured["summary"]
        by_package[package] = by_package.get(package, Share()) + Share(
            lines=counted["num_statements"],
            lines_run=counted["covered_lines"],
            branches=counted["num_branches"],
            branches_run=counted["covered_branches"],
        )
    return by_package


def table(by_package: Mapping[str, Share]) -> str:
    """Return a line for each package and one for all, with those marked that have too little."""
    total = sum(by_package.values(), Share())
    rows = [f"{'package':10}{'lines':>8}{'run':>9}{'branches':>10}{'run':>9}"]
    for name, share in (*by_package.items(), ("total", total)):
        lines, branches = share.percentages
        mark = "" if share.enough else f"   below {DEMANDED:.0f} %"
        rows.append(
            f"{name:10}{share.lines:8}{lines:7.1f} %{share.branches:10}{branches:7.1f} %{mark}"
        )
    return "\n".join(rows)


def count_lines(folder: Path) -> int:
    """Return how many lines the Python files below a folder have; none where there is no folder."""
    return sum(len(file.read_text("utf-8").splitlines()) for file in folder.rglob("*.py"))


def ratios(root: Path) -> str:
    """Return for each package its lines, those of the tests that mirror it, and the ratio; the smallest first."""
    packages = sorted(file.parent.name for file in (root / "nettests").glob("*/__init__.py"))
    counted = [
        (count_lines(root / "tests" / name), count_lines(root / "nettests" / name), name)
        for name in packages
    ]
    rows = [f"{'package':12}{'source':>8}{'tests':>8}{'ratio':>7}"]
    for tests, source, name in sorted(counted, key=lambda row: row[0] / row[1]):
        rows.append(f"{name:12}{source:8}{tests:8}{tests / source:7.2f}")
    return "\n".join(rows)


def measure(tests: Iterable[str]) -> tuple[int, dict[str, Share]]:
    """Run tests under coverage.py; return pytest's exit code, and what they ran."""
    python = [sys.executable, "-m"]
    pytest = ["pytest", "-q", "-m", "not lab", *tests]
    code = subprocess.run([*python, "coverage", "run", "-m", *pytest], cwd=ROOT, check=False)
    report = ROOT / ".cache" / "measured.json"
    subprocess.run([*python, "coverage", "json", "-q", "-o", str(report)], cwd=ROOT, check=True)
    return code.returncode, shares(json.loads(report.read_text("utf-8")))


def main() -> int:
    """Return 0 where the tests passed and ran as much as is demanded."""
    (ROOT / ".cache").mkdir(exist_ok=True)
    code, by_package = measure(f"tests/{name}" for name in DECIDES)
    print(f"\n{table(by_package)}\n\n{ratios(ROOT)}", flush=True)  # noqa: T201 - a script for people
    if code:
        return code
    return int(
        not all(share.enough for share in (*by_package.values(), sum(by_package.values(), Share())))
    )


if __name__ == "__main__":
    sys.exit(main())
