"""Commands that wait for one Pod become one process, and only what its marks tell counts."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from os import sched_yield

import pytest

from nettests.model.channel import ChannelError, ExecAnswer
from nettests.model.words import OS
from nettests.probes import together as rows
from nettests.probes.together import MOST, MOST_GOING_ON, Done, Together

PATIENCE = 30.0
LEADER = ("curl", "first")
Behave = Callable[[], ExecAnswer]


def whole(count: int, *, ends: Sequence[float] = (), code: int = 0, stderr: str = "") -> Behave:
    """Return a process of whose commands so many ended well, each at its time."""
    texts = [f"host-{number}~{number}.0~\n" for number in range(count)]
    times = list(ends) or [0.1 * number for number in range(1, count + 1)]
    arrived = tuple((sum(map(len, texts[: n + 1])), times[n]) for n in range(count))
    answer = ExecAnswer(
        exit_code=code, stdout="".join(texts), stderr=stderr, seconds=9.0, arrived=arrived
    )
    return lambda: answer


@dataclass
class Container:
    """Holds its first process until the others wait; the next ones do what the test says."""

    behave: Behave
    slots: AbstractContextManager[object] = field(default_factory=nullcontext)
    begun: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    argvs: list[tuple[str, ...]] = field(default_factory=list)
    alone: set[str] = field(default_factory=set)
    refusing: set[str] = field(default_factory=set)

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Answer the first process at the test's word, and the others at once."""
        assert timeout > 0
        self.argvs.append(tuple(argv))
        if tuple(argv) == LEADER:
            self.begun.set()
            assert self.go_on.wait(PATIENCE)
            return ExecAnswer(exit_code=0, stdout="host", stderr="")
        return self.behave()


def results(
    os: OS, behave: Behave, count: int = 3, *, goes_on: bool = False, beside: bool = False
) -> tuple[list[Done | None], Container]:
    """Return the results of commands that came while another one ran."""
    container = Container(behave)
    together = Together(container, os, 30.0, goes_on=goes_on, beside=beside, gathering=0.0)
    done: dict[int, Done | None] = {}

    def run(number: int) -> None:
        words = LEADER if number < 0 else ("curl", str(number))
        kind = "nslookup" if goes_on else f"kind-{number}"
        done[number] = together.run(words, kind, lambda: None)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(-1, count)]
    threads[0].start()
    assert container.begun.wait(PATIENCE)
    for number, thread in enumerate(threads[1:], 1):
        thread.start()
        while len(together._waiting) < number:
            sched_yield()
    container.go_on.set()
    for thread in threads:
        thread.join(PATIENCE)
    container.alone, container.refusing = together._alone, together.refusing
    return [done[number] for number in range(count)], container


@pytest.mark.parametrize(
    ("os", "text"),
    [
        (OS.LINUX, "curl 0 && echo '~0.0~' && curl 1 && echo '~1.0~' && curl 2 && echo '~2.0~'"),
        (OS.WINDOWS, "curl 0&& echo ~0.0~&& curl 1&& echo ~1.0~&& curl 2&& echo ~2.0~"),
    ],
)
def test_commands_that_wait_are_one_process(os: OS, text: str) -> None:
    """Each has its own output and its own time."""
    done, container = results(os, whole(3, ends=(0.1, 1.2, 1.3)))
    assert container.argvs[1][-1] == text
    assert [each and each.answer.stdout for each in done] == ["host-0", "host-1", "host-2"]
    assert [each and round(each.answer.seconds or 0, 1) for each in done] == [0.1, 1.1, 0.1]
    assert [each and each.commands for each in done] == [3, 3, 3]


def test_the_first_that_fails_counts_and_the_others_are_run_alone() -> None:
    """Its exit code and its error are the shell's; a prompt failure lets its kind into rows that go on."""
    done, container = results(OS.LINUX, whole(1, code=28, stderr="curl: (28) timed out"))
    assert done[0] is not None
    assert done[1] is not None
    assert (done[1].answer.exit_code, done[1].answer.stderr) == (28, "curl: (28) timed out")
    assert done[2] is None
    assert container.alone == {"kind-1"}
    assert container.refusing == {"kind-1"}


def test_a_process_waits_until_its_row_is_full() -> None:
    """Commands that become due together need no process that ran before them."""
    container = Container(whole(MOST))
    together = Together(container, OS.LINUX, 30.0, gathering=PATIENCE)
    threads = [
        threading.Thread(target=together.run, args=(("curl", str(number)), "kind", lambda: None))
        for number in range(MOST)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(container.argvs) == 1


def pinged() -> ExecAnswer:
    """Return three pings that began together: the last one ended first, the first one did not start."""
    texts = ["~2~replied~2.0~\n", "~1~lost\n~1.1~\n", "~0~sh: ping: not found~0.127~\n"]
    ends = [sum(map(len, texts[:number])) for number in (1, 2, 3)]
    arrived = tuple(zip(ends, (2.0, 6.0, 6.0), strict=True))
    return ExecAnswer(exit_code=0, stdout="".join(texts), stderr="", seconds=6.0, arrived=arrived)


def test_commands_beside_each_other_have_their_own_output_and_time() -> None:
    """A command that is lost delays none, and one that did not start is run alone."""
    done, container = results(OS.LINUX, pinged, beside=True)
    assert (
        container.argvs[1][-1]
        == "".join(
            f'(o=$(curl {number} 2>&1); echo "~{number}~$o~{number}.$?~")&' for number in range(3)
        )
        + "wait"
    )
    assert done[0] is None
    answers = [each.answer for each in done if each is not None]
    assert [(each.stdout, each.exit_code, each.seconds) for each in answers] == [
        ("lost\n", 1, 6.0),
        ("replied", 0, 2.0),
    ]
    assert not container.alone


def lost() -> ExecAnswer:
    """Fail as a channel does."""
    raise ChannelError("it was cut")


@pytest.mark.parametrize(
    ("behave", "told"),
    [
        (lost, [False, False, False]),
        (whole(2), [True, True, False]),
        (whole(3, ends=(1.5, 1.5, 1.6)), [False, False, True]),
        (whole(3, ends=(0.2, 0.2, 0.2)), [True, True, True]),
    ],
    ids=["no answer", "a mark is missing", "late at the same moment", "prompt"],
)
def test_what_a_process_does_not_tell_is_run_alone(behave: Behave, told: list[bool]) -> None:
    """Neither a lost answer nor a delay is laid to a command that need not have had it."""
    done, _ = results(OS.LINUX, behave)
    assert [each is not None for each in done] == told


def looked_up(os: OS, seconds: float) -> Behave:
    """Return a row of three lookups, of which the second finds nothing after so many seconds."""
    end = "\r\n" if os is OS.WINDOWS else "\n"
    texts = [f"{name}{end}~{number}.{code}~{end}" for number, (name, code) in enumerate(_NAMES)]
    errors = [
        f"~{number}~ {end}{name if code else ''}" for number, (name, code) in enumerate(_NAMES)
    ]
    times = [0.1, 0.1 + seconds, 0.2 + seconds]
    arrived = tuple((sum(map(len, texts[: n + 1])), times[n]) for n in range(3))
    answer = ExecAnswer(
        exit_code=0, stdout="".join(texts), stderr="".join(errors), seconds=9.0, arrived=arrived
    )
    return lambda: answer


_NAMES = (("first", 0), ("no-such", 1), ("third", 0))


@pytest.mark.parametrize("os", OS)
def test_lookups_in_a_row_go_on_behind_a_name_that_does_not_exist(os: OS) -> None:
    """Each has its own output, its own errors and its own exit code."""
    done, container = results(os, looked_up(os, 0.1), goes_on=True)
    answers = [each.answer for each in done if each is not None]
    assert [(each.stdout.strip(), each.exit_code) for each in answers] == list(_NAMES)
    assert [each.stderr for each in answers] == ["", "no-such", ""]
    assert not container.alone
    assert container.argvs[1][-1].count("curl") == 3


def test_lookups_are_run_alone_behind_one_without_an_answer_in_time() -> None:
    """A silent server is waited for by all of them at the same time."""
    done, container = results(OS.LINUX, looked_up(OS.LINUX, 6.0), goes_on=True)
    assert [each and round(each.answer.seconds or 0, 1) for each in done] == [0.1, 6.0, 0.1]
    assert container.alone == {"nslookup"}


def test_a_row_whose_server_is_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lookups are run alone while its process goes on, and so are later ones: their time-outs overlap."""
    monkeypatch.setattr(rows, "QUERY_SECONDS", 0.05)
    monkeypatch.setattr(rows, "EACH_SECONDS", 0.0)
    ended = threading.Event()

    def silent() -> ExecAnswer:
        assert ended.wait(PATIENCE)
        return lost()

    container = Container(silent)
    together = Together(container, OS.WINDOWS, 30.0, goes_on=True, gathering=PATIENCE)
    done: list[Done | None] = []

    def look_up(name: str) -> None:
        done.append(together.run(("nslookup", name), "nslookup", lambda: None))

    threads = [
        threading.Thread(target=look_up, args=(f"name-{number}",))
        for number in range(MOST_GOING_ON)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert done == [None] * MOST_GOING_ON
    assert together.run(("nslookup", "later"), "nslookup", lambda: None) is None
    assert len(container.argvs) == 1
    ended.set()
