"""A minor without its patch release: looked at wherever a condition names a patch release of it, windows included."""

import pytest

from nettests.expect import Manifest, read_manifest
from nettests.forecast.expected_run import Planned, at_any_patch, deciding_patches
from nettests.forecast.facts_after import changed
from nettests.forecast.keys import LAST_PATCH, read_change
from nettests.plan import build
from tests.expect.entries import text
from tests.facts import cluster_facts
from tests.forecast.forecasts import NEW
from tests.manifests.shipped import expectations, flows, manifests

FLOW = "pod-to-pod-ip"
CHECK = "pod-to-pod-ip/linux-1/windows-1/other-node/tcp"


def with_bug(condition: str) -> Manifest:
    """Return a manifest in which a flow times out on some releases of Kubernetes."""
    body = f"""
when: {{cluster: {{kubernetes: "{condition}"}}}}
protocols: [tcp]
expected: {{outcome: timed_out}}
"""
    return read_manifest(text(bug=body).replace("some-flow", FLOW), "made-up.yaml")


def told(own: Manifest, word: str) -> Planned:
    """Return what is told of the upgrade that a word states, with a manifest beside the shipped ones."""
    change = [read_change(word)]
    facts, used = cluster_facts(NEW), (own,)
    every = []
    for patch in (None, *deciding_patches(used, change)):
        after = changed(facts, change, patch=patch)
        plan = build(after, [one for one in flows() if one.name == FLOW])
        every.append(Planned(facts=after, plan=plan, expectations=expectations(after, used)))
    first, *others = every
    return at_any_patch(first, [one.expectations for one in others], change)


@pytest.mark.parametrize("condition", [">=1.34.2 <1.34.5", "==1.34.3", ">1.34.2 <=1.34.3"])
def test_what_begins_and_ends_within_a_minor_is_undecided(condition: str) -> None:
    """Neither the first nor the newest release has it, and one between them does."""
    found = told(with_bug(condition), "kubernetes=1.34").expectations[CHECK]
    assert (
        found.undecided == "bug depends on what is not known: the patch release of kubernetes=1.34"
    )


@pytest.mark.parametrize(("word", "applies"), [("1.34.1", False), ("1.34.4", True), ("1.34.5", False)])  # fmt: skip
def test_the_patch_release_settles_it(word: str, applies: bool) -> None:
    """Once named, nothing of it is left to be told."""
    found = told(with_bug(">=1.34.2 <1.34.5"), f"kubernetes={word}").expectations[CHECK]
    assert found.undecided is None
    assert ("bug" in found.entries) is applies


@pytest.mark.parametrize("condition", [">=1.33.2 <1.33.5", ">=1.34.0 <1.35.0", "<1.34.0"])
def test_a_window_of_another_minor_leaves_nothing_open(condition: str) -> None:
    """Only patch releases of the minor that was named without one are of interest."""
    assert told(with_bug(condition), "kubernetes=1.34").expectations[CHECK].undecided is None


def test_releases_are_looked_at_where_conditions_name_them() -> None:
    """Each with which one begins or ends to hold, and the newest; the first is looked at anyway."""
    change = [read_change("kubernetes=1.34")]
    assert deciding_patches([with_bug(">=1.34.2 <1.34.5")], change) == (2, 5, LAST_PATCH)
    assert deciding_patches([with_bug(">1.34.2 <=1.34.3")], change) == (3, 4, LAST_PATCH)
    assert deciding_patches([with_bug("==1.34.3")], change) == (3, 4, LAST_PATCH)
    assert deciding_patches([with_bug("<1.35.0")], change) == (LAST_PATCH,)
    assert deciding_patches([with_bug(">=1.34.2")], [read_change("kubernetes=1.34.1")]) == ()


def test_few_releases_decide_of_each_minor() -> None:
    """A forecast resolves everything once for each: the shipped manifests keep that affordable."""
    for minor in range(20, 40):
        assert len(deciding_patches(manifests(), [read_change(f"kubernetes=1.{minor}")])) < 8
