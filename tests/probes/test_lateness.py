"""Who speaks of a Service that did not converge: its own checks, or those that waited for it otherwise."""

import json
from dataclasses import replace

import pytest

from nettests.model.channel import ChannelError, HttpAnswer
from nettests.model.check import Control
from nettests.model.words import Protocol, Question, Resolver, TargetKind
from nettests.probes import Directory
from nettests.probes.service_pairs import pairs_of
from nettests.probes.speculative import lateness
from tests.probes.conftest import Bench
from tests.probes.made import FACTS, action, check, deployed

PROBE = "probe-windows-1-1"
SERVICE = "svc-server-linux-1-1"
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))


def idle_connection(
    bench: Bench, name: str = SERVICE, *, concerned: str = "", probe: str = PROBE
) -> None:
    """Let a Service or server answer nobody while it is waited for, and everybody once checks are run.

    ``concerned`` are the questions that it is silent to, by a part of their path.
    """
    address = str((bench.services.get(name) or bench.pods[name]).addresses[0])

    def given_up() -> bool:
        told = {(one["service"], one["probe"]) for one in bench.records("convergence")}
        return (name, probe) in told

    bench.dialling[probe].hook = lambda path: (
        TIMED_OUT if address in path and concerned in path and not given_up() else None
    )


def test_a_service_that_answers_only_after_its_deadline_is_told(bench: Bench) -> None:
    """The check itself sees successes: its record names Service, probe, node and seconds."""
    idle_connection(bench)
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    bench.observe(probed)
    assert bench.seen(probed).outcome.positive
    node = bench.pods[PROBE].node
    late = f"Service {SERVICE} did not answer {PROBE} on {node} within 1 s"
    assert bench.done(probed.id)["late"] == late


def test_a_service_whose_probe_was_not_reached_is_not_late(bench: Bench) -> None:
    """The API server restarts while Services converge: no poll came through, and nothing is known of rules."""

    def restarting(_path: str) -> HttpAnswer | None:
        if any(one["service"] == SERVICE for one in bench.records("convergence")):
            return None
        raise ChannelError("port-forward was not opened: [Errno 111] Connection refused")

    bench.dialling[PROBE].hook = restarting
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    bench.observe(probed)
    assert bench.seen(probed).outcome.positive
    assert "late" not in bench.done(probed.id)
    (told,) = [one["text"] for one in bench.records("event") if SERVICE in one["text"]]
    assert "Connection refused" in told
    assert "nothing is said of its rules" in told


def test_a_service_that_an_overloaded_probe_waited_for_is_not_late(bench: Bench) -> None:
    """A probe that takes seconds to answer for itself shows nothing of rules by its silence."""
    idle_connection(bench)
    silent, own = bench.dialling[PROBE].hook, str(bench.pods[PROBE].addresses[0])
    assert silent is not None
    slow = HttpAnswer(status=200, body=json.dumps({"responses": [PROBE]}), seconds=2.5)
    bench.dialling[PROBE].hook = lambda path: slow if own in path else silent(path)
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    bench.observe(probed)
    assert bench.done(probed.id)["late"] == (
        f"the probe was overloaded: {PROBE} took 2.5 s to answer for itself while "
        f"Service {SERVICE} was waited for"
    )


def test_what_answered_is_not_late_where_something_else_was(bench: Bench) -> None:
    """A Service that is silent over UDP answers over TCP all the while."""
    idle_connection(bench, concerned="protocol=udp")
    question = action(PROBE, TargetKind.SERVICE_CLUSTERIP)
    over_tcp = check(question, id="tcp")
    over_udp = check(replace(question, protocol=Protocol.UDP), id="udp")
    bench.observe(over_tcp, over_udp)
    assert "late" not in bench.done("tcp")
    assert SERVICE in bench.done("udp")["late"]


@pytest.mark.parametrize(
    ("silent", "late"), [({Protocol.UDP}, False), ({Protocol.TCP, Protocol.UDP}, True)]
)
def test_a_name_is_late_where_nothing_behind_it_answered(silent: set[Protocol], late: bool) -> None:
    """It was dialled to find out; what answers by it in one way has resolved."""
    question = action(PROBE, TargetKind.SERVICE_CLUSTERIP)
    named = replace(question, question=Question.RESOLVE, resolver=Resolver.SYSTEM)
    resolving = check(replace(named, target=replace(named.target, name_form="{service}.x")))
    probes = {"w1": PROBE}
    (pair,) = pairs_of(resolving, probes)
    directory = Directory(facts=FACTS, deployment=deployed())
    found = lateness(directory, [resolving], {resolving.id: [pair]}, probes)
    found.missed(pair, frozenset(silent), 30, overloaded="")
    assert (found.of(resolving.id) is not None) is late


def test_what_is_silent_over_tcp_alone_says_nothing_of_udp(bench: Bench) -> None:
    """Though TCP is requested first."""
    idle_connection(bench, concerned="protocol=http")
    question = action(PROBE, TargetKind.SERVICE_CLUSTERIP)
    over_udp = check(replace(question, protocol=Protocol.UDP), id="udp")
    bench.observe(check(question, id="tcp"), over_udp)
    assert "late" not in bench.done("udp")
    assert SERVICE in bench.done("tcp")["late"]


def test_a_service_that_converged_is_not_told(bench: Bench) -> None:
    """Nothing is late where all answer."""
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    bench.observe(probed)
    assert "late" not in bench.done(probed.id)


def test_its_own_checks_speak_of_a_service_and_no_others(bench: Bench) -> None:
    """A check whose control targets the Service waits for it, and leaves it to the one that probes it itself."""
    idle_connection(bench)
    own = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP), id="own")
    control = Control(proves="target", action=own.action)
    other = check(action(PROBE, TargetKind.POD_IP), control, id="other")
    bench.observe(own, other)
    assert "late" in bench.done("own")
    assert "late" not in bench.done("other")


def test_a_node_port_speaks_of_the_node_that_has_it(bench: Bench) -> None:
    """A NodePort of a node whose proxy knows the Service is not late because the probing node's does not."""
    idle_connection(bench)
    there = action(PROBE, TargetKind.NODEPORT, on="n1")
    node_port = check(there, id="node-port")
    cluster_ip = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP), id="cluster-ip")
    bench.observe(node_port, cluster_ip)
    assert "late" in bench.done("cluster-ip")
    assert "late" not in bench.done("node-port")


def test_what_no_check_targets_is_told_by_those_that_waited(bench: Bench) -> None:
    """A Service that only a control targets is never just a record."""
    idle_connection(bench)
    control = Control(proves="target", action=action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    alone = check(action(PROBE, TargetKind.POD_IP), control, id="alone")
    bench.observe(alone)
    assert SERVICE in bench.done("alone")["late"]


def test_what_others_say_is_not_told_again(bench: Bench) -> None:
    """Where a Service that is probed from there does not answer either, its own checks alone are red."""
    unprobed = "svc-unasked"
    bench.services[unprobed] = replace(bench.services[SERVICE], name=unprobed)
    address = str(bench.services[SERVICE].addresses[0])

    def given_up() -> bool:
        return {SERVICE, unprobed} <= {record["service"] for record in bench.records("convergence")}

    bench.dialling[PROBE].hook = lambda path: (
        TIMED_OUT if address in path and not given_up() else None
    )
    behind = action(PROBE, TargetKind.SERVICE_CLUSTERIP, service=unprobed)
    waiting = check(
        action(PROBE, TargetKind.POD_IP), Control(proves="target", action=behind), id="waits"
    )
    own = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP), id="own")
    bench.observe(waiting, own)
    assert "late" in bench.done("own")
    assert "late" not in bench.done("waits")


def test_a_pod_that_listens_late_is_no_service(bench: Bench) -> None:
    """A container that needs longer than its deadline to listen says nothing of kube-proxy."""
    idle_connection(bench, "server-linux-1-1", probe="probe-linux-1-1")
    probed = check(action(PROBE, TargetKind.POD_IP))
    bench.observe(probed)
    assert [one["converged"] for one in bench.records("convergence")] == [False]
    assert "late" not in bench.done(probed.id)
