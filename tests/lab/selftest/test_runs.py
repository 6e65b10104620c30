"""What a selftest reads of ``results.json``, and keeps of it."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from nettests.lab.selftest.judging import Problem, judge
from nettests.lab.selftest.named_faults import Checks
from nettests.lab.selftest.runs import Check, Run, from_json, read
from tests.lab.selftest.made import HEALTHY, PROFILE, fault, run


def member(label: str, source: str, target: str | None, verdict: str = "fail") -> dict[str, Any]:
    """Return a deviating member as ``results.json`` has it, as far as it is read."""
    return {"member": label, "source": source, "target": target, "verdict": verdict}


def results(*deviating: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a run of one check of the fleet."""
    ends = {"node": None, "service": None}
    check = {
        "id": "nodeport-from-pod-other-node/windows-1/linux-1/other-node/tcp/backend-local",
        "flow": "nodeport-from-pod-other-node",
        "verdict": "fail",
        "source": ends,
        "target": ends,
        "placement": "other-node",
        "protocol": "tcp",
        "members": {"deviating": list(deviating)},
    }
    return {"checks": [check], "incidents": [], "events": []}


def run_of(*deviating: dict[str, Any]) -> Run:
    """Return that run."""
    return read(results(*deviating), seconds=60, exit_code=1)


AWAY = member("win-2 → linux-1", "win-2", "linux-1")
OTHER = member("win-1 → linux-1", "win-1", "linux-1")
SERVICE = member("win-2 → svc-a", "win-2", "linux-1")


def test_red_members_have_ends_of_their_own() -> None:
    """A check of all nodes has no node; each of its red members does, and names the Service that it dials."""
    (found,) = run_of(
        AWAY, SERVICE, member("win-3 → linux-1", "win-3", "linux-1", "known-bug")
    ).checks
    assert (found.source, found.target) == ("", "")
    assert [(one.source, one.target, one.service) for one in found.members] == [
        ("win-2", "linux-1", ""),
        ("win-2", "linux-1", "svc-a"),
    ]
    assert (
        found.members[0].id
        == "nodeport-from-pod-other-node/windows-1/linux-1/other-node/tcp/backend-local#win-2 → linux-1"
    )
    assert {(one.flow, one.protocol, one.placement) for one in found.members} == {
        ("nodeport-from-pod-other-node", "tcp", "other-node")
    }


@pytest.mark.parametrize(
    ("deviating", "unrelated"), [((AWAY, SERVICE), False), ((AWAY, OTHER), True)]
)
def test_a_check_of_many_nodes_is_related_where_all_its_red_members_are(
    deviating: tuple[dict[str, Any], ...], *, unrelated: bool
) -> None:
    """One member of a node that is in order is a red check too many."""
    (fleet,) = run_of(*deviating).checks
    broken = run("pod-to-pod-ip/a")
    broken = replace(broken, checks=(*broken.checks, fleet))
    healthy = replace(HEALTHY, checks=(*HEALTHY.checks, replace(fleet, verdict="pass", members=())))
    found = judge(fault(may=(Checks(node="win-2"),)), PROFILE, healthy, broken)
    assert (Problem.UNRELATED in found.problems) is unrelated


def test_a_check_whose_members_nobody_lists_is_judged_by_itself() -> None:
    """No list of members is no proof that all of them are where the fault is."""
    (fleet,) = run_of().checks
    broken = run("pod-to-pod-ip/a")
    broken = replace(broken, checks=(*broken.checks, fleet))
    found = judge(fault(may=(Checks(node="win-2"),)), PROFILE, HEALTHY, broken)
    assert found.unrelated == (fleet.id,)


def test_what_is_kept_of_a_run_is_what_was_read() -> None:
    """Members too, through JSON and back; runs that were kept without any stay readable."""
    found = run_of(AWAY, SERVICE)
    kept = json.loads(json.dumps(asdict(found)))
    assert from_json(kept) == found
    del kept["checks"][0]["members"]
    assert from_json(kept).checks == (replace(found.checks[0], members=()),)


def test_a_check_without_members_has_none() -> None:
    """Most checks have two ends, and nothing below them."""
    data = results()
    del data["checks"][0]["members"]
    (found,) = read(data, seconds=1, exit_code=0).checks
    assert found == Check(
        id="nodeport-from-pod-other-node/windows-1/linux-1/other-node/tcp/backend-local",
        flow="nodeport-from-pod-other-node",
        verdict="fail",
        protocol="tcp",
        placement="other-node",
    )
