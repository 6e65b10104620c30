"""Fixtures of the acceptance tests: whole runs, made once a session."""

import pytest

from tests.acceptance.runs import Runs


@pytest.fixture(scope="session")
def finished_runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Runs by profile, each made at its first use."""
    return Runs(tmp_path_factory)
