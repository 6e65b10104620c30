"""What so many lost tries of so many say, by exact statistics."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.model.measured import (
    CLEAN,
    FALSE_RATE,
    POWER,
    PROVEN_RATE,
    estimate,
    fewest_lost,
    lower_bound,
    proves_loss,
    tail,
    tries,
    tries_without_loss,
)

SHARES = st.sampled_from([1e-6, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9])


@given(st.integers(1, 120), st.data(), SHARES)
def test_a_tail_is_the_sum_of_its_terms(sent: int, data: st.DataObject, share: float) -> None:
    """The chance of at least so many lost tries is the binomial one, in exact arithmetic."""
    least = data.draw(st.integers(0, sent + 1))
    of = Fraction(share)
    exact = sum(
        comb(sent, lost) * of**lost * (1 - of) ** (sent - lost) for lost in range(least, sent + 1)
    )
    assert tail(sent, least, share) == pytest.approx(float(exact), rel=1e-9, abs=1e-14)


@given(st.integers(1, 3000), st.data())
def test_bounds_enclose_the_share_that_was_seen(sent: int, data: st.DataObject) -> None:
    """What was seen lies between the bounds, which lie between nothing and all."""
    lost = data.draw(st.integers(0, sent))
    seen = estimate(sent, lost)
    assert 0 <= seen.low <= lost / sent <= seen.high <= 1
    assert (seen.low == 0) is (lost == 0)
    assert (seen.high == pytest.approx(1)) is (lost == sent)


@given(st.integers(2, 1000), st.data())
def test_a_bound_is_the_share_at_which_so_many_are_that_unlikely(
    sent: int, data: st.DataObject
) -> None:
    """At the lower bound, so many or more are lost with exactly the error that was allowed (Clopper and Pearson)."""
    lost = data.draw(st.integers(1, sent))
    assert tail(sent, lost, lower_bound(sent, lost, 0.005)) == pytest.approx(0.005, rel=1e-6)


@given(st.integers(1, 5000))
def test_a_path_in_order_is_called_lossy_once_in_a_million_times_at_most(sent: int) -> None:
    """However many tries there are, the fewest that prove a loss are that unlikely, and one less is not."""
    fewest = fewest_lost(sent)
    assert tail(sent, fewest, CLEAN) <= FALSE_RATE
    assert not proves_loss(sent, fewest - 1)


@given(st.integers(2, 5000))
def test_one_lost_try_proves_nothing(sent: int) -> None:
    """Of several tries, a single lost one may be an accident."""
    assert not proves_loss(sent, 1)


def test_so_many_tries_find_a_loss_of_one_percent() -> None:
    """Ended early without a loss, else sent whole, they prove it with the chance that was wanted; one try less does not."""

    def power(early: int) -> float:
        """Return how often two of all tries are lost and one of them among the first ``early``."""
        late = tries() - early
        one = early * PROVEN_RATE * (1 - PROVEN_RATE) ** (early - 1)
        return tail(early, 2, PROVEN_RATE) + one * tail(late, 1, PROVEN_RATE)

    assert fewest_lost(tries()) == 2
    assert power(tries_without_loss()) >= POWER
    assert power(tries_without_loss() - 1) < POWER
    assert (tries_without_loss(), tries()) == (463, 920)


def test_nothing_is_lost_of_what_was_not_sent() -> None:
    """More lost than sent is no observation."""
    with pytest.raises(ValueError, match="3 lost of 2"):
        estimate(2, 3)


def test_a_loss_is_told_with_its_bounds() -> None:
    """People read how many of how many, the share, and between which bounds it lies."""
    assert str(estimate(664, 7)) == "7 of 664 lost (1.1 %, 99 % confidence 0.3 to 2.6 %)"
