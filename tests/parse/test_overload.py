"""Silence that an overloaded probe explains, beside an attempt that was answered."""

import json
import random
from dataclasses import replace

import pytest

from nettests.model.check import Action, Check, Target, Vantage
from nettests.model.expectation import Expected
from nettests.model.journal_records import Done
from nettests.model.observation import Raw
from nettests.model.words import (
    OS,
    Outcome,
    Placement,
    Protocol,
    Question,
    TargetKind,
    VantageKind,
)
from nettests.parse.observe import observation_of
from nettests.parse.overload import (
    Carried,
    carried,
    overloaded,
    overloaded_before,
    prompt_beside,
    too_busy,
)
from nettests.parse.read import read_raw

ANSWERED = json.dumps({"responses": ["server-1"]})
SILENT = json.dumps({"errors": ["dial tcp 10.244.2.5:80: i/o timeout"]})
UNREACHABLE = json.dumps({"errors": ["dial tcp 10.244.2.5:80: connect: no route to host"]})
REFUSED = json.dumps({"errors": ["dial tcp 10.244.2.5:80: connect: connection refused"]})
LATE = [
    Carried(started, elapsed, of=f"other-{number}")
    for number in range(4)
    for started, elapsed in ((1.0, 1.3), (3.0, 2.1), (4.5, 1.9))
]
"""What else the probe answered while the first attempt was on its way: three questions of four checks, each late."""


def attempts(*bodies: str) -> list[Raw]:
    """Return attempts that took 5 s each, one after another."""
    return [
        Raw(
            check="f",
            purpose="check",
            attempt=number,
            tool="dial",
            client_os="linux",
            probe="probe-linux-1-1",
            channel="port-forward",
            command=("GET", "/dial"),
            started=10.0 * (number - 1),
            elapsed=5.0,
            status=200,
            stdout=body,
            context={"request": "hostname"},
        )
        for number, body in enumerate(bodies, 1)
    ]


def checking(size: int | None = None) -> Check:
    """Return a check from a Pod over TCP, of a payload of that size."""
    source = Vantage(kind=VantageKind.POD, probe="probe-linux-1-1", os=OS.LINUX)
    return Check(
        id="f",
        flow="f",
        title="f",
        action=Action(
            source=source,
            target=Target(kind=TargetKind.POD_IP),
            protocol=Protocol.TCP,
            question=Question.REACH,
            size=size,
        ),
        placement=Placement.OTHER_NODE,
        claim=Expected(outcome=Outcome.CONNECTED),
        controls=(),
        sources=(),
    )


def test_silence_of_an_overloaded_probe_says_nothing_beside_an_answer() -> None:
    """An attempt without an answer, while the probe answered all else late, is left out where another was answered."""
    assert overloaded(attempts(SILENT, ANSWERED), LATE) == (1,)
    assert overloaded(attempts(SILENT, REFUSED), LATE) == (1,)


@pytest.mark.parametrize(
    ("bodies", "others"),
    [
        ((SILENT, SILENT), LATE),
        ((REFUSED, ANSWERED), LATE),
        ((SILENT, ANSWERED), LATE[:2]),
        ((SILENT, ANSWERED), [*LATE, *(Carried(at, 0.02) for at in (1.0, 2.0, 3.0, 4.0))]),
        ((SILENT, ANSWERED), [replace(one, answered=False) for one in LATE]),
        ((SILENT, ANSWERED), [replace(one, elapsed=1.0 + one.elapsed / 100) for one in LATE]),
        ((SILENT, ANSWERED), [*LATE, Carried(2.0, 0.02, of="pod-to-own-ip")]),
        ((SILENT, ANSWERED), [replace(one, plain=False) for one in LATE]),
        ((SILENT, ANSWERED), [replace(one, of="f") for one in LATE]),
        ((SILENT, ANSWERED), [replace(one, of="slow") for one in LATE]),
        (
            (SILENT, ANSWERED, SILENT),
            [*LATE, *(replace(one, started=one.started + 20) for one in LATE)],
        ),
        ((ANSWERED, SILENT), LATE),
        ((SILENT, ANSWERED), []),
    ],
    ids=[
        "no attempt was answered",
        "a refusal is an answer",
        "too few others",
        "every fourth of the others came at once",
        "what is silent takes as long as its time-out",
        "all others waited for a lost SYN",
        "one of thirteen came at once",
        "processes, names and payloads take their time",
        "the check's own answers",
        "one other check, whose target is slow",
        "more silences than answers",
        "the others were late at another time",
        "nothing else was sent",
    ],
)
def test_silence_counts_where_overload_does_not_explain_it(
    bodies: tuple[str, ...], others: list[Carried]
) -> None:
    """Packets that are lost leave most other answers prompt, and a dead target answers no attempt."""
    assert overloaded(attempts(*bodies), others) == ()


def over_a_lossy_path(seed: int, loss: float) -> list[Raw]:
    """Return three attempts of each of 60 checks, by a client that sends again after 1 s and 3 s and gives up after 5 s."""
    chance = random.Random(seed)

    def attempt(check: int, number: int) -> Raw:
        waited = next((one for one in (0.0, 1.0, 3.0) if chance.random() >= loss), None)
        (raw,) = attempts(SILENT if waited is None else ANSWERED)
        elapsed = 5.0 if waited is None else waited + 0.005
        started = check * 0.3 + (number - 1) * 2
        return replace(raw, check=f"c{check}", attempt=number, started=started, elapsed=elapsed)

    return [attempt(check, number) for check in range(60) for number in (1, 2, 3)]


@pytest.mark.parametrize("loss", [0.36, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_silence_on_a_lossy_path_is_never_left_out(seed: int, loss: float) -> None:
    """The late answers of such a path waited for a SYN that was sent again; its probe had time."""
    raws = over_a_lossy_path(seed, loss)
    others = [carried(raw) for raw in raws]
    checks = [[raw for raw in raws if raw.check == f"c{number}"] for number in range(60)]
    assert any(read_raw(raw).outcome is Outcome.TIMED_OUT for raw in raws)
    assert [overloaded(own, others) for own in checks] == [()] * 60


def test_others_may_be_probed_where_a_probes_own_answers_are_too_few() -> None:
    """Processes are compared with the requests of all probes; a node alone that loses packets delays none of these."""
    own = [
        replace(raw, tool="curl", channel="exec", exit_code=code, stdout=out, stderr=error)
        for raw, code, out, error in zip(
            attempts(SILENT, ANSWERED),
            (28, 0),
            ("", "server-1"),
            ("curl: (28) Connection timed out after 5001 milliseconds", ""),
            strict=True,
        )
    ]
    processes = [carried(replace(own[1], check=f"p{n}", started=1.0)) for n in range(20)]
    assert overloaded(own, processes, processes) == ()
    assert overloaded(own, processes, [*processes, *LATE]) == (1,)
    prompt = [Carried(1.0 + number / 10, 0.01, of=f"c{number}") for number in range(20)]
    assert overloaded(own, processes, prompt) == ()
    assert overloaded(own, [], [*LATE, *prompt]) == ()
    assert overloaded(own, LATE, prompt) == (1,)


def test_what_is_left_out_makes_no_disagreement_and_stays_on_record() -> None:
    """The observation agrees on the attempts that tell something, and names the one that does not."""
    check = checking()
    seen = observation_of(check, Done(check="f", overloaded=(1,)), attempts(SILENT, ANSWERED))
    assert (seen.outcome, seen.agreed) == (Outcome.CONNECTED, True)
    assert [one.overloaded for one in seen.attempts] == [True, False]
    torn = observation_of(check, Done(check="f"), attempts(SILENT, ANSWERED))
    assert not torn.agreed


def test_a_transfer_without_an_answer_from_an_overloaded_probe_proves_nothing() -> None:
    """Large transfers need CPU all the while; small questions, and transfers of a probe that has time, are believed."""
    large = checking(size=523264)
    silent = attempts(SILENT, SILENT)
    late = [*LATE, *(replace(one, started=one.started + 10) for one in LATE)]
    told = too_busy(large, silent, late)
    assert told is not None
    assert told.startswith("the probe was overloaded: its other answers took 1.9 s in the median")
    assert too_busy(checking(), silent, late) is None
    assert too_busy(large, silent, LATE) is None
    assert too_busy(large, attempts(SILENT, REFUSED), late) is None
    thrice = [*late, *(replace(one, started=one.started + 20) for one in LATE)]
    assert too_busy(large, attempts(SILENT, ANSWERED, SILENT), thrice) is not None
    assert too_busy(large, attempts(SILENT, UNREACHABLE, SILENT), thrice) is None
    assert too_busy(large, [], late) is None


def test_a_channel_tells_when_it_was_busy_and_whether_it_was_answered() -> None:
    """A raw answer counts from its start for as long as it took; a refusal is no answer of the target."""
    told, silent = attempts(ANSWERED, SILENT)
    assert carried(told) == Carried(0.0, 5.0, answered=True, of="f")
    assert carried(silent) == Carried(10.0, 5.0, answered=False, of="f")


def test_a_channel_tells_what_takes_its_time_where_all_is_well() -> None:
    """A process has to start, a name to be looked up and a payload to be carried; a small request to an address has none."""
    (told,) = attempts(ANSWERED)
    check = checking()
    named = replace(check.action, target=Target(kind=TargetKind.SERVICE_FQDN))
    assert carried(told, check).plain
    assert not carried(told, replace(check, action=named)).plain
    assert not carried(told, checking(size=65536)).plain
    assert not carried(replace(told, tool="curl", exit_code=0, stdout="server-1")).plain


def test_prompt_answers_count_where_most_were_prompt() -> None:
    """Those within the time of the slow one are counted, itself never, and none where the median is late."""
    (slow,) = attempts(ANSWERED)
    itself = Carried(0.0, 5.0)
    assert prompt_beside(slow, [itself, Carried(1.0, 0.02)]) == 1
    assert prompt_beside(slow, [itself, Carried(1.0, 0.02), *LATE[:2]]) == 0
    assert (
        prompt_beside(slow, [itself, Carried(1.0, 0.02), Carried(1.1, 1.01), Carried(2.0, 3.01)])
        == 1
    )
    assert prompt_beside(slow, [Carried(6.0, 0.02)]) == 0


def test_a_burst_that_ended_as_a_slow_answer_began_shows_no_quiet_probe() -> None:
    """A probe whose later answers were mostly late was busy, however many it gave just before."""
    (told,) = attempts(ANSWERED)
    slow = replace(told, started=15.981, elapsed=1.007)
    burst = [Carried(15.84 + number / 1000, 0.158) for number in range(10)]
    busy = [Carried(16.36, 0.76), Carried(16.48, 0.211), Carried(16.5, 0.433), Carried(16.1, 0.64)]
    assert prompt_beside(slow, [*burst, *busy]) == 0
    assert prompt_beside(slow, [*burst, *busy[1:2]]) == 1


def test_a_deadline_is_excused_by_overload_alone() -> None:
    """Not by names that are looked up slowly, by processes, or by packets that are sent again."""
    assert overloaded_before(10.0, LATE)
    assert not overloaded_before(10.0, [replace(one, plain=False) for one in LATE])
    assert not overloaded_before(10.0, [replace(one, elapsed=3.01) for one in LATE])
    assert not overloaded_before(60.0, LATE)


def test_why_a_transfer_proves_nothing_is_told_to_its_end() -> None:
    """One whose channel broke is no silence, and leaves the others unexplained."""
    large = checking(size=523264)
    late = [*LATE, *(replace(one, started=one.started + 10) for one in LATE)]
    told = too_busy(large, attempts(SILENT, SILENT), late)
    assert told is not None
    assert told.endswith(" s in the median while nothing came of this transfer")
    first, second = attempts(SILENT, SILENT)
    assert too_busy(large, [first, replace(second, error="HTTP 500")], late) is None


def test_only_the_checks_own_answers_are_explained() -> None:
    """A silent control, and an attempt whose channel broke, are no silence of the check."""
    silent, answered = attempts(SILENT, ANSWERED)
    assert overloaded([silent, answered], LATE) == (1,)
    assert overloaded([replace(silent, purpose="control:target"), answered], LATE) == ()
    assert overloaded([replace(silent, error="HTTP 500"), answered], LATE) == ()


def test_three_checks_are_several_and_one_prompt_answer_of_twenty_is_hardly_any() -> None:
    """At these very numbers answers still show an overloaded probe, and with one less or more they do not."""
    three = [replace(one, of=f"other-{number % 3}") for number, one in enumerate(LATE)]
    two = [replace(one, of=f"other-{number % 2}") for number, one in enumerate(LATE)]
    assert overloaded(attempts(SILENT, ANSWERED), three) == (1,)
    assert overloaded(attempts(SILENT, ANSWERED), two) == ()
    nineteen = [*LATE, *LATE[:7]]
    prompt = Carried(2.0, 0.02, of="quick")
    assert overloaded(attempts(SILENT, ANSWERED), [*nineteen, prompt]) == (1,)
    assert overloaded(attempts(SILENT, ANSWERED), [*nineteen, prompt, prompt]) == ()
