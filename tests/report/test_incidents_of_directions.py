"""A pair of nodes is cut in one direction: servers' logs tell which, and the incident says it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.model.check import Action, Check
from nettests.model.observation import Raw
from nettests.model.words import Protocol, TargetKind, Verdict
from nettests.parse.arrival import ARRIVAL, SERVER_LOG
from nettests.report import Results
from nettests.report.incidents import find_incidents
from nettests.report.results import CheckResult, Incident, run_singly
from tests.report.sweep import swept

FIRST, SECOND = "win-3", "linux-2"


def cut(action: Action) -> bool:
    """Neither's question is answered, in whichever direction packets are lost."""
    return {action.source.node, action.target.node} == {FIRST, SECOND}


def cut_pods(action: Action) -> bool:
    """Only what is sent to Pods is lost."""
    return cut(action) and action.target.kind is TargetKind.POD_IP


def logged(results: Results, arrives: Callable[[Check], bool | None]) -> Incident:
    """Return the leading incident where servers' logs say which datagrams of silent checks arrived; ``None``: unread."""

    def of(one: CheckResult) -> CheckResult:
        check = one.check
        if check is None or one.verdict is not Verdict.FAIL:
            return one
        if check.action.protocol is not Protocol.UDP or check.target.kind is not TargetKind.POD_IP:
            return one
        came = arrives(check)
        line = "I1121 01:07:31.501832 1 log.go:244] Echoing 000 to UDP client 10.244.1.5:46582"
        raw = Raw(
            check=check.id,
            purpose=ARRIVAL,
            attempt=2,
            tool=SERVER_LOG,
            client_os="windows",
            probe=check.source.probe,
            channel="api",
            command=("log", check.target.pod or "", "hostname"),
            started=1.0,
            elapsed=0.1,
            stdout=line if came else "",
            error="HTTP 403" if came is None else None,
        )
        return replace(one, raws=(*one.raws, raw))

    return find_incidents([of(one) for one in run_singly(results.checks)], results.facts)[0]


@pytest.fixture(scope="module")
def pair() -> Results:
    """No question between the two nodes is answered."""
    return swept(cut)


def from_second(check: Check) -> bool:
    """Datagrams of the second node arrive, those of the first do not."""
    return check.source.node == SECOND


def test_the_direction_that_is_cut_is_named(pair: Results) -> None:
    """The first node's datagrams do not arrive; the second's do, and their answers are lost."""
    found = logged(pair, from_second)
    assert (
        found.cause
        == "Packets from win-3 to linux-2 do not arrive; those in the other direction do"
    )
    assert found.traits == {"direction": "win-3 → linux-2"}
    assert len(found.members) == 8


def test_the_other_direction_is_named_as_well(pair: Results) -> None:
    """It is the logs that decide, not which node is named first."""
    found = logged(pair, lambda check: not from_second(check))
    assert (
        found.cause
        == "Packets from linux-2 to win-3 do not arrive; those in the other direction do"
    )


def test_nothing_arrives_in_either_direction(pair: Results) -> None:
    """Neither server's log tells of the other's datagram."""
    found = logged(pair, lambda _: False)
    assert found.cause == "Packets between linux-2 and win-3 do not arrive, in either direction"


def test_where_no_log_can_be_read_the_pair_is_named(pair: Results) -> None:
    """Without the permission to read logs nothing is said of directions."""
    found = logged(pair, lambda _: None)
    assert found.cause == "Packets between linux-2 and win-3 get no answer"


def test_a_route_to_pods_is_named_with_its_direction() -> None:
    """Nodes reach each other, and one has no way to the other's Pods: the step is about its routes."""
    found = logged(swept(cut_pods), from_second)
    assert (
        found.cause
        == "Packets from win-3 to Pods of linux-2 do not arrive; those in the other direction do"
    )
    assert "on win-3, look for the route" in found.next_step
    assert "on linux-2" not in found.next_step
