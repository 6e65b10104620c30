"""How many connections tell one backend from several."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.model.measured import fewest_lost, tail, tries
from nettests.model.words import CheckClass, Protocol
from nettests.plan.actions import FALSE_RATE, connections, train


@given(st.integers(min_value=2, max_value=500))
def test_the_chance_of_an_accident_is_bounded(backends: int) -> None:
    """Connections that are spread at random all meet one backend with at most the false rate."""
    assert backends * (1 / backends) ** connections(backends) <= FALSE_RATE


@given(st.integers(min_value=2, max_value=500))
def test_there_are_never_fewer_than_32(backends: int) -> None:
    """Many backends need few connections by arithmetic, but 32 are made all the same."""
    assert connections(backends) >= 32


def test_one_backend_has_no_distribution() -> None:
    """A single backend always answers alone: nothing can be told, so nothing is computed."""
    with pytest.raises(ValueError, match="needs 2 backends"):
        connections(1)


def test_costly_connections_are_as_many_as_echoes() -> None:
    """By default fewer connections are made than echoes sent; a costly check makes all that 1 % takes."""
    assert train(Protocol.UDP, CheckClass.DEFAULT) == tries()
    assert train(Protocol.TCP, CheckClass.COSTLY) == tries()
    assert train(Protocol.TCP, CheckClass.DEFAULT) < tries()


def test_few_connections_find_what_tcp_alone_loses() -> None:
    """Where 3 % of TCP packets are lost either way, a SYN or its answer is lost often enough to show."""
    sent = train(Protocol.TCP, CheckClass.DEFAULT)
    assert tail(sent, fewest_lost(sent), 1 - 0.97**2) > 0.999
