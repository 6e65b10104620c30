"""What a node itself sends to Pods of others, and is sent by them, is one cause: its Pods' own packets are another matter."""

from dataclasses import replace

from nettests.model.check import Check
from nettests.model.words import TargetKind, VantageKind
from nettests.report import Results
from tests.report.test_incidents import WIN, broken


def by_itself(check: Check) -> bool:
    """Whether a check is between the node itself and a Pod of another one."""
    source, target = check.source, check.target
    to_pods = source.kind is VantageKind.NODE and target.kind is TargetKind.POD_IP
    from_pods = source.kind is VantageKind.POD and target.kind is TargetKind.NODE_IP
    node = source.node if to_pods else target.node if from_pods else None
    return node == WIN and source.node != target.node


def test_a_node_that_exchanges_nothing_with_pods_elsewhere_is_named(quiet: Results) -> None:
    """Either direction is silent, because a question is lost as its answer is."""
    (incident,) = broken(quiet, by_itself).incidents
    assert incident.traits == {"host": WIN}
    assert incident.cause == f"Packets between {WIN} itself and Pods of other nodes get no answer"
    assert {one.partition("/")[0] for one in incident.checks} >= {"node-to-pod", "icmp-pod-to-node"}


def sends_to_pods(check: Check) -> bool:
    """Whether the node itself sends to a Pod of another one."""
    return by_itself(check) and check.source.kind is VantageKind.NODE


def test_a_node_that_answers_pods_elsewhere_is_named_as_the_source(quiet: Results) -> None:
    """Where the network translates what Pods send to nodes, they are answered although the node gets no answer."""
    (incident,) = broken(quiet, sends_to_pods).incidents
    assert incident.traits == {"host-sends": WIN}
    assert incident.cause == f"Packets from {WIN} itself to Pods of other nodes get no answer"
    assert {one.partition("/")[0] for one in incident.checks} >= {"node-to-pod"}


def test_a_node_is_not_cut_off_because_nothing_else_was_run(quiet: Results) -> None:
    """A run of the failed checks alone has no green one of the node's Pods: what it shows is about the node itself."""
    alone = [one for one in quiet.checks if one.check is not None and by_itself(one.check)]
    (incident,) = broken(replace(quiet, checks=tuple(alone)), by_itself).incidents
    assert incident.traits == {"host": WIN}
