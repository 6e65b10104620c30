"""The rules about builds and updates of Windows."""

import json

import pytest

from nettests.rules import UnreadableError
from tests.rules.made import found, node


@pytest.mark.parametrize(("said", "conforms"), [("17763.1339", True), ("17763.1432", False)])
def test_the_running_build_is_the_one_that_the_api_shows(said: str, conforms: bool) -> None:
    """A node updated without restarting its kubelet shows the old one."""
    readings = {
        "windows-version": f"\r\nMicrosoft Windows [Version 10.0.{said}]\r\n",
        "node": json.dumps(node("10.0.17763.1339")),
    }
    assert found("running-build", readings).conforms is conforms


@pytest.mark.parametrize(
    ("rule", "kernel", "conforms"),
    [
        ("update-not-broken", "10.0.20348.2582", False),
        ("update-not-broken", "10.0.20348.2761", False),
        ("update-not-broken", "10.0.20348.2762", True),
        ("update-not-broken", "10.0.20348.2583", False),
        ("overlay-update", "10.0.17763.378", False),
        ("overlay-update", "10.0.17763.379", True),
        ("dsr-update", "10.0.17763.1431", False),
        ("dsr-update", "10.0.17763.1432", True),
        ("dsr-update", "10.0.20348.1", True),
    ],
)
def test_updates_that_a_network_needs(rule: str, kernel: str, conforms: bool) -> None:
    """Each threshold holds exactly."""
    assert found(rule, {"node": json.dumps(node(kernel))}).conforms is conforms


def test_a_build_without_its_patch_level_says_nothing_of_updates() -> None:
    """Unreadable, never good."""
    with pytest.raises(UnreadableError):
        found("dsr-update", {"node": json.dumps(node("10.0.17763"))})


@pytest.mark.parametrize(
    ("kernel", "conforms"),
    [
        ("10.0.17763.1431", False),
        ("10.0.17763.1432", True),
        ("10.0.20348.168", False),
        ("10.0.20348.169", True),
        ("10.0.26100.1", True),
    ],
)
def test_calico_needs_updates(kernel: str, conforms: bool) -> None:
    """Each build has its own threshold; later builds have none."""
    assert found("calico-build", {"node": json.dumps(node(kernel))}).conforms is conforms
