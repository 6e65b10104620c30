"""Pods of checks' own that documents speak of: placeholders, restarts that are awaited, NetworkPolicies that bind them."""

import json
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import pytest

from nettests.model.channel import ExecAnswer
from nettests.model.check import Afterwards, Target
from nettests.model.cluster_profile import Timing
from nettests.model.facts import Fact
from nettests.model.json_text import Object
from nettests.model.words import Outcome, TargetKind
from nettests.plan import pods
from nettests.probes import starting
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.start_objects import pod
from nettests.probes.starting import Starting
from tests.probes.made import FACTS
from tests.probes.test_starting import (
    BLANK,
    READY,
    Cluster,
    case,
    examine,
    question,
)


def test_a_nodes_build_and_a_services_address_take_their_places() -> None:
    """In the Pod, and in what it has to say; its own selectors stay beside those of its node."""
    item = pods.pod(nodeSelector={"node.kubernetes.io/windows-build": pods.BUILD})
    wanting = pods.after("own", item, "exec", "env", says=f"HOST={pods.SERVICE_ADDRESS}")
    action = replace(
        question(wanting), target=Target(kind=TargetKind.POD, node="w1", service="svc-own")
    )
    service = StandingService(name="svc-own", addresses=(ip_address("10.96.0.20"),), node_ports={})
    cluster = Cluster(status=READY, answer="HOST=10.96.0.20")
    probing = Starting(
        pods=cluster,
        blank=BLANK,
        facts=FACTS,
        timing=Timing(),
        services={service.name: service},
    )
    done = probing.examine(action)
    build = FACTS.node("w1").build.value
    assert build is not None
    assert cluster.created[0]["spec"]["nodeSelector"] == {
        "node.kubernetes.io/windows-build": f"10.0.{build.build}",
        "kubernetes.io/hostname": "w1",
        "kubernetes.io/os": "windows",
    }
    assert done.context["says"] == "HOST=10.96.0.20"


def test_a_services_variables_have_a_place_too() -> None:
    """Environments spell its name in capitals, with underscores; which line has to hold it goes on record."""
    says = f"{pods.SERVICE_VARIABLE}_SERVICE_HOST={pods.SERVICE_ADDRESS}"
    wanting = pods.after("own", pods.pod(), "exec", "env", says=says, whole_line=True)
    action = replace(
        question(wanting), target=Target(kind=TargetKind.POD, node="w1", service="svc-own")
    )
    service = StandingService(name="svc-own", addresses=(ip_address("10.96.0.20"),), node_ports={})
    probing = Starting(
        pods=Cluster(status=READY, answer=""),
        blank=BLANK,
        facts=FACTS,
        timing=Timing(),
        services={service.name: service},
    )
    context = probing.examine(action).context
    assert context["says"] == "SVC_OWN_SERVICE_HOST=10.96.0.20"
    assert "whole-line" in context


def test_links_to_services_are_made_where_a_case_requests_them() -> None:
    """All other Pods of a run have none: a namespace of many Services would fill their environment."""
    linked = pod(
        pods.starts("x", pods.pod(enableServiceLinks=True)), FACTS.node("w1"), BLANK, "start-1"
    )
    assert linked["spec"]["enableServiceLinks"] is True
    assert pod(case(), FACTS.node("w1"), BLANK, "start-1")["spec"]["enableServiceLinks"] is False


RESTARTED = {**READY, "containerStatuses": [{"name": "first", "restartCount": 1}]}


@pytest.mark.parametrize("others", [True, False])
@pytest.mark.parametrize("late", [0, 3, 99])
def test_events_of_a_restart_are_awaited(late: int, *, others: bool) -> None:
    """Whether the Pod is Ready or not: they say why it was restarted, though maybe not at once; others are told in the end."""
    looks: list[str] = []

    class Late(Cluster):
        def events_of(self, namespace: str, name: str) -> list[Object]:
            looks.append(name)
            said = "Liveness probe failed: 1" if len(looks) > late else "Pulled"
            event = {"type": "Warning", "reason": "Unhealthy", "message": said}
            return [event] if others or len(looks) > late else []

    then = Afterwards(how="restarts", says="Liveness probe failed")
    record = json.loads(examine(Late(RESTARTED), case(then)).stdout)
    assert len(looks) == min(late + 1, starting.EVENT_TRIES)
    told = any("Liveness" in one["message"] for one in record["events"])
    assert told is (late < starting.EVENT_TRIES)
    assert "then" not in record


def test_a_build_that_is_not_known_selects_nothing() -> None:
    """No Pod is made that would stay pending for our own want of knowledge."""
    unknown = replace(FACTS.node("w1"), build=Fact(None, "its kernel version is empty"))
    nodes = tuple(unknown if one.name == "w1" else one for one in FACTS.nodes)
    cluster = Cluster(status=READY)
    wanting = pods.starts("own", pods.pod(nodeSelector={"build": pods.BUILD}))
    probing = Starting(
        pods=cluster, blank=BLANK, facts=replace(FACTS, nodes=nodes), timing=Timing()
    )
    assert "its kernel version is empty" in (probing.examine(question(wanting)).error or "")
    assert cluster.created == []


BOUND = pods.bound("denied", pods.DENIED, Outcome.TIMED_OUT)


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is to be denied is tried again at once, and events are read again at once."""
    monkeypatch.setattr(starting, "DENIED_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(starting, "EVENT_PAUSE_SECONDS", 0.0)


def test_a_policy_is_made_before_the_pod_that_it_binds_and_goes_with_it() -> None:
    """It selects by the run and the label, and lets the Pod begin nothing, or send to servers of the run."""
    for policy, egress in (
        (pods.DENIED, 0),
        (pods.ALLOWED, 1),
    ):
        cluster = Cluster(status=READY)
        examine(cluster, pods.bound(policy, policy, Outcome.CONNECTED))
        made, bound = cluster.created
        assert (made["kind"], bound["kind"]) == ("NetworkPolicy", "Pod")
        chosen = made["spec"]["podSelector"]["matchLabels"]
        assert chosen.items() <= bound["metadata"]["labels"].items()
        assert chosen["nettests.dev/run"] == "1"
        assert made["spec"]["policyTypes"] == ["Egress"]
        assert len(made["spec"]["egress"]) == egress
        assert "nettests.dev/policy" not in made["metadata"]["labels"]
        folder = "/apis/networking.k8s.io/v1/namespaces/nettests-1/networkpolicies"
        assert f"{folder}/{made['metadata']['name']}" in cluster.deleted


def test_the_server_s_address_takes_its_place_in_what_is_run() -> None:
    """A name that is not resolved would look like a server that is not reached."""
    action = replace(
        question(BOUND), target=Target(kind=TargetKind.POD, node="n1", pod="server-linux-1-1")
    )
    other = StandingPod(
        name="server-linux-1-1",
        node="n1",
        purpose="server",
        addresses=(ip_address("10.244.1.9"),),
        host_addresses=(),
    )
    cluster = Cluster(status=READY, answer="ran")
    probing = Starting(
        pods=cluster,
        blank=BLANK,
        facts=FACTS,
        timing=replace(Timing(), channel_tries=1),
        standing={other.name: other},
    )
    done = probing.examine(replace(action, case=pods.bound("a", pods.ALLOWED, Outcome.CONNECTED)))
    assert done.words[-1] == "10.244.1.9:18080"
    assert json.loads(done.stdout)["then"]["stdout"].endswith("10.244.1.9:18080")


def test_without_its_policy_no_pod_is_made() -> None:
    """What would pass then says nothing of policies."""
    cluster = Cluster(status=READY, refuses=True)
    assert examine(cluster, BOUND).error == "pods is forbidden"
    assert cluster.created == []


def test_what_is_to_be_denied_is_tried_again() -> None:
    """An agent may bind a new Pod a moment later; what was denied is not tried any more."""
    answers = [ExecAnswer(exit_code=code, stdout="", stderr="") for code in (0, 0, 1, 0)]
    ran: list[Any] = []

    class Denying(Cluster):
        def run(self, argv: Any, *, timeout: float) -> ExecAnswer:
            ran.append(argv)
            return answers[len(ran) - 1]

    record = json.loads(examine(Denying(READY), BOUND).stdout)
    assert (len(ran), record["then"]["exit_code"]) == (3, 1)
    ran.clear()
    answers[:] = [ExecAnswer(exit_code=0, stdout="", stderr="")] * 9
    record = json.loads(examine(Denying(READY), BOUND).stdout)
    assert (len(ran), record["then"]["exit_code"]) == (starting.DENIED_TRIES, 0)
