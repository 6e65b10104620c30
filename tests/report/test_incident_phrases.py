"""The sentence that names a cause, by the traits that its checks share."""

from dataclasses import replace

import pytest

from nettests.model.measured import PathSize, SizeFinding
from nettests.model.observation import Observation
from nettests.model.words import Outcome, Verdict
from nettests.report.incidents.loss import Loss
from nettests.report.incidents.phrases import (
    cause_alone,
    cause_of,
    cause_of_loss,
    cause_of_slowness,
)
from nettests.report.incidents.slowness import Slowness
from nettests.report.incidents.traits import Kind, Trait
from nettests.report.results import CheckResult
from tests.judge.cases import check, observed

K = Kind


def cause(of: dict[Kind, str]) -> str:
    """Return the cause of checks that share these traits, of which nothing that was seen can be judged."""
    return cause_of([Trait(kind, value) for kind, value in of.items()], [])


@pytest.mark.parametrize(
    ("of", "subject"),
    [
        ({}, "Packets"),
        ({K.PROTOCOL: "udp"}, "UDP packets"),
        ({K.PLACEMENT: "other-node"}, "Packets between nodes"),
        ({K.PLACEMENT: "same-node", K.PROTOCOL: "udp"}, "UDP packets within a node"),
        ({K.PLACEMENT: "outside"}, "Packets out of the cluster"),
        ({K.FAMILY: "IPv6"}, "IPv6 packets"),
        ({K.VANTAGE: "node"}, "Connections from nodes themselves"),
        ({K.VANTAGE: "external"}, "Connections from outside"),
        ({K.VANTAGE: "pod"}, "Connections from Pods"),
        ({K.VANTAGE: "api"}, "Connections from the API"),
        ({K.TARGET: "NodePort", K.VANTAGE: "node"}, "Connections to a NodePort from nodes themselves"),
        ({K.TARGET: "external address", K.VANTAGE: "pod"}, "Connections to an external address"),
        ({K.TARGET: "Pod", K.ENTERED: "n1"}, "Connections from other nodes or outside to a Pod on n1"),
        ({K.PROXY_NODE: "n1", K.PROTOCOL: "tcp"}, "Connections through the Service proxy of n1 over TCP"),
        ({K.LINK: "a and b", K.PROTOCOL: "udp"}, "UDP packets between a and b"),
        ({K.LINK: "a and b", K.SIZE: "1400"}, "Large packets between a and b"),
        ({K.SIZE: "1400"}, "Large packets"),
        ({K.POD_ROUTE: "a → b"}, "Packets from a to Pods of b"),
        ({K.FLOW: "f", K.SOURCE_OS: "windows", K.SYSTEMS: "x"}, "Checks of f from Windows nodes (x)"),
        ({K.BACKEND: "p", K.LEFT: "n"}, "Connections to Pod p from n"),
    ],
)  # fmt: skip
def test_whose_checks_these_are(of: dict[Kind, str], subject: str) -> None:
    """What is most particular names them; the rest says where, and nothing is said twice."""
    assert cause(of) == f"{subject} cannot be judged"


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ({K.UNDECIDED: "the driver"}, "What to expect depends on a fact that is not known: the driver"),
        ({K.UNREADY: "n1"}, "Node n1 was not Ready while it was probed"),
        ({K.NOT_STARTED: "n1"}, "Pods of the run do not start on n1"),
        ({K.WRONG_ANSWER: "a"}, "Cluster DNS answers wrongly: names resolve to a, which is the address of none of them"),
        ({K.NAMES_OUTSIDE: "x"}, "Names outside the cluster do not resolve"),
        ({K.NAMES_OUTSIDE: "x", K.SOURCE_NODE: "n1"}, "Names outside the cluster do not resolve from n1"),
        ({K.DENIAL: "names"}, "Cluster DNS denies names"),
        ({K.LIMITATION: "l"}, "The documented limitation l no longer shows"),
        ({K.DNS: "cluster DNS"}, "Cluster DNS does not answer"),
        ({K.PROPERTY: "session affinity"}, "Session affinity is not kept"),
        ({K.PROPERTY: "distribution"}, "Backends do not share connections as documented"),
        ({K.PROPERTY: "source address"}, "Servers see another source address than documented"),
    ],
)  # fmt: skip
def test_causes_that_name_themselves(of: dict[Kind, str], said: str) -> None:
    """A fact, a node, a Pod, the cluster's DNS, a limitation or what servers see."""
    assert cause(of) == said


@pytest.mark.parametrize(
    ("scope", "where"),
    [
        ({}, "across the cluster"),
        ({K.DNS: "cluster DNS"}, "Queries to the cluster DNS are"),
        ({K.DNS_SERVICE: "n1"}, "Queries to the cluster DNS at its Service address from n1 are"),
        ({K.PROXY_NODE: "n1"}, "through the Service proxy of n1"),
        ({K.LINK: "a and b"}, "Packets between a and b are"),
        ({K.FLOW: "f"}, "Checks of f are"),
    ],
)
def test_where_packets_are_lost_is_told(scope: dict[Kind, str], where: str) -> None:
    """As particular as the checks that lost some are alike."""
    traits = tuple(Trait(kind, value) for kind, value in scope.items())
    loss = Loss(scope=traits, checks=("a",), lost=1, attempts=10, resent=0)
    assert where in cause_of_loss(loss)


def test_a_check_without_an_end_on_a_node_shares_nothing() -> None:
    """Nothing can be said of where to look: its own message is all there is."""
    assert cause_alone(None, "it failed") == ("it failed", ())
    assert cause_alone(check(), "it failed") == ("it failed", ())


def searched(finding: SizeFinding, passes: int) -> CheckResult:
    """Return a check that searched for the largest packet."""
    return result(
        observed(
            Outcome.TIMED_OUT,
            path_size=PathSize(finding=finding, passes=passes, vanishes=passes + 1),
        )
    )


def result(seen: Observation) -> CheckResult:
    """Return a red check that observed this."""
    return CheckResult(
        id="path-mtu/a", flow="path-mtu", verdict=Verdict.FAIL, message="", observation=seen
    )


AT_NODE = [Trait(K.SIZE, "large"), Trait(K.REMOTE_NODE, "win-1")]


def test_a_hole_is_named_with_its_size_and_the_mtu_that_would_fit() -> None:
    """The least of what several searches found is what fits all of their paths."""
    found = [searched(SizeFinding.HOLE, 1400), searched(SizeFinding.HOLE, 1450)]
    assert cause_of(AT_NODE, found) == (
        "Packets above 1,400 bytes between win-1 and other nodes do not arrive; smaller ones do: "
        "Pods need an MTU of 1,400 bytes or less"
    )


def test_a_clamp_is_told_from_a_hole() -> None:
    """Where senders are told, nothing vanishes for long."""
    told = cause_of(AT_NODE, [searched(SizeFinding.CLAMP, 1400)])
    assert (
        "Packets above 1,400 bytes between win-1 and other nodes arrive only after ICMP has told"
        in told
    )


def test_sizes_of_one_protocol_are_named_with_it() -> None:
    """Where another protocol carries large packets, the size alone is not the cause."""
    traits = [*AT_NODE, Trait(K.PROTOCOL, "tcp")]
    failed = [result(observed(Outcome.TIMED_OUT))]
    told = "Large TCP packets between win-1 and other nodes get no answer"
    assert cause_of(traits, failed) == told
    assert cause_of(traits, failed, smaller_arrive=True) == f"{told}; small ones arrive"


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ({}, "Packets across the cluster"),
        ({K.PLACEMENT: "other-node"}, "Packets between nodes"),
        ({K.REMOTE_NODE: "win-1"}, "Packets between win-1 and other nodes"),
        ({K.DNS: "cluster DNS"}, "Queries to the cluster DNS"),
        ({K.DNS_SERVICE: "n1"}, "Queries to the cluster DNS at its Service address from n1"),
    ],
)
def test_answers_that_are_all_late_are_told_with_the_seconds(
    scope: dict[Kind, str], said: str
) -> None:
    """As particular as the checks are alike."""
    traits = tuple(Trait(kind, value) for kind, value in scope.items())
    slowness = Slowness(scope=traits, checks=("a",), least=2.04)
    assert cause_of_slowness(slowness) == f"{said} are answered only after 2.0 s or more"


@pytest.mark.parametrize(
    ("lost", "resent", "said"),
    [
        (2, 0, "2 of 10 attempts got no answer"),
        (
            2,
            1,
            "2 of 10 attempts got no answer, 1 check got one only after a retransmission",
        ),
        (0, 3, "3 checks got an answer only after a retransmission"),
    ],
)
def test_how_much_is_lost_is_told(lost: int, resent: int, said: str) -> None:
    """Attempts without an answer, and checks that had theirs only when something was sent again."""
    loss = Loss(scope=(), checks=("a",), lost=lost, attempts=10, resent=resent)
    assert cause_of_loss(loss).endswith(f": {said}")
    of_flows = cause_of_loss(replace(loss, whole=4))
    assert of_flows.endswith(
        ", 4 TCP connections got none at all, as if one of several paths were broken"
    )
