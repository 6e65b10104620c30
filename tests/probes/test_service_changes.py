"""A Service beside which another one goes, and whose ports are renamed: what is done, and what rules that fail look like."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.judge import judge
from nettests.model.channel import HttpAnswer
from nettests.model.check import Check, Control
from nettests.model.expectation import Expectation
from nettests.model.service import Change, ServiceSettings, sibling_of
from nettests.model.verdict import Judgement
from nettests.model.words import CheckClass, Question, TargetKind, Verdict
from nettests.probes.addresses import NotOfferedError
from nettests.probes.churn import IN_A_ROW, Churn
from nettests.probes.deployment import StandingService
from nettests.probes.service_changes import Operation, renamed, steps
from tests.probes.conftest import Bench, address_of
from tests.probes.made import NAMESPACE, action, check
from tests.probes.netexec import fresh_address

PROBE = "probe-linux-1-1"
SERVICE = "svc-server-linux-1-1"
TWIN = sibling_of(SERVICE)
FORMER, FINAL = "server-linux-1-2", "server-linux-1-1"
PORTS = [{"name": "hostname", "port": 80, "targetPort": 18080, "protocol": "TCP"}]


def stored(name: str) -> dict[str, Any]:
    """Return a Service as the API server has it."""
    return {
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {}, "resourceVersion": "7"},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "10.96.1.1",
            "selector": {"member": name},
            "ports": PORTS,
        },
    }


Breaks = Callable[["Cluster"], None]
"""What goes wrong with rules."""


def nothing(_: "Cluster") -> None:
    """Leave rules as they are."""


@dataclass(slots=True)
class Cluster:
    """The API server, and the rules of a node: ``breaks`` may change them after each change, by its words."""

    hosts: dict[str, str]
    breaks: dict[str, Breaks] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=lambda: {SERVICE: FINAL, TWIN: FINAL})
    done: list[str] = field(default_factory=list)
    keeping_addresses: bool = False

    def read(self, path: str, _query: Mapping[str, str]) -> tuple[int, str]:
        """Return a Service."""
        return 200, json.dumps(stored(path.rpartition("/")[2]))

    def delete(self, path: str) -> None:
        """Delete a Service, and its rules."""
        name = path.rpartition("/")[2]
        self.rules.pop(name, None)
        self._tell(f"delete {name}")

    def create(self, item: dict[str, Any]) -> dict[str, Any]:
        """Create the Service again, as it was."""
        name = item["metadata"]["name"]
        assert item["spec"] == stored(name)["spec"]
        self.rules[name] = FINAL
        self._tell(f"create {name}")
        return item

    def replace(
        self, gone: str, comes: str, group: str, *, beside: str, keeping_address: bool = False
    ) -> None:
        """Replace the Pod of a group, which the Service has been led to."""
        assert keeping_address is (self.keeping_addresses and bool(gone and comes))
        assert (group, beside) == (SERVICE, FINAL)
        if comes:
            self.rules[SERVICE] = comes
        self._tell(f"{gone or 'none'} by {comes or 'none'}")

    def update(self, path: str, item: dict[str, Any]) -> None:
        """Change the Service where it stands."""
        (backend,) = item["spec"]["selector"].values()
        (port,) = item["spec"]["ports"]
        assert {**port, "name": "hostname"} == PORTS[0]
        self.rules[path.rpartition("/")[2]] = backend
        self._tell(f"{port['name']} {backend}")

    def _tell(self, words: str) -> None:
        self.done.append(words)
        self.breaks.get(f"{len(self.done)}", nothing)(self)

    def answer(self, path: str) -> HttpAnswer | None:
        """Answer a dial to one of the two Services as its rules say."""
        name = next((one for one, host in self.hosts.items() if f"host={host}&" in path), None)
        if name is None:
            return None
        backend = self.rules.get(name)
        told = (
            {"responses": [backend]}
            if backend
            else {"errors": ["dial tcp 10.96.1.1:80: connect: connection refused"]}
        )
        return HttpAnswer(status=200, body=json.dumps(told))


def changed(change: Change) -> Check:
    """Return a check of the Service after that change."""
    question = action(PROBE, TargetKind.SERVICE_CLUSTERIP, question=Question.CHURN, connections=8)
    settings = ServiceSettings(label="changed", change=change)
    target = replace(question.target, backends=(FINAL,), former=(FORMER,), settings=settings)
    proof = Control(proves="vantage", action=action(PROBE, TargetKind.POD_IP))
    return check(replace(question, target=target), proof, check_class=CheckClass.DISRUPTIVE)


def judged(
    bench: Bench, change: Change, breaks: dict[str, Breaks] | None = None
) -> tuple[Judgement, Cluster]:
    """Observe and judge a check of that change on a cluster that may break."""
    twin = fresh_address()
    bench.services[TWIN] = StandingService(name=TWIN, addresses=(address_of(twin),), node_ports={})
    own = str(bench.services[SERVICE].addresses[0])
    cluster = Cluster(hosts={SERVICE: own, TWIN: twin}, breaks=breaks or {})
    cluster.keeping_addresses = change is Change.SAME_ADDRESS
    bench.dialling[PROBE].hook = cluster.answer
    made = changed(change)
    observer = bench.observer([made])
    observer.churn = Churn(services=cluster, namespace=NAMESPACE, replacing=cluster)
    observer.run()
    expectation = Expectation(claim=made.claim, expected=made.claim)
    return judge(made, expectation, bench.seen(made)), cluster


def test_a_sibling_goes_and_comes_while_the_service_is_left_alone(bench: Bench) -> None:
    """It is deleted three times and recreated as it was in between; the Service itself is never touched."""
    found, cluster = judged(bench, Change.SIBLING)
    assert cluster.done == [f"{operation} {TWIN}" for operation in ("delete", "create") * 2] + [
        f"delete {TWIN}"
    ]
    assert found.verdict is Verdict.PASS


def lose(name: str) -> Breaks:
    """Return what loses the rules of a Service."""

    def lost(cluster: Cluster) -> None:
        cluster.rules.pop(name, None)

    return lost


def keep(name: str) -> Breaks:
    """Return what keeps the rules of a Service that has gone."""
    return lambda cluster: cluster.rules.__setitem__(name, FINAL)


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        ({"1": lose(SERVICE)}, f"{TWIN} over the same endpoints was deleted, and this one lost"),
        ({"5": lose(SERVICE)}, f"{TWIN} over the same endpoints was deleted, and this one lost"),
        ({"2": lose(SERVICE)}, f"{TWIN} over the same endpoints was recreated, and this one lost"),
        ({"3": keep(TWIN)}, f"{TWIN} over the same endpoints was deleted, and is answered all the"),
        ({"4": lose(TWIN)}, f"{TWIN} over the same endpoints was recreated, and {FINAL} does not"),
    ],
)
def test_a_service_that_goes_with_its_sibling_fails(
    bench: Bench, breaks: dict[str, Breaks], says: str
) -> None:
    """The message says what was done to which Service, and what came of it."""
    found, cluster = judged(bench, Change.SIBLING, breaks)
    assert found.verdict is Verdict.FAIL
    assert says in found.message
    assert len(cluster.done) == int(next(iter(breaks)))


def test_ports_are_renamed_with_other_backends_and_then_alone(bench: Bench) -> None:
    """Each change gives a name that the port never had; twice nothing but the name changes."""
    found, cluster = judged(bench, Change.PORT_NAME)
    names, backends = zip(*(one.split() for one in cluster.done), strict=True)
    assert names == tuple(f"hostname-{number}" for number in range(1, 7))
    assert backends == (FORMER, FINAL, FINAL) * 2
    assert found.verdict is Verdict.PASS


def stick(cluster: Cluster) -> None:
    """Leave the rules at the former backend."""
    cluster.rules[SERVICE] = FORMER


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        ({"1": lose(SERVICE)}, f"renamed in place and left with {FORMER} as endpoints"),
        (
            {"2": stick},
            f"left with {FINAL} as endpoints, and its rules did not follow in 0.6 s; {FORMER}",
        ),
        ({"3": lose(SERVICE)}, f"ports were renamed in place, and it lost {FINAL}"),
        ({"6": lose(SERVICE)}, f"ports were renamed in place, and it lost {FINAL}"),
    ],
)
def test_rules_that_a_new_name_loses_fail(
    bench: Bench, breaks: dict[str, Breaks], says: str
) -> None:
    """Whether a backend stays that should not, or none is left, the message says after which change."""
    found, _ = judged(bench, Change.PORT_NAME, breaks)
    assert found.verdict is Verdict.FAIL
    assert says in found.message


FIRST, SECOND, THIRD = (f"{SERVICE}-{number}" for number in (1, 2, 3))


def test_pods_replace_each_other_behind_the_service(bench: Bench) -> None:
    """The Service is led to a Pod of the check's own, of which two take the place, and back; the last one is removed."""
    found, cluster = judged(bench, Change.POD)
    assert cluster.done == [
        f"hostname {SERVICE}",
        f"none by {FIRST}",
        f"{FIRST} by {SECOND}",
        f"{SECOND} by {THIRD}",
        f"hostname {FINAL}",
        f"{THIRD} by none",
    ]
    assert found.verdict is Verdict.PASS


def test_pods_replace_each_other_at_the_same_address(bench: Bench) -> None:
    """Only the first of them may have any address."""
    found, cluster = judged(bench, Change.SAME_ADDRESS)
    assert cluster.done[1:4] == [f"none by {FIRST}", f"{FIRST} by {SECOND}", f"{SECOND} by {THIRD}"]
    assert found.verdict is Verdict.PASS


def test_rules_that_lose_a_pod_at_the_same_address_fail(bench: Bench) -> None:
    """The message says that the address was the same."""
    found, _ = judged(bench, Change.SAME_ADDRESS, {"3": lose(SERVICE)})
    assert found.verdict is Verdict.FAIL
    assert f"was replaced by {SECOND} at the same address, and its rules did" in found.message


def test_an_address_that_no_pod_gets_again_skips_the_check(bench: Bench) -> None:
    """The network gave another one: nothing was tested, and the reason is told."""

    class Other(Cluster):
        def replace(self, gone: str, comes: str, group: str, **_: object) -> None:
            if gone and comes:
                raise NotOfferedError("the network gave no new Pod the address 10.244.1.9")
            self.rules[SERVICE] = comes

    made = changed(Change.SAME_ADDRESS)
    cluster = Other(hosts={SERVICE: str(bench.services[SERVICE].addresses[0])})
    bench.dialling[PROBE].hook = cluster.answer
    observer = bench.observer([made])
    observer.churn = Churn(services=cluster, namespace=NAMESPACE, replacing=cluster)
    observer.run()
    assert "10.244.1.9" in bench.done(made.id)["skip"]


def lead_to(backend: str) -> Breaks:
    """Return what leaves the rules at a backend."""
    return lambda cluster: cluster.rules.__setitem__(SERVICE, backend)


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        ({"2": lead_to(FINAL)}, f"left with the new Pod {FIRST} as its endpoint, and its rules"),
        ({"3": lose(SERVICE)}, f"Service's Pod {FIRST} was replaced by {SECOND}, and its rules"),
        ({"4": lead_to(SECOND)}, f"{SECOND} was replaced by {THIRD}, and its rules did not follow"),
        ({"5": lead_to(THIRD)}, f"left with {FINAL} as endpoints in place, and its rules did not"),
    ],
)
def test_rules_that_keep_a_pod_that_was_replaced_fail(
    bench: Bench, breaks: dict[str, Breaks], says: str
) -> None:
    """The message names the Pod that went and the one that came, and who answers instead."""
    found, _ = judged(bench, Change.POD, breaks)
    assert found.verdict is Verdict.FAIL
    assert says in found.message


def test_pods_that_nobody_can_replace_are_no_observation(bench: Bench) -> None:
    """Where a run has nobody who makes Pods the check is unknown."""
    made = changed(Change.POD)
    cluster = Cluster(hosts={SERVICE: str(bench.services[SERVICE].addresses[0])})
    bench.dialling[PROBE].hook = cluster.answer
    observer = bench.observer([made])
    observer.churn = Churn(services=cluster, namespace=NAMESPACE)
    observer.run()
    assert bench.done(made.id)["distrust"] == "nobody here can replace a Pod"


def test_a_change_that_no_answer_shows_is_watched_for_a_time(bench: Bench) -> None:
    """Rules that are lost after as many answers as show another change are not taken for those that stay."""

    def soon(cluster: Cluster) -> None:
        answer, enough = cluster.answer, len(bench.raws()) + IN_A_ROW

        def answered(path: str) -> HttpAnswer | None:
            if len(bench.raws()) > enough:
                cluster.rules.pop(SERVICE, None)
            return answer(path)

        bench.dialling[PROBE].hook = answered

    found, _ = judged(bench, Change.PORT_NAME, {"3": soon})
    assert found.verdict is Verdict.FAIL
    assert "ports were renamed in place, and it lost" in found.message


def test_only_changes_that_no_answer_shows_wait() -> None:
    """All others are over as soon as the right backend answers."""
    known = {SERVICE: stored(SERVICE), TWIN: stored(TWIN)}
    for change in Change:
        unseen = [one for one in steps(changed(change), known) if one.unseen]
        assert len(unseen) == (2 if change is Change.PORT_NAME else 0)
        assert all(one.operation is Operation.UPDATE for one in unseen)


def test_names_of_ports_stay_within_their_limit() -> None:
    """15 characters at most (IANA_SVC_NAME), and each port of a Service has another one."""
    ports = [{"name": name} for name in ("hostname", "clientip", "udp")]
    names = [port["name"] for port in renamed({"spec": {"ports": ports}}, 12)["spec"]["ports"]]
    assert names == ["hostname-12", "clientip-12", "udp-12"]
    assert max(map(len, names)) <= 15
