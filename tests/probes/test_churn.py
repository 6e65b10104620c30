"""A Service that is deleted and recreated: what is changed, in which order, and what a stale rule looks like."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.errors import ClusterError
from nettests.judge import judge
from nettests.model.channel import HttpAnswer
from nettests.model.check import Check, Control
from nettests.model.expectation import Expectation
from nettests.model.labels import POD_LABEL
from nettests.model.service import Change, ServiceSettings
from nettests.model.words import CheckClass, Question, TargetKind, Verdict
from nettests.probes.churn import Churn
from nettests.probes.service_changes import remade
from tests.probes.conftest import Bench
from tests.probes.made import NAMESPACE, action, check

PROBE = "probe-linux-1-1"
SERVICE = "svc-server-linux-1-1"
FORMER, FINAL = "server-linux-1-2", "server-linux-1-1"
STORED: dict[str, Any] = {
    "metadata": {"name": SERVICE, "namespace": NAMESPACE, "labels": {"run": "r"}, "uid": "1"},
    "spec": {
        "type": "NodePort",
        "clusterIP": "10.96.1.1",
        "clusterIPs": ["10.96.1.1"],
        "selector": {"member": "true"},
        "ports": [
            {"name": "hostname", "port": 80, "targetPort": 1, "nodePort": 30080, "protocol": "TCP"}
        ],
    },
    "status": {"loadBalancer": {}},
}


@dataclass(slots=True)
class Api:
    """Holds one Service; ``rules`` is the backend that a probe meets through it."""

    stale_from: int = 10**6
    """From this change on the rules of before stay."""
    silent: bool = False
    """Rules that went stale answer nobody."""
    refuses: bool = False
    changes: list[str] = field(default_factory=list)
    rules: str = ""

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Return the Service as it was first stored."""
        assert (path, query) == (f"/api/v1/namespaces/{NAMESPACE}/services/{SERVICE}", {})
        return 200, json.dumps(STORED)

    def delete(self, path: str) -> None:
        """Delete the Service."""
        if self.refuses:
            raise ClusterError("services is forbidden")
        self.changes.append("gone")

    def create(self, item: dict[str, Any]) -> dict[str, Any]:
        """Create the Service, and let the rules follow unless they have gone stale."""
        (backend,) = item["spec"]["selector"].values()
        self.changes.append(backend)
        if len(self.changes) < self.stale_from:
            self.rules = backend
        elif self.silent:
            self.rules = "nobody"
        return item

    def update(self, path: str, item: dict[str, Any]) -> None:
        """Change the Service where it stands, and let the rules follow unless they have gone stale."""
        assert path.endswith(f"/services/{SERVICE}")
        if self.refuses:
            raise ClusterError("services is forbidden")
        assert "resourceVersion" not in item["metadata"]
        assert item["spec"]["clusterIP"] == STORED["spec"]["clusterIP"]
        (backend,) = item["spec"]["selector"].values()
        self.changes.append(backend)
        if len(self.changes) < self.stale_from:
            self.rules = FORMER if backend == "server" else backend

    def answer(self, path: str) -> HttpAnswer | None:
        """Answer a dial as the rules say."""
        if "port=80" not in path:
            return None
        if self.rules == "nobody":
            told = {"errors": ["dial tcp 10.96.1.1:80: connect: connection refused"]}
        else:
            told = {"responses": [self.rules]}
        return HttpAnswer(status=200, body=json.dumps(told))


def churned(*controls: Control, in_place: bool = False) -> Check:
    """Return a check over a Service that ends in front of another backend."""
    question = action(PROBE, TargetKind.SERVICE_CLUSTERIP, question=Question.CHURN, connections=8)
    target = replace(question.target, backends=(FINAL,), former=(FORMER,))
    if in_place:
        changed = ServiceSettings(label="changed", change=Change.ENDPOINTS)
        target = replace(target, settings=changed)
    return check(replace(question, target=target), *controls, check_class=CheckClass.DISRUPTIVE)


def observed(bench: Bench, api: Api, *, in_place: bool = False) -> Check:
    """Observe such a check against rules that follow the API, or do not."""
    api.rules = FINAL
    bench.dialling[PROBE].hook = api.answer
    proof = Control(proves="vantage", action=action(PROBE, TargetKind.POD_IP))
    made = churned(proof, in_place=in_place)
    observer = bench.observer([made])
    observer.churn = Churn(services=api, namespace=NAMESPACE)
    observer.run()
    return made


def verdict(bench: Bench, made: Check) -> Verdict:
    """Judge what was observed as the claim demands."""
    expectation = Expectation(claim=made.claim, expected=made.claim)
    return judge(made, expectation, bench.seen(made)).verdict


def test_the_last_backend_answers_after_all_changes(bench: Bench) -> None:
    """The Service goes before each time it comes, ends at the check's backend, and was empty between."""
    api = Api()
    made = observed(bench, api)
    assert api.changes[::2] == ["gone"] * (len(api.changes) // 2)
    came = api.changes[1::2]
    assert (came[0], came[-1]) == (FORMER, FINAL)
    assert "nobody" in came
    assert len([raw for raw in bench.raws(made.id) if raw.purpose == "check"]) == 8
    assert bench.done(made.id).get("distrust") is None
    assert verdict(bench, made) is Verdict.PASS


def test_endpoints_that_change_in_place_are_followed(bench: Bench) -> None:
    """The Service is never deleted; it leads to others, to several, to none and to several before its last backend."""
    api = Api()
    made = observed(bench, api, in_place=True)
    assert api.changes == [FORMER, FINAL, "server", FINAL, "nobody", "server", FINAL]
    assert verdict(bench, made) is Verdict.PASS


@pytest.mark.parametrize(
    ("stale_from", "says"),
    [
        (1, f"left with {FORMER} as endpoints in place"),
        (5, "left without endpoints in place"),
        (7, FORMER),
    ],
)
def test_a_change_in_place_that_is_ignored_fails_with_who_still_answers(
    bench: Bench, stale_from: int, says: str
) -> None:
    """Whichever change the rules do not follow, the verdict names it and the backend that answered instead."""
    made = observed(bench, Api(stale_from=stale_from), in_place=True)
    found = bench.seen(made)
    expectation = Expectation(claim=made.claim, expected=made.claim)
    ruling = judge(made, expectation, found)
    assert ruling.verdict is Verdict.FAIL
    assert says in ruling.message
    assert (FINAL if stale_from < 7 else FORMER) in found.backends


@pytest.mark.parametrize("stale_from", [3, 13])
def test_a_former_backend_that_still_answers_fails_the_check(bench: Bench, stale_from: int) -> None:
    """Rules that keep a former backend give a fail that names it."""
    made = observed(bench, Api(stale_from=stale_from))
    assert bench.done(made.id).get("distrust") is None
    assert bench.seen(made).backends == (FORMER,)
    assert verdict(bench, made) is Verdict.FAIL


@pytest.mark.parametrize(
    ("stale_from", "silent", "says"),
    [
        (0, False, f"recreated in front of {FORMER}"),
        (5, False, f"recreated in front of {FORMER}"),
        (7, False, "left without endpoints"),
        (0, True, f"recreated in front of {FORMER}"),
        (5, True, f"recreated in front of {FORMER}"),
    ],
)
def test_a_change_that_is_not_followed_fails_the_check(
    bench: Bench, stale_from: int, says: str, *, silent: bool
) -> None:
    """A Service that is recreated and keeps its old rules, or answers nobody, is the bug that is looked for."""
    made = observed(bench, Api(stale_from=stale_from, silent=silent))
    assert bench.done(made.id).get("distrust") is None
    expectation = Expectation(claim=made.claim, expected=made.claim)
    found = judge(made, expectation, bench.seen(made))
    assert found.verdict is Verdict.FAIL
    assert says in found.message
    assert "131466" in found.next_step


def test_a_refusal_is_no_observation(bench: Bench) -> None:
    """What the API server forbids leaves the check unknown, with its words."""
    made = observed(bench, Api(refuses=True))
    assert bench.done(made.id)["distrust"] == "services is forbidden"


def test_the_service_keeps_its_address_and_nothing_that_the_api_added() -> None:
    """It is recreated as a ClusterIP Service with the same address and ports, for one pod."""
    again = remade(STORED, {POD_LABEL: FORMER})
    assert again["spec"] == {
        "type": "ClusterIP",
        "clusterIP": "10.96.1.1",
        "selector": {"nettests.dev/pod": FORMER},
        "ports": [{"name": "hostname", "port": 80, "targetPort": 1, "protocol": "TCP"}],
    }
    assert set(again["metadata"]) == {"name", "namespace", "labels"}


def test_disruptive_checks_wait_for_the_others(bench: Bench) -> None:
    """They are done last, whatever their place in the plan."""
    api = Api(rules=FINAL)
    bench.dialling[PROBE].hook = api.answer
    made, calm = churned(), check(action(PROBE, TargetKind.POD_IP), id="calm/a/b")
    observer = bench.observer([made, calm])
    observer.churn = Churn(services=api, namespace=NAMESPACE)
    observer.run()
    assert [record["check"] for record in bench.records("done")] == [calm.id, made.id]


def test_disruptive_checks_are_run_side_by_side(bench: Bench) -> None:
    """Neither of two waits for the other: each comes to its first change before one of them goes on."""
    both = threading.Barrier(2, timeout=10)

    class Meeting(Api):
        def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
            both.wait()
            return Api.read(self, path, query)

    api = Meeting(rules=FINAL, refuses=True)
    first, second = (replace(churned(), id=f"churn/{n}/x") for n in (1, 2))
    observer = bench.observer([first, second])
    observer.churn = Churn(services=api, namespace=NAMESPACE)
    observer.run()
    assert not both.broken
    assert {bench.done(one.id)["distrust"] for one in (first, second)} == {"services is forbidden"}


def test_what_converges_late_is_probed_after_the_disruptive_checks(bench: Bench) -> None:
    """A server that answers nobody for long holds nobody up, and is probed when nobody disturbs."""
    api = Api(rules=FINAL)
    question = action(PROBE, TargetKind.POD_IP)
    silent = str(bench.pods[question.target.pod or ""].addresses[0])
    gone = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))
    bench.dialling[PROBE].hook = lambda path: gone if silent in path else api.answer(path)
    late, made = check(question, id="late/a/b"), churned()
    observer = bench.observer([late, made])
    observer.churn = Churn(services=api, namespace=NAMESPACE)
    observer.late = 0
    observer.run()
    assert [record["check"] for record in bench.records("done")] == [made.id, late.id]
    order = [raw.check for raw in bench.raws()]
    assert order == sorted(order, key=[made.id, late.id].index)
