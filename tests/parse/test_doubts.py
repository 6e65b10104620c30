"""What known answers say of instruments: understood, not understood, unanswered, absent; and what follows for checks."""

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from nettests.judge.advice import after_distrust
from nettests.model.calibration import Calibration, Instrument, KnownQuestion, begins, ended
from nettests.model.check import Check, Control, Target
from nettests.model.journal_records import Done
from nettests.model.observation import Raw
from nettests.model.words import OS, Protocol, Question, TargetKind
from nettests.parse import observation_of
from nettests.parse.doubts import Doubts, State, known_answers
from nettests.parse.known_answers import ROWS
from nettests.parse.read import DOUBT
from tests.parse.raws import raw
from tests.parse.test_observe import ASK, check

REPLY = "64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.05 ms"
LOST = "1 packets transmitted, 0 received, 100% packet loss, time 0ms"
STRANGE = "Zeit überschritten"
OF_ITSELF = "its own loopback address was read as probe_failed"
PROBE = "probe-linux-1-1"
PINGED = (Instrument.EXEC, Instrument.PING)
PINGS = (
    KnownQuestion(name="ping/itself", words=("ping", "-c", "1", "127.0.0.1")),
    KnownQuestion(name="ping/nobody", words=("ping", "-c", "1", "192.0.2.1")),
    KnownQuestion(name="exec/exit-code"),
)


def output(*answers: tuple[str, int]) -> str:
    """Return the standard output of a shell that asked these questions."""
    return "".join(
        f"{begins(number)}\n{text}\n{ended(number, str(code))}\n"
        for number, (text, code) in enumerate(answers)
    )


def calibration(*answers: tuple[str, int], **changes: object) -> Calibration:
    """Return what a Linux Pod answered to two pings, with the code that was due."""
    of = Calibration(
        node="linux-1",
        vantage="pod",
        os=OS.LINUX,
        probe="probe-linux-1-1",
        questions=PINGS,
        command=("sh",),
        exit_code=3,
        stdout=output(*answers),
        stderr="".join(f"{begins(number)}\n" for number, _ in enumerate(answers)),
    )
    return replace(of, **changes)  # type: ignore[arg-type]


IN_ORDER = calibration((REPLY, 0), (LOST, 1))


def states(of: Calibration) -> dict[str, State]:
    """Return the state of each question."""
    return {answer.name: answer.state for answer in known_answers(of)}


def test_a_tool_that_reads_as_it_should_is_understood() -> None:
    """By the reader of checks' answers, and its code came through."""
    assert set(states(IN_ORDER).values()) == {State.UNDERSTOOD}
    assert not Doubts.of([IN_ORDER]).why(PINGED, PROBE)


@pytest.mark.parametrize(
    ("answers", "changes", "name", "state", "why"),
    [
        (
            [(STRANGE, 1), (LOST, 1)],
            {},
            "ping/itself",
            State.NOT_UNDERSTOOD,
            f"ping on linux-1 is not understood: {OF_ITSELF}, not as replied: {STRANGE}",
        ),
        (
            [(REPLY, 0), (REPLY.replace("127.0.0.1", "192.0.2.1"), 0)],
            {},
            "ping/nobody",
            State.NOT_UNDERSTOOD,
            "was read as replied, not as timed_out or unreachable: 64 bytes from 192.0.2.1",
        ),
        (
            [(REPLY, 0)],
            {},
            "ping/nobody",
            State.NOT_UNDERSTOOD,
            "read as output that was cut short",
        ),
        (
            [(REPLY, 0), (LOST, 1)],
            {"exit_code": 0},
            "exec/exit-code",
            State.NOT_UNDERSTOOD,
            "read as 0",
        ),
        (
            [],
            {"error": "exec did not end", "exit_code": None},
            "ping/itself",
            State.UNANSWERED,
            "exec on linux-1 was not calibrated: exec did not end",
        ),
        ([("", 127), (LOST, 1)], {}, "ping/itself", State.ABSENT, ""),
        (
            [(REPLY, 0), ("connect: Operation not permitted", 2)],
            {},
            "ping/nobody",
            State.NOT_UNDERSTOOD,
            "",
        ),
        (
            [(REPLY, 0), ("ping: sendmsg: Operation not permitted", 2)],
            {},
            "ping/nobody",
            State.OPEN,
            "",
        ),
    ],
)
def test_what_else_it_may_say(
    answers: Sequence[tuple[str, int]],
    changes: dict[str, object],
    name: str,
    state: State,
    why: str,
) -> None:
    """Each has its state, and only what was not read as it had to be is a reason for distrust, with the raw text."""
    of = calibration(*answers, **changes)
    assert states(of)[name] is state
    distrust = Doubts.of([of]).why(PINGED, PROBE)
    assert why in distrust
    assert bool(distrust) == (state in {State.NOT_UNDERSTOOD, State.UNANSWERED})


def test_a_program_that_does_not_exist_must_not_start() -> None:
    """An error is its answer, as is a code; success says that codes get lost."""
    asked = (KnownQuestion(name="exec/missing-program"),)
    missing = calibration(
        questions=asked, exit_code=None, error="executable file not found in $PATH"
    )
    behind_cmd = calibration(questions=asked, exit_code=1, stdout="", stderr="is not recognized")
    lost = calibration(questions=asked, exit_code=0, stdout="")
    assert [*states(missing).values(), *states(behind_cmd).values()] == [State.UNDERSTOOD] * 2
    assert Doubts.of([lost]).why(PINGED, PROBE).startswith("exec on")


def test_a_question_that_is_asked_again_counts_by_its_last_answer() -> None:
    """A single answer that was lost does not make a tool unknown for a whole run."""
    lost = calibration((REPLY, 0))
    assert Doubts.of([lost]).why(PINGED, PROBE)
    assert not Doubts.of([lost, IN_ORDER]).why(PINGED, PROBE)
    assert Doubts.of([IN_ORDER, lost]).why(PINGED, PROBE)


def test_what_nobody_asked_was_not_calibrated_where_anything_was() -> None:
    """Journals of older versions know no calibrations, and nothing is doubted there."""
    only_exec = calibration(questions=(KnownQuestion(name="exec/exit-code"),))
    assert "was not calibrated" in Doubts.of([only_exec]).why(PINGED, PROBE)
    assert not Doubts.of([only_exec]).why(PINGED, "probe-linux-1-2")
    assert not Doubts.of([only_exec]).why((Instrument.EXEC,), PROBE)


def test_an_unknown_question_of_a_later_version_is_left_out() -> None:
    """It has no row here."""
    assert not states(calibration(questions=(KnownQuestion(name="weather/sun", words=("sun",)),)))


def pinging(probe: str = PROBE) -> Check:
    """Return a check that pings from a node's Pod, with a control of the same kind."""
    source = replace(ASK.source, node="linux-1", os=OS.LINUX, probe=probe)
    action = replace(ASK, source=source, protocol=Protocol.ICMP, question=Question.PING)
    of = check()
    control = Control(proves="vantage", action=action)
    return replace(of, action=action, controls=(control,))


def pinged(text: str, **changes: object) -> Raw:
    """Return what a ping of that check said."""
    of = raw("ping", channel="exec", command=("ping", "10.1.1.1"), stdout=text, exit_code=0)
    return replace(of, **changes)  # type: ignore[arg-type]


def test_answers_of_a_distrusted_tool_say_nothing() -> None:
    """Neither as the answer of a check nor as that of its control, whatever they say; on other nodes they count."""
    reply = REPLY.replace("127.0.0.1", "10.1.1.1")
    raws = [pinged(LOST, exit_code=1), pinged(reply, purpose="control:vantage")]
    doubts = Doubts.of([calibration((LOST, 1), (LOST, 1))])
    done = Done(check="f/a/b/other-node/tcp")
    seen = observation_of(pinging(), done, raws, doubts)
    assert not seen.trusted
    assert seen.distrust is not None
    assert seen.distrust.startswith("attempt 1: ping on linux-1 fails a known question: ")
    assert after_distrust(seen.distrust).startswith("run the tool on that node")
    (control,) = seen.controls
    assert not control.ok
    elsewhere = [replace(each, probe="probe-linux-1-2") for each in raws]
    assert observation_of(pinging("probe-linux-1-2"), done, elsewhere, doubts).trusted
    assert all("doubt" not in each.context for each in raws)


def test_what_is_read_stands_beside_a_text_that_is_not_known() -> None:
    """A parser that knows what it does not know misreads nothing; what it does not read names the instrument."""
    doubts = Doubts.of([calibration((REPLY, 0), (STRANGE, 1))])
    done = Done(check="f/a/b/other-node/tcp")
    replied = pinged(REPLY.replace("127.0.0.1", "10.1.1.1"))
    assert observation_of(pinging(), done, [replied], doubts).trusted
    seen = observation_of(pinging(), done, [pinged(STRANGE, exit_code=1)], doubts)
    assert "ping on linux-1 is not understood" in (seen.distrust or "")
    assert after_distrust(seen.distrust or "").startswith("please send")


def test_each_instrument_is_asked_something() -> None:
    """A row for each, or it could never be trusted."""
    assert {row.instrument for row in ROWS.values()} == set(Instrument)


@pytest.mark.parametrize(("then", "node", "doubted"), [("exec", "linux-1", True), ("exec", "linux-2", False), ("log", "linux-1", False)])  # fmt: skip
def test_commands_in_a_pod_of_a_check_s_own_are_doubted_as_those_in_probes(
    then: str, node: str, doubted: bool
) -> None:
    """Its Pod answers no known questions: exec is what the probe in a Pod beside it showed."""
    distrusted = Doubts.of([replace(IN_ORDER, exit_code=0)])
    answer = raw("start", probe="api", channel="api", context={"then": then, "says": "x"})
    (found,) = distrusted.doubted([answer], node)
    assert (DOUBT in found.context) is doubted


def test_a_server_of_the_run_that_its_own_node_does_not_reach_proves_nothing_of_a_path() -> None:
    """Checks that reach it are not trusted; what others serve on that node is."""
    question = KnownQuestion(name="curl/open", words=("curl", "http://127.0.0.1:19080/hostname"))
    refused = "curl: (7) Failed to connect to 127.0.0.1 port 19080: Connection refused"
    dead = replace(
        calibration(("", 7)),
        vantage="node",
        probe="node-linux-1-1",
        questions=(question, PINGS[-1]),
        stderr=f"{begins(0)}\n{refused}\n",
    )
    doubts = Doubts.of([dead])
    node = Target(kind=TargetKind.NODE_IP, node="linux-1")
    assert doubts.unserved(node).startswith("node-linux-1-1 serves nothing on linux-1 itself: ")
    behind = replace(node, kind=TargetKind.SERVICE_CLUSTERIP, backends=("node-linux-1-1",))
    assert doubts.unserved(behind)
    assert not doubts.unserved(replace(node, node="linux-2"))
    assert not doubts.unserved(replace(node, kind=TargetKind.NODEPORT))


def test_exec_that_cuts_outputs_short_is_doubted_whatever_came_before_the_cut() -> None:
    """A short answer came whole, and a long one would not."""
    of = replace(IN_ORDER, stdout=output((REPLY, 0)))
    assert "was read as output that was cut short" in Doubts.of([of]).why((Instrument.EXEC,), PROBE)
    assert not Doubts.of([IN_ORDER]).why((Instrument.EXEC,), PROBE)


def test_doubts_are_read_while_other_probes_are_calibrated() -> None:
    """A verdict waits for the probes that it needs, not for all of a cluster's."""
    doubts = Doubts.of([IN_ORDER])

    def add() -> None:
        for number in range(400):
            doubts.add(replace(IN_ORDER, probe=f"probe-{number}"))

    adding = threading.Thread(target=add)
    adding.start()
    while adding.is_alive():
        assert not doubts.unserved(Target(kind=TargetKind.NODE_IP, node="linux-2"))
    adding.join()
