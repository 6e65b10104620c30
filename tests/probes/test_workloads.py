"""Objects of checks' own that make Pods: what is created, followed, changed and removed, and what is written of it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from nettests.model.check import Afterwards
from nettests.model.cluster_profile import Timing
from nettests.model.json_text import Object
from nettests.model.labels import REVISION, RUN_LABEL, SET_LABEL
from nettests.model.workload import APART, MAKES, ROLLS_OUT, Workload
from nettests.plan import pods
from nettests.probes import start_objects, workloads
from nettests.probes.start_objects import manifest_for, pod_of
from nettests.probes.starting import Starting
from tests.probes.made import FACTS
from tests.probes.test_starting import BLANK, READY, Cluster, examine, question

KINDS = (Workload.DAEMON_SET, Workload.DEPLOYMENT, Workload.JOB, Workload.CRON_JOB)
TOLD: Object = {
    "numberReady": 1,
    "desiredNumberScheduled": 1,
    "readyReplicas": 1,
    "updatedReplicas": 1,
    "lastScheduleTime": "2026-11-26T03:00:00Z",
    "conditions": [{"type": "Complete", "status": "True"}],
}


def seen(name: str, status: Object = READY, *, revision: str = "", leaves: bool = False) -> Object:
    """Return a Pod as the API lists it."""
    metadata: Object = {"name": name, "namespace": "nettests-1", "uid": f"uid-{name}"}
    metadata |= {"annotations": {REVISION: revision}} if revision else {}
    metadata |= {"deletionTimestamp": "2026-11-26T03:00:00Z"} if leaves else {}
    return {"metadata": metadata, "spec": {"secret": "not kept"}, "status": status}


def worked(kind: Workload, how: str = MAKES) -> Any:
    """Return the case of an object of that kind."""
    return pods.worked("x", kind, pods.pod(pods.server()), how, says="anti-affinity")


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_is_made_for_the_node_found_by_its_label_and_removed(kind: Workload) -> None:
    """Its Pods have all that a run's Pods have; its status is read by listing it, and it goes by its own path."""
    cluster = Cluster(READY, stages=[[[], [seen("start-1-a")]]], told=TOLD)
    done = examine(cluster, worked(kind))
    record = json.loads(done.stdout)
    (made,) = cluster.created
    assert (made["kind"], made["apiVersion"]) == (kind.value, f"{kind.group}/v1")
    template = workloads.template_of(made)
    assert template["metadata"]["labels"][SET_LABEL] == made["metadata"]["name"] == "start-1"
    assert template["metadata"]["labels"]["nettests.dev/run"] == "1"
    assert "name" not in template["metadata"]
    assert template["spec"]["nodeSelector"]["kubernetes.io/hostname"] == "w1"
    assert template["spec"]["containers"][0]["image"] == "mirror/agnhost:1"
    assert ("restartPolicy" in template["spec"]) is kind.ends
    path = f"/apis/{kind.group}/v1/namespaces/nettests-1/{kind.plural}"
    assert set(cluster.listed) == {path}
    assert cluster.deleted == [f"{path}/start-1"]
    assert record["pods"] == [{"metadata": {"name": "start-1-a"}, "status": READY}]
    assert (done.tool, done.context["kind"]) == ("workload", kind.value)
    assert pod_of(made)["spec"] == template["spec"]


def test_only_a_cron_job_is_waited_for_longer_than_a_controller_takes() -> None:
    """Its next minute may be a whole one away."""
    cluster = Cluster(READY, stages=[[[]]])
    waited = {kind: json.loads(examine(cluster, worked(kind)).stdout)["seconds"] for kind in KINDS}
    stuck = Timing().stuck
    assert waited == {kind: stuck + 60 * (kind is Workload.CRON_JOB) for kind in KINDS}


def test_why_pods_were_refused_is_written_down() -> None:
    """Events of the object say it; of Pods that are there only those that do not start are looked at."""
    refused = examine(Cluster(READY, stages=[[[]]]), worked(Workload.JOB))
    assert [one["reason"] for one in json.loads(refused.stdout)["said"]] == ["FailedMount"]
    started = json.loads(
        examine(Cluster(READY, stages=[[[seen("a")]]], told=TOLD), worked(Workload.JOB)).stdout
    )
    assert (started["said"], started["events"]) == ([], [])
    failing = Cluster(READY, stages=[[[seen("a", {"phase": "Failed"})]]], told=TOLD)
    assert json.loads(examine(failing, worked(Workload.JOB)).stdout)["events"]


def test_the_jobs_of_a_cron_job_say_why_their_pods_were_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The CronJob itself has made its Job, and no event of its own tells more."""
    refused = {"type": "Warning", "reason": "FailedCreate", "message": "exceeded quota"}
    events = {"start-1-29412345": [refused]}
    monkeypatch.setattr(Cluster, "events_of", lambda _self, _namespace, name: events.get(name, []))
    told = {"active": [{"kind": "Job", "name": "start-1-29412345"}], **TOLD}
    done = examine(Cluster(READY, stages=[[[]]], told=told), worked(Workload.CRON_JOB))
    assert json.loads(done.stdout)["said"] == [refused]


def test_events_are_those_of_the_pod_that_stays() -> None:
    """One that goes has failed nothing."""
    found = [seen("goes", {"phase": "Pending"}, leaves=True), seen("b", {"phase": "Failed"})]
    named: list[str] = []

    class Hears(Cluster):
        def events_of(self, _namespace: str, pod: str) -> list[Object]:
            named.append(pod)
            return []

    examine(Hears(READY, stages=[[found]], told=TOLD), worked(Workload.JOB))
    assert named == ["b"]


@pytest.mark.parametrize("gap", [False, True])
def test_a_template_is_changed_and_the_replacement_followed(gap: bool) -> None:
    """Of the object as it stands, again where somebody else changed it; a moment without a Pod is noted."""
    old, new = seen("a"), seen("b", revision="second")
    between = [seen("a", leaves=True), seen("b", {"phase": "Pending"}, revision="second")]
    after = [[old], between if gap else [old, new], [new]]
    cluster = Cluster(READY, stages=[[[old]], after], told=TOLD, conflicts=1)

    record = json.loads(examine(cluster, worked(Workload.DEPLOYMENT, ROLLS_OUT)).stdout)
    (changed,) = cluster.updated
    assert changed["spec"]["template"]["metadata"]["annotations"][REVISION] == "second"
    assert changed["spec"]["replicas"] == 1
    assert (record["first"], record["rolled"], record["gap"]) == ("a", True, gap)
    assert record["pods"][0]["metadata"]["annotations"] == {REVISION: "second"}


def test_a_change_that_is_refused_again_and_again_says_nothing() -> None:
    """The API server's words are the channel's."""
    cluster = Cluster(READY, stages=[[[seen("a")]]], told=TOLD, conflicts=workloads.CHANGE_TRIES)
    assert "409 Conflict" in (examine(cluster, worked(Workload.DEPLOYMENT, ROLLS_OUT)).error or "")
    assert cluster.deleted == ["/apis/apps/v1/namespaces/nettests-1/deployments/start-1"]


def test_a_roll_out_never_takes_the_last_pod_away_first() -> None:
    """The strategy leaves room for one Pod more, and none for one less."""
    then = Afterwards(how=ROLLS_OUT)
    item = manifest_for(
        question(worked(Workload.DEPLOYMENT, ROLLS_OUT)), FACTS.node("w1"), BLANK, "s"
    )
    assert item == workloads.around(pod_named("s"), Workload.DEPLOYMENT, then, "")
    limits = item["spec"]["strategy"]["rollingUpdate"]
    assert limits == {"maxSurge": 1, "maxUnavailable": 0}


def pod_named(name: str) -> Object:
    """Return the Pod around which such an object is made."""
    return start_objects.pod(worked(Workload.DEPLOYMENT), FACTS.node("w1"), BLANK, name)


def test_two_pods_keep_away_from_each_other_on_one_node() -> None:
    """By the label that they share, required of the scheduler."""
    item = manifest_for(question(worked(Workload.DEPLOYMENT, APART)), FACTS.node("w1"), BLANK, "s")
    (term,) = item["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert item["spec"]["replicas"] == 2
    assert term["labelSelector"]["matchLabels"] == item["spec"]["selector"]["matchLabels"]
    assert term["topologyKey"] == "kubernetes.io/hostname"


def test_a_status_is_read_until_it_tells_of_the_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    """Controllers write it a moment after the Pod is there; one that never tells is told as it is."""
    monkeypatch.setattr(workloads, "TOLD_PAUSE_SECONDS", 0.0)
    cluster = Cluster(READY, stages=[[[seen("a")]]], told={})
    record = json.loads(examine(cluster, worked(Workload.DAEMON_SET)).stdout)
    assert len(cluster.listed) == workloads.TOLD_TRIES
    assert record["own"]["status"] == {}


def test_an_object_that_cannot_be_read_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal, or a list without it, is the channel's failure."""
    monkeypatch.setattr(Cluster, "read", lambda *_: (403, "jobs is forbidden"))
    done = examine(Cluster(READY, stages=[[[seen("a")]]]), worked(Workload.JOB))
    assert "jobs is forbidden" in (done.error or "")


@pytest.mark.parametrize("existing", [False, True])
def test_in_a_namespace_of_others_its_pods_are_gone_before_the_next(existing: bool) -> None:
    """A quota may count them as long as they go."""
    cluster = Cluster(READY, stages=[[[seen("a")]]], told=TOLD)
    blank = replace(BLANK, existing=existing)
    starting = Starting(pods=cluster, blank=blank, facts=FACTS, timing=Timing())
    assert not starting.examine(question(worked(Workload.JOB))).error
    of_this_run = f"{RUN_LABEL}=1,{SET_LABEL}=start-1"
    assert cluster.followed == [of_this_run] * (1 + existing)


def test_who_attaches_is_told_what_the_container_says() -> None:
    """What was heard is written down as the output of a command is."""
    case = pods.after("x", pods.pod(), "attach", says="hello")
    assert json.loads(examine(Cluster(READY, answer="hello"), case).stdout)["then"] == {
        "stdout": "hello"
    }
