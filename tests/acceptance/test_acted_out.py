"""Weeks of use acted out on labs by the scripts that people run: an upgrade, and thirty nights."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.xdist_group("whole-runs"),
    pytest.mark.timeout(2400),
]


def acted_out(script: str, folder: Path) -> str:
    """Run a script to its end, and return what it printed; it exits 0 where all came as its docstring says."""
    done = subprocess.run(
        [sys.executable, "-m", f"scripts.{script}", "--dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_upgrade_changes_what_was_forecast_and_a_fault_beside_it_is_found(
    tmp_path: Path,
) -> None:
    """Four steps, one at a time and all at once: each change is predicted or explained, and only the fault is worse."""
    said = acted_out("upgrade", tmp_path)
    for comparison in ("windows", "dsr", "vxlan", "kubernetes", "all at once"):
        assert f"{comparison}: " in said
    assert said.splitlines()[-1] == "as forecast"
    assert (tmp_path / "all-at-once" / "difference.html").is_file()


def test_thirty_nights_name_the_first_bad_run_of_each_change_and_the_flaky_path(
    tmp_path: Path,
) -> None:
    """Two changes are red since their first nights, one path is flaky on its four nights, and nothing else is told."""
    said = acted_out("nights", tmp_path)
    assert "red since night 11" in said
    assert "red since night 21" in said
    assert "flaky since night 4" in said
    assert (tmp_path / "history.html").is_file()
