"""Who speaks of a Service that did not converge: its own checks, or those that waited for it otherwise."""

import json
from dataclasses import replace

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.check import Control
from nettests.model.words import Protocol, Question, Resolver, TargetKind
from nettests.probes import Directory
from nettests.probes.convergence import pairs_of
from nettests.probes.lateness import lateness
from tests.probes.conftest import Stage
from tests.probes.made import FACTS, ask, check, deployed

PROBE = "probe-windows-1-1"
SERVICE = "svc-server-linux-1-1"
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))


def silent_for_a_while(stage: Stage, name: str = SERVICE, *, concerned: str = "") -> None:
    """Let a Service or server answer nobody while it is waited for, and everybody once checks are asked.

    ``concerned`` are the questions that it is silent to, by a part of their path.
    """
    address = str((stage.services.get(name) or stage.pods[name]).addresses[0])

    def given_up() -> bool:
        told = {(one["service"], one["probe"]) for one in stage.records("convergence")}
        return (name, PROBE) in told

    stage.dialling[PROBE].hook = lambda path: (
        TIMED_OUT if address in path and concerned in path and not given_up() else None
    )


def test_a_service_that_answers_only_after_its_deadline_is_told(stage: Stage) -> None:
    """The check itself sees successes: its record names Service, probe, node and seconds."""
    silent_for_a_while(stage)
    asked = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP))
    stage.observe(asked)
    assert stage.seen(asked).outcome.positive
    node = stage.pods[PROBE].node
    late = f"Service {SERVICE} did not answer {PROBE} on {node} within 1 s"
    assert stage.done(asked.id)["late"] == late


def test_what_answered_is_not_late_where_something_else_was(stage: Stage) -> None:
    """A Service that is silent over UDP answers over TCP all the while."""
    silent_for_a_while(stage, concerned="protocol=udp")
    question = ask(PROBE, TargetKind.SERVICE_CLUSTERIP)
    over_tcp = check(question, id="tcp")
    over_udp = check(replace(question, protocol=Protocol.UDP), id="udp")
    stage.observe(over_tcp, over_udp)
    assert "late" not in stage.done("tcp")
    assert SERVICE in stage.done("udp")["late"]


@pytest.mark.parametrize(
    ("silent", "late"), [({Protocol.UDP}, False), ({Protocol.TCP, Protocol.UDP}, True)]
)
def test_a_name_is_late_where_nothing_behind_it_answered(silent: set[Protocol], late: bool) -> None:
    """It was dialled to find out; what answers by it in one way has resolved."""
    question = ask(PROBE, TargetKind.SERVICE_CLUSTERIP)
    named = replace(question, question=Question.RESOLVE, resolver=Resolver.SYSTEM)
    resolving = check(replace(named, target=replace(named.target, name_form="{service}.x")))
    probes = {"w1": PROBE}
    (pair,) = pairs_of(resolving, probes)
    directory = Directory(facts=FACTS, deployment=deployed())
    found = lateness(directory, [resolving], {resolving.id: [pair]}, probes)
    found.missed(pair, frozenset(silent), 30)
    assert (found.of(resolving.id) is not None) is late


def test_what_is_silent_over_tcp_alone_says_nothing_of_udp(stage: Stage) -> None:
    """Though TCP is asked for first."""
    silent_for_a_while(stage, concerned="protocol=http")
    question = ask(PROBE, TargetKind.SERVICE_CLUSTERIP)
    over_udp = check(replace(question, protocol=Protocol.UDP), id="udp")
    stage.observe(check(question, id="tcp"), over_udp)
    assert "late" not in stage.done("udp")
    assert SERVICE in stage.done("tcp")["late"]


def test_a_service_that_converged_is_not_told(stage: Stage) -> None:
    """Nothing is late where all answer."""
    asked = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP))
    stage.observe(asked)
    assert "late" not in stage.done(asked.id)


def test_its_own_checks_speak_of_a_service_and_no_others(stage: Stage) -> None:
    """A check whose control asks the Service waits for it, and leaves it to the one that asks it itself."""
    silent_for_a_while(stage)
    own = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP), id="own")
    control = Control(proves="target", ask=own.ask)
    other = check(ask(PROBE, TargetKind.POD_IP), control, id="other")
    stage.observe(own, other)
    assert "late" in stage.done("own")
    assert "late" not in stage.done("other")


def test_a_node_port_speaks_of_the_node_that_has_it(stage: Stage) -> None:
    """A NodePort of a node whose proxy knows the Service is not late because the asking node's does not."""
    silent_for_a_while(stage)
    there = ask(PROBE, TargetKind.NODEPORT, on="n1")
    node_port = check(there, id="node-port")
    cluster_ip = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP), id="cluster-ip")
    stage.observe(node_port, cluster_ip)
    assert "late" in stage.done("cluster-ip")
    assert "late" not in stage.done("node-port")


def test_what_no_check_asks_is_told_by_those_that_waited(stage: Stage) -> None:
    """A Service that only a control asks is never just a record."""
    silent_for_a_while(stage)
    control = Control(proves="target", ask=ask(PROBE, TargetKind.SERVICE_CLUSTERIP))
    alone = check(ask(PROBE, TargetKind.POD_IP), control, id="alone")
    stage.observe(alone)
    assert SERVICE in stage.done("alone")["late"]


def test_what_others_say_is_not_told_again(stage: Stage) -> None:
    """Where a Service that is asked from there does not answer either, its own checks alone are red."""
    unasked = "svc-unasked"
    stage.services[unasked] = replace(stage.services[SERVICE], name=unasked)
    address = str(stage.services[SERVICE].addresses[0])

    def given_up() -> bool:
        return {SERVICE, unasked} <= {record["service"] for record in stage.records("convergence")}

    stage.dialling[PROBE].hook = lambda path: (
        TIMED_OUT if address in path and not given_up() else None
    )
    behind = ask(PROBE, TargetKind.SERVICE_CLUSTERIP, service=unasked)
    waiting = check(ask(PROBE, TargetKind.POD_IP), Control(proves="target", ask=behind), id="waits")
    own = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP), id="own")
    stage.observe(waiting, own)
    assert "late" in stage.done("own")
    assert "late" not in stage.done("waits")


def test_a_pod_that_listens_late_is_no_service(stage: Stage) -> None:
    """A container that needs longer than its deadline to listen says nothing of kube-proxy."""
    silent_for_a_while(stage, "server-linux-1-1")
    asked = check(ask(PROBE, TargetKind.POD_IP))
    stage.observe(asked)
    assert [one["converged"] for one in stage.records("convergence")] == [False]
    assert "late" not in stage.done(asked.id)
