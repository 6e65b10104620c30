"""A Service that is used while its endpoints change: what is changed, what is recorded, and what is read of it."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from nettests.model.channel import ChannelError, ExecAnswer, HttpAnswer
from nettests.model.check import Action
from nettests.model.cluster_profile import Timing
from nettests.model.observation import Attempt
from nettests.model.powershell import END
from nettests.model.words import Outcome, Protocol, Question, TargetKind
from nettests.parse import read_raw
from nettests.probes import during_changes
from nettests.probes.addresses import NotOfferedError
from nettests.probes.churn import NotFollowedError
from nettests.probes.during_changes import CHANGES, DuringChanges
from nettests.probes.sending import Probe, StoppedError
from nettests.probes.service_in_use import Setting
from tests.parse.raws import raw
from tests.probes.made import NAMESPACE, action, deployed

SERVICE, VIP = "svc-server-linux-1-1", "10.96.1.1"
FINAL, FORMER = "server-linux-1-1", "server-linux-1-2"
STORED = {"metadata": {"name": SERVICE}, "spec": {"clusterIP": VIP, "ports": []}}
TIMING = Timing(dial=0.05, channel=0.5, convergence=0.5, execute=0.05)


@dataclass(slots=True, kw_only=True)
class Cluster:
    """One Service, the rules for it, and a client of a flow; ``name`` and ``get`` are a probe's channel."""

    rules: str = FINAL
    follows: bool = True
    gap: int = 0
    """So many new connections after each change meet no rules."""
    slow: float = 0
    """So long they take then, instead of being refused."""
    moves: bool = True
    """Whether the flow follows; else it stays with its backend, or is silent where that is nobody."""
    kept: str | None = FORMER
    pod_fails: bool = False
    status: int = 200
    changes: list[str] = field(default_factory=list)
    stdout: str = "open\n"
    stderr: str = ""
    exit_code: int | None = None
    name: str = "fake"
    lost: int = 0
    silent: int = 0
    """So many datagrams of a flow are lost at first."""
    words: tuple[str, ...] = ()
    late: list[str] | None = None
    """Changes that the node has yet to follow: one after each dial, if it is slow to."""

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Return the Service."""
        assert (path, query) == (f"/api/v1/namespaces/{NAMESPACE}/services/{SERVICE}", {})
        return self.status, json.dumps(STORED)

    def update(self, path: str, item: dict[str, Any]) -> None:
        """Lead it elsewhere, and let the rules follow unless they do not."""
        assert path.endswith(SERVICE)
        (backend,) = item["spec"]["selector"].values()
        self.changes.append(backend)
        if self.late is not None:
            self.late.append(backend)
        elif self.follows and backend != self.rules:
            self.rules, self.lost = backend, self.gap

    def create(self, item: dict[str, Any]) -> dict[str, Any]:
        """Nothing is created."""
        raise AssertionError(item)

    def delete(self, path: str) -> None:
        """Nothing is deleted."""
        raise AssertionError(path)

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Dial as a probe does: by the rules, or a Pod itself."""
        assert timeout > 0
        query = {key: value[0] for key, value in parse_qs(urlsplit(path).query).items()}
        time.sleep(0.001)
        if query["host"] != VIP:
            told = {"errors": ["i/o timeout"]} if self.pod_fails else {"responses": [FINAL]}
            return HttpAnswer(status=200, body=json.dumps(told), seconds=0.001)
        struck = query["protocol"] == "http" and self.lost > 0
        self.lost -= struck
        if struck and not self.slow:
            error = f"dial tcp {VIP}:80: connect: connection refused"
            return HttpAnswer(status=200, body=json.dumps({"errors": [error]}))
        body = json.dumps({"responses": [self.rules]})
        if self.late:
            self.rules = self.late.pop(0)
        return HttpAnswer(status=200, body=body, seconds=self.slow if struck else 0.001)

    def converse(self, namespace: str, pod: str, container: str, argv: Sequence[str]) -> "Cluster":
        """Start the client of a flow."""
        assert (namespace, pod, container) == (NAMESPACE, "probe-linux-1-1", "probe")
        self.words = tuple(argv)
        return self

    def say(self, text: str) -> None:
        """Send a datagram from the flow's port."""
        self.silent -= 1
        if self.silent >= 0:
            self.stdout += f"none {text.strip()}\n"
            return
        who = self.rules if self.moves or self.rules == FORMER else self.kept
        word = text.strip()
        self.stdout += f"back {word} {who}\n" if who else f"none {word}\n"

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        """Return whether the client has said enough."""
        assert seconds > 0
        return enough(self.stdout)

    def stay(self) -> None:
        """Nothing is silent for long."""

    def close(self) -> None:
        """End the client."""


@dataclass(slots=True)
class Shows:
    """HNS of one node: a load balancer with another id each time, or always the same."""

    ids: Sequence[str]
    asked: int = 0
    slots: Any = field(default_factory=nullcontext)

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Show the lists of policies."""
        assert "Get-HnsPolicyList" in argv[-1]
        assert timeout > 0
        elb = {"Type": "ELB", "VIPs": [VIP], "ExternalPort": 80, "Protocol": 6}
        row = {"ID": self.ids[self.asked % len(self.ids)], "Policies": [elb]}
        self.asked += 1
        return ExecAnswer(exit_code=0, stdout=f"{json.dumps(row)}\n{END}\n", stderr="")


def question(protocol: Protocol, probe: str = "probe-linux-1-1") -> Action:
    """Return the use of a Service by connections or by one flow."""
    made = action(probe, TargetKind.SERVICE_CLUSTERIP, protocol, question=Question.DURING)
    return replace(made, target=replace(made.target, backends=(FINAL,), former=(FORMER,)))


@dataclass(slots=True)
class Loses:
    """A channel over which one of so many requests is lost."""

    cluster: Cluster
    every: int
    name: str = "loses"
    requests: int = 0

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Carry a request, or lose it."""
        self.requests += 1
        if self.requests % self.every:
            return self.cluster.get(path, timeout=timeout)
        raise ChannelError("the connection was lost")

    def close(self) -> None:
        """Nothing is open."""


def examiner_of(
    cluster: Cluster, name: str, on_node: Any = None, before: Sequence[Loses] = ()
) -> DuringChanges:
    """Return the examiner of a cluster whose probe has that name."""
    probes = {name: Probe(name=name, http=(*before, cluster))}
    if on_node:
        probes["node-windows-1-1"] = Probe(name="node-windows-1-1", execute=on_node)
    standing = deployed()
    return DuringChanges(
        setting=Setting(
            api=cluster,
            namespace=NAMESPACE,
            probes=probes,
            standing=standing.pods,
            services=standing.services,
            timing=TIMING,
        )
    )


def seen(
    cluster: Cluster, asked: Action, on_node: Any = None, *, before: Sequence[Loses] = ()
) -> Attempt:
    """Examine, and read what was recorded."""
    got = examiner_of(cluster, asked.source.probe, on_node, before).examine(asked)
    return read_raw(raw(got.tool, stdout=got.stdout, error=got.error))


def test_connections_are_made_through_all_changes_and_all_are_answered() -> None:
    """The Service is led to and fro, ends in front of the check's backend, and nobody missed it."""
    cluster = Cluster()
    found = seen(cluster, question(Protocol.TCP))
    assert cluster.changes == [FORMER, FINAL] * (CHANGES // 2) + [FINAL]
    assert (found.outcome, found.backend) == (Outcome.CONNECTED, FINAL)
    assert "during 6 changes of endpoints" in found.detail


def test_a_moment_without_rules_is_seen_by_what_is_refused_then() -> None:
    """One connection of each change is refused: the outcome is that, however many were answered."""
    found = seen(Cluster(gap=1), question(Protocol.TCP))
    assert found.outcome is Outcome.REFUSED
    assert found.detail.startswith("6 of ")


@pytest.mark.parametrize(
    ("seconds", "outcome"),
    [
        (1.02, Outcome.TIMED_OUT),  # as long as the first packet's repeat takes
        (3.05, Outcome.TIMED_OUT),
        (1.5, Outcome.CONNECTED),  # a busy probe
    ],
)
def test_a_moment_without_rules_is_seen_by_what_is_sent_again(
    seconds: float, outcome: Outcome
) -> None:
    """A connection that is as late as its SYN's repeat counts; any other lateness is the machine's."""
    found = seen(Cluster(gap=1, slow=seconds), question(Protocol.TCP))
    assert found.outcome is outcome
    assert ("sent again" in found.detail) is (outcome is Outcome.TIMED_OUT)


def test_rules_that_do_not_follow_show_nothing() -> None:
    """Another flow says so: what happens while they follow was not seen; the Service is led back."""
    cluster = Cluster(follows=False)
    for protocol in (Protocol.TCP, Protocol.UDP):
        found = seen(cluster, question(protocol))
        assert found.outcome is Outcome.PROBE_FAILED
        assert f"pointed at {FORMER}, and new flows did not follow" in found.detail
        assert cluster.changes[-1] == FINAL


def test_a_backend_that_fails_itself_shows_nothing_of_the_service() -> None:
    """Connections to the backend, beside, have to be answered all the while."""
    found = seen(Cluster(pod_fails=True), question(Protocol.TCP))
    assert found.outcome is Outcome.PROBE_FAILED
    assert "the backends themselves failed" in found.detail


@pytest.mark.parametrize("protocol", [Protocol.TCP, Protocol.UDP])
def test_a_request_that_a_channel_loses_is_made_over_the_other_one(protocol: Protocol) -> None:
    """As for any other check: of hundreds one may be lost, and that is no fault of the Service."""
    cluster = Cluster()
    loses = Loses(cluster, every=60 if protocol is Protocol.TCP else 2)
    found = seen(cluster, question(protocol), before=[loses])
    assert loses.requests >= loses.every
    assert found.outcome in {Outcome.CONNECTED, Outcome.REPLIED}
    assert found.backend == FINAL


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["a"], "its load balancer kept its id in HNS"),
        ("abcdefg", "had 7 ids, one after the other"),
    ],
)
def test_ids_of_the_load_balancer_are_counted_where_somebody_sees_hns(
    ids: Sequence[str], told: str
) -> None:
    """One id before all changes and after each: it lives on, or is another one."""
    there = question(Protocol.TCP, "probe-windows-1-1")
    there = replace(there, source=replace(there.source, node="w1"))
    shows = Shows(ids)
    found = seen(Cluster(), there, on_node=shows)
    assert shows.asked == CHANGES + 1
    assert told in found.detail
    assert "id" not in seen(Cluster(), question(Protocol.TCP)).detail


def test_a_flow_that_follows_is_answered_by_the_new_backend() -> None:
    """Its datagrams come from one port, sent by one process."""
    cluster = Cluster()
    found = seen(cluster, question(Protocol.UDP))
    assert (found.outcome, found.backend) == (Outcome.REPLIED, FINAL)
    assert cluster.changes == [FORMER, FINAL, FINAL]
    assert cluster.words[-3:] == (VIP, "81", "2")


def test_members_of_a_check_change_their_service_one_after_the_other() -> None:
    """Led back by another member before it was looked at, a flow would wait for a backend that does not come."""
    cluster, asked = Cluster(), question(Protocol.UDP)
    examiner = examiner_of(cluster, asked.source.probe)
    with ThreadPoolExecutor(4) as members:
        done = list(members.map(examiner.examine, [asked] * 4))
    assert cluster.changes == [FORMER, FINAL, FINAL] * 4
    assert [json.loads(each.stdout)["followed"] for each in done] == [True] * 4


def test_a_node_that_still_follows_the_change_of_another_member_is_waited_for() -> None:
    """It leads to the former backend, but as left by that change: a flow would begin at the other one."""
    cluster = Cluster(rules=FORMER, late=[FINAL])
    found = seen(cluster, question(Protocol.UDP))
    assert (found.outcome, found.backend) == (Outcome.REPLIED, FINAL)


def test_a_flow_whose_first_datagram_is_lost_goes_on() -> None:
    """The next one shows that the flow stands; so many lost ones as make a negative result show none."""
    found = seen(Cluster(silent=1), question(Protocol.UDP))
    assert (found.outcome, found.backend) == (Outcome.REPLIED, FINAL)
    assert (found.tries, found.lost) == (2, 1)
    cluster = Cluster(silent=2)
    found = seen(cluster, question(Protocol.UDP))
    assert found.outcome is Outcome.PROBE_FAILED
    assert found.detail == f"nobody answered the flow before the change, not {FORMER}"


@pytest.mark.parametrize(
    ("kept", "outcome", "told"),
    [
        (FORMER, Outcome.REPLIED, f"still answered by {FORMER} "),
        (None, Outcome.TIMED_OUT, "answered by nobody"),
    ],
)
def test_a_flow_that_stays_is_watched_and_told(
    kept: str | None, outcome: Outcome, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New flows go to the new backend, and this one is answered by the former, or by nobody."""
    monkeypatch.setattr(during_changes, "KEPT_SECONDS", 0.1)
    found = seen(Cluster(moves=False, kept=kept), question(Protocol.UDP))
    assert (found.outcome, found.backend) == (outcome, kept)
    assert told in found.detail


def test_a_service_with_one_backend_is_not_changed() -> None:
    """There is no other one to lead it to."""
    alone = question(Protocol.TCP)
    cluster = Cluster()
    with pytest.raises(NotOfferedError, match="only one backend"):
        seen(cluster, replace(alone, target=replace(alone.target, former=())))
    assert not cluster.changes


def test_a_service_that_cannot_be_read_is_an_error_of_the_check() -> None:
    """Without its present state nothing is changed."""
    cluster = Cluster(status=403)
    with pytest.raises(NotFollowedError, match="403"):
        seen(cluster, question(Protocol.TCP))
    assert not cluster.changes


def test_a_run_that_is_stopped_leaves_the_service_in_front_of_its_backend() -> None:
    """The connections end, too."""
    cluster = Cluster(follows=False)
    stopped = threading.Event()
    stopped.set()
    standing = deployed()
    setting = Setting(
        api=cluster,
        namespace=NAMESPACE,
        probes={"probe-linux-1-1": Probe(name="probe-linux-1-1", http=(cluster,))},
        standing=standing.pods,
        services=standing.services,
        timing=TIMING,
        stopped=stopped,
    )
    for protocol in (Protocol.TCP, Protocol.UDP):
        with pytest.raises(StoppedError):
            DuringChanges(setting=setting).examine(question(protocol))
        assert cluster.changes[-1] == FINAL


@pytest.mark.parametrize("text", ["", "[]", '{"of": "flow"}', "null", '{"followed": true}'])
def test_what_is_no_record_is_not_understood(text: str) -> None:
    """A journal that was cut or changed ends no run."""
    assert read_raw(raw("during", stdout=text)).outcome is Outcome.PROBE_FAILED
