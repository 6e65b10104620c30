"""What is found of runs, and what may go: only what is dead, whole, looked into and nobody else's."""

from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import Connection
from nettests.cluster import owner_marks as module
from nettests.cluster.collect import remove
from nettests.cluster.leftovers import Leftover, State, find
from nettests.errors import ClusterError
from nettests.model.labels import COLLECTED, KEPT
from tests.cluster.api import Request
from tests.cluster.memory import KINDS, SECONDS, Memory, connected, few_threads, marks

OURS = marks("r1")
HOME = "nettests-r1"


@pytest.fixture
def memory() -> Memory:
    """A cluster with a namespace of somebody's."""
    made = Memory()
    made.put_namespace("production")
    made.put("Pod", "theirs", "production")
    return made


@pytest.fixture
def connection(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A connection to it; Leases are looked at often."""
    few_threads(monkeypatch)
    return connected(memory, tmp_path)


def found(connection: Connection, **how: Any) -> dict[str, Leftover]:
    """What is found, by namespace."""
    return {one.namespace: one for one in find(connection, seconds=SECONDS, **how)}


def collect(connection: Connection, **how: Any) -> dict[str, str]:
    """Remove what may go, as ``nettests gc --yes`` does."""
    problems: dict[str, str] = {}
    chosen = [one for one in find(connection, seconds=SECONDS, **how) if one.removable]
    for run in {one.ownership.run for one in chosen}:
        places = [one for one in chosen if one.ownership.run == run]
        problems |= remove(connection, places, wait=1)
    return problems


def dead_run(memory: Memory) -> None:
    """A dead run with something of each kind that runs create, and what controllers made of it."""
    memory.put_namespace(HOME, OURS)
    memory.put_lease(OURS, HOME)
    memory.put_marked(OURS, "Pod", "probe-1", HOME)
    memory.put_service(OURS, "service-1", HOME)
    memory.put_marked(OURS, "Secret", "pull", HOME)
    memory.put_marked(OURS, "NetworkPolicy", "probes", HOME)
    made = memory.put_marked(OURS, "StatefulSet", "start-1", HOME)["metadata"]
    owner = {"kind": "StatefulSet", "name": "start-1", "uid": made["uid"]}
    memory.put_marked(OURS, "Pod", "start-1-0", HOME, ownerReferences=[owner])
    put_workloads(memory, HOME)
    memory.put("PodMetrics", "probe-1", HOME, labels=OURS.labels, uid="none")


def put_workloads(memory: Memory, namespace: str) -> None:
    """What single checks make that makes Pods, with what controllers put between the two."""
    for kind, between in (("Deployment", "ReplicaSet"), ("CronJob", "Job"), ("DaemonSet", None)):
        name = f"start-{kind.lower()}"
        owner: dict[str, str] | None = None
        for made in filter(None, (kind, between, "Pod")):
            owned = {"ownerReferences": [owner]} if owner else {}
            item = memory.put_marked(OURS, made, name, namespace, **owned)["metadata"]
            owner = {"kind": made, "name": name, "uid": item["uid"]}


def test_what_makes_pods_goes_from_a_namespace_of_others(
    memory: Memory, connection: Connection
) -> None:
    """A run that was killed leaves it behind; its Pods would come again for ever."""
    memory.put_lease(OURS, "production")
    put_workloads(memory, "production")
    one = found(connection)["production"]
    assert {"deployment/start-deployment", "cronjob/start-cronjob", "daemonset/start-daemonset"} <= set(one.objects)  # fmt: skip
    assert one.removable
    assert collect(connection) == {}
    left = {(place[0].rpartition("/")[2], place[2]) for place in memory.objects if "start-" in place[2]}  # fmt: skip
    kinds = {"deployments", "cronjobs", "daemonsets"}
    assert not {kind for kind, _ in left} & kinds
    deleted = [line.split("/")[-2] for line in memory.written if line.startswith("DELETE")]
    assert deleted.index("daemonsets") < deleted.index("pods")


def test_a_dead_run_goes_with_all_that_is_its_own(memory: Memory, connection: Connection) -> None:
    """Objects that Kubernetes or its controllers made in the namespace hold nothing up."""
    dead_run(memory)
    one = found(connection)[HOME]
    assert (one.state, one.removable, one.strangers, one.unseen) == (State.DEAD, True, (), ())
    assert {"pod/probe-1", "pod/start-1-0", "endpoints/service-1"} <= set(one.objects)
    assert collect(connection) == {}
    assert not [place for place in memory.objects if HOME in place]
    assert {name for _, name, _ in memory.objects if name} == {"production"}


@pytest.mark.parametrize("terminating", ["nettests-r1-baseline", HOME])
def test_a_living_run_keeps_all_its_namespaces_when_one_terminates(
    memory: Memory, connection: Connection, terminating: str
) -> None:
    """A namespace that is on its way out says nothing of those beside it."""
    for name in (HOME, "nettests-r1-baseline"):
        leaving = {"deletionTimestamp": "2026-11-22T00:00:00Z"} if name == terminating else {}
        memory.put_namespace(name, OURS, **leaving)
    memory.put_lease(OURS, HOME, alive=True)
    memory.put_marked(OURS, "Pod", "probe-1", HOME)
    before = memory.uids()
    assert not any(one.removable for one in found(connection).values())
    collect(connection)
    assert memory.uids() == before


def test_a_strangers_object_holds_the_runs_other_namespaces_too(
    memory: Memory, connection: Connection
) -> None:
    """A run goes as a whole: the clean namespace does not take the other one with it."""
    memory.put_namespace(HOME, OURS)
    memory.put_namespace("nettests-r1-baseline", OURS)
    memory.put("Pod", "theirs", HOME)
    before = memory.uids()
    both = found(connection)
    assert "pod/theirs" in both[HOME].obstacle
    assert both["nettests-r1-baseline"].spared == (
        f"a run goes as a whole, and namespace {HOME} stays"
    )
    collect(connection)
    assert memory.uids() == before


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"Namespace", "Event", "PodMetrics"}))
def test_every_kind_of_a_stranger_counts(memory: Memory, connection: Connection, kind: str) -> None:
    """ConfigMaps, Secrets, claims, workloads, objects of CRDs: all that can be listed is looked at."""
    dead_run(memory)
    memory.put(kind, "theirs", HOME)
    (stranger,) = found(connection)[HOME].strangers
    assert stranger.endswith("/theirs")
    collect(connection)
    assert HOME in found(connection)


@pytest.mark.parametrize("kind", ["ConfigMap", "ReplicaSet", "Widget", "PersistentVolumeClaim"])
def test_marks_on_what_no_run_creates_were_put_there_by_somebody(
    memory: Memory, connection: Connection, kind: str
) -> None:
    """Labels are copied easily, with a template or by hand."""
    dead_run(memory)
    memory.put_marked(OURS, kind, "copied", HOME)
    assert not found(connection)[HOME].removable


def test_an_object_that_belongs_to_somebody_elses_is_theirs(
    memory: Memory, connection: Connection
) -> None:
    """A Pod with our marks whose owner is not ours came from somebody's workload."""
    dead_run(memory)
    owner = {"kind": "ReplicaSet", "name": "theirs", "uid": "elsewhere"}
    memory.put_marked(OURS, "Pod", "replica", HOME, ownerReferences=[owner])
    assert found(connection)[HOME].strangers == ("pod/replica",)


@pytest.mark.parametrize("resource", ["pods", "secrets", "widgets"])
def test_what_cannot_be_looked_into_stays(
    memory: Memory, connection: Connection, resource: str
) -> None:
    """An error is no empty list."""
    dead_run(memory)
    memory.hidden = {resource: 404}
    one = found(connection)[HOME]
    assert not one.removable
    assert "could not be looked into" in one.obstacle
    assert [why for why in one.unseen if resource in why and "404" in why]
    collect(connection)
    assert HOME in found(connection)


def test_an_api_that_is_down_may_hold_objects(memory: Memory, connection: Connection) -> None:
    """A group whose discovery fails is not an empty one."""
    dead_run(memory)
    memory.down = {"metrics.k8s.io/v1beta1"}
    assert "metrics.k8s.io/v1beta1: 503" in found(connection)[HOME].obstacle


def test_the_cluster_s_own_furniture_can_be_named(memory: Memory, connection: Connection) -> None:
    """A service mesh puts a ConfigMap into each namespace: whoever collects says so."""
    dead_run(memory)
    memory.put("ConfigMap", "house-rules", HOME)
    assert not found(connection)[HOME].removable
    assert found(connection, ignore=("configmap/house-rules",))[HOME].removable


@pytest.mark.parametrize(
    "name", ["kube-root-ca.crt", "openshift-service-ca.crt", "istio-ca-root-cert"]
)
def test_what_known_controllers_put_into_each_namespace_is_furniture(
    memory: Memory, connection: Connection, name: str
) -> None:
    """Kubernetes', OpenShift's and Istio's objects keep no run from being removed."""
    dead_run(memory)
    memory.put("ConfigMap", name, HOME)
    assert found(connection)[HOME].removable


def test_what_was_kept_goes_only_by_name(memory: Memory, connection: Connection) -> None:
    """Its second namespace, which has no Lease, is kept and goes with it."""
    for name in (HOME, "nettests-r1-baseline"):
        memory.put_namespace(name, OURS)
    memory.put_lease(OURS, HOME)["metadata"]["annotations"][KEPT] = "true"
    assert {one.state for one in found(connection).values()} == {State.KEPT}
    collect(connection, named="another")
    assert len(found(connection)) == 2
    assert collect(connection, named="r1") == {}
    assert found(connection) == {}


def test_only_metadata_is_requested(memory: Memory, connection: Connection) -> None:
    """What a Secret holds is nobody's business here."""
    dead_run(memory)
    probed: list[Request] = []
    memory.before = probed.append
    find(connection, seconds=SECONDS)
    secrets = [one for one in probed if "/secrets" in one.path]
    assert secrets
    assert all("as=PartialObjectMetadataList" in one.headers["accept"] for one in secrets)


def between(memory: Memory, happens: Any, *, first: str) -> None:
    """Let something happen once, in front of the first request whose method and path begin so."""
    done: list[bool] = []

    def before(request: Request) -> None:
        if not done and f"{request.method} {request.path}".startswith(first):
            done.append(True)
            happens()

    memory.before = before


LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases"


def test_a_run_that_renews_in_the_last_moment_wins(memory: Memory, connection: Connection) -> None:
    """Its Lease is written in front of the removal, on the condition that nobody wrote it since."""
    dead_run(memory)
    between(memory, lambda: memory.renew(HOME), first=f"PUT {LEASE}")
    before = memory.uids()
    assert "its run lives" in collect(connection)[HOME]
    assert memory.uids() == before


def test_a_run_that_takes_its_lease_in_the_last_moment_wins(
    memory: Memory, connection: Connection
) -> None:
    """A run can be slow between its namespace and its Lease."""
    memory.put_namespace(HOME, OURS)
    between(memory, lambda: memory.put_lease(OURS, HOME, alive=True), first=f"POST {LEASE}")
    assert "its run lives" in collect(connection)[HOME]
    assert HOME in found(connection)


def test_a_stranger_who_comes_in_between_is_seen(memory: Memory, connection: Connection) -> None:
    """The namespace is looked into once more before its removal."""
    dead_run(memory)
    one = found(connection)[HOME]
    memory.put("ConfigMap", "theirs", HOME)
    assert "configmap/theirs" in remove(connection, [one], wait=1)[HOME]
    assert HOME in found(connection)


def test_a_namespace_that_was_recreated_is_not_the_one_that_was_looked_at(
    memory: Memory, connection: Connection
) -> None:
    """Its name is the same and its UID is not."""
    dead_run(memory)
    between(
        memory,
        lambda: memory.put("Namespace", HOME)["metadata"].update(uid="another"),
        first=f"DELETE /api/v1/namespaces/{HOME}",
    )
    assert "in the moment of its removal" in collect(connection)[HOME]
    assert "another" in memory.uids()


def test_a_run_that_took_over_a_lease_keeps_it(memory: Memory, connection: Connection) -> None:
    """In a namespace of others the dead run's objects go, by their UIDs, and nothing of the second."""
    second = marks("r2")
    memory.put_lease(second, "production", alive=True)
    memory.put_marked(OURS, "Pod", "old", "production")
    memory.put_marked(second, "Pod", "new", "production")
    owner = {"kind": "ReplicaSet", "name": "theirs", "uid": "elsewhere"}
    memory.put_marked(OURS, "Pod", "replica", "production", ownerReferences=[owner])
    collect(connection)
    left = {place[2] for place in memory.objects if place[0] == "/api/v1/pods"}
    assert left == {"theirs", "new", "replica"}
    assert "production" in {one.namespace for one in find(connection, seconds=SECONDS)}


def test_a_lease_that_is_taken_over_while_its_run_is_collected_stays(
    memory: Memory, connection: Connection
) -> None:
    """The same object is the next run's by then."""
    memory.put_lease(OURS, "production")
    lease = "/apis/coordination.k8s.io/v1/namespaces/production/leases"

    def taken() -> None:
        memory.put_lease(marks("r2"), "production", alive=True)

    between(memory, taken, first=f"DELETE {lease}")
    assert collect(connection) == {}
    (left,) = [item for item in memory.objects.values() if item["kind"] == "Lease"]
    assert left["spec"]["holderIdentity"] == "r2"


def test_a_lease_of_somebody_with_our_name_is_not_written_to(
    memory: Memory, connection: Connection
) -> None:
    """Without the marks it is no Lease of a run's, whoever it says holds it."""
    memory.put_namespace(HOME, OURS)
    memory.put("Lease", "nettests", HOME)["spec"] = {"holderIdentity": "r1"}
    assert found(connection)[HOME].strangers == ("lease/nettests",)
    collect(connection)
    assert memory.written == []


def test_a_run_reads_on_its_lease_that_it_was_collected(
    memory: Memory, connection: Connection
) -> None:
    """It was suspended for too long: it ends, instead of renewing a Lease that is being removed."""
    memory.put_namespace(HOME, OURS)
    told: list[str] = []
    lease = module.Lease(connection, HOME, OURS, 3 * SECONDS, told.append)
    lease.take()
    stored = next(item for item in memory.objects.values() if item["kind"] == "Lease")
    stored["metadata"]["annotations"][COLLECTED] = "now"
    lease._thread.join(10)  # type: ignore[union-attr]
    assert told
    assert "nettests gc" in told[0]
    with pytest.raises(ClusterError, match="nobody renewed the Lease"):
        module.Lease(connection, HOME, OURS, SECONDS, told.append).take()
