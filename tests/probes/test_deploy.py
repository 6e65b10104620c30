"""Deployment: what stands, what does not and why, and the channels of what stands."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nettests.bounds import Slots
from nettests.cluster.connection import ApiError
from nettests.errors import ClusterError, DeployError
from nettests.model.channel import ChannelError, ExecChannel, HttpChannel
from nettests.model.check import Plan, ServiceObject
from nettests.model.cluster_profile import Timing
from nettests.model.json_text import Object
from nettests.model.labels import PURPOSE_LABEL, RUN_LABEL
from nettests.model.service import ByHand, ServiceSettings
from nettests.model.words import OS
from nettests.probes import Deployment, deploy, objects, open_probes
from nettests.probes.objects import Blank
from nettests.probes.sending import Probe
from nettests.session.journal import Journal
from tests.probes.made import FACTS, PODS, deployed
from tests.probes.netexec import DialChannel, Processes

SERVICE = ServiceObject(
    name="svc-server-linux-1-1",
    backends=("server-linux-1-1",),
    settings=ServiceSettings(label="svc", type="NodePort"),
)


class Cluster:
    """Holds objects and says of each pod whether it is Ready."""

    def __init__(self) -> None:
        self.created: dict[str, Object] = {}
        self.refused: dict[str, str] = {}
        self.not_ready: dict[str, str] = {}
        self.no_channel: set[str] = set()
        self.systems: dict[str, OS] = {}
        self.unknown: dict[str, frozenset[str]] = {}
        self.unreadable = ""
        self.requested: list[Mapping[str, frozenset[str]]] = []
        self.guarded: list[int] = []
        """How many objects there were when the namespace was there to be held."""
        self.forbidden: dict[str, str] = {}
        self.assigned: dict[str, list[Object]] = {}
        self.waited = 0.0
        self.unlisted = ""

    def create(self, item: Object) -> Object:
        """Complete an object as the API server does."""
        name = item["metadata"]["name"]
        if name in self.refused:
            raise ClusterError(self.refused[name])
        if name in self.forbidden:
            raise ApiError(self.forbidden[name], status=403)
        stored = deepcopy(item)
        stored["metadata"]["uid"] = f"uid-of-{name}"
        if item["kind"] == "Service":
            stored["spec"]["clusterIP"] = "10.96.1.1"
            for number, port in enumerate(stored["spec"]["ports"]):
                port["nodePort"] = 30080 + number
        self.created[name] = stored
        return stored

    def wait_for_pods(
        self,
        namespace: str,
        names: Iterable[str],
        *,
        ready: float,
        stuck: float,
        on_change: Callable[[int, int], None],
    ) -> tuple[dict[str, Object], dict[str, str]]:
        """Return created pods as Ready ones."""
        found = {}
        for name in names:
            if name not in self.not_ready:
                pod = deepcopy(self.created[name])
                pod["spec"]["nodeName"] = pod["spec"]["nodeSelector"]["kubernetes.io/hostname"]
                pod["status"] = {"podIPs": [{"ip": "10.244.1.9"}], "hostIP": "172.30.0.11"}
                found[name] = pod
        on_change(len(found), len(found))
        return found, self.not_ready

    def wait_for_endpoints(
        self, namespace: str, ready: Mapping[str, frozenset[str]], *, seconds: float
    ) -> dict[str, frozenset[str]]:
        """Say which backends the API does not know of."""
        assert objects.SENTINEL not in self.created, "the sentinel is the last"
        self.requested.append(ready)
        if self.unreadable:
            raise ClusterError(self.unreadable)
        return self.unknown

    def wait_for_addresses(
        self,
        namespace: str,
        names: Collection[str],
        *,
        seconds: float,
        on_poll: Callable[[], None],
    ) -> dict[str, Object]:
        """Return Services with what the cloud of the test has assigned them."""
        on_poll()
        self.waited = seconds
        if self.unlisted:
            raise ClusterError(self.unlisted)
        return {
            name: {
                **self.created[name],
                "status": {"loadBalancer": {"ingress": self.assigned[name]}},
            }
            if name in self.assigned
            else self.created[name]
            for name in names
        }

    def open_http(
        self, namespace: str, pod: str, port: int, execute: ExecChannel, *, timeout: float
    ) -> tuple[tuple[HttpChannel, ...], tuple[str, ...]]:
        """Return a channel, unless the pod has none."""
        if pod in self.no_channel:
            raise ChannelError(f"no control channel to {pod} works")
        return (DialChannel(pod, "127.0.0.1"),), ("port-forward: refused",)

    def open_exec(
        self, namespace: str, pod: str, container: str, *, node: str, os: OS
    ) -> ExecChannel:
        """Return an exec channel and keep by whose bound."""
        self.systems[node] = os
        return Processes("127.0.0.1")


@pytest.fixture
def cluster() -> Cluster:
    """An empty cluster."""
    return Cluster()


def deploy_on(cluster: Cluster, *services: ServiceObject) -> Deployment:
    """Deploy the small plan, with these Services too."""
    plan = Plan(checks=(), skips=(), pods=PODS, services=(SERVICE, *services))
    return deploy(
        cluster,
        plan,
        FACTS,
        blank=Blank(namespace="nettests-r", labels={"nettests.dev/run": "r"}),
        timing=Timing(),
        on_namespace=lambda: cluster.guarded.append(len(cluster.created)),
        on_progress=lambda *_: None,
    )


def test_everything_stands(cluster: Cluster) -> None:
    """Pods and Services come back with their addresses and ports; the namespace was first."""
    found = deploy_on(cluster)
    assert set(found.pods) == {pod.name for pod in PODS}
    assert found.problems == {}
    service = found.services["svc-server-linux-1-1"]
    assert str(service.addresses[0]) == "10.96.1.1"
    assert service.node_ports == {"hostname": 30080, "clientip": 30081, "udp": 30082}
    assert next(iter(cluster.created)) == "nettests-r"
    assert cluster.guarded == [1]


def test_a_pod_that_fails_is_a_problem_and_the_others_stand(cluster: Cluster) -> None:
    """A pod that is not Ready and one that admission refused each keep their reason."""
    cluster.not_ready = {"probe-windows-1-1": "ImagePullBackOff"}
    cluster.refused = {"node-windows-1-1": "violates PodSecurity"}
    found = deploy_on(cluster)
    assert set(found.pods) == {"server-linux-1-1", "node-linux-1-1"}
    assert found.problems == {
        "probe-windows-1-1": "pod probe-windows-1-1 is not Ready: ImagePullBackOff",
        "node-windows-1-1": "Pod node-windows-1-1 was not created: violates PodSecurity",
    }


@pytest.mark.parametrize(
    ("lacking", "network"),
    [(("probe-windows-1-1",), "in the Pod network "), (("probe-windows-1-1", "node-windows-1-1"), ""), (("node-windows-1-1",), None)],
    ids=["pod network", "all", "node alone"],
)  # fmt: skip
def test_a_node_where_no_pod_gets_a_network_is_barren(
    cluster: Cluster, lacking: tuple[str, ...], network: str | None
) -> None:
    """That its own Pod started, which has the host's network, is no sign that another one would."""
    cluster.not_ready = dict.fromkeys(lacking, "no sandbox")
    pod = next(pod for pod in PODS if pod.name == "probe-windows-1-1")
    why = f"no Pod of this run {network}started on {pod.node}: pod {pod.name} is not Ready: no sandbox"
    assert deploy_on(cluster).barren == ({} if network is None else {pod.node: why})


def test_the_sentinel_comes_last(cluster: Cluster) -> None:
    """When the API knows the backends of all Services, one more is made in front of all server pods of the run."""
    found = deploy_on(cluster)
    assert cluster.requested == [{SERVICE.name: frozenset({"server-linux-1-1"})}]
    assert list(cluster.created)[-1] == found.sentinel == objects.SENTINEL
    spec = cluster.created[objects.SENTINEL]["spec"]
    assert spec["selector"] == {RUN_LABEL: "r", PURPOSE_LABEL: "server"}
    assert found.services[objects.SENTINEL].backends == ("server-linux-1-1",)
    assert found.remarks == ()


def test_the_policy_stands_before_the_probes(cluster: Cluster) -> None:
    """Nobody reaches a probe before it is guarded."""
    deploy_on(cluster, SERVICE)
    names = list(cluster.created)
    assert names.index("nettests-probes") < names.index("probe-windows-1-1")


def test_a_policy_that_is_refused_is_remarked(cluster: Cluster) -> None:
    """Admission, a quota or a missing right leave the run as it is, and the journal says why."""
    cluster.forbidden["nettests-probes"] = "networkpolicies is forbidden"
    found = deploy_on(cluster, SERVICE)
    assert found.remarks == ("no NetworkPolicy guards the probes: networkpolicies is forbidden",)
    assert "probe-windows-1-1" in found.pods


def test_a_backend_that_is_not_ready_is_not_waited_for(cluster: Cluster) -> None:
    """No EndpointSlice will ever hold a pod that did not come up, and nothing is left to guard by."""
    cluster.not_ready = {"server-linux-1-1": "ImagePullBackOff"}
    found = deploy_on(cluster)
    assert cluster.requested == [{}]
    assert found.sentinel is None


def test_backends_that_the_api_never_knew_are_remarked(cluster: Cluster) -> None:
    """The journal will name the Service and the pods that its EndpointSlices lack."""
    cluster.unknown = {SERVICE.name: frozenset({"server-linux-1-1"})}
    (remark,) = deploy_on(cluster).remarks
    assert SERVICE.name in remark
    assert "lack server-linux-1-1" in remark


def test_endpoints_that_may_not_be_read_are_remarked(cluster: Cluster) -> None:
    """Without the permission the run goes on, and says what it could not make sure of."""
    cluster.unreadable = "cannot list endpointslices"
    found = deploy_on(cluster)
    (remark,) = found.remarks
    assert "cannot list endpointslices" in remark
    assert found.sentinel == objects.SENTINEL


def test_backends_that_are_said_to_terminate_are_not_waited_for(cluster: Cluster) -> None:
    """They never become ready endpoints: waiting for that would last until the deadline."""
    deploy_on(cluster, exposed("terminating", by_hand=ByHand.TERMINATING))
    (probed,) = cluster.requested
    assert "terminating-a" not in probed
    assert probed.keys() >= {SERVICE.name}


def test_without_a_sentinel_the_run_goes_on(cluster: Cluster) -> None:
    """A quota that has room for no further Service takes the guard away, not the run."""
    cluster.refused = {objects.SENTINEL: "exceeded quota"}
    found = deploy_on(cluster)
    assert found.sentinel is None
    assert SERVICE.name in found.services


def exposed(label: str, **settings: Any) -> ServiceObject:
    """A Service that outsiders may reach."""
    made = ServiceSettings(label=label, **settings)
    return ServiceObject(name=f"{label}-a", backends=("server-linux-1-1",), settings=made)


def test_load_balancers_are_waited_for(cluster: Cluster) -> None:
    """The address that a load balancer was assigned is read when it is there."""
    cluster.assigned = {"lb-a": [{"ip": "203.0.113.7"}]}
    found = deploy_on(cluster, exposed("lb", type="LoadBalancer"))
    assert [str(address) for address in found.services["lb-a"].balanced] == ["203.0.113.7"]
    assert cluster.waited == Timing().load_balancer
    assert found.declined == {}


def test_nobody_waits_where_nothing_is_balanced(cluster: Cluster) -> None:
    """A run without such Services is no longer for them."""
    deploy_on(cluster)
    assert cluster.waited == 0


def test_a_cluster_without_load_balancers_declines(cluster: Cluster) -> None:
    """The Service stands by its ClusterIP; why it has no other address is kept apart from problems."""
    found = deploy_on(cluster, exposed("lb", type="LoadBalancer"))
    assert "assigned no load balancer" in found.declined["lb-a"]
    assert found.services["lb-a"].addresses
    assert found.problems == {}


def test_load_balancers_that_cannot_be_read_are_a_problem_of_theirs(cluster: Cluster) -> None:
    """Nothing is known of their addresses then; all else goes on, and what was made is cleaned up."""
    cluster.unlisted = "cannot list services"
    found = deploy_on(cluster, exposed("lb", type="LoadBalancer"))
    assert "cannot list services" in found.problems["lb-a"]
    assert found.declined == {}
    assert found.services["lb-a"].balanced == ()
    assert found.services.keys() >= {SERVICE.name, objects.SENTINEL}


def test_forbidden_external_ips_are_declined(cluster: Cluster) -> None:
    """Admission that denies externalIPs is the cluster's right, and no failure of a probe."""
    cluster.forbidden = {"external-ip-a": "Use of external IPs is denied by admission control"}
    found = deploy_on(cluster, exposed("external-ip", external_ip=True))
    assert "denied by admission control" in found.declined["external-ip-a"]
    assert "external-ip-a" not in found.services


class SlowPolicy(Cluster):
    """Answers to a NetworkPolicy when a Service stands, and keeps how many Pods there were then."""

    def __init__(self) -> None:
        super().__init__()
        self.service = threading.Event()
        self.pods: list[str] = []

    def create(self, item: Object) -> Object:
        """Create an object, a NetworkPolicy slowly."""
        if item["kind"] == "NetworkPolicy":
            assert self.service.wait(60)
            self.pods = [name for name, one in self.created.items() if one["kind"] == "Pod"]
        stored = super().create(item)
        if item["kind"] == "Service":
            self.service.set()
        return stored


def test_services_are_made_while_the_policy_is_and_pods_after_it() -> None:
    """No Pod stands unguarded, and nothing else waits for the guard."""
    cluster = SlowPolicy()
    deployment = deploy_on(cluster)
    assert cluster.pods == []
    assert set(deployment.pods) == {pod.name for pod in PODS}
    assert deployment.remarks == ()


def test_nothing_stands_is_an_error(cluster: Cluster) -> None:
    """When no pod comes up at all the run says so, with the first reason."""
    cluster.refused = {pod.name: "exceeded quota" for pod in PODS}
    with pytest.raises(DeployError, match=r"none of 4 probe pods came up.*exceeded quota"):
        deploy_on(cluster)


def test_channels_are_opened_and_the_choice_is_recorded(cluster: Cluster, tmp_path: Path) -> None:
    """Probe pods get their channel, node pods exec alone; refusals are in the journal."""
    with Journal(tmp_path / "journal.jsonl") as journal:
        probes, problems = open_probes(cluster, deployed(), FACTS, Timing(), journal)
    assert problems == {}
    assert set(probes) == {
        "probe-linux-1-1", "probe-windows-1-1", "node-linux-1-1", "node-windows-1-1",
    }  # fmt: skip
    assert probes["node-windows-1-1"].http == ()
    text = journal.path.read_text()
    assert "probe probe-linux-1-1 is reached over pod-proxy (port-forward: refused)" in text
    assert cluster.systems["w1"] is OS.WINDOWS


def at_once(probe: Probe) -> int:
    """Return how many questions may begin over a probe's channel at the same time."""
    assert isinstance(probe.http_slots, Slots)
    return probe.http_slots.at_once


@pytest.mark.parametrize(("others", "fit"), [(0, 16), (30, 6)])
def test_many_probes_share_the_descriptors(
    cluster: Cluster, tmp_path: Path, others: int, fit: int
) -> None:
    """Two probes are probed sixteen questions at once each, thirty-two probes fewer."""
    standing = deployed()
    first = standing.pods["probe-linux-1-1"]
    more = {f"probe-{n}": replace(first, name=f"probe-{n}") for n in range(others)}
    with Journal(tmp_path / "journal.jsonl") as journal:
        probes, _ = open_probes(
            cluster,
            replace(standing, pods={**standing.pods, **more}),
            FACTS,
            Timing(),
            journal,
        )
    assert at_once(probes["probe-linux-1-1"]) == fit


def test_a_probe_without_a_channel_is_a_problem(cluster: Cluster, tmp_path: Path) -> None:
    """Its checks will be unknown with this reason; the other probes are opened."""
    cluster.no_channel = {"probe-windows-1-1"}
    with Journal(tmp_path / "journal.jsonl") as journal:
        probes, problems = open_probes(cluster, deployed(), FACTS, Timing(), journal)
    assert problems == {"probe-windows-1-1": "no control channel to probe-windows-1-1 works"}
    assert "probe-linux-1-1" in probes
