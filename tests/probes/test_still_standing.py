"""Rounds of a watch dial what stands then: Pods that are gone or elsewhere since they were deployed."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from nettests.errors import ClusterError
from nettests.model.labels import RUN_LABEL
from nettests.model.service import ByHand, ServiceSettings
from nettests.model.words import TargetKind
from nettests.probes import Deployment, Directory, changes, still_standing, touched
from nettests.probes.addresses import NotStandingError
from tests.probes.made import FACTS, NAMESPACE, action, check, deployed

LABELS = {RUN_LABEL: "r1", "nettests.dev/owner": "me"}
SERVER, PROBE = "server-linux-1-1", "probe-linux-1-1"
REACH = check(action("probe-windows-1-1", TargetKind.POD_IP))


class Pods:
    """The Pods of the run, as the API has them."""

    def __init__(self, deployment: Deployment) -> None:
        self.pods: dict[str, dict[str, Any]] = {
            name: {
                "metadata": {"name": name, "uid": f"uid-of-{name}"},
                "spec": {"nodeName": pod.node},
                "status": {
                    "podIPs": [{"ip": str(one)} for one in pod.addresses],
                    "hostIPs": [{"ip": str(one)} for one in pod.host_addresses],
                    "containerStatuses": [{"containerID": f"containerd://{name}-1"}],
                },
            }
            for name, pod in deployment.pods.items()
        }
        self.why: dict[str, str] = {}
        self.requested: list[tuple[str, str]] = []

    def standing_pods(
        self, namespace: str, names: Collection[str], *, selector: str
    ) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
        """Return what is Ready, as the cluster does."""
        self.requested.append((namespace, selector))
        ready = {name: self.pods[name] for name in names if name not in self.why}
        return ready, self.why

    def rebooted(self, name: str, address: str) -> None:
        """Start a Pod in a new sandbox: the same Pod, with other containers at another address."""
        status = self.pods[name]["status"]
        status["podIPs"] = [{"ip": address}]
        status["containerStatuses"] = [{"containerID": f"containerd://{name}-2"}]


@pytest.fixture
def cluster() -> Pods:
    """A cluster in which all stands as it was deployed."""
    return Pods(deployed())


@pytest.fixture
def before(cluster: Pods) -> Deployment:
    """What was deployed, as the API told it."""
    return _with_marks(cluster, deployed())


def _with_marks(cluster: Pods, deployment: Deployment) -> Deployment:
    pods = {
        name: replace(pod, uid=f"uid-of-{name}", containers=(f"containerd://{name}-1",))
        for name, pod in deployment.pods.items()
    }
    return replace(deployment, pods=pods)


def host(deployment: Deployment) -> str:
    """Return where a check from a Windows Pod to the server is dialled."""
    return Directory(facts=FACTS, deployment=deployment).endpoint(REACH.action).host


def test_what_stands_as_before_is_the_same(cluster: Pods, before: Deployment) -> None:
    """One list by the run's label, and nothing to tell."""
    now = still_standing(cluster, before, LABELS)
    assert now == before
    assert list(changes(before, now)) == []
    assert touched(REACH, before, now) == ""
    assert cluster.requested == [(NAMESPACE, f"{RUN_LABEL}=r1")]


def test_a_pod_is_dialled_at_its_new_address_after_a_reboot(
    cluster: Pods, before: Deployment
) -> None:
    """A node that rebooted starts its Pods in new sandboxes: the old address is nobody's, and no failure of the path."""
    assert host(before) == "10.244.1.11"
    cluster.rebooted(SERVER, "10.244.1.77")
    now = still_standing(cluster, before, LABELS)
    assert host(now) == "10.244.1.77"
    assert now.problems == {}
    assert list(changes(before, now)) == [
        f"on n1 changed its address: {SERVER} from 10.244.1.11 to 10.244.1.77"
    ]
    assert list(changes(now, still_standing(cluster, before, LABELS))) == []


def test_containers_that_were_started_again_are_told(cluster: Pods, before: Deployment) -> None:
    """The address stays; what ran in a round with such a Pod says nothing of the network."""
    cluster.rebooted(SERVER, "10.244.1.11")
    now = still_standing(cluster, before, LABELS)
    assert list(changes(before, now)) == [f"on n1 was started again: {SERVER}"]
    assert touched(REACH, before, now) == f"pod {SERVER} was started again while this was run"


def test_how_a_container_ended_is_said(cluster: Pods, before: Deployment) -> None:
    """With its exit code in words, and the end of its log: a crash of the server is no fault of the network."""
    cluster.rebooted(SERVER, "10.244.1.11")
    (container,) = cluster.pods[SERVER]["status"]["containerStatuses"]
    container["lastState"] = {
        "terminated": {
            "reason": "Error",
            "exitCode": -1073741515,
            "message": "panic: out of memory",
        }
    }
    now = still_standing(cluster, before, LABELS)
    how = "Error, exit code -1073741515 (0xc0000135 STATUS_DLL_NOT_FOUND"
    assert how in touched(REACH, before, now)
    assert touched(REACH, before, now).endswith("panic: out of memory")
    assert how in next(changes(before, now))


def test_a_pod_that_is_not_ready_does_not_stand_until_it_is(
    cluster: Pods, before: Deployment
) -> None:
    """What needs it cannot be dialled, with the reason; later it stands again."""
    cluster.why = {SERVER: "it is not Ready (phase Running: no reason given)"}
    gone = still_standing(cluster, before, LABELS)
    reason = f"pod {SERVER} no longer stands: {cluster.why[SERVER]}"
    with pytest.raises(NotStandingError, match="no longer stands: it is not Ready"):
        host(gone)
    assert list(changes(before, gone)) == [f"on n1 no longer stands: {reason}"]
    assert touched(REACH, before, gone) == reason
    cluster.why = {}
    back = still_standing(cluster, before, LABELS)
    assert back == before
    assert list(changes(gone, back)) == [f"on n1 stands again: {SERVER}"]


def test_a_pod_of_the_same_name_is_another_one(cluster: Pods, before: Deployment) -> None:
    """It is not the run's: whoever made it may have given it other containers."""
    cluster.pods[SERVER]["metadata"]["uid"] = "another"
    now = still_standing(cluster, before, LABELS)
    assert now.problems == {SERVER: f"pod {SERVER} no longer stands: another Pod has its name"}
    with pytest.raises(NotStandingError):
        host(now)


def test_a_service_with_endpoints_made_by_hand_goes_with_their_addresses(
    cluster: Pods, before: Deployment
) -> None:
    """Nobody corrects such a slice: it leads to where the Pod was. The others are the controller's, and stay."""
    service = replace(
        before.services[f"svc-{SERVER}"],
        name="by-hand",
        settings=ServiceSettings(label="by-hand", by_hand=ByHand.TERMINATING),
    )
    before = replace(before, services={**before.services, service.name: service})
    assert still_standing(cluster, before, LABELS).services == before.services
    cluster.rebooted(SERVER, "10.244.1.77")
    now = still_standing(cluster, before, LABELS)
    assert now.services.keys() == {f"svc-{SERVER}"}
    assert (
        now.problems["by-hand"] == f"its EndpointSlices have the address that {SERVER} had before"
    )


def test_without_an_answer_nothing_is_said(before: Deployment) -> None:
    """An API server that is away does not make a Pod stand, nor fall."""

    class Away(Pods):
        def standing_pods(self, *_: object, **__: object) -> Any:
            raise ClusterError("no answer")

    with pytest.raises(ClusterError):
        still_standing(Away(before), before, LABELS)
    nothing = Deployment(namespace=NAMESPACE, pods={}, services={})
    assert still_standing(Away(before), nothing, LABELS) is nothing


@pytest.mark.parametrize("named", ["pod", "service"])
def test_a_new_pod_is_not_started_to_reach_what_does_not_stand(
    cluster: Pods, before: Deployment, named: str
) -> None:
    """A Pod of a check's own dials by itself: a target that has gone would look like a broken path."""
    kind = TargetKind.POD_IP if named == "pod" else TargetKind.SERVICE_CLUSTERIP
    target = action("probe-windows-1-1", kind).target
    Directory(facts=FACTS, deployment=still_standing(cluster, before, LABELS)).require(target)
    cluster.why = {SERVER: "it is no longer in the API"}
    gone = Directory(facts=FACTS, deployment=still_standing(cluster, before, LABELS))
    with pytest.raises(NotStandingError, match="no longer in the API"):
        gone.require(target)
