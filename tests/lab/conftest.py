"""Running labs for tests, one of each profile a session, started when first requested.

Tests use pods and Services of names of their own and take them away; a test that breaks a lab on
purpose mends it. ``labs["win2019-overlay"]`` is a lab of that profile, ``lab`` the default one.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nettests.lab.network import probe_isolation
from nettests.lab.topology import profiles
from tests.lab.running import Lab, lab_command, start


class Labs:
    """Labs by profile."""

    def __init__(self, runtime: Path) -> None:
        self._runtime = runtime
        self._running: dict[str, Lab] = {}

    def __getitem__(self, profile: str) -> Lab:
        if profile not in self._running:
            self._running[profile] = start(profile, profile, self._runtime)
        return self._running[profile]

    def stop(self) -> None:
        """Stop all of them."""
        for lab in self._running.values():
            lab_command("down", "--name", lab.name, runtime=self._runtime)


@pytest.fixture(scope="session")
def labs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labs]:
    """Labs of all profiles."""
    reason = probe_isolation()
    if reason:
        pytest.fail(f"these tests need network namespaces: {reason}", pytrace=False)
    started = Labs(tmp_path_factory.mktemp("labs"))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def lab(labs: Labs) -> Lab:
    """A lab of the default profile."""
    return labs[profiles.DEFAULT]
