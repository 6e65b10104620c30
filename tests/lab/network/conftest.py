"""Fixtures for tests with real packets."""

import contextlib
from collections.abc import Callable, Iterator

import pytest

from nettests.lab.network import probe_isolation
from nettests.lab.topology import Profile
from tests.lab.network.laboratory import Laboratory, laboratory

StartLab = Callable[[Profile], Laboratory]


@pytest.fixture(scope="session")
def isolation() -> None:
    """Fail with the reason, once, where namespaces cannot be made."""
    reason = probe_isolation()
    if reason:
        pytest.fail(f"these tests need network namespaces: {reason}", pytrace=False)


@pytest.fixture
def start_lab(isolation: None) -> Iterator[StartLab]:
    """Start labs that live until the end of the test."""
    with contextlib.ExitStack() as stack:
        yield lambda profile: stack.enter_context(laboratory(profile))


@pytest.fixture(scope="module")
def start_shared_lab(isolation: None) -> Iterator[StartLab]:
    """Start labs that live until the end of the module, for questions that change nothing."""
    with contextlib.ExitStack() as stack:
        yield lambda profile: stack.enter_context(laboratory(profile))
