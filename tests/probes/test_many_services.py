"""Many Services: made once for all checks that look at them, looked at from each node, and removed after the last."""

import itertools
import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from nettests.errors import ClusterError
from nettests.model.channel import ExecAnswer, HttpAnswer
from nettests.model.check import Action
from nettests.model.cluster_profile import Timing
from nettests.model.powershell import END
from nettests.model.service import Crowd, ServiceSettings
from nettests.model.words import OS, Outcome, Question, TargetKind
from nettests.parse import read_raw
from nettests.probes import StoppedError, many_services
from nettests.probes.addresses import NotOfferedError
from nettests.probes.examine import Examination
from nettests.probes.many_services import ManyServices
from nettests.probes.objects import Blank
from nettests.probes.sending import Probe
from tests.parse.raws import raw
from tests.probes.made import FACTS, NAMESPACE, action, deployed

NUMBER = 60
BACKEND = "server-linux-1-1"
OWN = "10.96.1.1"
TIMING = Timing(dial=0.05, channel=0.5, convergence=0.3, convergence_linux=0.3)


@dataclass(slots=True)
class Cluster:
    """Stores Services and gives them addresses; ``served`` says which of those that were made are."""

    served: Callable[[int], bool] = lambda _number: True
    kept: bool = False
    most: int = NUMBER
    standing: dict[str, int] = field(default_factory=dict)
    """By address, the number of a Service that is there, or whose rules are."""
    names: dict[str, str] = field(default_factory=dict)
    created: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def create(self, item: dict[str, Any]) -> dict[str, Any]:
        """Store one, as long as there is room."""
        with self.lock:
            if self.created >= self.most:
                raise ClusterError("exceeded quota: objects, used: services=60")
            self.created += 1
            number = int(item["metadata"]["name"].removeprefix("many-"))
            address = f"10.96.9.{number}"
            assert item["metadata"]["namespace"] == NAMESPACE
            self.names[item["metadata"]["name"]] = address
            self.standing[address] = number
        return {**item, "spec": {**item["spec"], "clusterIP": address}}

    def delete(self, path: str) -> None:
        """Remove one; what its rules are kept for answers on."""
        with self.lock:
            address = self.names.pop(path.rsplit("/", 1)[-1])
            if not self.kept:
                del self.standing[address]

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Dial, as a probe does."""
        assert timeout > 0
        host = parse_qs(urlsplit(path).query)["host"][0]
        number = self.standing.get(host, 0)
        if host == OWN or (number and self.served(number)):
            return HttpAnswer(status=200, body=json.dumps({"responses": [BACKEND]}))
        return HttpAnswer(
            status=200, body=json.dumps({"errors": [f"dial tcp {host}:80: i/o timeout"]})
        )

    name = "fake"

    def close(self) -> None:
        """Nothing is held open."""


def looking(crowd: Crowd, probe: str = "probe-linux-1-1") -> Action:
    """Return a question from one node."""
    one = action(probe, TargetKind.SERVICE_CLUSTERIP, question=Question.SCALE)
    settings = ServiceSettings(label="x", crowd=crowd)
    target = replace(
        one.target, settings=settings, backends=(BACKEND,), service="svc-server-linux-1-1"
    )
    return replace(one, target=target, connections=NUMBER)


def examiner(cluster: Cluster, stopped: threading.Event | None = None) -> ManyServices:
    """Return who looks, over probes that dial into the cluster."""
    probes = {
        name: Probe(name=name, http=(cluster,)) for name in ("probe-linux-1-1", "probe-windows-1-1")
    }
    standing = deployed()
    return ManyServices(
        making=cluster,
        blank=Blank(namespace=NAMESPACE, labels={}),
        facts=FACTS,
        probes=probes,
        timing=TIMING,
        standing=standing.pods,
        services=standing.services,
        stopped=stopped or threading.Event(),
    )


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here takes time."""
    monkeypatch.setattr(many_services, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(many_services, "PROGRAMMING_SECONDS", 0.0)
    monkeypatch.setattr("nettests.probes.bulk_services.GATHERING_SECONDS", 0.1)


def all_of(cluster: Cluster, *probed: Action) -> list[tuple[Outcome, str]]:
    """Look at everything side by side, as a run does; return what is read of each record."""
    with ThreadPoolExecutor(len(probed)) as pool:
        told: list[Examination] = list(pool.map(examiner(cluster).examine, probed))
    assert all(one.error is None for one in told)
    read = [read_raw(raw(one.tool, stdout=one.stdout)) for one in told]
    return [(one.outcome, one.detail) for one in read]


EVERYTHING = tuple(
    looking(crowd, probe) for crowd in Crowd for probe in ("probe-linux-1-1", "probe-windows-1-1")
)


def test_in_order_all_is_served_and_nothing_is_left() -> None:
    """From two nodes, over Services that are made once and removed once."""
    cluster = Cluster()
    found = all_of(cluster, *EVERYTHING)
    assert [outcome for outcome, _ in found] == [
        *[Outcome.CONNECTED] * 4,
        *[Outcome.CONFORMS] * 2,
    ]
    assert (cluster.created, cluster.names) == (NUMBER, {})
    assert "the last of 60 Services was served" in found[0][1]
    assert "HNS was not looked at" in found[-1][1]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (ExecAnswer(exit_code=0, stdout=f"[]\r\n{END}\r\n", stderr=""), "HNS lists none of them"),
        (ExecAnswer(exit_code=0, stdout="", stderr=""), "HNS was not read"),
        (ExecAnswer(exit_code=0, stdout="[]", stderr=""), "HNS was not read"),
        (ExecAnswer(exit_code=1, stdout="", stderr="Access is denied."), "HNS was not read"),
        (ExecAnswer(exit_code=1, stdout="[]", stderr="RPC failed"), "HNS was not read: RPC"),
    ],
)
def test_a_tool_that_failed_shows_no_removal(said: ExecAnswer, told: str) -> None:
    """It printed nothing because it failed, and not because there is nothing."""
    one = examiner(Cluster())
    node = one.standing["node-windows-1-1"]
    vantage = Probe(name=node.name, execute=Shell(said))
    seeing = replace(one, probes={**one.probes, node.name: vantage})
    probed = looking(Crowd.REMOVED, "probe-windows-1-1")
    found = seeing.examine(replace(probed, source=replace(probed.source, os=OS.WINDOWS)))
    assert told in read_raw(raw(found.tool, stdout=found.stdout)).detail


@dataclass(slots=True)
class Shell:
    """A container of the node in which every tool says the same."""

    answer: ExecAnswer
    slots: AbstractContextManager[object] = field(default_factory=nullcontext)

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Say it."""
        assert argv
        assert timeout > 0
        return self.answer


def test_services_beyond_a_number_are_not_served() -> None:
    """The first of those that were picked out is named; they are removed all the same."""
    cluster = Cluster(served=lambda number: number <= 40)
    (served, beside, removed) = all_of(cluster, *(looking(crowd) for crowd in Crowd))
    assert served[0] is Outcome.TIMED_OUT
    assert "from number 4" in served[1]
    assert (beside[0], removed[0]) == (Outcome.CONNECTED, Outcome.CONFORMS)
    assert cluster.names == {}


def test_a_slow_node_is_waited_for_while_it_serves_more_and_more() -> None:
    """A node whose Service proxy falls behind, but goes on, serves all of them in the end."""
    dials = itertools.count()
    slow = Cluster(served=lambda number: number <= next(dials) / 2)
    ((outcome, detail),) = all_of(slow, looking(Crowd.SERVED))
    assert (outcome, next(dials) > NUMBER) == (Outcome.CONNECTED, True), detail


def test_rules_that_stay_are_found() -> None:
    """By who answers at the addresses of Services that have gone."""
    (removed,) = all_of(Cluster(kept=True), looking(Crowd.REMOVED))
    assert removed[0] is Outcome.DEVIATES
    assert "still answered at 10.96.9.1," in removed[1]


def test_what_the_api_server_refuses_is_not_offered_and_leaves_nothing() -> None:
    """The reason says how many were made; those that were are removed."""
    cluster = Cluster(most=20)
    of = examiner(cluster)
    with pytest.raises(NotOfferedError, match=r"of 60 Services were made, .* exceeded quota"):
        of.examine(looking(Crowd.SERVED))
    with pytest.raises(NotOfferedError, match="exceeded quota"):
        of.examine(looking(Crowd.BESIDE))
    for thread in threading.enumerate():
        if thread.name == "services":
            thread.join(5)
    assert cluster.names == {}


def test_a_run_that_is_stopped_leaves_them_to_its_clean_up() -> None:
    """Whoever waits is told so, and nothing more is made."""
    stopped = threading.Event()

    def stops(_number: int) -> bool:
        stopped.set()
        return False

    cluster = Cluster(served=stops)
    with pytest.raises(StoppedError):
        examiner(cluster, stopped).examine(looking(Crowd.SERVED))
    assert cluster.created == NUMBER
    assert cluster.names
