"""Classes beside ``default``: left out unasked, and true when they are enabled."""

from pathlib import Path

import pytest

from tests.acceptance.labs import lab
from tests.acceptance.runs import run_on

FLOWS = ("--flow=service-64-backends", "--flow=service-65-backends")


@pytest.mark.parametrize(("limit", "verdict"), [(64, "limited"), (1024, "lifted")])
def test_one_backend_more_than_old_windows_takes(tmp_path: Path, limit: int, verdict: str) -> None:
    """The 65th backend takes a Service from old Windows clients alone, as long as their switch has the limit."""
    with lab("win2019-l2bridge", f"--mechanism=backend-limit={limit}") as up:
        unasked = run_on(up, tmp_path / "unasked", *FLOWS)
        asked = run_on(up, tmp_path / "asked", *FLOWS, "--enable=costly")
    assert set(unasked.verdicts.values()) == {"skipped"}
    assert unasked.exit_code == 7  # nothing was judged
    assert unasked.verdicts.keys() == asked.verdicts.keys()
    windows = {check for check in asked.verdicts if check.startswith("service-65-backends/windows")}
    assert {asked.verdicts[check] for check in windows} == {verdict}, asked.printed
    others = {asked.verdicts[check] for check in asked.verdicts.keys() - windows}
    assert others == {"pass"}, asked.printed
