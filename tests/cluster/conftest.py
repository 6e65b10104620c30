"""Fixtures of the tests of requests that are sent again."""

import pytest


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between tries, which are not made."""
    made: list[float] = []
    monkeypatch.setattr("nettests.cluster.tries.time.sleep", made.append)
    return made
