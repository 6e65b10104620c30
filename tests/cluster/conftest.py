"""Fixtures of the tests of requests that are sent again, and of streams."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from nettests.cluster import Connection
from nettests.cluster.kubeconfig import choose
from nettests.cluster.retries import Tries
from nettests.model.cluster_profile import Timing
from tests.cluster.opening import Connected


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between tries, which are not made."""
    made: list[float] = []

    def noted(_: Tries, seconds: float) -> bool:
        made.append(seconds)
        return True

    monkeypatch.setattr(Tries, "_slept", noted)
    return made


@pytest.fixture
def quick_handshakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up in a moment."""
    for constant in (
        "execute.HANDSHAKE_SECONDS",
        "port_forward.CONNECT_SECONDS",
    ):
        monkeypatch.setattr(f"nettests.cluster.{constant}", 0.2)


@pytest.fixture
def connected() -> Iterator[Connected]:
    """Opens connections, by kubeconfig, that a test need not close."""
    made: list[Connection] = []

    def connect(file: Path) -> Connection:
        timing = Timing(
            execute=0.1, api_tries=2, api_first_pause=0.001, api_longest_pause=0.01, channel_tries=2
        )
        made.append(Connection(choose(file, None), timing))
        return made[-1]

    yield connect
    for one in made:
        one.close()


@pytest.fixture
def authority() -> trustme.CA:
    """Whom a kubeconfig trusts."""
    return trustme.CA()
