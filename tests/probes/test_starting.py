"""Pods of checks' own: what is created, what is written down of them, and that they are removed."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Any

import pytest

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError, ExecAnswer, HttpAnswer, SpentError
from nettests.model.check import Action, Afterwards, Case, Target, Vantage
from nettests.model.cluster_profile import OUTSIDE_MESHES, Images, Timing
from nettests.model.facts import Taint
from nettests.model.json_text import Object
from nettests.model.words import OS, Protocol, Question, TargetKind, VantageKind
from nettests.plan import pods
from nettests.probes import starting
from nettests.probes.deployment import StandingPod
from nettests.probes.examine import Examination
from nettests.probes.objects import Blank
from nettests.probes.start_objects import manifest_for, pod
from nettests.probes.starting import Starting
from tests.probes.made import FACTS

pytestmark = pytest.mark.usefixtures("removed_at_once")

BLANK = Blank(
    namespace="nettests-1",
    labels={"nettests.dev/run": "1"},
    images=Images(probe="mirror/agnhost:1"),
)
READY = {"podIP": "10.244.3.5", "conditions": [{"type": "Ready", "status": "True"}]}
PENDING = {"phase": "Pending"}


@dataclass(slots=True)
class Cluster:
    """Pods on a table: each has ``status``, and what is required of it gets ``answer``."""

    status: Object
    answer: str = ""
    refuses: bool = False
    created: list[Object] = field(default_factory=list)
    on_delete: Callable[[], None] = lambda: None
    deleted: list[str] = field(default_factory=list)
    probed: list[int] = field(default_factory=list)
    awaited: list[str] = field(default_factory=list)
    losses: int = 0
    stages: list[list[list[Object]]] = field(default_factory=list)
    """What is seen of a workload's Pods: before and after it changes, one look after the other."""
    told: Object = field(default_factory=dict)
    updated: list[Object] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)
    conflicts: int = 0
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
        uid = f"uid-{len(self.deleted)}"
        found = {"metadata": {"uid": uid}, "status": self.status}
        settled(found)
        return found

    def follow_pods(
        self,
        _namespace: str,
        selector: str,
        *,
        settled: Callable[[Sequence[Object]], bool],
        appear: float,
        seconds: float,
        stuck: float,
    ) -> list[Object]:
        """Return what stands of what the last object makes; after an update, what came in its place."""
        assert min(appear, seconds, stuck) > 0
        assert selector.endswith(self.created[-1]["metadata"]["name"])
        self.followed.append(selector)
        shown = self.stages[min(len(self.updated), len(self.stages) - 1)]
        for found in shown:
            settled(found)
        return list(shown[-1])

    def attach(self, _namespace: str, _pod: str, _container: str, *, until: str) -> str:
        """Hear the answer, which is what is listened for."""
        assert until
        return self.answer

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Show the last object by its name, with the status that its controller writes."""
        made = self.created[-1]
        assert query == {"fieldSelector": f"metadata.name={made['metadata']['name']}"}
        self.listed.append(path)
        item = {"metadata": made["metadata"], "spec": made["spec"], "status": self.told}
        return 200, json.dumps({"items": [item]})

    def update(self, path: str, item: Object) -> None:
        """Take another state of an object; the first time somebody else was faster."""
        if self.conflicts:
            self.conflicts -= 1
            raise ClusterError(f"PUT {path}: 409 Conflict")
        self.updated.append(item)

    def events_of(self, _namespace: str, _pod: str) -> list[Object]:
        """Return one warning."""
        return [{"type": "Warning", "reason": "FailedMount", "message": "no volume", "count": 3}]

    def log_of(self, _namespace: str, _pod: str, _container: str, *, timed: bool = False) -> str:
        """Return the answer as a log."""
        return f"2026-11-21T01:08:15Z {self.answer}" if timed else self.answer

    def follow_end(
        self, _namespace: str, name: str, *, seconds: float
    ) -> tuple[Object | None, bool]:
        """Be gone at once, if it was deleted."""
        assert seconds
        return {"status": self.status}, name in self.deleted

    def delete_pod(self, _namespace: str, name: str) -> None:
        """Note what was deleted."""
        self.deleted.append(name)
        self.on_delete()

    def delete_pods(self, namespace: str, names: Sequence[str]) -> None:
        for name in names:
            self.delete_pod(namespace, name)

    def delete(self, path: str) -> None:
        """Note what was deleted."""
        self.deleted.append(path)

    def pod_proxy(self, _namespace: str, _pod: str, _port: int) -> "Cluster":
        """Be the channel."""
        return self

    port_forward = pod_proxy

    def read_port(self, _namespace: str, _pod: str, port: int, *, timeout: float) -> str:
        """Say the answer by itself, or fail as a channel does."""
        assert timeout
        if self.losses:
            self.losses -= 1
            raise SpentError("port-forward: it was lost")
        if not self.answer:
            self.probed.append(port)
            raise ChannelError("port-forward: connection refused")
        return self.answer

    def wait_gone(self, _namespace: str, name: str, *, seconds: float, uid: str = "") -> bool:
        """Be gone at once, if it was deleted."""
        assert seconds
        self.awaited.append(name)
        return name in self.deleted

    def open_exec(
        self, _namespace: str, _pod: str, _container: str, *, node: str, os: OS
    ) -> "Cluster":
        """Be the channel."""
        assert (node, os) == ("w1", OS.WINDOWS)
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
    probing = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing())
    return probing.examine(question(case))


def question(case: Case) -> Action:
    """Return the question whether the case's Pod starts on the Windows node."""
    return Action(
        source=Vantage(kind=VantageKind.API, probe="api", node="w1"),
        target=Target(kind=TargetKind.POD, node="w1"),
        protocol=Protocol.TCP,
        question=Question.START,
        case=case,
    )


def case(then: Afterwards | None = None) -> Case:
    """Return a case with a plain Pod."""
    return replace(pods.starts("plain", pods.pod()), then=then)


@pytest.mark.parametrize("losses", [1, 2, 3])
def test_a_pod_that_spoke_to_a_lost_stream_is_recreated(losses: int) -> None:
    """It speaks once; after ``channelTries`` Pods nothing is known, and that is said."""
    cluster = Cluster(READY, answer="hello", losses=losses)
    found = examine(cluster, case(Afterwards(how="port-read", words=("8080",), says="hello")))
    made = min(losses + 1, Timing().channel_tries)
    assert cluster.deleted == [f"start-{number}" for number in range(1, made + 1)]
    if losses < Timing().channel_tries:
        assert json.loads(found.stdout)["then"] == {"stdout": "hello"}
    else:
        assert (found.error, found.stdout) == ("port-forward: it was lost", "")


@pytest.mark.parametrize("existing", [True, False])
def test_a_pod_in_a_namespace_of_others_is_gone_before_the_next(existing: bool) -> None:
    """A quota may count it as long as it goes; a namespace of the run's own has none."""
    cluster = Cluster(READY)
    blank = replace(BLANK, existing=existing)
    Starting(pods=cluster, blank=blank, facts=FACTS, timing=Timing()).examine(question(case()))
    assert cluster.deleted == ["start-1"]
    assert cluster.awaited == (["start-1"] if existing else [])


def test_a_pod_gets_the_runs_labels_image_and_place() -> None:
    """Everything of a run is labelled, stands where it is probed, and takes the profile's image."""
    node = replace(FACTS.node("w1"), taints=(Taint(key="os", value="windows"),))
    item = pod(case(), node, BLANK, "start-7")
    assert item["metadata"]["name"] == "start-7"
    assert item["metadata"]["namespace"] == "nettests-1"
    own = {"nettests.dev/run": "1", "nettests.dev/purpose": "start"}
    assert item["metadata"]["labels"] == OUTSIDE_MESHES["labels"] | own
    spec = item["spec"]
    assert spec["nodeSelector"] == {"kubernetes.io/hostname": "w1", "kubernetes.io/os": "windows"}
    assert spec["tolerations"] == [{"key": "os", "operator": "Exists", "effect": "NoSchedule"}]
    assert spec["os"] == {"name": "windows"}
    assert [one["image"] for one in spec["containers"]] == ["mirror/agnhost:1"]


def test_what_the_case_says_stays() -> None:
    """Operating system and image of the case are what is in question."""
    own = pods.pod({"name": "base", "image": "mcr/base:1"}, os={"name": "linux"})
    spec = pod(pods.starts("own", own), FACTS.node("w1"), BLANK, "start-1")["spec"]
    assert spec["os"] == {"name": "linux"}
    unnamed = pods.starts("none", pods.pod(os=None))
    assert "os" not in pod(unnamed, FACTS.node("w1"), BLANK, "start-1")["spec"]
    assert spec["containers"][0]["image"] == "mcr/base:1"


def test_every_pod_has_its_own_name_and_is_removed() -> None:
    """Two questions make two Pods; neither is left, also where nothing is known of it."""
    cluster = Cluster(status=READY)
    probing = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing())
    for _ in range(2):
        probing.examine(question(case()))
    names = [item["metadata"]["name"] for item in cluster.created]
    assert len(set(names)) == 2
    assert cluster.deleted == names
    lost = Cluster(status={})
    assert "never appeared" in (examine(lost, case()).error or "")
    assert lost.deleted == [lost.created[0]["metadata"]["name"]]


SETS = replace(
    question(pods.stateful("again")), target=Target(kind=TargetKind.POD, node="w1", service="sets")
)


def test_a_stateful_set_makes_the_pod_and_is_removed_for_it() -> None:
    """Its Pod has all that a run's Pods have, carries the Service's label, and would are recreated by itself."""
    cluster = Cluster(status=READY, answer="start-1-0 10.244.3.5")
    probing = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing())
    then = json.loads(probing.examine(SETS).stdout)["then"]
    (made,) = cluster.created
    spec, template = made["spec"], made["spec"]["template"]
    assert (made["kind"], spec["serviceName"], spec["replicas"]) == ("StatefulSet", "sets", 1)
    assert spec["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert template["metadata"]["labels"]["member.nettests.dev/sets"] == "true"
    assert template["spec"]["containers"][0]["image"] == "mirror/agnhost:1"
    assert "restartPolicy" not in template["spec"]  # a set's Pods always start again
    path = "/apis/apps/v1/namespaces/nettests-1/statefulsets/start-1"
    assert cluster.deleted == ["start-1-0", path]
    assert then["uids"] == ["uid-0", "uid-1"]
    assert then["lookup"]["asked"] == "start-1-0.sets.nettests-1.svc.cluster.local"


@pytest.mark.parametrize(
    "timing", [replace(Timing(), convergence=0), replace(Timing(), names_cached=0)]
)
def test_a_name_is_queried_until_its_deadline(timing: Timing) -> None:
    """A Pod whose name never leads to it is told as it is when no cache can hold an older answer."""
    cluster = Cluster(status=READY, answer="nothing of it")
    probing = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=timing)
    then = json.loads(probing.examine(SETS).stdout)["then"]
    assert "nothing of it" in then["lookup"]["stdout"]
    assert then["address"] == READY["podIP"]


def test_a_hook_names_the_address_of_the_other_pod() -> None:
    """Of the family that is probed in; before anything stands the Pod is shown without it."""
    action = replace(
        question(pods.probing("hook")),
        target=Target(kind=TargetKind.POD, node="n1", pod="server-linux-1-1"),
    )
    other = StandingPod(
        name="server-linux-1-1",
        node="n1",
        purpose="server",
        addresses=(ip_address("fd00::9"), ip_address("10.244.1.9")),
        host_addresses=(),
    )
    cluster = Cluster(status=READY)
    standing = {other.name: other}
    Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing(), standing=standing).examine(
        action
    )
    (container,) = cluster.created[0]["spec"]["containers"]
    hook = container["lifecycle"]["postStart"]["httpGet"]
    assert (hook["host"], hook["port"]) == ("10.244.1.9", 18080)
    shown = manifest_for(action, FACTS.node("w1"), BLANK, "start-1")
    assert pods.OTHER in json.dumps(shown)


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
        Afterwards(how="port-read", words=("8080",)): "hello",
    }
    for then, output in wanted.items():
        done = examine(cluster, case(then))
        assert json.loads(done.stdout)["then"]["stdout"] == output
        assert done.context["then"] == then.how
    refused = examine(Cluster(status=READY), case(Afterwards(how="port-forward", words=("1", "/"))))
    assert "connection refused" in json.loads(refused.stdout)["then"]["error"]


def test_a_port_that_nobody_serves_yet_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Pod without a readiness probe is Ready before its server listens; refused it is in the end."""
    monkeypatch.setattr(starting, "LISTENING_PAUSE", 0.0)
    cluster = Cluster(status=READY)
    done = examine(cluster, case(Afterwards(how="port-read", words=("8080",))))
    assert "connection refused" in json.loads(done.stdout)["then"]["error"]
    assert cluster.probed == [8080] * starting.LISTENING_TRIES


def test_a_restart_is_written_down_with_both_addresses() -> None:
    """The request that ends the server may lose its answer."""
    restarted = {**READY, "containerStatuses": [{"name": "first", "restartCount": 1}]}
    done = examine(Cluster(status=restarted), case(Afterwards(how="restart", words=("1", "/exit"))))
    assert json.loads(done.stdout)["then"] == {
        "before": "10.244.3.5",
        "after": "10.244.3.5",
        "restarts": 1,
    }


def test_nothing_is_done_with_a_pod_that_did_not_start() -> None:
    """A command in it would fail for that reason."""
    done = examine(Cluster(status=PENDING), case(Afterwards(how="log")))
    assert "then" not in json.loads(done.stdout)
