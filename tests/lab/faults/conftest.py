"""What tests of faults share: each leaves the lab without one."""

from collections.abc import Iterator

import pytest

from tests.lab.running import Lab


@pytest.fixture(autouse=True)
def mended(lab: Lab) -> Iterator[None]:
    """Clear all faults after each test."""
    yield
    assert lab.command("fault", "clear").returncode == 0
