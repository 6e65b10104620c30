"""What is read of an object that makes Pods: none, one that starts or not, one that replaces another, two apart."""

import json
from typing import Any

import pytest

from nettests.model.json_text import Object
from nettests.model.labels import REVISION
from nettests.model.words import Outcome
from nettests.model.workload import APART, MAKES, ROLLS_OUT, Workload
from nettests.parse import read_raw, workloads
from tests.parse.raws import raw

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
ENDED = {"phase": "Succeeded"}
CRASHED: Object = {
    "phase": "Failed",
    "containerStatuses": [
        {"name": "first", "state": {"terminated": {"reason": "Error", "exitCode": 3}}}
    ],
}
AWAY = "0/4 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 3 …"
PENDING: Object = {"phase": "Pending", "conditions": []}
COMPLETE = [{"type": "Complete", "status": "True"}]


def unscheduled(message: str) -> Object:
    """Return the status of a Pod that no node takes."""
    told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {"phase": "Pending", "conditions": [{**told, "message": message}]}


def pod(
    status: Object, name: str = "start-1-a", *, new: bool = False, leaves: bool = False
) -> Object:
    """Return what is kept of a Pod."""
    metadata: Object = {"name": name}
    metadata |= {"annotations": {REVISION: "second"}} if new else {}
    metadata |= {"deletionTimestamp": "2026-11-26T03:00:00Z"} if leaves else {}
    return {"metadata": metadata, "status": status}


def attempt(kind: Workload, how: str = MAKES, **record: Any) -> tuple[Outcome, str]:
    """Read one record."""
    whole = {"seconds": 35.0, "first": "start-1-a", "pods": [], "own": {}, "said": [], "events": []}
    read = read_raw(
        raw(
            tool="workload",
            stdout=json.dumps({**whole, **record}),
            context={"kind": kind.value, "then": how, "says": "anti-affinity"},
        )
    )
    return read.outcome, read.detail or ""


@pytest.mark.parametrize("kind", Workload)
def test_an_object_without_pods_deviates_unless_they_were_refused(kind: Workload) -> None:
    """Its controller did nothing; where somebody refused its Pods nothing is known of it."""
    outcome, detail = attempt(kind)
    assert outcome is Outcome.DEVIATES
    assert detail == f"the {kind.value} made no Pod in 35 s"
    said = {
        "reason": "FailedCreate",
        "message": "Error creating: pods is forbidden: exceeded quota",
    }
    outcome, detail = attempt(kind, said=[said])
    assert outcome is Outcome.PROBE_FAILED
    assert "exceeded quota" in detail


def test_of_a_deployment_its_status_says_that_pods_were_refused() -> None:
    """The events are its ReplicaSet's. In a roll-out it is the second Pod that a quota may not hold."""
    told = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}
    own = {"status": {"conditions": [{**told, "message": "exceeded quota"}]}}
    stays = {"pods": [pod(READY)], "rolled": False, "gap": False}
    for how, record in ((MAKES, {}), (ROLLS_OUT, stays)):
        outcome, detail = attempt(Workload.DEPLOYMENT, how, own=own, **record)
        assert outcome is Outcome.PROBE_FAILED
        assert "exceeded quota" in detail


@pytest.mark.parametrize("observed", [1, 2])
def test_a_status_counts_once_it_is_of_the_changed_spec(observed: int) -> None:
    """Else it tells of the Pods before."""
    status = {**GOOD["status"], "observedGeneration": observed}
    own = {"metadata": {"generation": 2}, "status": status}
    outcome, detail = attempt(
        Workload.DEPLOYMENT, ROLLS_OUT, pods=[NEW], rolled=True, gap=False, own=own
    )
    assert outcome is (Outcome.CONFORMS if observed == 2 else Outcome.DEVIATES)
    assert ("of generation 1" in detail) is (observed == 1)


@pytest.mark.parametrize(
    ("kind", "status", "own", "lacking"),
    [
        (Workload.DAEMON_SET, READY, {"desiredNumberScheduled": 1, "numberReady": 1}, ""),
        (Workload.DAEMON_SET, READY, {"desiredNumberScheduled": 1}, "0 of 1 Pods Ready"),
        (Workload.DAEMON_SET, READY, {}, "0 of 0 Pods Ready"),
        (Workload.DEPLOYMENT, READY, {"readyReplicas": 1, "updatedReplicas": 1}, ""),
        (Workload.STATEFUL_SET, READY, {"readyReplicas": 1}, "0 of 1 Pods of its template Ready"),
        (Workload.JOB, ENDED, {"succeeded": 1, "conditions": COMPLETE}, ""),
        (Workload.JOB, ENDED, {"succeeded": 1}, "1 succeeded, and no condition Complete"),
        (Workload.CRON_JOB, ENDED, {"lastScheduleTime": "2026-11-26T03:00:00Z"}, ""),
        (Workload.CRON_JOB, ENDED, {"active": []}, "no lastScheduleTime"),
    ],
)
def test_the_status_of_an_object_has_to_tell_of_its_pod(
    kind: Workload, status: Object, own: Object, lacking: str
) -> None:
    """That its Pod is there is half of it: others read the status alone."""
    outcome, detail = attempt(kind, pods=[pod(status)], own={"status": own})
    assert outcome is (Outcome.DEVIATES if lacking else Outcome.CONFORMS)
    assert lacking in detail
    assert kind.value in detail


@pytest.mark.parametrize("kind", Workload)
def test_a_pod_that_does_not_start_says_why(kind: Workload) -> None:
    """Its own reason is one, that of its surroundings is none."""
    assert attempt(kind, pods=[pod(CRASHED)]) == (
        Outcome.FAILS_TO_START,
        "first: Error, exit code 3",
    )
    outcome, detail = attempt(kind, pods=[pod(unscheduled("0/4 nodes: Insufficient cpu"))])
    assert outcome is Outcome.PROBE_FAILED
    assert "Insufficient cpu" in detail


GOOD = {"status": {"readyReplicas": 1, "updatedReplicas": 1}}
NEW = pod(READY, "start-1-b", new=True)


@pytest.mark.parametrize(
    ("record", "outcome", "says"),
    [
        ({"pods": [NEW], "rolled": True, "gap": False, "own": GOOD}, Outcome.CONFORMS, "one was always Ready"),
        ({"pods": [NEW], "rolled": True, "gap": True, "own": GOOD}, Outcome.DEVIATES, "for a while no Pod"),
        ({"pods": [NEW], "rolled": True, "gap": False}, Outcome.DEVIATES, "0 of 1 Pods of its template"),
        (
            {"pods": [pod(READY), NEW], "rolled": False, "gap": False, "own": GOOD},
            Outcome.DEVIATES,
            "start-1-a (the first), start-1-b (second)",
        ),
        (
            {"pods": [pod(READY), pod(CRASHED, "start-1-b", new=True)], "rolled": False, "gap": False},
            Outcome.FAILS_TO_START,
            "Error, exit code 3",
        ),
        ({"pods": [pod(CRASHED)]}, Outcome.FAILS_TO_START, "Error, exit code 3"),
    ],
)  # fmt: skip
def test_a_roll_out_replaces_the_pod_without_a_gap(
    record: Object, outcome: Outcome, says: str
) -> None:
    """Pods that stay, a moment without any, and a status that does not follow each deviate."""
    found, detail = attempt(Workload.DEPLOYMENT, ROLLS_OUT, **record)
    assert found is outcome
    assert says in detail


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ([READY, unscheduled(AWAY)], Outcome.CONFORMS),
        ([unscheduled(AWAY), READY], Outcome.CONFORMS),
        ([READY, READY], Outcome.DEVIATES),
        ([READY, unscheduled("0/4 nodes: Insufficient cpu")], Outcome.PROBE_FAILED),
        ([READY, PENDING], Outcome.PROBE_FAILED),
        ([READY], Outcome.PROBE_FAILED),
        ([unscheduled(AWAY), unscheduled(AWAY)], Outcome.PROBE_FAILED),
    ],
)
def test_of_two_that_keep_away_one_stays_pending_for_that_reason(
    statuses: list[Object], outcome: Outcome
) -> None:
    """Two that started deviate; one that waits for another reason proves nothing."""
    pods = [
        pod(status, f"start-1-{letter}") for letter, status in zip("ab", statuses, strict=False)
    ]
    assert attempt(Workload.DEPLOYMENT, APART, pods=pods)[0] is outcome


def test_waiting_ends_when_nothing_more_is_to_be_learnt() -> None:
    """Of Pods alone when each is settled, of two apart when the second one has its reason."""
    started, away, waits = pod(READY), pod(unscheduled(AWAY)), pod(PENDING)
    assert workloads.settled([started], Workload.DEPLOYMENT, MAKES, "")
    assert workloads.settled([pod(CRASHED)], Workload.DEPLOYMENT, MAKES, "")
    assert not workloads.settled([], Workload.DEPLOYMENT, MAKES, "")
    assert not workloads.settled([started, waits], Workload.DEPLOYMENT, MAKES, "")
    assert workloads.settled([started, away], Workload.DEPLOYMENT, APART, "anti-affinity")
    assert workloads.settled([started, started], Workload.DEPLOYMENT, APART, "anti-affinity")
    assert not workloads.settled([started], Workload.DEPLOYMENT, APART, "anti-affinity")
    assert not workloads.settled([started, waits], Workload.DEPLOYMENT, APART, "anti-affinity")


def test_nothing_is_known_of_a_job_while_its_program_runs() -> None:
    """Its status tells of the end: a Pod that still runs is waited for, and says nothing against the Job."""
    assert not workloads.settled([pod(READY)], Workload.JOB, MAKES, "")
    assert workloads.settled([pod(READY)], Workload.CRON_JOB, MAKES, "")
    assert workloads.settled([pod(ENDED)], Workload.JOB, MAKES, "")
    outcome, detail = attempt(Workload.JOB, pods=[pod(READY)], own={"status": {"active": 1}})
    assert (outcome, detail) == (
        Outcome.PROBE_FAILED,
        "start-1-a started, and its program has not ended yet",
    )


def test_a_pod_that_leaves_serves_nobody() -> None:
    """It may be Ready until its end, and yet no Service leads to it; nor does a roll-out wait for that end."""
    assert workloads.serves([pod(READY), pod(PENDING)])
    assert not workloads.serves([pod(READY, leaves=True), pod(PENDING)])
    assert workloads.replaced([NEW], "second")
    assert workloads.replaced([NEW, pod(READY, leaves=True)], "second")
    assert not workloads.replaced([NEW, pod(READY)], "second")
    assert not workloads.replaced([pod(READY, "b", new=True, leaves=True)], "second")
    assert not workloads.replaced([], "second")
