"""How a capture is begun, ended and undone on a node, and what it is refused for."""

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.model.facts import NodeFacts, unknown
from nettests.model.words import OS, Protocol, TargetKind
from nettests.probes.capturing import (
    CannotCaptureError,
    Capturer,
    Flow,
    RefusedCaptureError,
    capture_pod,
    tcpdump_words,
)
from nettests.probes.endpoint import Endpoint
from nettests.probes.marked_flow import TRAIN, MarkedFlow, marked_flow, marked_query, marked_train
from nettests.probes.objects import Blank
from nettests.tracing.mark import Mark
from tests.probes.made import FACTS, action

LINUX, WINDOWS = FACTS.nodes
FLOW = Flow(base=28000, served=(18080,))
BLANK = Blank(namespace="n", labels={"a": "b"})


@dataclass
class Talk:
    """A tcpdump that says something, or ends."""

    stderr: str = "tcpdump: listening on any\n"
    stdout: str = "1.0 eth0 Out IP 1.1.1.1 > 2.2.2.2\n"
    exit_code: int | None = None
    closed: bool = False
    interrupted: str = ""
    """What it says once it is interrupted."""

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        assert seconds > 0
        return enough(self.stdout)

    def say(self, text: str) -> None:
        raise AssertionError(text)

    def stay(self) -> None:
        raise AssertionError

    def close(self) -> None:
        self.closed = True


@dataclass
class Cluster:
    """Runs nothing: answers by the words of a command, and remembers them."""

    answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    talk: Talk = field(default_factory=Talk)
    ran: list[tuple[str, ...]] = field(default_factory=list)
    broken: ChannelError | None = None
    without_pkill: bool = False

    slots = nullcontext()

    def open_exec(
        self, namespace: str, pod: str, container: str, *, node: str, os: OS
    ) -> "Cluster":
        assert (namespace, container, pod) == ("n", "capture", f"capture-{os.value}-1-1")
        assert node
        return self

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        assert timeout > 0
        self.ran.append(tuple(argv))
        if argv[0] == "pkill":
            if self.without_pkill:
                raise ProgramMissingError("no pkill")
            self.talk.stderr += self.talk.interrupted
        usual = {"pktmon status": (0, "Packet Monitor is not running.")}
        code, text = {**usual, **self.answers}.get(" ".join(argv[:2]), (0, ""))
        return ExecAnswer(exit_code=code, stdout=text, stderr="")

    def converse(self, namespace: str, pod: str, container: str, argv: Sequence[str]) -> Talk:
        assert (namespace, pod, container) == ("n", "capture-linux-1-1", "capture")
        self.ran.append(tuple(argv))
        if self.broken:
            raise self.broken
        return self.talk


def on(cluster: Cluster, node: NodeFacts = WINDOWS) -> Capturer:
    return Capturer(cluster=cluster, namespace="n", node=node, flow=FLOW)


@pytest.mark.parametrize(
    "status", ["Packet Monitor is not running.", "Der Paketmonitor wird nicht ausgeführt.\r\n"]
)
def test_pktmon_leaves_a_node_as_it_was(status: str) -> None:
    """Filters and files that a capture made are removed, and the log's text is what it returns, in any language."""
    cluster = Cluster(answers={"cmd /c": (0, "the log"), "pktmon status": (0, status)})
    one = on(cluster)
    one.begin()
    assert one.end(until="") == "the log"
    words = [" ".join(each) for each in cluster.ran]
    assert sum(each.startswith("pktmon filter add") for each in words) == 10
    begun = next(each for each in words if each.startswith("pktmon start"))
    assert "--pkt-size 256" in begun
    assert "--file-size 4" in begun
    assert words[-2] == "pktmon filter remove"
    assert words[-1].startswith("cmd /c del /q C:\\Windows\\Temp\\nettests-28000-n.etl")
    assert not one.remarks


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"pktmon status": (0, "Collected data: packet capture")}, "runs already on w1"),
        ({"pktmon status": (0, "Collectes :\n    Tous les paquets\n")}, "runs already on w1"),
        ({"pktmon status": (0, "")}, "shows no status"),
        ({"pktmon filter": (0, " # Name Port\n 1 mine 443\n")}, "somebody else's filters"),
        ({"pktmon status": (5, "Access is denied.")}, "Access is denied"),
    ],
)
def test_other_peoples_captures_are_left_alone(
    answers: dict[str, tuple[int, str]], why: str
) -> None:
    """A capture or filters of somebody else end the trace, and nothing of them is changed."""
    cluster = Cluster(answers=answers)
    one = on(cluster)
    with pytest.raises(CannotCaptureError, match=why):
        one.begin()
    one.end(until="")
    changed = {"add", "remove", "start", "stop", "del"}
    assert not any(changed & set(words) for words in cluster.ran)


def test_the_first_release_of_pktmon_has_other_words() -> None:
    """Windows Server 2019: no ``status``, ``--etw`` and ``format``; all else is the same."""
    cluster = Cluster(
        answers={"pktmon status": (1, "Unknown command 'status'"), "cmd /c": (0, "the log")}
    )
    one = on(cluster)
    one.begin()
    assert one.end(until="") == "the log"
    log = r"C:\Windows\Temp\nettests-28000-n.etl"
    words = [" ".join(each) for each in cluster.ran]
    assert f"pktmon start --etw -p 256 -f {log} -s 4" in words
    assert f"pktmon format {log} -o {log.replace('.etl', '.txt')} -x" in words


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("Total free bytes        : 104,857,600 (100.0 MB)", "100 MiB free on C:"),
        ("Total # of free bytes        : 104857600", "100 MiB free on C:"),
        ("Total free bytes        : 103,079,215,104 ( 96.0 GB)", ""),
        ("Gesamtzahl der freien Bytes: 12", ""),
    ],
)
def test_a_full_drive_is_left_alone(said: str, refused: str) -> None:
    """Nothing is begun where there is little room; where that is not told, the tool will say so."""
    cluster = Cluster(answers={"fsutil volume": (0, said)})
    one = on(cluster)
    if refused:
        with pytest.raises(RefusedCaptureError, match=refused):
            one.begin()
        one.end(until="")
        assert not {"start", "stop", "del"} & {word for words in cluster.ran for word in words}
    else:
        one.begin()


def test_what_cannot_be_undone_is_said() -> None:
    """Filters that stay on a node are told to people."""
    cluster = Cluster()
    one = on(cluster)
    one.begin()
    cluster.answers["pktmon filter"] = (1, "busy")
    one.end(until="")
    assert one.remarks == ["left on w1: pktmon filter remove failed on w1: busy"]


def test_tcpdump_is_heard_and_hung_up() -> None:
    """A Linux capture begins when tcpdump says so, and its text is what it printed."""
    cluster = Cluster()
    one = on(cluster, LINUX)
    one.begin()
    assert one.end(until="x").startswith("1.0 eth0")
    assert cluster.talk.closed
    words = tcpdump_words(FLOW)
    assert cluster.ran[0] == words
    assert words[:4] == ("timeout", "-s", "INT", "40")


@pytest.mark.parametrize(
    ("cluster", "why"),
    [
        (Cluster(talk=Talk(stderr="tcpdump: any: no permission", exit_code=1)), "no permission"),
        (Cluster(talk=Talk(stderr="")), "said nothing"),
        (Cluster(broken=ProgramMissingError("no such program: tcpdump")), "tcpdump"),
        (Cluster(broken=ChannelError("exec was cut")), "exec was cut"),
    ],
)
def test_a_tcpdump_that_does_not_capture_says_why(cluster: Cluster, why: str) -> None:
    """No permission, no word, no program, no channel: each is named."""
    with pytest.raises(CannotCaptureError, match=why):
        on(cluster, LINUX).begin()


def test_tcpdump_is_interrupted_and_says_what_it_lost() -> None:
    """By SIGINT, and no other capture's; its last lines stand behind its packets."""
    lost = "\n2 packets captured\n9 packets received by filter\n7 packets dropped by kernel\n"
    cluster = Cluster(talk=Talk(interrupted=lost))
    one = on(cluster, LINUX)
    one.begin()
    text = one.end(until="2.2.2.2")
    assert cluster.ran[-1] == ("pkill", "-INT", "-f", "portrange 28000-28007")
    assert text == cluster.talk.stdout + lost.lstrip()
    assert cluster.talk.closed
    assert not one.remarks


@pytest.mark.parametrize(
    ("cluster", "remark"),
    [
        (Cluster(), "tcpdump on n1 did not say how many packets its kernel dropped"),
        (Cluster(without_pkill=True), "no pkill"),
    ],
    ids=["silent", "an image without pkill"],
)
def test_a_tcpdump_that_does_not_say_what_it_lost_is_remarked(
    cluster: Cluster, remark: str
) -> None:
    """Its packets are there all the same."""
    one = on(cluster, LINUX)
    one.begin()
    assert one.end(until="2.2.2.2") == cluster.talk.stdout
    assert one.remarks == [remark]
    assert cluster.talk.closed


def test_the_pod_has_no_more_than_it_needs() -> None:
    """On Linux NET_RAW alone, on Windows a HostProcess container as SYSTEM; both end by themselves."""
    linux, windows = (capture_pod(node, BLANK) for node in FACTS.nodes)
    (container,) = linux["spec"]["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["NET_RAW"]}
    assert linux["spec"]["hostNetwork"]
    options = windows["spec"]["securityContext"]["windowsOptions"]
    assert options == {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}
    assert {one["spec"]["activeDeadlineSeconds"] for one in (linux, windows)} == {900}
    assert linux["metadata"]["labels"]["a"] == "b"


def test_another_image_captures_where_one_is_named() -> None:
    """``images.capture`` is used as it stands, on Linux; a mirror takes the place of the usual one's registry."""
    own = replace(BLANK, images=replace(BLANK.images, capture="x/y:1", registry="m"))
    assert capture_pod(LINUX, own)["spec"]["containers"][0]["image"] == "x/y:1"
    mirror = replace(BLANK, images=replace(BLANK.images, registry="m"))
    image = capture_pod(LINUX, mirror)["spec"]["containers"][0]["image"]
    assert image == "m/nicolaka/netshoot:v0.13"


def test_a_namespace_or_node_that_forbids_it_is_refused() -> None:
    """Another level of Pod Security, and a node without HostProcess containers, are said before anything is created."""
    with pytest.raises(CannotCaptureError, match="level baseline"):
        capture_pod(LINUX, replace(BLANK, pod_security="baseline"))
    without = replace(WINDOWS, host_process=unknown("containerd 1.5"))
    with pytest.raises(CannotCaptureError, match=r"containerd 1\.5"):
        capture_pod(without, BLANK)


def test_each_protocol_has_its_mark() -> None:
    """A port for connections, a word for datagrams, a size for echoes; an answer is told from none."""
    endpoint = Endpoint(host="h", hostname_port=80, udp_port=81)

    def flow(protocol: Protocol, **more: Any) -> MarkedFlow:
        requested = action("probe-windows-1-1", TargetKind.POD_IP, protocol, **more)
        return marked_flow(requested, endpoint, "10.0.0.1", 80, number=28002, token="nt1")

    tcp, udp, icmp = (flow(each) for each in (Protocol.TCP, Protocol.UDP, Protocol.ICMP))
    assert "--local-port 28002 http://10.0.0.1:80/hostname?nt1" in " ".join(tcp.words)
    assert tcp.mark.port == 28002
    assert udp.mark.token == b"echo nt1"
    assert "request=echo%20nt1" in udp.words[-1]
    said = ExecAnswer(exit_code=0, stdout='{"responses":["nt1"]}', stderr="")
    none = replace(said, stdout='{"errors":["timeout"]}')
    assert udp.answered(said)
    assert not udp.answered(none)
    assert not udp.answered(replace(said, stdout="no JSON"))
    assert str(icmp.mark.size) in icmp.words
    large = flow(Protocol.TCP, size=2000)
    assert len(large.words[-1]) > 2000


@pytest.mark.parametrize(
    ("protocol", "request_sent", "mark"),
    [
        (Protocol.TCP, "request=hostname%3Fnt1", b"GET /hostname?nt1"),
        (Protocol.UDP, "request=echo%20nt1", b"echo nt1"),
    ],
)
def test_a_train_is_many_requests_with_one_mark(
    protocol: Protocol, request_sent: str, mark: bytes
) -> None:
    """Each request of a trace of losses begins with the same word, and one that is lost makes the train unanswered."""
    endpoint = Endpoint(host="h", hostname_port=80, udp_port=81)
    requested = action("probe-windows-1-1", TargetKind.POD_IP, protocol)
    train = marked_train(requested, endpoint, "10.0.0.1", 80, "nt1")
    assert request_sent in train.words[-1]
    assert f"tries={TRAIN}" in train.words[-1]
    assert train.mark == Mark(protocol=protocol, token=mark)
    answers = json.dumps({"responses": ["nt1"] * TRAIN})
    said = ExecAnswer(exit_code=0, stdout=answers, stderr="")
    assert train.answered(said)
    lost = json.dumps({"responses": ["nt1"] * (TRAIN - 1), "errors": ["timeout"]})
    assert not train.answered(replace(said, stdout=lost))
    assert not train.answered(replace(said, stdout=""))


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("** server can't find nettests28002.default.svc.cluster.local: NXDOMAIN", True),
        ("*** dns can't find nettests28002.default.svc.cluster.local.: Non-existent domain", True),
        (";; connection timed out; no servers could be reached", False),
        ("*** Request to dns timed-out", False),
        ("", False),
    ],
)
def test_a_query_is_answered_by_a_name_that_does_not_exist(said: str, answered: bool) -> None:
    """Of a name of the cluster's own domain, whole, at the server itself; either tool says so in its own words."""
    flow = marked_query("10.96.0.10", "cluster.local", "nettests28002")
    assert flow.words == ("nslookup", "nettests28002.default.svc.cluster.local.", "10.96.0.10")
    assert flow.answered(ExecAnswer(exit_code=1, stdout=said, stderr="")) is answered
