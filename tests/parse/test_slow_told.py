"""Which answers are measured by their time at all, and what is said of those that are late."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from nettests.model.check import Check
from nettests.model.observation import Raw
from nettests.model.words import OS, Protocol, Question, TargetKind, VantageKind
from nettests.parse.late_answers import by_itself, late, limit, slow
from nettests.parse.overload import REFERENCE, Carried
from tests.parse.test_resent import answers, check
from tests.parse.test_slow import NAME, itself

REFUSED = '{"errors":["dial tcp 10.0.0.1:80: connect: connection refused"]}'
SILENT = '{"errors":["dial tcp 10.0.0.1:80: i/o timeout"]}'


def about(question: Question, **more: object) -> Check:
    """Return a check with another question."""
    return replace(check(), action=replace(check().action, question=question, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("question", Question)
def test_what_waits_for_one_answer_has_a_limit(question: Question) -> None:
    """Of addresses a second, of names two; processes, Pods and connections that last have none."""
    seconds = {Question.REACH: 1.0, Question.LOSS: 1.0, Question.RESOLVE: 2.0}
    assert limit(about(question)) == seconds.get(question)


def test_payloads_and_other_vantages_have_none() -> None:
    """Transfers take what they take, and processes on nodes start slowly."""
    assert limit(about(Question.REACH, size=2**16)) is None
    node = replace(check().action.source, kind=VantageKind.NODE)
    assert limit(about(Question.REACH, source=node)) is None
    assert limit(NAME) == 2.0
    queried = replace(NAME.action.target, kind=TargetKind.DNS_SERVICE)
    assert limit(about(Question.LOSS, target=queried)) == 2.0


@pytest.mark.parametrize(("elapsed", "lates"), [(9.9, False), (10.0, True), (25.0, True)])
def test_a_train_is_as_late_as_one_of_its_tries(elapsed: float, *, lates: bool) -> None:
    """Ten tries that took ten seconds took one each."""
    path = "/dial?host=10.0.0.1&port=1&protocol=udp&request=hostname&tries=10"
    names = ",".join(['"server-1"'] * 10)
    (train,) = answers(elapsed, body=f'{{"responses":[{names}]}}')
    train = replace(train, tool="train", command=("GET", path))
    assert late(about(Question.LOSS), [train]) is lates


@pytest.mark.parametrize(("body", "lates"), [(REFUSED, True), (SILENT, False)])
def test_a_name_that_resolved_is_late_unless_its_server_kept_silent(
    body: str, *, lates: bool
) -> None:
    """Dialling a name takes as long as the name and its server: what the server refused, the name was there for."""
    of = replace(NAME, action=replace(NAME.action, question=Question.RESOLVE))
    dialled = [replace(one, client_os=OS.LINUX.value) for one in answers(3.0, body=body)]
    assert late(of, dialled) is lates
    assert not late(NAME, dialled)


def test_what_a_probe_says_of_itself_is_positive_and_of_that_purpose() -> None:
    """Failed answers, other purposes and those of a channel that broke show nothing; 244.4 ms are 244."""
    own = answers(1.5)
    good = itself(own, 0.2444, 0.01)
    assert by_itself(check(), good, own) == "meanwhile the probe itself answered within 244 ms"
    others: Sequence[Sequence[Raw]] = (
        [replace(one, purpose="check") for one in good],
        [replace(one, stdout=REFUSED) for one in good],
        [replace(one, error="HTTP 500") for one in good],
    )
    assert all(one.purpose == REFERENCE for one in good)
    assert [by_itself(check(), one, own) for one in others] == [None] * 3


def payload(
    *small: float, body: str = SILENT, purpose: str = "control:target", error: str | None = None
) -> list[Raw]:
    """Return a transfer that timed out after 5 s, and small questions to the same target beside it."""
    beside = [replace(one, purpose=purpose, started=11.0, error=error) for one in answers(*small)]
    return [*answers(5.0, body=body), *beside]


LARGE = replace(check(Protocol.TCP), action=replace(check().action, size=2**20))
PROMPT = [Carried(11.0, 0.1), Carried(12.0, 0.1)]


def test_a_payload_that_times_out_beside_late_small_questions_is_told() -> None:
    """It is not for its size: small questions took more than a second while the probe answered others at once."""
    assert slow(LARGE, payload(1.5, 2.0), PROMPT) == (
        "small requests were answered only after 1.5 s, while the probe answered others at once (2)"
    )


@pytest.mark.parametrize(
    ("raws", "others"),
    [
        (payload(), PROMPT),
        (payload(0.9, 2.0), PROMPT),
        (payload(1.5, body='{"responses":["server-1"]}'), PROMPT),
        (payload(1.5, body=REFUSED), PROMPT),
        (payload(1.5, purpose="control:vantage"), PROMPT),
        (payload(1.5, error="HTTP 500"), PROMPT),
        (payload(1.5)[1:], PROMPT),
        (payload(1.5), [Carried(11.0, 0.3)]),
        (payload(1.5), [Carried(1.0, 0.1)]),
        (payload(1.5), []),
    ],
    ids=[
        "no small question",
        "one was in time",
        "it came through",
        "it was refused",
        "to another target",
        "their channel broke",
        "no transfer",
        "others were slow too",
        "others at another time",
        "no others",
    ],
)
def test_nothing_is_said_of_a_payload_otherwise(raws: list[Raw], others: list[Carried]) -> None:
    """Each of the conditions is needed."""
    assert slow(LARGE, raws, others) is None


def test_systems_do_not_matter_to_a_payload() -> None:
    """What is said of it is the same for a Linux client."""
    linux = [replace(one, client_os=OS.LINUX.value) for one in payload(1.5)]
    assert slow(LARGE, linux, PROMPT) is not None
    assert LARGE.target.kind is TargetKind.POD_IP
