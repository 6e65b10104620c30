"""What is waited for before a check is run: whatever can answer, and nothing that never will."""

from dataclasses import replace

import pytest

from nettests.model.check import Check, Control, Target
from nettests.model.service import ByHand, ServiceSettings
from nettests.model.words import Outcome, TargetKind
from nettests.plan.targets import LOAD_BALANCED
from nettests.probes.service_pairs import Pair, pairs_of
from tests.probes.made import action, check

PROBES = {"n1": "probe-linux-1-1", "w1": "probe-windows-1-1"}


def probed(settings: ServiceSettings | None, *controls: Control) -> Check:
    """Return a check of a Service with these settings, from Windows, backed on the Linux node."""
    question = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP, service="s")
    stated = replace(question, target=replace(question.target, settings=settings))
    return check(stated, *controls)


def test_an_ordinary_service_is_waited_for_from_its_user() -> None:
    """The source Pods itself polls the Service."""
    pair = Pair(TargetKind.SERVICE_CLUSTERIP, "s", "probe-windows-1-1")
    assert pairs_of(probed(None), PROBES) == {pair}


def test_nobody_is_not_waited_for() -> None:
    """A Service without endpoints never answers; the one that its control targets is waited for."""
    ordinary = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP)
    one = probed(
        ServiceSettings(label="s", no_endpoints=True), Control(proves="target", action=ordinary)
    )
    pair = Pair(TargetKind.SERVICE_CLUSTERIP, "svc-server-linux-1-1", "probe-windows-1-1")
    assert pairs_of(one, PROBES) == {pair}


def test_a_headless_name_is_waited_for_by_name() -> None:
    """Servers have to be Ready before the name that they share resolves."""
    question = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP)
    shared = replace(question, target=Target(kind=TargetKind.HEADLESS_NAME))
    pair = Pair(TargetKind.HEADLESS_NAME, "servers", "probe-windows-1-1")
    assert pairs_of(check(shared), PROBES) == {pair}


def test_a_node_behind_a_service_may_be_silent_to_itself() -> None:
    """A Windows pod never reaches a Service that its own node backs; a Linux one does, once known."""
    question = action("probe-linux-1-1", TargetKind.SERVICE_CLUSTERIP, service="s")
    target = replace(question.target, settings=ServiceSettings(label="s", behind="node"))
    near = check(replace(question, target=target))
    far = check(replace(action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP), target=target))
    assert pairs_of(near, PROBES) == set()
    assert pairs_of(far, PROBES) == {Pair(TargetKind.SERVICE_CLUSTERIP, "s", "probe-windows-1-1")}


def test_backends_that_are_not_ready_may_be_silent_to_windows() -> None:
    """kube-proxy for Windows leaves them out, also where they are published; Linux reaches them, once known."""
    settings = ServiceSettings(label="s", behind="unready", publish_not_ready=True)
    from_linux = action("probe-linux-1-1", TargetKind.SERVICE_CLUSTERIP, service="s")
    target = replace(from_linux.target, settings=settings)
    linux = check(replace(from_linux, target=target))
    assert pairs_of(probed(settings), PROBES) == set()
    assert pairs_of(linux, PROBES) == {Pair(TargetKind.SERVICE_CLUSTERIP, "s", "probe-linux-1-1")}


def test_a_service_for_one_nodes_clients_is_waited_for_there() -> None:
    """With internalTrafficPolicy Local only the backend's node can tell that it is served."""
    local = ServiceSettings(label="s", internal_traffic_policy="Local")
    assert pairs_of(probed(local), PROBES) == {
        Pair(TargetKind.SERVICE_CLUSTERIP, "s", "probe-linux-1-1")
    }


def test_the_sentinel_is_waited_for_where_silence_is_meant() -> None:
    """Both nodes of a Service that one of them may not reach show by the last Service that they know it."""
    local = ServiceSettings(label="s", internal_traffic_policy="Local")
    last = {
        Pair(TargetKind.SERVICE_CLUSTERIP, "last", probe)
        for probe in ("probe-linux-1-1", "probe-windows-1-1")
    }
    nobody = replace(local, no_endpoints=True)
    assert pairs_of(probed(local), PROBES, "last") - pairs_of(probed(local), PROBES) == last
    assert pairs_of(probed(nobody), PROBES, "last") == last


def test_questions_without_a_service_wait_for_no_sentinel() -> None:
    """A pod that is probed by its address needs nothing of what nodes know of Services."""
    question = check(action("probe-linux-1-1", TargetKind.POD_IP, pod="server-linux-1-1"))
    assert pairs_of(question, PROBES, "last") == pairs_of(question, PROBES) != set()


def test_a_load_balancer_is_waited_for_at_its_address() -> None:
    """With other settings than an ordinary one's nobody need answer there: its ClusterIP is waited for."""
    question = action("probe-windows-1-1", TargetKind.LOADBALANCER, service="s")
    for settings, kind in (
        (LOAD_BALANCED, TargetKind.LOADBALANCER),
        (replace(LOAD_BALANCED, source_ranges=("192.0.2.255/32",)), TargetKind.SERVICE_CLUSTERIP),
    ):
        one = check(replace(question, target=replace(question.target, settings=settings)))
        assert pairs_of(one, PROBES) == {Pair(kind, "s", "probe-windows-1-1")}


def test_a_health_check_port_is_waited_for_where_the_backend_is() -> None:
    """Both nodes are to know the Service before one of them is tested about its backends."""
    question = action("probe-windows-1-1", TargetKind.HEALTH_CHECK_PORT, service="s")
    assert pairs_of(check(question), PROBES) == {
        Pair(TargetKind.HEALTH_CHECK_PORT, "s", probe) for probe in PROBES.values()
    }


def test_the_sentinel_shows_that_a_node_without_a_backend_knows_the_service() -> None:
    """The backend's own node may offer no health check ports: its silence says nothing of another node's."""
    question = action("probe-windows-1-1", TargetKind.HEALTH_CHECK_PORT, service="s")
    without = check(question)
    without = replace(without, claim=replace(without.claim, outcome=Outcome.UNHEALTHY))
    assert pairs_of(without, PROBES, "last") == {
        Pair(TargetKind.SERVICE_CLUSTERIP, "last", probe) for probe in PROBES.values()
    }


def test_a_nodeport_waits_for_the_node_at_which_it_is_dialled() -> None:
    """Only the node whose address is dialled translates it: what the client's node knows does not matter."""
    asked = action("probe-windows-1-1", TargetKind.NODEPORT, service="s")
    of = check(replace(asked, target=replace(asked.target, node="windows-1-2")))
    assert pairs_of(of, {**PROBES, "windows-1-2": "other"}, "last") == {
        Pair(TargetKind.SERVICE_CLUSTERIP, "s", "other"),
        Pair(TargetKind.SERVICE_CLUSTERIP, "last", "other"),
    }


@pytest.mark.parametrize("by_hand", [ByHand.MIXED_TARGET_PORTS, ByHand.TERMINATING])
def test_whoever_is_in_question_is_not_waited_for(by_hand: ByHand) -> None:
    """The last Service shows that a node knows the others; whether they answer is what is tested."""
    question = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP, service="s")
    settings = ServiceSettings(label="s", by_hand=by_hand)
    one = check(replace(question, target=replace(question.target, settings=settings)))
    assert pairs_of(one, PROBES, "last") == {
        Pair(TargetKind.SERVICE_CLUSTERIP, "last", "probe-windows-1-1")
    }
