"""Ranges of versions, and those that end in several patch releases."""

import pytest

from nettests.model.versions import KubernetesVersion, VersionRange

PICKED = VersionRange.parse("<1.24.10 || >=1.25 <1.25.6 || >=1.26 <1.26.1", KubernetesVersion)


@pytest.mark.parametrize(
    ("version", "inside"),
    [
        ("1.20.1", True),
        ("1.24.9", True),
        ("1.24.10", False),
        ("1.24.17", False),
        ("1.25.0", True),
        ("1.25.6", False),
        ("1.26.0", True),
        ("1.26.1", False),
        ("1.27.0", False),
    ],
)
def test_a_change_that_was_picked_ends_in_each_minor(version: str, inside: bool) -> None:
    """A version is in the range if one of its conjunctions holds."""
    assert PICKED.holds(KubernetesVersion.parse(version)) is inside


@pytest.mark.parametrize(
    ("server", "settled"), [("1.22.3", True), ("1.26.9", None), ("1.36.2", False)]
)
def test_the_skew_policy_settles_what_lies_far_off(server: str, settled: bool | None) -> None:
    """Where each or no version beside the API server is inside, an unread version needs no reading."""
    assert PICKED.holds_within_skew(KubernetesVersion.parse(server)) is settled


def test_what_is_no_bound_is_named() -> None:
    """A conjunction that cannot be read is an error that quotes it."""
    with pytest.raises(ValueError, match=r"not a version bound: '1\.25'"):
        VersionRange.parse("<1.24.10 || 1.25", KubernetesVersion)
