"""Results, histories and baselines of runs from before every node became a member of every flow's checks."""

import json
from datetime import date
from pathlib import Path

import pytest

from nettests.baseline.entries import Baseline, Entry
from nettests.baseline.matching import compared
from nettests.compare.reading import current, is_former, read_results, successors
from nettests.compare.recorded import RecordedRun
from nettests.model.check_id import flow_of
from nettests.model.words import CheckClass, Verdict
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import mixed

RECORDED = Path(__file__).with_name("before_members.json")
"""Of a run on two Linux and two Windows nodes, without evidence: some flows of nodes' pools, and those of the fleet."""
PAIRS = {"win-1 → linux-1", "win-1 → linux-2", "win-2 → linux-1", "win-2 → linux-2"}
ID = "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"


def recorded(**verdicts: str) -> RecordedRun:
    """Return the recorded run, with another verdict of a member of the former check of Pods to Pods."""
    data = json.loads(RECORDED.read_text(encoding="utf-8"))
    for check in data["checks"]:
        if check["id"] == "fleet-pod-to-pod/windows/linux/tcp" and verdicts:
            (label, verdict), *_ = verdicts.items()
            (others,) = check["members"]["others"]
            others["members"].remove(label)
            deviating = {"member": label, "verdict": verdict, "message": "it timed out"}
            check["members"]["deviating"] = [deviating]
    return read_results(json.dumps(data), "results.json")


def test_members_of_former_checks_are_in_the_checks_that_took_their_place() -> None:
    """None is lost, and none of the former ids is left."""
    run = recorded()
    checks = {check.id: check for check in run.checks}
    assert not any(map(is_former, checks))
    assert checks[ID].members.keys() == PAIRS
    assert checks["pod-to-pod-ip/windows-1/windows-1/same-node/tcp"].members.keys() == {
        "win-1 → win-1",
        "win-2 → win-2",
    }
    affinity = checks["session-affinity/windows-1/linux-1/other-node/tcp"]
    assert {member.verdict for member in affinity.members.values()} == {Verdict.LIMITED}
    assert {flow_of(name) for name in checks} == {
        *("pod-to-pod-ip", "session-affinity", "new-pod-first-packets", "path-loss"),
        *("pod-to-service-clusterip", "dns-via-service", "pod-to-node"),
    }


def test_a_former_member_that_deviated_makes_its_check_deviate() -> None:
    """A difference with a newer run then names the pair, and not a check that is gone."""
    run = recorded(**{"win-2 → linux-1": "fail"})
    (check,) = (check for check in run.checks if check.id == ID)
    assert check.standing is Verdict.FAIL
    assert check.message
    assert check.members["win-2 → linux-1"].verdict is Verdict.FAIL


def test_a_run_of_today_is_left_as_it_is() -> None:
    """As is one that names no nodes."""
    run = recorded()
    assert current(run) is run


@pytest.mark.parametrize(
    ("member", "known"), [("win-2 → linux-1", True), ("win-1 → linux-1", False)]
)
def test_an_accepted_failure_of_a_former_check_holds_for_its_members(
    member: str, known: bool
) -> None:
    """Another member that fails is new."""
    entry = Entry(
        check="fleet-pod-to-pod/windows/linux/tcp",
        verdict=Verdict.FAIL,
        members={"win-2 → linux-1": Verdict.FAIL},
        reason="the switch is being replaced",
        expires=date(2027, 1, 1),
    )
    run = recorded(**{member: "fail"})
    found = compared(run, Baseline(file="b.yaml", entries=(entry,)), date(2026, 11, 28))
    assert (found.known, found.new) == (((ID,), ()) if known else ((), (ID,)))


def test_every_former_check_has_a_successor_in_the_plan() -> None:
    """The table names no flow that is not there, and no id that no plan has."""
    flows = load([suites_path()]).flows
    planned = [check.id for check in build(mixed(), flows, set(CheckClass)).checks]
    data = json.loads(RECORDED.read_text(encoding="utf-8"))
    former = [check["id"] for check in data["checks"] if is_former(check["id"])]
    assert len(former) > 20
    for check in (*former, "many-services/windows/windows/tcp", "fleet-external/linux/udp"):
        assert list(successors(check, planned)), check
