"""Changes of one Service that are watched from several nodes: which node does not follow, and what the others do then."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.bounds import Bounds
from nettests.errors import ClusterError
from nettests.judge import judge
from nettests.model.channel import HttpAnswer
from nettests.model.check import Check, Control
from nettests.model.check_id import member_id
from nettests.model.expectation import Expectation
from nettests.model.service import Change, ServiceSettings
from nettests.model.verdict import Judgement
from nettests.model.words import CheckClass, Question, TargetKind, Verdict
from nettests.probes.churn import Churn
from tests.probes.conftest import Bench
from tests.probes.made import NAMESPACE, action, check

PROBES = {"n1": "probe-linux-1-1", "w1": "probe-windows-1-1"}
SERVICE = "svc-server-linux-1-1"
FORMER, FINAL = "server-linux-1-2", "server-linux-1-1"
CHANGES = [FORMER, FINAL, "server", FINAL, "nobody", "server", FINAL]
STORED: dict[str, Any] = {
    "metadata": {"name": SERVICE, "namespace": NAMESPACE, "labels": {}},
    "spec": {
        "type": "ClusterIP",
        "clusterIP": "10.96.1.1",
        "selector": {"member": "true"},
        "ports": [{"name": "hostname", "port": 80, "targetPort": 1, "protocol": "TCP"}],
    },
}


@dataclass(slots=True)
class Nodes:
    """An API server, and nodes with rules of their own; ``stale`` is the change from which on a node follows none."""

    stale: dict[str, int] = field(default_factory=dict)
    refuses: bool = False
    reads: int = 0
    changes: list[str] = field(default_factory=list)
    rules: dict[str, str] = field(default_factory=lambda: dict.fromkeys(PROBES, FINAL))

    def read(self, _path: str, _query: Mapping[str, str]) -> tuple[int, str]:
        """Return the Service as it was first stored."""
        self.reads += 1
        return 200, json.dumps(STORED)

    def create(self, item: dict[str, Any]) -> dict[str, Any]:
        """Nothing is created."""
        raise AssertionError(item)

    def delete(self, path: str) -> None:
        """Nothing is deleted."""
        raise AssertionError(path)

    def update(self, _path: str, item: dict[str, Any]) -> None:
        """Change the Service; a node's rules follow unless they have gone stale."""
        if self.refuses:
            raise ClusterError("services is forbidden")
        (backend,) = item["spec"]["selector"].values()
        self.changes.append(backend)
        for node in self.rules:
            if len(self.changes) < self.stale.get(node, 10**6):
                self.rules[node] = FORMER if backend == "server" else backend

    def at(self, node: str) -> Any:
        """Return what a dial from a node is answered."""

        def answer(path: str) -> HttpAnswer | None:
            if "port=80" not in path:
                return None
            if self.rules[node] == "nobody":
                told = {"errors": ["dial tcp 10.96.1.1:80: connect: connection refused"]}
            else:
                told = {"responses": [self.rules[node]]}
            return HttpAnswer(status=200, body=json.dumps(told))

        return answer


def members() -> list[Check]:
    """Return the members of one check, one for each node."""
    settings = ServiceSettings(label="changed", change=Change.ENDPOINTS)
    made = []
    for node, probe in PROBES.items():
        question = action(
            probe, TargetKind.SERVICE_CLUSTERIP, question=Question.CHURN, connections=4
        )
        target = replace(
            question.target, service=SERVICE, backends=(FINAL,), former=(FORMER,), settings=settings
        )
        churned = replace(question, source=replace(question.source, node=node), target=target)
        proof = Control(proves="vantage", action=action(probe, TargetKind.POD_IP))
        one = check(churned, proof, check_class=CheckClass.DISRUPTIVE)
        made.append(replace(one, id=member_id("changed/a/b/tcp", f"{node} → servers")))
    return made


def watched(bench: Bench, nodes: Nodes) -> dict[str, Judgement]:
    """Observe and judge all members, and return what is said of each node."""
    for node, probe in PROBES.items():
        if probe in bench.dialling:
            bench.dialling[probe].hook = nodes.at(node)
    found = members()
    observer = bench.observer(found)
    observer.churn = Churn(services=nodes, namespace=NAMESPACE)
    observer.run()
    return {
        one.source.node or "": judge(
            one, Expectation(claim=one.claim, expected=one.claim), bench.seen(one)
        )
        for one in found
    }


def events(bench: Bench) -> list[str]:
    """Return what the run says that happened."""
    return [record["text"] for record in bench.records("event")]


def test_all_nodes_watch_the_same_changes(bench: Bench) -> None:
    """Each change is made once, the Service is read once, and each node looks at who answers after every change."""
    nodes = Nodes()
    found = watched(bench, nodes)
    assert {one.verdict for one in found.values()} == {Verdict.PASS}
    assert (nodes.changes, nodes.reads) == (CHANGES, 1)
    looks = [
        sum(raw.purpose == "churn" for raw in bench.raws(one.id)) >= len(CHANGES)
        for one in members()
    ]
    assert all(looks)
    (told,) = events(bench)
    assert told.startswith(f"Service {SERVICE}: rules of 2 nodes followed each change, those of ")


@pytest.mark.parametrize("node", list(PROBES))
@pytest.mark.parametrize("stale_from", [1, 4])
def test_one_node_that_keeps_a_backend_is_the_one_that_fails(
    bench: Bench, node: str, stale_from: int
) -> None:
    """It names the backend that still answers; the others are watched through all other changes, and pass."""
    nodes = Nodes(stale={node: stale_from})
    found = watched(bench, nodes)
    (other,) = PROBES.keys() - {node}
    assert (found[node].verdict, found[other].verdict) == (Verdict.FAIL, Verdict.PASS)
    assert f"{FINAL if stale_from == 1 else FORMER} answered" in found[node].message
    left = FORMER if stale_from == 1 else FINAL
    assert f"left with {left} as endpoints in place, and its rules did not follow in 0.6 s" in (
        found[node].message
    )
    assert nodes.changes == CHANGES
    assert any(f" on {node} in 0.6 s" in text for text in events(bench))


def test_what_a_node_missed_stands_until_it_was_tested(bench: Bench) -> None:
    """The next change comes when its questions are over: they show who answers in the state that it missed."""
    nodes = Nodes(stale={"w1": 1})
    watched(bench, nodes)
    late, others = (one.id for one in reversed(members()))
    answered = [raw for raw in bench.raws() if raw.purpose == "check" and raw.check == late]
    assert len(answered) == 4
    last = max(raw.started + raw.elapsed for raw in answered)
    next_looks = [
        raw.started for raw in bench.raws(others) if raw.purpose == "churn" and raw.started > last
    ]
    assert len(next_looks) > len(CHANGES) - 2


def test_two_nodes_that_miss_different_changes_both_fail(bench: Bench) -> None:
    """The first one hides nothing of the second."""
    found = watched(bench, Nodes(stale={"n1": 1, "w1": 5}))
    assert {one.verdict for one in found.values()} == {Verdict.FAIL}
    assert f"left with {FORMER} as endpoints in place" in found["n1"].message
    assert "left without endpoints in place" in found["w1"].message


def test_a_probe_that_cannot_be_used_holds_up_nobody(bench: Bench) -> None:
    """Its member is unknown, and the others are watched."""
    bench.problems["probe-windows-1-1"] = "no channel to probe-windows-1-1"
    nodes = Nodes()
    for_others = watched(bench, nodes)
    assert for_others["n1"].verdict is Verdict.PASS
    windows = members()[1]
    assert bench.done(windows.id)["distrust"] == "no channel to probe-windows-1-1"
    assert nodes.changes == CHANGES


def test_a_refusal_is_one_of_all_members(bench: Bench) -> None:
    """None of them watched anything."""
    watched(bench, Nodes(refuses=True))
    assert {bench.done(one.id)["distrust"] for one in members()} == {"services is forbidden"}


def test_more_members_than_may_watch_at_once_do_so_in_turns(bench: Bench) -> None:
    """A flow of somebody's own may have more of them than threads: none waits for one that never comes."""
    nodes = Nodes(refuses=True)
    first, _ = members()
    many = [
        replace(first, id=member_id("changed/a/b/tcp", f"n{number} → servers"))
        for number in range(Bounds().watchers + 1)
    ]
    observer = bench.observer(many)
    observer.churn = Churn(services=nodes, namespace=NAMESPACE)
    bench.dialling["probe-linux-1-1"].hook = nodes.at("n1")
    observer.run()
    assert nodes.reads == 2
    assert {bench.done(one.id)["distrust"] for one in many} == {"services is forbidden"}
