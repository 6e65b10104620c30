"""Classes beside ``default``: left out by itself, and true when they are enabled."""

from pathlib import Path

import pytest

from tests.acceptance.experiments import EXPERIMENTS, changed
from tests.acceptance.labs import lab
from tests.acceptance.runs import run_on

pytestmark = pytest.mark.nightly

FLOWS = ("--flow=service-64-backends", "--flow=service-65-backends")
ENABLED = sorted({(one.profile, one.enable) for one in EXPERIMENTS if one.enable})


@pytest.mark.parametrize(("limit", "verdict"), [(64, "limited"), (1024, "lifted")])
def test_one_backend_more_than_old_windows_takes(tmp_path: Path, limit: int, verdict: str) -> None:
    """The 65th backend takes a Service from old Windows clients alone, as long as their switch has the limit."""
    with lab("win2019-l2bridge", f"--mechanism=backend-limit={limit}") as up:
        unprobed = run_on(up, tmp_path / "unasked", *FLOWS)
        probed = run_on(up, tmp_path / "asked", *FLOWS, "--enable=costly")
    assert set(unprobed.verdicts.values()) == {"skipped"}
    assert unprobed.exit_code == 7  # nothing was judged
    assert unprobed.verdicts.keys() == probed.verdicts.keys()
    windows = {
        check for check in probed.verdicts if check.startswith("service-65-backends/windows")
    }
    assert {probed.verdicts[check] for check in windows} == {verdict}, probed.printed
    others = {probed.verdicts[check] for check in probed.verdicts.keys() - windows}
    assert others == {"pass"}, probed.printed


@pytest.mark.parametrize(("profile", "enable"), ENABLED)
def test_enabled_checks_notice_the_mechanisms_of_their_facts(
    profile: str, enable: str, tmp_path: Path
) -> None:
    """Of the flows of a class that is run only when enabled exactly the facts' checks change."""
    experiments = [one for one in EXPERIMENTS if (one.profile, one.enable) == (profile, enable)]
    flows = sorted({f"--flow={flow}" for one in experiments for flow in one.flows})
    switches = sorted({f"--mechanism={one.switch}" for one in experiments})
    with lab(profile) as up:
        before = run_on(up, tmp_path / "before", *flows, f"--enable={enable}")
    with lab(profile, *switches) as up:
        after = run_on(up, tmp_path / "after", *flows, f"--enable={enable}")
    wanted: dict[str, str] = {}
    for one in experiments:
        mine = [check for check, was in before.verdicts.items() if one.concerns(check, was)]
        assert mine, f"{one.fact}: no check matches"
        wanted |= dict.fromkeys(mine, one.becomes)
    assert changed(before.verdicts, after.verdicts) == wanted, after.printed
