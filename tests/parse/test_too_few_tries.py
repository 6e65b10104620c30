"""A path on which no loss showed, and what has to be sent before that says anything."""

from dataclasses import replace

import pytest

from nettests.model.journal_records import Done
from nettests.model.words import Question
from nettests.parse.late_answers import resent
from nettests.parse.lost_packets import too_few_tries, unclear_trains
from nettests.parse.observe import observation_of
from nettests.parse.overload import REFERENCE
from tests.parse.test_resent import answers
from tests.parse.test_resent_in_trains import AT_ONCE, COUNTING, EASY, itself, trains

BUSY = itself(0.4, 0.6, 0.5)
WAITED = [*EASY[:6], 1.6, 1.7]


def done(*, resent: str | None = None, slow: str | None = None) -> Done:
    """Return the record of a check that is done."""
    return Done(check=COUNTING.id, answers=1, resent=resent, slow=slow)


def test_too_few_tries_say_nothing() -> None:
    """Eight of 200 tries, because a busy probe made them slow, are no proof that nothing is lost."""
    seen = observation_of(COUNTING, done(), trains([1.1] * 8, tries=1))
    assert not seen.trusted
    assert seen.distrust is not None
    assert seen.distrust.startswith("8 of 200 tries were sent, which took up to 1.1 s")


def test_tries_over_a_slow_path_are_enough_where_they_are_late() -> None:
    """A path that is late as a whole is a finding, and eight tries show it."""
    assert observation_of(COUNTING, done(slow="late"), trains([1.1] * 8, tries=1)).trusted


@pytest.mark.parametrize(("each", "trusted"), [(9, False), (10, True)])
def test_eighty_tries_are_enough_over_any_path(each: int, trusted: bool) -> None:
    """Eight trains of ten are what a path of half a second gets, and the estimate says of how many."""
    assert observation_of(COUNTING, done(), trains([6.0] * 8, tries=each)).trusted is trusted


def test_as_many_tries_as_were_planned_are_enough() -> None:
    """A check of sixteen tries needs no more."""
    few = replace(COUNTING, action=replace(COUNTING.action, connections=16))
    assert observation_of(few, done(), trains(EASY, EASY, tries=1)).trusted


def test_trains_that_waited_beside_a_busy_probe_are_unclear() -> None:
    """Two of eight a second later than others: lost SYNs, or a busy node, and a check that passes would hide it."""
    raws = [*trains(EASY, WAITED), *BUSY]
    assert resent(COUNTING, raws, []) is None
    why = unclear_trains(COUNTING, raws)
    assert why is not None
    assert "2 of 8 trains of connections took a second longer" in why
    assert "their probe took 0.6 s to answer for itself meanwhile" in why
    seen = observation_of(COUNTING, done(), raws)
    assert (seen.trusted, seen.distrust) == (False, why)


def test_trains_that_waited_without_a_word_of_the_probe_are_unclear() -> None:
    """A probe that did not answer for itself may have been busy."""
    why = unclear_trains(COUNTING, trains(EASY, WAITED))
    assert why is not None
    assert "their probe said nothing meanwhile" in why


def test_a_finding_is_not_unclear() -> None:
    """Where the probe answered at once the SYNs were lost: that is said, and nothing is distrusted."""
    raws = [*trains(EASY, WAITED), *AT_ONCE]
    assert unclear_trains(COUNTING, raws) is None
    assert observation_of(COUNTING, done(resent="2 of 16"), raws).trusted


def test_a_later_round_in_order_clears_a_former() -> None:
    """What a busy node delayed is not delayed when the same is sent once more."""
    later = [replace(raw, attempt=raw.attempt + 16, started=30.0) for raw in trains(EASY)]
    raws = [*trains(EASY, WAITED), *later, *BUSY]
    assert unclear_trains(COUNTING, raws) is None


@pytest.mark.parametrize(
    "second",
    [[*EASY[:7], 1.6], [1.6] * 8, [*EASY[:6], 0.9, 0.9]],
    ids=["one", "a round as a whole", "less than a SYN waits"],
)
def test_what_no_lost_syn_explains_is_clear(second: list[float]) -> None:
    """One late train is an accident, and trains that are late alike are those of a slow machine."""
    assert unclear_trains(COUNTING, [*trains(EASY, second), *BUSY]) is None


def test_other_questions_have_no_trains() -> None:
    """Only what counts losses is distrusted for how many tries it had."""
    plain = replace(COUNTING, action=replace(COUNTING.action, question=Question.REACH))
    assert unclear_trains(plain, [*trains(EASY, WAITED), *BUSY]) is None
    assert all(raw.purpose != REFERENCE for raw in answers(0.1))


def test_why_nothing_can_be_said_is_told_to_its_end() -> None:
    """With how many tries of how many, how long they took, and what that shows."""
    seen = observation_of(COUNTING, done(), trains([1.1] * 8, tries=1))
    assert seen.distrust == (
        "8 of 200 tries were sent, which took up to 1.1 s: so few prove nothing of a path that is not late as a whole"
    )


def test_what_counts_no_loss_lacks_no_tries() -> None:
    """A question of another kind has no estimate, and nothing is missing."""
    assert too_few_tries(COUNTING, None, trains([1.1] * 8, tries=1)) is None
