"""Fixtures of the plugin's tests."""

import pytest

from tests.plugin.runner import Runner


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Run pytest with the plugin, in a folder of its own."""
    return Runner(pytester, monkeypatch)
