"""What echoes of many sizes say of a path."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from nettests.model.measured import SizeFinding
from nettests.model.observation import Raw
from nettests.model.words import Outcome, Protocol, Question
from nettests.parse import observe
from nettests.parse.path_mtu import BYTES, ROUND, STREAM, read_sizes
from tests.parse.raws import raw
from tests.parse.test_resent import check

ANSWERED = json.dumps({"responses": ["payload.1"]})
LOST = json.dumps({"errors": ["read udp 10.244.1.2:5->10.244.2.5:18081: i/o timeout"]})
SIZES = (576, 1280, 1400, 1450, 1500, 2000)


def echoes(told: Mapping[int, bool], first: int = 1, **context: str) -> list[Raw]:
    """Return an answer to each size, or silence."""
    return [
        raw(
            "dial",
            attempt=number,
            status=200,
            command=("GET", "/dial?protocol=udp&request=echo+payload.1&tries=1"),
            stdout=ANSWERED if answered else LOST,
            context={BYTES: str(size), ROUND: "1" if first == 1 else "2", **context},
        )
        for number, (size, answered) in enumerate(told.items(), first)
    ]


def up_to(limit: int) -> dict[int, bool]:
    """Return that sizes up to a limit pass."""
    return {size: size <= limit for size in SIZES}


def searching(mtu: int | None = 1500):  # type: ignore[no-untyped-def]
    """Return a check that searches a path between Pods of an MTU."""
    of = check(Protocol.UDP)
    return replace(of, action=replace(of.action, question=Question.PATH_MTU, size=mtu))


def stream(*, passed: bool) -> list[Raw]:
    """Return how 64 KiB over TCP went."""
    (one,) = echoes({1: passed}, first=50, **{BYTES: STREAM})
    return [one]


def test_a_path_that_carries_every_size_is_whole() -> None:
    """All sizes pass at once, those that are sent in fragments too."""
    seen = read_sizes(searching(), echoes(up_to(2000)))
    assert seen is not None
    assert (seen.finding, seen.passes, seen.vanishes) == (SizeFinding.WHOLE, 2000, 0)


@pytest.mark.parametrize("mtu", [1500, 1450, None])
def test_what_vanishes_below_the_mtu_is_a_hole(mtu: int | None) -> None:
    """Packets that are sent in one piece vanish; where the MTU is not known, TCP's segments do."""
    answers = [*echoes(up_to(1400)), *echoes(up_to(1400), first=20), *stream(passed=False)]
    seen = read_sizes(searching(mtu), answers)
    assert seen is not None
    assert (seen.finding, seen.passes, seen.vanishes) == (SizeFinding.HOLE, 1400, 1450)


@pytest.mark.parametrize("mtu", [1450, None])
def test_what_vanishes_above_the_mtu_are_fragments(mtu: int | None) -> None:
    """What Pods' interfaces send in one piece passes; where the MTU is not known, TCP's segments do."""
    answers = [*echoes(up_to(1450)), *stream(passed=True)]
    seen = read_sizes(searching(mtu), answers)
    assert seen is not None
    assert (seen.finding, seen.passes) == (SizeFinding.FRAGMENTS, 1450)


def test_what_passes_once_its_sender_was_told_is_a_clamp() -> None:
    """Everything above a size is lost at first, and passes when it is sent again."""
    again = {1425: True, 1450: True, 1500: True, 2000: True}
    seen = read_sizes(searching(), [*echoes(up_to(1400)), *echoes(again, 20)])
    assert seen is not None
    assert (seen.finding, seen.passes) == (SizeFinding.CLAMP, 1400)


@pytest.mark.parametrize(
    ("lost", "again", "finding"),
    [
        ({1400}, True, SizeFinding.WHOLE),
        ({2000}, True, SizeFinding.WHOLE),
        ({1400, 1450}, True, SizeFinding.LOSS),
        ({1280, 2000}, True, SizeFinding.LOSS),
        ({1400}, False, SizeFinding.LOSS),
    ],
)
def test_sizes_that_are_lost_below_others_are_no_matter_of_size(
    lost: set[int],
    again: bool,
    finding: SizeFinding,
) -> None:
    """An echo that was lost once is an accident; several between others that pass, or one each time, are a loss."""
    first = {size: size not in lost for size in SIZES}
    answers = [*echoes(first), *echoes(dict.fromkeys(lost, again), 20)]
    seen = read_sizes(searching(), answers)
    assert seen is not None
    assert seen.finding is finding


def test_nothing_is_said_of_sizes_where_none_passes() -> None:
    """A dead path has no limit."""
    seen = read_sizes(searching(), echoes(up_to(0)))
    assert seen is not None
    assert (seen.finding, seen.passes) == (SizeFinding.SILENT, 0)


def test_a_hole_is_silence_and_all_else_an_answer() -> None:
    """What the check observed is that large packets time out, though small ones were answered."""
    hole = observe(searching(), [*echoes(up_to(1400)), *echoes(up_to(1400), first=20)])
    assert (hole.outcome, hole.agreed) == (Outcome.TIMED_OUT, True)
    fragments = observe(searching(), echoes(up_to(1500)))
    assert (fragments.outcome, fragments.agreed) == (Outcome.REPLIED, True)


def test_answers_of_no_size_are_no_search() -> None:
    """What was sent without a size, as a control is, says nothing of sizes."""
    plain = [replace(one, context={}) for one in echoes({1400: True})]
    assert read_sizes(searching(), plain) is None
    seen = read_sizes(searching(), [*plain, *echoes({1280: True})])
    assert seen is not None
    assert seen.passes == 1280


def test_the_mtu_and_the_stream_are_kept_beside_the_finding() -> None:
    """Documents say how large the interface sends, and whether TCP got through all the same."""
    seen = read_sizes(searching(1450), [*echoes(up_to(1400)), *stream(passed=True)])
    assert seen is not None
    assert (seen.mtu, seen.streams) == (1450, True)
    seen = read_sizes(searching(None), [*echoes(up_to(1400)), *stream(passed=False)])
    assert seen is not None
    assert (seen.mtu, seen.streams) == (None, False)


def test_sizes_are_part_of_what_was_observed_where_they_were_searched() -> None:
    """Of any other question there are none, whatever sizes its answers name."""
    answers = echoes(up_to(2000))
    seen = observe(searching(), answers)
    assert seen.path_size == read_sizes(searching(), answers)
    assert seen.path_size is not None
    assert observe(check(Protocol.UDP), answers).path_size is None
