"""One packet lost while a Service changes: repeated, and judged as on any other path."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.check import Check, Control, Plan
from nettests.model.cluster_profile import Timing
from nettests.model.expectation import Expectation, Expected
from nettests.model.journal_records import Answer, Done
from nettests.model.words import OS, Outcome, Protocol, Question, TargetKind, Verdict
from nettests.parse.endpoint_changes import CONNECTIONS, FLOW, MEANWHILE
from nettests.probes import Directory, Sender
from nettests.probes.attempts import Attempts
from nettests.probes.examine import Examination
from nettests.probes.sending import Probe
from nettests.session.journal import Journal, read_journal
from nettests.session.judging import Judging
from tests.probes.made import FACTS, action, check, deployed

FINAL, FORMER = "server-linux-1-1", "server-linux-1-2"
Record = dict[str, Any]
WHOLE: Record = {
    "of": CONNECTIONS,
    "within": 30,
    "behind": FINAL,
    "followed": True,
    "changes": 6,
    "tries": 312,
    "failed": [],
    "late": [],
    "beside": 0,
    "backend": FINAL,
    "ids": 0,
}
LATE = WHOLE | {"late": [(1.03, 0.01)]}
NEVER = WHOLE | {"behind": FORMER, "followed": False, "changes": 1}
FLOWING: Record = {
    "of": FLOW,
    "former": FORMER,
    "behind": FINAL,
    "within": 30,
    "followed": True,
    "before": FORMER,
    "silent": 0,
    "last": FINAL,
    "seconds": 0.1,
    "watched": 0.1,
    "unanswered": 0,
}
LOST = FLOWING | {"silent": 1}
NOBODY = FLOWING | {"last": None, "seconds": None, "watched": 10.1}


def made(protocol: Protocol, id_: str) -> Check:
    """Return the check of a Service that is used while it changes."""
    used = action(
        "probe-linux-1-1", TargetKind.SERVICE_CLUSTERIP, protocol, question=Question.DURING
    )
    used = replace(
        used,
        source=replace(used.source, os=OS.LINUX),
        target=replace(used.target, backends=(FINAL,), former=(FORMER,)),
    )
    outcome = Outcome.CONNECTED if protocol is Protocol.TCP else Outcome.REPLIED
    control = action("probe-linux-1-1", TargetKind.POD_IP, protocol)
    controls = (Control(proves="vantage", action=control), Control(proves="target", action=control))
    return replace(check(used, *controls, id=id_), claim=Expected(outcome=outcome))


TCP, UDP, UDP_AGAIN = (
    made(Protocol.TCP, "tcp"),
    made(Protocol.UDP, "udp"),
    made(Protocol.UDP, "udp-again"),
)


class Answers:
    """A probe's channel over which controls are answered."""

    name = "port-forward"

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Dial the server, which answers."""
        assert "/dial?" in path
        assert timeout > 0
        return HttpAnswer(status=200, body=json.dumps({"responses": [FINAL]}), seconds=0.001)

    def close(self) -> None:
        """Nothing is open."""


class Records:
    """An examiner that has these records to give, the last one again and again."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.left = list(records)

    def examine(self, _: Any) -> Examination:
        """Give the next one."""
        record = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        return Examination(
            tool=MEANWHILE, words=(), channel="port-forward", stdout=json.dumps(record)
        )


@pytest.fixture
def judging(tmp_path: Path) -> Iterator[Judging]:
    """Yield a watch over the checks."""
    plan = Plan(checks=(TCP, UDP, UDP_AGAIN), skips=(), pods=(), services=())
    claims = {one.id: Expectation(claim=one.claim, expected=one.claim) for one in plan.checks}
    with Journal(tmp_path / "journal.jsonl") as journal:
        yield Judging(journal=journal, plan=plan, expectations=claims)


def judged(judging: Judging, of: Check, *records: Record) -> tuple[Verdict, str, int]:
    """Run a check that brings these records; return its verdict, its message and how many it took."""
    sender = Sender(
        directory=Directory(facts=FACTS, deployment=deployed()),
        probes={"probe-linux-1-1": Probe(name="probe-linux-1-1", http=(Answers(),))},
        external=None,
        recorder=judging,
        timing=Timing(),
        began=0.0,
        examiners={Question.DURING: Records(records)},
    )
    Attempts().carry_out(sender, of)
    judging.done(of.id)
    assert isinstance(judging.journal, Journal)
    lines = [one for one in read_journal(judging.journal.path) if isinstance(one, Done)]
    (done,) = [one for one in lines if one.check == of.id]
    assert done.judgement is not None
    raws = [one.raw for one in read_journal(judging.journal.path) if isinstance(one, Answer)]
    taken = sum(one.check == of.id and one.tool == MEANWHILE for one in raws)
    return done.judgement.verdict, done.judgement.message, taken


def test_one_connection_whose_syn_was_lost_is_flaky_with_its_figure(judging: Judging) -> None:
    """The Service is used through changes once more, and then all connections are answered."""
    verdict, message, taken = judged(judging, TCP, LATE, WHOLE)
    assert (verdict, taken) == (Verdict.FLAKY, 2)
    assert "1 of 312 was answered only when their first packet had been sent again" in message
    assert "repeated: all of 312 new connections were answered during 6 changes" in message


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (LATE, "1 of 312 was answered only when"),
        (
            WHOLE | {"failed": ['{"errors": ["dial tcp: connect: connection refused"]}']},
            "1 of 312 new connections failed",
        ),
    ],
)
def test_what_shows_each_time_fails(judging: Judging, record: Record, told: str) -> None:
    """Rules that are missing for a moment are missing at the next changes, too."""
    verdict, message, taken = judged(judging, TCP, record)
    assert (verdict, taken) == (Verdict.FAIL, 2)
    assert told in message


def test_a_service_whose_rules_never_follow_is_not_changed_again(judging: Judging) -> None:
    """Nothing was seen, and nothing would be: another flow says that they do not follow."""
    verdict, message, taken = judged(judging, TCP, NEVER, WHOLE)
    assert (verdict, taken) == (Verdict.UNKNOWN, 1)
    assert "new flows did not follow" in message


def test_a_service_that_never_answers_is_judged_without_its_rules(judging: Judging) -> None:
    """Its backends are answered meanwhile: nothing at all works."""
    silent = '{"errors": ["dial tcp 10.96.9.1:80: i/o timeout"]}'
    verdict, message, _ = judged(judging, TCP, *[NEVER | {"failed": [silent] * 312}] * 2)
    assert verdict is Verdict.FAIL
    assert "312 of 312 new connections failed" in message


def test_the_first_datagram_of_a_flow_may_be_the_one_that_a_run_loses(judging: Judging) -> None:
    """The only one is no finding, and stands in the figure; a second check that loses one is flaky."""
    assert judged(judging, UDP, LOST)[::2] == (Verdict.PASS, 1)
    verdict, message, taken = judged(judging, UDP_AGAIN, LOST)
    assert (verdict, taken) == (Verdict.FLAKY, 1)
    assert "1 of the flow's first datagrams got no answer, the next one did" in message
    assert "of its first datagrams 1 had none" in message


def test_a_flow_that_loses_two_first_datagrams_is_flaky_by_itself(judging: Judging) -> None:
    """Two are no accident, whatever else the run has lost."""
    assert judged(judging, UDP, FLOWING | {"silent": 2})[0] is Verdict.FLAKY


def test_a_flow_that_nobody_answers_is_repeated(judging: Judging) -> None:
    """Where the next one follows they disagree; where none does, it fails."""
    verdict, message, taken = judged(judging, UDP, NOBODY, FLOWING)
    assert (verdict, taken) == (Verdict.FLAKY, 2)
    assert "answered by nobody 10 s after new flows had gone to another backend" in message
    assert judged(judging, UDP_AGAIN, NOBODY)[::2] == (Verdict.FAIL, 2)
