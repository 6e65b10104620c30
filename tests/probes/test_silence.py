"""A connection that is silent for a while: who holds its ends, and what is said when."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.model.channel import ChannelError
from nettests.model.profile import Timing
from nettests.model.words import Outcome, Question, TargetKind
from nettests.parse import read_raw
from nettests.probes import StoppedError
from nettests.probes.silence import Silence, client_words
from tests.parse.raws import raw
from tests.probes.made import FACTS, NAMESPACE, ask, deployed

TIMING = Timing(idle=0.02, dial=0.05, listening=0.2)
LINUX = ask("probe-linux-1-1", TargetKind.POD_IP, question=Question.IDLE)
WINDOWS = ask(
    "probe-windows-1-1",
    TargetKind.POD_IP,
    on="w1",
    pod="server-windows-1-1",
    question=Question.IDLE,
)


@dataclass(slots=True)
class Process:
    """A process that is spoken to: as a client it sends words back, unless it was told otherwise."""

    answers: Callable[[str], bool] = lambda _word: True
    ends: int | None = None
    """How it ends when a word is not answered."""
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    stayed: int = 0
    closed: bool = False

    def say(self, text: str) -> None:
        """Take a word."""
        if self.answers(text.strip()):
            self.stdout += text
        else:
            self.exit_code = self.ends

    def hear(self, text: str, *, seconds: float) -> bool:
        """Return whether the word is there."""
        assert seconds > 0
        return text in self.stdout

    def stay(self) -> None:
        """Count how often somebody stayed."""
        self.stayed += 1

    def close(self) -> None:
        """Hang up."""
        assert not self.closed
        self.closed = True


@dataclass(slots=True)
class Talks:
    """Starts processes: the clients one after the other, and servers that do nothing."""

    clients: list[Process]
    servers: Callable[[], Process] = Process
    started: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    made: list[Process] = field(default_factory=list)

    def converse(self, namespace: str, pod: str, container: str, argv: Sequence[str]) -> Process:
        """Start a process."""
        assert namespace == NAMESPACE
        self.started.append((pod, container, tuple(argv)))
        if argv[0] == "curl":
            if not self.clients:
                raise ChannelError("no exec")
            process = self.clients.pop(0)
        else:
            process = self.servers()
        self.made.append(process)
        return process


def silence(talks: Talks, stopped: threading.Event | None = None) -> Silence:
    """Return the examiner over what stands."""
    return Silence(
        talks=talks,
        namespace=NAMESPACE,
        facts=FACTS,
        standing=deployed().pods,
        timing=TIMING,
        stopped=stopped or threading.Event(),
    )


def outcome(talks: Talks, question: Any = LINUX) -> tuple[Outcome, dict[str, Any]]:
    """Return what is read from the record of a silence, and the record."""
    done = silence(talks).examine(question)
    assert all(process.closed for process in talks.made)
    assert done.error is None
    read = read_raw(raw(done.tool, stdout=done.stdout))
    return read.outcome, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("question", "server", "netcat"),
    [
        (LINUX, "server-linux-1-1", ("busybox", "nc")),
        (WINDOWS, "server-windows-1-1", ("nc",)),
    ],
)
def test_neither_end_keeps_the_connection_alive(
    question: Any, server: str, netcat: tuple[str, ...]
) -> None:
    """The client is a curl that was told so, the server an nc with cat, on the server pod of either system."""
    talks = Talks([Process()])
    assert outcome(talks, question)[0] is Outcome.CONNECTED
    serving, asking = talks.started
    assert serving == (server, "hostname", (*netcat, "-l", "-p", "21000", "-e", "cat"))
    assert asking[:2] == (question.source.probe, "probe")
    assert asking[2][:3] == ("curl", "-sS", "--no-keepalive")
    assert asking[2][-1].endswith(":21000")


def test_the_clients_own_deadline_outlasts_the_silence() -> None:
    """It says itself that nothing more came; an IPv6 address stands in brackets."""
    assert client_words("fd00::5", 21000, 310) == (
        *("curl", "-sS", "--no-keepalive", "-m", "310"),
        "telnet://[fd00::5]:21000",
    )


def test_streams_are_kept_during_the_silence() -> None:
    """Both ends' streams are shown that somebody is there, so that only the connection is idle."""
    talks = Talks([Process()])
    outcome(talks)
    assert min(process.stayed for process in talks.made) >= 1


def test_a_word_that_is_not_answered_is_lost_beside_a_new_connection() -> None:
    """The second word brings nothing, and another connection to another port is answered."""
    talks = Talks([Process(answers=lambda word: word == "before", ends=28), Process()])
    found, record = outcome(talks)
    assert found is Outcome.LOST
    assert (record["kept"]["heard"], record["fresh"]["heard"]) == (["before"], ["anew"])
    assert record["fresh"]["client"][-1].endswith(":21001")


def test_a_new_connection_that_is_not_answered_either_proves_nothing() -> None:
    """A path that broke meanwhile is not taken for a forgotten flow."""
    quiet = [Process(answers=lambda _word: False, ends=7, stderr="curl: (7) x") for _ in range(9)]
    talks = Talks([Process(answers=lambda word: word == "before", ends=28), *quiet])
    assert outcome(talks)[0] is Outcome.PROBE_FAILED


def test_the_client_tries_again_until_the_server_listens() -> None:
    """A refusal at first is the time that the server takes to start."""
    early = Process(answers=lambda _word: False, ends=7, stderr="curl: (7) Connection refused")
    assert outcome(Talks([early, Process()]))[0] is Outcome.CONNECTED


def test_a_server_that_cannot_start_is_no_observation() -> None:
    """Its exit code is in the record, and nobody waits for it to listen."""
    early = Process(answers=lambda _word: False, ends=7, stderr="curl: (7) Connection refused")
    ended = Process(exit_code=127, stderr="cat: not found")
    found, record = outcome(Talks([early], servers=lambda: replace(ended)))
    assert found is Outcome.PROBE_FAILED
    assert record["kept"]["server_exit"] == 127


def test_a_stream_that_cannot_be_opened_is_the_channels_error() -> None:
    """Nothing is known of the connection then; what was opened is closed."""
    talks = Talks([])
    done = silence(talks).examine(LINUX)
    assert done.error == "no exec"
    assert all(process.closed for process in talks.made)


def test_a_run_that_is_stopped_waits_no_longer() -> None:
    """The silence ends with the run, and its streams are closed."""
    stopped = threading.Event()
    stopped.set()
    talks = Talks([Process()])
    with pytest.raises(StoppedError, match="the run was stopped"):
        silence(talks, stopped).examine(LINUX)
    assert all(process.closed for process in talks.made)
