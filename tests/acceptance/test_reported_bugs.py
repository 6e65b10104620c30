"""Public reports acted out: a lab's fault gives the symptom that people reported, and the named check turns red."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nettests.session.survey import survey
from scripts.bugs import classes_of, reports
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import HASTY, FinishedRun, run_on

FLOWS = {flow.name: flow for flow in survey().flows}
ACTED = sorted(
    (report for report in reports() if "acted" in report),
    key=lambda report: (report["acted"]["profile"], report["acted"]["check"]),
)
PROFILES = sorted({report["acted"]["profile"] for report in ACTED})
RED = {"fail", "flaky", "known-bug"}
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.xdist_group("reported-bugs"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module", params=PROFILES)
def up_lab(request: pytest.FixtureRequest) -> Iterator[UpLab]:
    """A lab of each profile, one after the other."""
    with lab(request.param) as up:
        yield up


def red(run: FinishedRun, check: str) -> set[str]:
    """Return the red checks of a flow, or of its case."""
    _, _, case = check.partition("#")
    return {
        name
        for name, verdict in run.verdicts.items()
        if verdict in RED
        and name.startswith(f"{check.partition('#')[0]}/")
        and (not case or name.endswith(f"/{case}"))
    }


def selected(*checks: str) -> list[str]:
    """Return the options that select these checks' flows, and their classes."""
    classes = {each for check in checks for each in classes_of(check, FLOWS)}
    options = [f"--flow={check.partition('#')[0]}" for check in dict.fromkeys(checks)]
    return [*options, *([f"--enable={','.join(sorted(classes))}"] if classes else [])]


def test_nothing_of_it_is_red_in_a_lab_that_is_in_order(up_lab: UpLab, tmp_path: Path) -> None:
    """The checks that have to turn red are not before anything is injected."""
    checks = [
        report["acted"]["check"] for report in ACTED if report["acted"]["profile"] == up_lab.profile
    ]
    run = run_on(up_lab, tmp_path, *selected(*checks))
    assert {name for check in checks for name in red(run, check)} == set(), run.printed


@pytest.mark.parametrize("report", ACTED, ids=lambda report: report["link"].partition(".com/")[2])
def test_a_reported_symptom_turns_its_check_red(
    up_lab: UpLab, tmp_path: Path, report: dict[str, Any]
) -> None:
    """With the faults in force the named check fails, loses packets, or names the known bug."""
    acted = report["acted"]
    if acted["profile"] != up_lab.profile:
        pytest.skip(f"it is acted out on {acted['profile']}")
    try:
        for injection in acted["inject"]:
            options = [f"--{key}={value}" for key, value in injection.items() if key != "kind"]
            up_lab.fault("inject", injection["kind"], *options)
        run = run_on(up_lab, tmp_path, *selected(acted["check"]), timing=HASTY)
    finally:
        up_lab.fault("clear")
    assert red(run, acted["check"]), run.printed
