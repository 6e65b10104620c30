"""A mechanism of the lab switched to the other behaviour is noticed by its fact's checks, and no others."""

from pathlib import Path

import pytest

from nettests.plan import load
from nettests.resources import suites_path
from tests.acceptance.experiments import EXPERIMENTS, Experiment, changed
from tests.acceptance.labs import lab
from tests.acceptance.runs import Runs, run_on

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.xdist_group("whole-runs"),
    pytest.mark.timeout(1800),
]

ALIKE = {one.name: one.alike for one in load([suites_path()]).flows if one.alike}
"""Flows that do the same elsewhere as another one, whose limitations hold for them, too."""
PROFILES = sorted({one.profile for one in EXPERIMENTS if not one.enable and not one.apart})


def on(profile: str) -> list[Experiment]:
    """The experiments of one profile that are shown together."""
    return [
        one for one in EXPERIMENTS if one.profile == profile and not one.apart and not one.enable
    ]


@pytest.mark.parametrize("profile", PROFILES)
def test_exactly_the_checks_of_the_facts_change(
    profile: str, finished_runs: Runs, tmp_path: Path
) -> None:
    """With all mechanisms of a profile switched, each check that changes belongs to one fact or is like one that does."""
    before = finished_runs[profile].verdicts
    experiments = on(profile)
    switches = sorted({f"--mechanism={experiment.switch}" for experiment in experiments})
    with lab(profile, *switches) as up:
        after = run_on(up, tmp_path, timing="")
    found = changed(before, after.verdicts)
    for experiment in experiments:
        mine = {check for check, was in before.items() if experiment.concerns(check, was)}
        assert mine, f"{experiment.fact}: no check matches"
        assert {found.pop(check, "unchanged") for check in mine} == {experiment.becomes}, (
            experiment.fact,
            after.printed,
        )
    beside = {flow for flow in ALIKE if any(ALIKE[flow] in one.flows for one in experiments)}
    unexplained = {check for check in found if check.partition("/")[0] not in beside}
    assert unexplained == set(), after.printed


def test_no_two_experiments_of_a_profile_claim_one_check(finished_runs: Runs) -> None:
    """What several switches at once show is then what each shows by itself."""
    for profile in PROFILES:
        for check, was in finished_runs[profile].verdicts.items():
            assert sum(experiment.concerns(check, was) for experiment in on(profile)) <= 1, check


@pytest.mark.parametrize(
    "experiment", [one for one in EXPERIMENTS if one.apart], ids=lambda one: one.fact
)
def test_a_mechanism_by_itself_changes_its_flows(
    experiment: Experiment, finished_runs: Runs, tmp_path: Path
) -> None:
    """Of the flows that a fact decides exactly its checks change."""
    before = finished_runs[experiment.profile].verdicts
    flows = sorted(experiment.flows)
    with lab(experiment.profile, f"--mechanism={experiment.switch}") as up:
        probing = [f"--flow={flow}" for flow in (*flows, *experiment.beside)]
        after = run_on(up, tmp_path, *probing, timing="timing: {convergence: 20}\n")
    probed = {check: was for check, was in before.items() if check.partition("/")[0] in flows}
    mine = {check for check, was in probed.items() if experiment.concerns(check, was)}
    assert mine
    assert changed(probed, after.verdicts) == dict.fromkeys(mine, experiment.becomes), after.printed
