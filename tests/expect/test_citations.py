"""Entries that say more than their sources: exact outcomes nobody named, and bounds that forget patch releases."""

import pytest

from nettests.expect import lint, read_manifest
from tests.expect.entries import text

CHANGE = "kubernetes/kubernetes pull request 114407"


def said(entry: str, source: str) -> tuple[str, ...]:
    """Return what lint says of an entry with this body and one source."""
    whole = text(one=entry).replace(", names: timed_out", "")
    return lint(
        [read_manifest(whole.replace("document: A page", f"document: {source}"), "base.yaml")]
    )


def test_one_outcome_needs_a_source_that_names_it() -> None:
    """Where sources say no more than that something fails, an entry that expects one outcome is told."""
    (told,) = said("expected: {outcome: timed_out}", "A page")
    assert "one expects timed_out alone, and none of its sources is marked as naming it" in told
    assert said("expected: {outcome: timed_out}", "A page, names: timed_out") == ()
    assert said("expected: {outcome: [timed_out, refused]}", "A page") == ()


def test_a_source_that_names_something_else_is_told() -> None:
    """An outcome that a source names belongs into the expectation."""
    (told,) = said("expected: {outcome: [timed_out, refused]}", "A page, names: unreachable")
    assert "a source that names unreachable, which it does not expect" in told


def versions(bounds: str) -> str:
    """Return the body of an entry with these versions of kube-proxy."""
    return f"expected: unspecified\nwhen: {{source: {{kube_proxy: '{bounds}'}}}}"


def test_a_merged_change_says_where_it_was_picked_to() -> None:
    """A bound at a minor version whose source is a merged change needs the patch releases that got it."""
    (told,) = said(versions("<1.27"), CHANGE)
    assert "bounded by the minor version 1.27" in told
    assert said(versions("<1.27"), f"{CHANGE}, picked: []") == ()
    assert said(versions("<1.27.1"), CHANGE) == ()


@pytest.mark.parametrize(
    "bounds", ["<1.27", "<1.26.1 || >=1.27 <1.27.2", "<1.24.9 || >=1.25 <1.26"]
)
def test_what_was_picked_bounds_the_versions(bounds: str) -> None:
    """A patch release that got the change must bound the entry's versions."""
    (told,) = said(versions(bounds), f'{CHANGE}, picked: ["1.24.10"]')
    assert "was picked to 1.24.10" in told


def test_a_later_release_of_the_same_minor_bounds_too() -> None:
    """An entry of two changes ends with the later one."""
    bounds = versions("<1.24.10 || >=1.25 <1.26")
    assert said(bounds, f'{CHANGE}, picked: ["1.24.7"]') == ()


def test_what_an_entry_overstates_is_told_whole() -> None:
    """With its place, its bound or release, and what to write."""
    assert said(versions("<1.27"), CHANGE) == (
        (
            f"base.yaml:5: one is bounded by the minor version 1.27, and its source, {CHANGE} §Limitations, is a merged "
            "change; name the patch releases that it was picked to as picked: [...], empty if there are none"
        ),
    )
    assert said(versions("<1.27"), f'{CHANGE}, picked: ["1.24.10"]') == (
        (
            "base.yaml:5: one has a source that was picked to 1.24.10, and no bound of its versions is in that minor "
            "version from there on"
        ),
    )
    assert said("expected: {outcome: timed_out}", "A page") == (
        (
            "base.yaml:5: one expects timed_out alone, and none of its sources is marked as naming it; list what else may be "
            "seen, or write names: timed_out at the source that does so"
        ),
    )
