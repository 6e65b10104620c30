"""What sizes and how many tries a plan states, and by which small questions they count."""

from dataclasses import replace

import pytest

from nettests.model.check import Check
from nettests.model.facts import ClusterFacts, known
from nettests.model.payload import EVERY_PATH, ONE_MIB, SIXTY_FOUR_KIB
from nettests.model.words import CheckClass, Outcome, Protocol, Question
from nettests.plan import build, load
from nettests.plan.declarations import Registry
from nettests.resources import suites_path
from tests.plan.clusters import alone, mixed

REGISTRY: Registry = load([suites_path()])
HEADERS = 28


def planned(name: str, facts: ClusterFacts | None = None) -> tuple[Check, ...]:
    """Return the checks of one flow."""
    flows = [flow for flow in REGISTRY.flows if flow.name == name]
    return alone(build(facts or mixed(), flows, frozenset(CheckClass))).checks


def with_mtu(mtu: int) -> ClusterFacts:
    """Return facts of a cluster whose Pods' MTU is stated."""
    facts = mixed()
    return replace(facts, cni=replace(facts.cni, mtu=known(mtu, "test")))


@pytest.mark.parametrize(
    ("name", "size"), [("payload-pod-to-pod", SIXTY_FOUR_KIB), ("payload-1mib-pod-to-pod", ONE_MIB)]
)
def test_over_tcp_a_payload_has_the_size_that_its_flow_states(name: str, size: int) -> None:
    """Connections carry any size, whatever the MTU is."""
    for check in planned(name, with_mtu(1450)):
        if check.action.protocol is Protocol.TCP:
            assert check.action.size == size


@pytest.mark.parametrize(("facts", "packet"), [(with_mtu(1450), 1450), (mixed(), EVERY_PATH)])
def test_over_udp_a_payload_fills_one_packet(facts: ClusterFacts, packet: int) -> None:
    """A datagram is as large as the Pods' MTU lets it be, or as every path carries where that is not known."""
    found = [
        one
        for one in planned("payload-pod-to-service", facts)
        if one.action.protocol is Protocol.UDP
    ]
    assert {one.action.size for one in found} == {packet - HEADERS}


@pytest.mark.parametrize("name", ["payload-pod-to-pod", "payload-nodeport-from-pod", "path-mtu"])
def test_large_packets_count_beside_small_ones_on_the_same_path(name: str) -> None:
    """The target's control is the check's own question without a payload, so that its failure is no matter of size."""
    for check in planned(name):
        (control,) = [one.action for one in check.controls if one.proves == "target"]
        assert (control.source, control.target, control.protocol) == (
            check.source,
            check.target,
            check.action.protocol,
        )
        assert (control.question, control.size) == (Question.REACH, None)


def test_a_path_is_searched_whether_or_not_its_mtu_is_known() -> None:
    """The search knows the Pods' MTU where it is stated, and runs all the same where it is not."""
    assert {one.action.size for one in planned("path-mtu", with_mtu(1450))} == {1450}
    assert {one.action.size for one in planned("path-mtu")} == {None}


def test_trains_count_beside_one_question() -> None:
    """A control of a train sends its question once: nothing is counted there."""
    for check in planned("path-loss"):
        assert check.action.connections > 1
        assert {one.action.connections for one in check.controls} == {1}
        assert {one.action.question for one in check.controls} == {Question.REACH}


@pytest.mark.parametrize("name", ["path-loss", "path-mtu"])
def test_counts_and_searches_claim_an_answer(name: str) -> None:
    """Like any question of reach: what a path in order brings is an answer."""
    said = {Protocol.TCP: Outcome.CONNECTED, Protocol.UDP: Outcome.REPLIED}
    assert all(one.claim.outcome is said[one.action.protocol] for one in planned(name))


def test_each_node_sends_tens_of_queries_to_cluster_dns() -> None:
    """Enough to show a loss of one in twenty, and few: all nodes share the name servers."""
    actions = [check.action for check in planned("dns-loss")]
    assert {(sent.protocol, sent.connections) for sent in actions} == {(Protocol.UDP, 80)}
