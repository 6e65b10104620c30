"""A connection that is idle: who holds its ends, and what is said when."""

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from nettests.model.words import Outcome, Question, TargetKind
from nettests.parse import read_raw
from nettests.probes import StoppedError
from nettests.probes.addresses import NotOfferedError
from nettests.probes.idle_connection import IdleConnection
from nettests.probes.objects import IDLE_PORTS
from tests.parse.raws import raw
from tests.probes.made import FACTS, NAMESPACE, action, deployed

TIMING = Timing(idle=0.02, flow_memory=0.01, dial=0.05, execute=0.05, listening=0.2)
LINUX = action("probe-linux-1-1", TargetKind.POD_IP, question=Question.IDLE)
WINDOWS = action(
    "probe-windows-1-1",
    TargetKind.POD_IP,
    on="w1",
    pod="server-windows-1-1",
    question=Question.IDLE,
)
SERVED = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP, question=Question.IDLE)


REFUSED = "x: connect: Connection refused\n"


def comes_back(word: str) -> str:
    """Say that a word was taken, and what came back."""
    return f"took {word}\nback {word}\n"


def is_lost(word: str) -> str:
    """Say that nothing comes back of what is said after the silence."""
    return comes_back(word) if word == "before" else f"took {word}\nnone 142\n"


def is_swallowed(word: str) -> str:
    """Say nothing of what is said after the silence: it never arrived."""
    return comes_back(word) if word == "before" else ""


@dataclass(slots=True)
class Process:
    """A process that is spoken to: a client that has its connection, unless it was told otherwise."""

    answers: Callable[[str], str] = comes_back
    stdout: str = "open\n"
    stderr: str = ""
    exit_code: int | None = None
    said: list[str] = field(default_factory=list)
    stayed: int = 0
    closed: bool = False

    def say(self, text: str) -> None:
        """Take a word."""
        self.said.append(text.strip())
        if self.exit_code is None:
            self.stdout += self.answers(text.strip())

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        """Return whether it has said enough."""
        assert seconds > 0
        return enough(self.stdout)

    def stay(self) -> None:
        """Count how often somebody stayed."""
        self.stayed += 1

    def close(self) -> None:
        """Hang up."""
        assert not self.closed
        self.closed = True


def refused() -> Process:
    """Return a client that found nobody."""
    return Process(stdout=REFUSED, exit_code=7)


@dataclass(slots=True)
class Talks:
    """Starts processes: the clients one after the other, and servers that do nothing."""

    clients: list[Process]
    servers: Callable[[], Process] = lambda: Process(stdout="")
    started: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    made: list[Process] = field(default_factory=list)

    def converse(self, namespace: str, pod: str, container: str, argv: Sequence[str]) -> Process:
        """Start a process; of the clients of a connection one stands at a time."""
        assert namespace == NAMESPACE
        self.started.append((pod, container, tuple(argv)))
        if container == "probe":
            if not self.clients:
                raise ChannelError("no exec")
            assert all(process.closed for process in self.made if process.stdout == REFUSED)
            process = self.clients.pop(0)
        else:
            process = self.servers()
        self.made.append(process)
        return process


def idle_connection(
    talks: Talks, stopped: threading.Event | None = None, timing: Timing = TIMING
) -> IdleConnection:
    """Return the examiner over what stands."""
    return IdleConnection(
        talks=talks,
        namespace=NAMESPACE,
        facts=FACTS,
        standing=deployed().pods,
        services=deployed().services,
        timing=timing,
        stopped=stopped or threading.Event(),
    )


def outcome(
    talks: Talks, question: Any = LINUX, timing: Timing = TIMING
) -> tuple[Outcome, dict[str, Any]]:
    """Return what is read from the record of a silence, and the record."""
    done = idle_connection(talks, timing=timing).examine(question)
    assert all(process.closed for process in talks.made)
    assert done.error is None
    read = read_raw(raw(done.tool, stdout=done.stdout))
    return read.outcome, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("question", "server", "netcat", "client"),
    [
        (LINUX, "server-linux-1-1", ("busybox", "nc"), "bash"),
        (WINDOWS, "server-windows-1-1", ("nc",), "powershell.exe"),
    ],
)
def test_neither_end_keeps_the_connection_alive(
    question: Any, server: str, netcat: tuple[str, ...], client: str
) -> None:
    """The client is a script of the system's shell, the server an nc with cat, on either system."""
    talks = Talks([Process()])
    assert outcome(talks, question)[0] is Outcome.CONNECTED
    serving, probing = talks.started
    assert serving == (server, "hostname", (*netcat, "-l", "-p", "21000", "-e", "cat"))
    assert probing[:2] == (question.source.probe, "probe")
    assert probing[2][0] == client


def test_through_a_service_its_pod_serves_at_the_port_that_is_dialled() -> None:
    """The client dials the Service's address, and the Pod behind it serves at the same number."""
    talks = Talks([Process()])
    assert outcome(talks, SERVED)[0] is Outcome.CONNECTED
    serving, probing = talks.started
    assert serving[0] == "server-linux-1-1"
    assert serving[2] == ("busybox", "nc", "-l", "-p", str(IDLE_PORTS[0]), "-e", "cat")
    assert "'10.96.1.1'" in probing[2][-1]
    assert f",{IDLE_PORTS[0]})" in probing[2][-1]


def test_each_connection_through_a_service_has_a_port_of_its_own() -> None:
    """So has the new one beside a lost one, and that of another client of the same Service."""
    talks = Talks([Process(is_lost), Process(), Process()])
    examiner = idle_connection(talks)
    first, second = examiner.examine(SERVED), examiner.examine(SERVED)
    assert read_raw(raw(first.tool, stdout=first.stdout)).outcome is Outcome.LOST
    assert read_raw(raw(second.tool, stdout=second.stdout)).outcome is Outcome.CONNECTED
    served = [words[4] for pod, _, words in talks.started if pod == "server-linux-1-1"]
    assert served == [str(port) for port in IDLE_PORTS[:3]]


def test_streams_are_kept_during_the_silence() -> None:
    """Both ends' streams are shown that somebody is there, so that only the connection is idle."""
    talks = Talks([Process()])
    outcome(talks)
    assert min(process.stayed for process in talks.made) >= 1


def test_a_word_that_is_not_answered_is_lost_beside_a_new_connection() -> None:
    """The second word brings nothing, and another connection to another port is answered."""
    talks = Talks([Process(is_lost), Process()])
    found, record = outcome(talks)
    assert found is Outcome.LOST
    assert "none 142" in record["kept"]["said"]
    assert "21001" in record["fresh"]["server"]


def test_a_connection_is_held_for_whoever_captures_what_becomes_of_it() -> None:
    """It is silent as long as a check's, at a port of its own; then it is used again, and a new one beside it."""
    talks = Talks([Process(is_lost), Process()])
    with ExitStack() as lines:
        held = idle_connection(talks).hold(LINUX, lines)
        assert held.port == 21000
        assert min(process.stayed for process in talks.made) >= 1
        assert not held.answered()
        assert held.answered_anew()
    assert all(process.closed for process in talks.made)


def test_a_held_connection_that_never_stood_or_says_nothing_is_no_loss() -> None:
    """Without an answer before the silence, or without word of what became of it after, nothing is concluded."""
    deaf = Talks([Process(lambda word: f"took {word}\nnone 142\n")])
    with ExitStack() as lines, pytest.raises(ChannelError, match="no connection was open"):
        idle_connection(deaf).hold(LINUX, lines)
    with ExitStack() as lines:
        held = idle_connection(Talks([Process(is_swallowed)])).hold(LINUX, lines)
        with pytest.raises(ChannelError, match="nothing reports"):
            held.answered()


def test_a_word_that_never_arrived_is_not_lost() -> None:
    """The stream that carries words may have been silent for too long itself."""
    talks = Talks([Process(is_swallowed), Process()])
    assert outcome(talks)[0] is Outcome.PROBE_FAILED


def test_a_client_that_ended_in_the_silence_has_lost_nothing() -> None:
    """Nothing was sent after it."""

    class Mortal(Process):
        def stay(self) -> None:
            self.exit_code = 137

    assert outcome(Talks([Mortal(), Process()]))[0] is Outcome.PROBE_FAILED


def test_a_server_that_ended_is_told_before_its_record_is_written() -> None:
    """What it ended with is waited for, even if its client knew first."""

    class Mortal(Process):
        def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
            self.exit_code = 137
            return False

    def reset(word: str) -> str:
        last = "none 1\n"
        why = "read error: Connection reset by peer\n"
        return comes_back(word) if word == "before" else f"took {word}\n{why}{last}"

    talks = Talks([Process(reset), Process()], servers=Mortal)
    found, record = outcome(talks)
    assert found is Outcome.PROBE_FAILED
    assert record["kept"]["server_exit"] == 137


def test_a_new_connection_that_is_not_answered_either_proves_nothing() -> None:
    """A path that broke meanwhile is not taken for a forgotten flow."""
    talks = Talks([Process(is_lost), Process(is_lost)])
    assert outcome(talks)[0] is Outcome.PROBE_FAILED


def test_the_client_tries_again_until_the_server_listens() -> None:
    """A refusal at first is the time that the server takes to start; the stream of such a client is closed."""
    assert outcome(Talks([refused(), Process()]))[0] is Outcome.CONNECTED


def test_a_client_that_fails_otherwise_is_not_started_again() -> None:
    """Only a refusal heals by itself."""
    failed = Process(stdout="x: line 1: /dev/tcp: No such file or directory\n", exit_code=7)
    talks = Talks([failed, Process()])
    assert outcome(talks)[0] is Outcome.PROBE_FAILED
    assert len(talks.clients) == 1


def test_a_server_that_never_listens_is_no_observation() -> None:
    """Neither is one that cannot start: its exit code is in the record, and nobody waits for it to listen."""
    impatient = replace(TIMING, listening=0)
    assert outcome(Talks([refused()]), timing=impatient)[0] is Outcome.PROBE_FAILED
    ended = Process(stdout="", exit_code=127, stderr="cat: not found")
    found, record = outcome(Talks([refused()], servers=lambda: replace(ended)))
    assert found is Outcome.PROBE_FAILED
    assert record["kept"]["server_exit"] == 127


def test_a_silence_that_nobody_would_notice_is_not_run() -> None:
    """A switch that remembers flows for as long has forgotten none: neither a pass nor a lifted limitation."""
    short = replace(TIMING, idle=60, flow_memory=60)
    talks = Talks([Process()])
    with pytest.raises(NotOfferedError, match=r"timing.idle is 60 s.*timing.flowMemory"):
        idle_connection(talks, timing=short).examine(LINUX)
    assert not talks.started


def test_a_stream_that_cannot_be_opened_is_the_channels_error() -> None:
    """Nothing is known of the connection then; what was opened is closed."""
    talks = Talks([])
    done = idle_connection(talks).examine(LINUX)
    assert done.error == "no exec"
    assert all(process.closed for process in talks.made)


def test_a_run_that_is_stopped_waits_no_longer() -> None:
    """The silence ends with the run, and its streams are closed."""
    stopped = threading.Event()
    stopped.set()
    talks = Talks([Process()])
    with pytest.raises(StoppedError, match="the run was stopped"):
        idle_connection(talks, stopped).examine(LINUX)
    assert all(process.closed for process in talks.made)


OUTSIDE = action("probe-linux-1-1", TargetKind.EXTERNAL_IP, question=Question.IDLE)


def is_closed(word: str) -> str:
    """Say that the server ended the connection in order."""
    return comes_back(word) if word == "before" else f"took {word}\nnone 1\n"


def test_to_the_outside_a_web_client_connects_and_nobody_serves() -> None:
    """The external target is there by itself; its address is what the cluster profile states."""
    talks = Talks([Process()])
    assert outcome(talks, OUTSIDE)[0] is Outcome.CONNECTED
    ((pod, container, words),) = talks.started
    assert (pod, container) == ("probe-linux-1-1", "probe")
    assert words[-4:] == ("198.51.100.10", "80", words[-2], "198.51.100.10:80")


def test_a_silent_connection_to_the_outside_is_lost_beside_a_new_one() -> None:
    """The same as in the cluster, and without a new one it proves nothing."""
    found, record = outcome(Talks([Process(is_lost), Process()]), OUTSIDE)
    assert found is Outcome.LOST
    assert record["kept"]["server"] == []
    assert outcome(Talks([Process(is_lost), Process(is_lost)]), OUTSIDE)[0] is Outcome.PROBE_FAILED


@pytest.mark.parametrize(
    ("client", "says"),
    [
        (refused(), "answers no HTTP request: .*Connection refused"),
        (Process(lambda word: f"took {word}\nnone other\n"), "answers no HTTP request"),
        (Process(lambda word: f"took {word}\nnone 142\n"), "answers no HTTP request"),
        (Process(is_closed), "ended a connection that was silent for 0.02 s"),
    ],
    ids=["refused", "no-web-server", "silent", "closes"],
)
def test_a_server_outside_that_keeps_no_silent_connection_is_not_tested(
    client: Process, says: str
) -> None:
    """Most web servers end connections that are idle by themselves, and that says nothing of the network."""
    talks = Talks([client])
    with pytest.raises(NotOfferedError, match=says):
        idle_connection(talks).examine(OUTSIDE)
    assert all(process.closed for process in talks.made)


def test_without_an_external_target_nothing_is_connected_to() -> None:
    """Nothing outside the cluster is contacted unless it is named."""
    talks = Talks([Process()])
    examiner = replace(idle_connection(talks), facts=replace(FACTS, external_target=None))
    with pytest.raises(NotOfferedError, match="declares no external target"):
        examiner.examine(OUTSIDE)
    assert not talks.started
