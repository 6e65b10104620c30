"""A path on which no loss showed, and what has to be sent before that says anything."""

from dataclasses import replace

import pytest

from nettests.model.journal_records import Done
from nettests.model.observation import Raw
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


def after(*rounds: list[float]) -> list[Raw]:
    """Return further rounds of trains, of ten connections each, 20 s after the second and apart."""
    return [
        replace(raw, attempt=raw.attempt + 16 * number, started=20.0 + 10.0 * number)
        for number, one in enumerate(rounds, 1)
        for raw in trains(one)
    ]


@pytest.mark.parametrize("second", [WAITED, [*EASY[:7], 1.6]], ids=["two", "one"])
@pytest.mark.parametrize("references", [BUSY, []], ids=["busy", "silent"])
def test_only_as_many_tries_as_would_show_a_loss_clear_a_former_round(
    second: list[float], references: list[Raw]
) -> None:
    """A round of eighty in order says that nothing is lost; one of seventy, or with a train that waits, does not."""
    raws = [*trains(EASY, second), *references]
    assert unclear_trains(COUNTING, [*raws, *after(EASY)]) is None
    assert unclear_trains(COUNTING, [*raws, *after(EASY[:7])]) is not None
    assert unclear_trains(COUNTING, [*raws, *after([*EASY[:7], 1.5])]) is not None


def test_one_train_that_waited_beside_a_prompt_probe_is_followed_by_others() -> None:
    """A single lost SYN of eighty proves no loss, and is no pass either."""
    one = [*EASY[:7], 1.6]
    raws = [*trains(EASY, one), *AT_ONCE]
    assert resent(COUNTING, raws, []) is None
    assert unclear_trains(COUNTING, raws) is not None
    assert resent(COUNTING, [*raws, *after(one)], []) is None
    prompt = [replace(raw, started=raw.started + 10) for raw in AT_ONCE]
    assert resent(COUNTING, [*raws, *after(one), *prompt], []) is not None


@pytest.mark.parametrize(
    ("second", "references"),
    [([1.6] * 8, BUSY), ([*EASY[:6], 0.79, 0.79], BUSY), (WAITED, itself(0.4, 0.4, 1.2)), (WAITED, itself(1.1, 1.2, 2.6))],
    ids=["a round as a whole", "less than a SYN waits", "the machine stood still", "and for longer"],
)  # fmt: skip
def test_what_no_lost_syn_explains_is_clear(second: list[float], references: list[Raw]) -> None:
    """Trains that are late alike are those of a slow machine, and so are those beside a probe as late for itself."""
    assert unclear_trains(COUNTING, [*trains(EASY, second), *references]) is None


def test_a_probe_that_is_always_as_late_explains_no_train_that_waited() -> None:
    """A second each time is how slow its channel is; the other trains took as long, and less than those that waited."""
    assert unclear_trains(COUNTING, [*trains(EASY, WAITED), *itself(1.1, 1.2, 1.3)]) is not None


def test_a_train_may_have_waited_that_was_a_little_quicker_without_its_wait() -> None:
    """On a busy machine, trains take 0.3 or 0.5 s by themselves: 1.3 s beside 0.5 s is no proof, and no pass either."""
    raws = [*trains(EASY, [0.5, 0.52, 0.55, 1.33]), *AT_ONCE]
    assert resent(COUNTING, raws, []) is None
    assert unclear_trains(COUNTING, raws) is not None


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
