"""Pods of checks' own: what is created, what is written down of them, and that they are removed."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError, ExecAnswer, HttpAnswer
from nettests.model.check import Afterwards, Ask, Case, Target, Vantage
from nettests.model.facts import Taint
from nettests.model.profile import Timing
from nettests.model.words import Protocol, Question, TargetKind, VantageKind
from nettests.plan import pods
from nettests.probes.examine import Examination
from nettests.probes.objects import Blank
from nettests.probes.starting import Starting, pod
from tests.probes.made import FACTS

Object = dict[str, Any]

BLANK = Blank(namespace="nettests-1", labels={"nettests.dev/run": "1"}, image="mirror/agnhost:1")
READY = {"podIP": "10.244.3.5", "conditions": [{"type": "Ready", "status": "True"}]}
PENDING = {"phase": "Pending"}


@dataclass(slots=True)
class Cluster:
    """Pods on a table: each has ``status``, and what is asked of it gets ``answer``."""

    status: Object
    answer: str = ""
    refuses: bool = False
    created: list[Object] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    name: str = "table"
    slots: Any = field(default_factory=nullcontext)

    def create(self, item: Object) -> Object:
        """Take a Pod, or refuse it."""
        if self.refuses:
            raise ClusterError("pods is forbidden")
        self.created.append(item)
        return item

    def follow_pod(
        self,
        namespace: str,
        name: str,
        *,
        settled: Callable[[Object], bool],
        seconds: float,
        stuck: float,
    ) -> Object:
        """Return the Pod with its status."""
        if not self.status:
            raise ChannelError(f"pod {namespace}/{name} never appeared")
        assert seconds > stuck > 0
        found = {"status": self.status}
        settled(found)
        return found

    def events_of(self, _namespace: str, _pod: str) -> list[Object]:
        """Return one warning."""
        return [{"type": "Warning", "reason": "FailedMount", "message": "no volume", "count": 3}]

    def log_of(self, _namespace: str, _pod: str, _container: str) -> str:
        """Return the answer as a log."""
        return self.answer

    def delete_pod(self, _namespace: str, name: str) -> None:
        """Note what was deleted."""
        self.deleted.append(name)

    def pod_proxy(self, _namespace: str, _pod: str, _port: int) -> "Cluster":
        """Be the channel."""
        return self

    port_forward = pod_proxy

    def open_exec(
        self, _namespace: str, _pod: str, _container: str, *, node: str, at_once: int
    ) -> "Cluster":
        """Be the channel."""
        assert (node, at_once) == ("w1", Timing().exec_windows)
        return self

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Answer a request, or fail as a channel does."""
        assert timeout
        if not self.answer:
            raise ChannelError(f"port-forward: {path}: connection refused")
        return HttpAnswer(status=200, body=self.answer)

    def run(self, argv: Any, *, timeout: float) -> ExecAnswer:
        """Answer a command."""
        assert timeout
        return ExecAnswer(exit_code=0, stdout=f"{self.answer} {' '.join(argv)}", stderr="")

    def close(self) -> None:
        """Hold nothing."""


def examine(cluster: Cluster, case: Case) -> Examination:
    """Let the case's Pod start on the Windows node."""
    starting = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing())
    vantage = Vantage(kind=VantageKind.API, probe="api", node="w1")
    return starting.examine(
        Ask(
            source=vantage,
            target=Target(kind=TargetKind.POD, node="w1"),
            protocol=Protocol.TCP,
            question=Question.START,
            case=case,
        )
    )


def case(then: Afterwards | None = None) -> Case:
    """Return a case with a plain Pod."""
    return replace(pods.starts("plain", pods.pod()), then=then)


def test_a_pod_gets_the_runs_labels_image_and_place() -> None:
    """Everything of a run is labelled, stands where it is asked, and takes the profile's image."""
    node = replace(FACTS.node("w1"), taints=(Taint(key="os", value="windows"),))
    item = pod(case(), node, BLANK, "start-7")
    assert item["metadata"]["name"] == "start-7"
    assert item["metadata"]["namespace"] == "nettests-1"
    assert item["metadata"]["labels"] == {"nettests.dev/run": "1", "nettests.dev/purpose": "start"}
    spec = item["spec"]
    assert spec["nodeSelector"] == {"kubernetes.io/hostname": "w1"}
    assert spec["tolerations"] == [{"key": "os", "operator": "Exists", "effect": "NoSchedule"}]
    assert spec["os"] == {"name": "windows"}
    assert [one["image"] for one in spec["containers"]] == ["mirror/agnhost:1"]


def test_what_the_case_says_stays() -> None:
    """Operating system and image of the case are what is in question."""
    own = pods.pod({"name": "base", "image": "mcr/base:1"}, os={"name": "linux"})
    spec = pod(pods.starts("own", own), FACTS.node("w1"), BLANK, "start-1")["spec"]
    assert spec["os"] == {"name": "linux"}
    assert spec["containers"][0]["image"] == "mcr/base:1"


def test_every_pod_has_its_own_name_and_is_removed() -> None:
    """Two questions make two Pods; neither is left, also where nothing is known of it."""
    cluster = Cluster(status=READY)
    starting = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing())
    assert starting.blank == BLANK
    examine(cluster, case())
    assert cluster.deleted == [cluster.created[0]["metadata"]["name"]]
    lost = Cluster(status={})
    assert "never appeared" in (examine(lost, case()).error or "")
    assert lost.deleted == [lost.created[0]["metadata"]["name"]]


def test_a_refused_pod_is_the_channels_error() -> None:
    """What was not created says nothing of starting, and there is nothing to remove."""
    cluster = Cluster(status=READY, refuses=True)
    assert examine(cluster, case()).error == "pods is forbidden"
    assert cluster.deleted == []


def test_events_are_written_down_of_a_pod_that_does_not_start() -> None:
    """They say what the status does not."""
    record = json.loads(examine(Cluster(status=PENDING), case()).stdout)
    assert record["status"] == PENDING
    assert [one["reason"] for one in record["events"]] == ["FailedMount"]
    assert "events" not in json.loads(examine(Cluster(status=READY), case()).stdout)


def test_what_is_done_afterwards_is_written_down() -> None:
    """Commands, logs and requests bring their output; a channel's failure is kept as its text."""
    cluster = Cluster(status=READY, answer="hello")
    wanted = {
        Afterwards(how="exec", words=("whoami",)): "hello whoami",
        Afterwards(how="log"): "hello",
        Afterwards(how="pod-proxy", words=("8080", "/hostname")): "hello",
        Afterwards(how="port-forward", words=("8080", "/hostname")): "hello",
    }
    for then, output in wanted.items():
        done = examine(cluster, case(then))
        assert json.loads(done.stdout)["then"]["stdout"] == output
        assert done.context["then"] == then.how
    refused = examine(Cluster(status=READY), case(Afterwards(how="port-forward", words=("1", "/"))))
    assert "connection refused" in json.loads(refused.stdout)["then"]["error"]


def test_nothing_is_done_with_a_pod_that_did_not_start() -> None:
    """A command in it would fail for that reason."""
    done = examine(Cluster(status=PENDING), case(Afterwards(how="log")))
    assert "then" not in json.loads(done.stdout)
