"""Pods that go, or are started again, in the middle of a run: what failed with them tells nothing of the network."""

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from nettests.errors import ClusterError
from nettests.judge.advice import STEPS, after_distrust
from nettests.model.check import Check, Plan
from nettests.model.expectation import Expectation
from nettests.model.observation import Raw
from nettests.model.words import TargetKind, Verdict
from nettests.probes import Deployment
from nettests.session.journal import Follower, Journal
from nettests.session.judging import Judging
from nettests.session.node_monitor import FRESH_SECONDS
from nettests.session.pod_monitor import PodMonitor
from tests.probes.made import action, check, deployed

PROBE, SERVER = "probe-windows-1-1", "server-linux-1-1"
REACH = check(action(PROBE, TargetKind.POD_IP), id="reach")
ELSEWHERE = check(action("probe-linux-1-1", TargetKind.EXTERNAL_IP), id="elsewhere")
ANSWER = Raw(
    check=REACH.id,
    purpose="check",
    attempt=1,
    tool="dial",
    client_os="windows",
    probe=PROBE,
    channel="port-forward",
    command=("GET", "/dial"),
    started=1.0,
    elapsed=0.01,
    status=200,
    stdout='{"responses":["server-linux-1-1"]}',
    context={"request": "hostname"},
)


class Pods:
    """What stands, on a clock that stands until it is told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.looks = 0
        self.events: list[str] = []
        self.deployed = self.held = deployed()
        self.silent = False
        self.judging = PodMonitor(
            deployed=self.deployed,
            read=self.read,
            tell=self.events.append,
            began=0.0,
            clock=lambda: self.now,
        )

    def read(self) -> Deployment:
        self.looks += 1
        if self.silent:
            raise ClusterError("no answer")
        return self.held

    def gone(self, name: str, why: str = "it is being deleted") -> None:
        """Take a Pod away."""
        pods = {one: pod for one, pod in self.held.pods.items() if one != name}
        problems = {**self.held.problems, name: f"pod {name} no longer stands: {why}"}
        self.held = replace(self.held, pods=pods, problems=problems)

    def again(self, name: str, address: str = "") -> None:
        """Start a Pod's containers again, at another address if there is one."""
        pod = replace(self.held.pods[name], containers=("another",))
        if address:
            pod = replace(pod, addresses=(ip_address(address),))
        self.held = replace(self.held, pods={**self.held.pods, name: pod})

    def why(self, of: Check = REACH, *, at: float, since: float = 0.0) -> str:
        self.now = at
        return self.judging.why_gone(of, since)


@pytest.fixture
def pods() -> Pods:
    """All stand."""
    return Pods()


def test_pods_that_stand_explain_nothing(pods: Pods) -> None:
    """What fails beside them fails by itself."""
    assert pods.why(at=5.0) == ""
    assert not pods.events


def test_a_server_that_was_deleted_explains_what_failed_with_it_alone(pods: Pods) -> None:
    """It is named with the API's reason, once as an event; checks of others are judged as before."""
    pods.gone(SERVER)
    assert pods.why(at=5.0) == f"pod {SERVER} no longer stands: it is being deleted"
    assert pods.why(ELSEWHERE, at=7.0) == ""
    assert len(pods.events) == 1
    assert SERVER in pods.events[0]


def test_an_address_that_a_pod_no_longer_has_explains_all_that_follows(pods: Pods) -> None:
    """The run dials what was deployed, to its end."""
    pods.again(SERVER, "10.244.9.9")
    assert "was started again" in pods.why(at=5.0)
    assert "was started again" in pods.why(at=50.0, since=40.0)


def test_a_container_that_was_started_again_explains_what_was_sent_meanwhile(pods: Pods) -> None:
    """At its old address it is as good as before: what fails later has a reason of its own."""
    pods.again(SERVER)
    assert "was started again" in pods.why(at=5.0)
    assert pods.why(at=9.0, since=6.0) == ""


def test_many_failures_are_one_look(pods: Pods) -> None:
    """Hundreds of checks that fail together send the API server one request a second."""
    for _ in range(20):
        pods.why(at=5.0)
    assert pods.looks == 1
    pods.why(at=5.0 + FRESH_SECONDS)
    assert pods.looks == 2


def test_an_api_server_that_does_not_answer_explains_nothing(pods: Pods) -> None:
    """What is known stays."""
    pods.silent = True
    assert pods.why(at=5.0) == ""
    pods.silent = False
    pods.gone(SERVER)
    assert pods.why(at=9.0)
    pods.silent = True
    assert pods.why(at=20.0)


@pytest.mark.parametrize(("deleted", "verdict"), [(True, Verdict.UNKNOWN), (False, Verdict.FAIL)])
def test_a_check_whose_server_went_is_not_judged(
    tmp_path: Path, pods: Pods, *, deleted: bool, verdict: Verdict
) -> None:
    """What would be a failure of the network is none, and the journal says which Pod went."""
    if deleted:
        pods.gone(SERVER)
    pods.now = 5.0
    plan = Plan(checks=(REACH,), skips=(), pods=(), services=())
    claims = {REACH.id: Expectation(claim=REACH.claim, expected=REACH.claim)}
    with Journal(tmp_path / "journal.jsonl") as journal:
        judging = Judging(journal=journal, plan=plan, expectations=claims, pods=pods.judging)
        judging.raw(ANSWER)
        judging.done(REACH.id, late=f"Service s did not answer {PROBE} on w1 within 30 s")
        done = Follower(journal.path).wait(REACH.id, timeout=1)
    assert judging._verdicts[REACH.id] is verdict
    assert (done.distrust or "").startswith(f"pod {SERVER} no longer stands") is deleted


def test_the_step_asks_who_took_the_pod() -> None:
    """Nothing is to be repaired at the probe."""
    assert after_distrust(f"pod {SERVER} no longer stands: it is being deleted") == STEPS["gone"]
    assert after_distrust(f"pod {SERVER} was started again while this was run") == STEPS["gone"]
