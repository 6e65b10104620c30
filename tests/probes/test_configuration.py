"""Inspections: what is read for a rule, once a node, and what is recorded when something goes wrong."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.model.check import Action, Case, Target
from nettests.model.facts import ClusterFacts, Fact, known, unknown
from nettests.model.words import Protocol, Question, TargetKind
from nettests.probes.addresses import NotOfferedError
from nettests.probes.configuration import Inspection
from nettests.probes.sending import Probe
from nettests.rules.kube_proxy import PROXY_LOG
from tests.probes.made import FACTS, vantage

NODE = "node-windows-1-1"
FLAG = 'FLAG: --proxy-mode="kernelspace"'
PODS = json.dumps(
    {
        "items": [
            {
                "metadata": {"name": "kube-proxy-x", "namespace": "kube-system"},
                "spec": {"containers": [{"name": "proxy"}]},
            }
        ]
    }
)


@dataclass(slots=True)
class Server:
    """An API server that answers by path and remembers what it was probed."""

    answers: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    probed: list[str] = field(default_factory=list)

    def dry_run(self, item: dict[str, Any]) -> tuple[int, str]:
        raise AssertionError("nothing is created by an inspection")

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        self.probed.append(path)
        return self.answers.get(path, (404, "not found"))


@dataclass(slots=True)
class Shell:
    """A container of the node that answers by program."""

    answers: Mapping[str, ExecAnswer | ChannelError]
    ran: list[str] = field(default_factory=list)
    slots: AbstractContextManager[object] = field(default_factory=nullcontext)

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        self.ran.append(argv[0])
        answer = self.answers[argv[0]]
        if isinstance(answer, ChannelError):
            raise answer
        return answer


def said(stdout: str, code: int = 0, stderr: str = "") -> ExecAnswer:
    """Return how a process ended."""
    return ExecAnswer(exit_code=code, stdout=stdout, stderr=stderr)


def inspection(server: Server, shell: Shell | None = None) -> Inspection:
    """Return an inspection of the small cluster."""
    probes = {NODE: Probe(name=NODE, execute=shell)} if shell else {}
    facts = FACTS
    if (
        shell and {"tasklist.exe", "powershell.exe"} & shell.answers.keys()
    ):  # a rule about Flannel and kernelspace
        plugin = replace(FACTS.cni, plugin=known("flannel", "test"))
        facts = replace(of_proxy(as_pod=True, mode=known("kernelspace", "test")), cni=plugin)
    return Inspection(api=server, facts=facts, probes=probes, seconds=1)


def action(rule: str) -> Action:
    """Return the question whether the Windows node keeps a rule."""
    return Action(
        source=vantage(NODE),
        target=Target(kind=TargetKind.CONFIGURATION, node="w1"),
        protocol=Protocol.TCP,
        question=Question.INSPECT,
        case=Case(label=rule),
    )


def test_of_readings_is_recorded_what_rules_use() -> None:
    """The fields of an object that rules look at, with the rule's name and the facts beside it."""
    node = '{"kind": "Node", "metadata": {"name": "w1", "annotations": {"note": "hunter2"}}}'
    server = Server({"/api/v1/nodes/w1": (200, node)})
    got = inspection(server).examine(action("windows-build-label"))
    kept = '{"metadata": {"name": "w1"}}'
    assert json.loads(got.stdout) == {"readings": {"node": kept}, "problems": {}}
    assert got.context["rule"] == "windows-build-label"
    assert got.context["node"] == "w1"
    assert got.words == ("GET /api/v1/nodes/w1",)


def test_a_log_is_read_of_the_pod_that_the_list_names() -> None:
    """kube-proxy's log belongs to its Pod on this node."""
    log = "/api/v1/namespaces/kube-system/pods/kube-proxy-x/log"
    server = Server({"/api/v1/pods": (200, PODS), log: (200, f'{FLAG}\nFLAG: --token="hunter2"')})
    readings = json.loads(inspection(server).examine(action("proxy-mode")).stdout)["readings"]
    assert readings[PROXY_LOG.name] == f"{FLAG}\n"


def test_a_node_is_read_once() -> None:
    """Rules that look at the same text share it."""
    server = Server({"/api/v1/nodes/w1": (200, "{}")})
    one = inspection(server)
    one.examine(action("windows-build-label"))
    one.examine(action("update-not-broken"))
    assert server.probed == ["/api/v1/nodes/w1"]


def test_a_refused_reading_is_a_problem_of_its_own() -> None:
    """What the API server denies is told, and the other readings stand."""
    server = Server({"/api/v1/pods": (403, "forbidden")})
    recorded = json.loads(inspection(server).examine(action("proxy-mode")).stdout)
    assert (
        recorded["problems"]["node-pods"]
        == "/api/v1/pods?fieldSelector=spec.nodeName=w1: status 403"
    )


def test_a_log_of_pods_that_could_not_be_listed_is_not_one_that_is_missing() -> None:
    """That none of them is kube-proxy nobody knows."""
    server = Server({"/api/v1/pods": (403, "forbidden")})
    problems = json.loads(inspection(server).examine(action("proxy-mode")).stdout)["problems"]
    assert problems[PROXY_LOG.name].endswith("status 403")


def test_a_tool_that_says_nothing_is_a_problem_with_its_reason() -> None:
    """Nothing on standard output and a bad exit code: its complaint is recorded."""
    shell = Shell({"powershell.exe": said("", 1, "The system cannot find\r\nthe file specified.")})
    recorded = json.loads(inspection(Server(), shell).examine(action("subnet-file")).stdout)
    assert recorded["problems"]["flannel-subnet-file"] == (
        "powershell.exe ended with 1: The system cannot find the file specified."
    )


def test_a_tool_that_failed_half_way_is_not_read() -> None:
    """Get-HnsPolicyList that could not show one list printed the others: what is missing would seem not to be there."""
    shell = Shell({"tasklist.exe": said('"kubelet.exe","1"\n', 1, "FEHLER: Zugriff verweigert")})
    recorded = json.loads(inspection(Server(), shell).examine(action("processes-running")).stdout)
    assert recorded["readings"] == {}
    assert recorded["problems"]["processes"] == (
        "tasklist.exe ended with 1: FEHLER: Zugriff verweigert"
    )


def test_a_missing_program_is_a_problem_of_its_reading() -> None:
    """The channel works: the rule that needs the reading says which program is missing."""
    missing = ProgramMissingError("tasklist.exe is missing in node-windows-1-1: no such file")
    shell = Shell({"tasklist.exe": missing})
    got = inspection(Server(), shell).examine(action("processes-running"))
    assert json.loads(got.stdout)["problems"] == {"processes": missing.message}


def test_a_channel_that_fails_makes_the_whole_untrusted() -> None:
    """Nothing of it is read."""
    error = ChannelError("exec was cut")
    got = inspection(Server(), Shell({"tasklist.exe": error})).examine(action("processes-running"))
    assert got.error == error.message
    assert got.stdout == ""


def of_proxy(*, as_pod: bool, mode: Fact[str]) -> ClusterFacts:
    """Return the small cluster with another kube-proxy on its Windows node."""
    linux, windows = FACTS.nodes
    proxy = replace(windows.kube_proxy, as_pod=known(as_pod, "test"), mode=mode)
    driver = known("l2bridge", "test")
    return replace(FACTS, nodes=(linux, replace(windows, kube_proxy=proxy, cni_driver=driver)))


def test_a_host_is_read_only_where_kube_proxy_is_no_pod() -> None:
    """Elsewhere the Pod tells, and the node is spared the commands."""
    there = {"powershell.exe": said(""), "curl.exe": said(""), "reg.exe": said("", 1, "ERROR")}
    for as_pod, ran in ((True, {"powershell.exe"}), (False, set(there))):
        shell = Shell(there)
        server = Server({"/api/v1/pods": (200, PODS)})
        facts = of_proxy(as_pod=as_pod, mode=known("kernelspace", "test"))
        one = replace(inspection(server, shell), facts=facts)
        with suppress(NotOfferedError):  # there is no process to be read
            one.examine(action("hns-network-type"))
        assert set(shell.ran) == ran


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        (known("userspace", "read on the node"), "kube-proxy's mode of w1 is userspace"),
        (unknown("it answers 'x', which is no mode"), "is not known: it answers 'x'"),
    ],
)
def test_what_the_node_told_meanwhile_may_speak_against_a_rule(mode: Fact[str], why: str) -> None:
    """It was planned before that was known; nothing is read for it then."""
    shell = Shell({})
    one = replace(inspection(Server(), shell), facts=of_proxy(as_pod=False, mode=mode))
    with pytest.raises(NotOfferedError, match=why):
        one.examine(action("hns-network-type"))
    assert shell.ran == []


@dataclass(slots=True)
class Rows(Shell):
    """A container of the node that also runs rows of commands, unless ``broken`` cuts them off."""

    broken: bool = False

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        if argv[:2] != ("cmd.exe", "/d"):
            return Shell.run(self, argv, timeout=timeout)
        self.ran.append("row")
        if self.broken:
            raise ChannelError("exec: the stream was cut off")
        marked = re.findall(r"echo ~(\d+)~&(\S+?\.exe)", argv[-1])
        return said(
            "".join(f"~{n}~\n{self.answers[tool].stdout}~{n}.0~\n" for n, tool in marked)  # type: ignore[union-attr]
        )


@pytest.mark.parametrize("broken", [False, True])
def test_what_the_plan_reads_of_a_node_is_taken_by_one_process(*, broken: bool) -> None:
    """The first reading takes those of the other planned rules too; if the row fails each has its own process."""
    shell = Rows({"netsh.exe": said("Start Port : 49152\n")}, broken=broken)
    one = inspection(Server(), shell)
    one.planned = {NODE: ("node-ports-free", "port-pools-left")}
    one.examine(action("node-ports-free"))
    alone = [program for program in shell.ran if program != "row"]
    assert (shell.ran[0], alone) == ("row", ["netsh.exe"] * 2 if broken else [])
