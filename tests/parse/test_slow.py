"""Answers that are all late, measured by what protocols wait for."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from nettests.model.check import Check
from nettests.model.observation import Raw
from nettests.model.words import OS, Protocol, Question, Resolver, TargetKind
from nettests.parse.late_answers import slow
from nettests.parse.overload import REFERENCE, Carried
from nettests.parse.read import read_raw
from tests.parse.test_resent import answers, check

NAME = check(kind=TargetKind.SERVICE_FQDN)


def itself(own: Sequence[Raw], *elapsed: float) -> list[Raw]:
    """Return what the probe answered of itself while the last of a check's own answers was on its way."""
    began = max(raw.started for raw in own)
    return [
        replace(one, purpose=REFERENCE, started=began + 0.05 + 0.1 * number)
        for number, one in enumerate(answers(*elapsed))
    ]


@pytest.mark.parametrize(
    ("of", "elapsed"),
    [
        (check(), (1.0, 1.2)),
        (check(Protocol.UDP), (1.1,)),
        (check(), (2.1, 2.0, 4.0)),
        (NAME, (3.0, 3.1)),
    ],
)
def test_answers_that_are_all_late_are_told(of: Check, elapsed: Sequence[float]) -> None:
    """Where every answer takes as long as a client waits before it sends again, that is said, with the figure."""
    own = answers(*elapsed)
    told = slow(of, [*own, *itself(own, 0.8, 0.003, 0.004)], ())
    assert told is not None
    assert told.startswith(f"every answer took {min(elapsed):.1f} s or more, ")
    assert told.endswith("meanwhile the probe itself answered within 4 ms")


@pytest.mark.parametrize(
    ("of", "elapsed"), [(check(), (1.2, 0.9)), (NAME, (1.9, 3.0)), (check(), (0.2, 0.2))]
)
def test_one_answer_in_time_is_enough(of: Check, elapsed: Sequence[float]) -> None:
    """A path that brought an answer sooner is not late; names may take 2 s."""
    own = answers(*elapsed)
    assert slow(of, [*own, *itself(own, 0.003, 0.004)], ()) is None


def test_a_busy_probe_hides_no_path_that_is_later_by_far() -> None:
    """Where a machine is busy, what a probe takes for itself is compared with how late the answers are."""
    own = answers(4.9, 5.0)
    told = slow(check(), [*own, *itself(own, 0.6, 0.7, 0.9)], ())
    assert told is not None
    assert told.endswith("meanwhile the probe itself answered within 900 ms")
    assert slow(check(), [*own, *itself(own, 1.1, 1.2, 1.3)], ()) is None


def test_a_path_is_as_late_as_its_soonest_answer() -> None:
    """Beside one of 1.0 s a probe that takes a second for itself was not prompt, whatever the last answer took."""
    own = answers(1.004, 5.403)
    assert slow(check(), [*own, *itself(own, 1.798, 1.011, 1.084, 1.193)], ()) is None
    assert slow(check(), [*own, *itself(own, 0.2, 0.24)], ()) is not None


@pytest.mark.parametrize("elapsed", [(0.6, 1.1), (0.004, 0.6), (0.004,), ()])
def test_a_slow_way_to_the_probe_is_no_slow_path(elapsed: Sequence[float]) -> None:
    """Where the probe does not answer at once for itself, twice, nothing is said of the path: a machine may be busy."""
    own = answers(1.5, 1.6)
    assert slow(check(), [*own, *itself(own, *elapsed)], ()) is None


def test_what_a_probe_answered_later_shows_nothing() -> None:
    """A machine that was busy when the path was tried may be idle a second after that."""
    own = answers(1.5, 1.6)
    later = [replace(one, started=one.started + 5) for one in itself(own, 0.003, 0.004)]
    assert slow(check(), [*own, *later], ()) is None


def test_a_failure_is_not_late() -> None:
    """What is refused after a second is a failure, and judged as one."""
    refused = answers(1.5, body='{"errors":["dial tcp 10.0.0.1:80: connect: connection refused"]}')
    assert slow(check(), [*refused, *itself(refused, 0.003, 0.004)], ()) is None


def test_a_name_is_not_late_because_its_server_refuses() -> None:
    """Windows sends a refused SYN twice more, which takes two seconds after the name was resolved."""
    text = "dial tcp 10.0.0.1:80: connectex: No connection could be made because the target machine actively refused it."
    resolving = replace(NAME, action=replace(NAME.action, question=Question.RESOLVE))
    refused = [
        replace(raw, client_os=OS.WINDOWS)
        for raw in answers(
            2.1, 2.1, body=json.dumps({"errors": [f'Get "http://10.0.0.1:80/": {text}']})
        )
    ]
    assert slow(resolving, [*refused, *itself(refused, 0.003, 0.004)], ()) is None
    answered = answers(2.1, 2.1)
    assert slow(resolving, [*answered, *itself(answered, 0.003, 0.004)], ()) is not None


def queried(os: OS, *elapsed: float) -> tuple[Check, list[Raw]]:
    """Return a check by nslookup with its answers."""
    action = replace(NAME.action, question=Question.RESOLVE, resolver=Resolver.NSLOOKUP)
    text = "Server:\t10.96.0.10\nAddress:\t10.96.0.10#53\n\nName:\tsvc\nAddress: 10.96.44.7\n"
    raws = [
        replace(one, tool="nslookup", status=None, exit_code=0, stdout=text, client_os=os.value)
        for one in answers(*elapsed)
    ]
    return replace(NAME, action=action), raws


def test_nslookup_is_late_beside_other_commands() -> None:
    """A process that looks a name up has nobody who answers for itself: other commands ended at once meanwhile."""
    of, raws = queried(OS.LINUX, 3.1)
    assert slow(of, raws, [Carried(10.5, 0.4), Carried(10.9, 0.3)]) is not None
    assert slow(of, raws, [Carried(10.5, 1.4), Carried(10.9, 1.4)]) is None


def test_one_quick_command_of_a_busy_machine_makes_no_nslookup_late() -> None:
    """One command that ended at once beside a slow nslookup shows nothing, and most of several have to."""
    of, raws = queried(OS.LINUX, 3.0)
    assert slow(of, raws, [Carried(10.5, 0.4)]) is None
    assert slow(of, raws, [Carried(10.2, s) for s in (0.4, 0.5, 1.4, 1.6, 1.7)]) is None


def test_what_delayed_the_other_commands_may_have_delayed_nslookup_too() -> None:
    """Two commands that took 0.9 s beside 2.013 s (seen on a healthy lab at a load of 7) leave it in time."""
    of, raws = queried(OS.LINUX, 2.013)
    assert slow(of, raws, [Carried(10.3, 0.943), Carried(10.35, 0.896)]) is None
    of, raws = queried(OS.LINUX, 2.9)
    assert slow(of, raws, [Carried(10.3, 0.843), Carried(10.35, 0.796)]) is not None


def test_nslookup_of_windows_is_not_measured() -> None:
    """Microsoft's queries the server's own name first, which may take as long as it likes."""
    of, raws = queried(OS.WINDOWS, 3.1)
    assert slow(of, raws, [Carried(10.5, 0.4)]) is None


def test_a_payload_is_not_measured_and_small_questions_beside_it_are() -> None:
    """Large transfers may take long; one that times out where small questions are late is no matter of size."""
    of = replace(check(), action=replace(check().action, size=2**16))
    own = answers(1.5)
    assert slow(of, [*own, *itself(own, 0.003, 0.004)], ()) is None
    lost = answers(
        5.0, 5.0, body='{"errors":["Get \\"http://10.0.0.1:80\\": context deadline exceeded"]}'
    )
    meanwhile = [Carried(10.5, 0.02)]
    small = [replace(one, purpose="control:target") for one in answers(2.1)]
    assert slow(of, [*lost, *small], meanwhile) is not None
    small = [replace(one, purpose="control:target") for one in answers(0.1)]
    assert slow(of, [*lost, *small], meanwhile) is None


def test_powershell_is_not_measured() -> None:
    """It starts slowly by itself: on what system soever, other commands beside it show nothing."""
    of, raws = queried(OS.LINUX, 3.1)
    others = [Carried(10.5, 0.4), Carried(10.9, 0.3)]
    text = "svc A 5 Answer 10.96.44.7\n"
    started = [replace(one, tool="resolve_dnsname", stdout=text) for one in raws]
    assert read_raw(started[0]).outcome.positive
    assert slow(of, raws, others) is not None
    assert slow(of, started, others) is None
