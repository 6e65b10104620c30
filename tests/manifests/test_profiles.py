"""What is expected of every check on the lab's profiles, compared with the golden list.

The list itself is ``golden``, and for pods ``pods``.
"""

import re
from collections import Counter

import pytest

from nettests import expect
from nettests.expect import Manifest
from nettests.expect.condition import covers
from tests.facts import PROFILES, cluster_facts
from tests.manifests.golden import TABLE
from tests.manifests.golden_groups import (
    HOST_PORTS,
    LEAVING_LINUX,
    NODES,
    OUTBOUND_PORTS,
    USER_MODE_FROM_ELSEWHERE,
    VIP,
)
from tests.manifests.pods import pod_lines
from tests.manifests.shipped import deciding, entries, expectations, manifests, planned


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profiles_limitations_are_exactly_these(profile: str) -> None:
    """Every check that the table names is decided by that limitation, and no other check by any."""
    facts = cluster_facts(profile)
    lines = TABLE[profile] | pod_lines(profile)
    due = {
        check.id: said
        for check in planned(facts)
        for pattern, said in lines.items()
        if re.match(pattern, check.id)
    }
    assert deciding(facts) == due
    for pattern in lines:
        assert any(re.match(pattern, check) for check in due), pattern


@pytest.mark.parametrize("profile", PROFILES)
def test_nothing_is_undecided_where_every_fact_is_known(profile: str) -> None:
    """All conditions can be decided on the lab's facts."""
    found = expectations(cluster_facts(profile))
    assert [one.undecided for one in found.values() if one.undecided] == []


def test_linux_sources_are_expected_to_work() -> None:
    """Limitations speak of Linux for Windows nodes as targets, pinged and old Services, and policies alone."""
    elsewhere = "|".join(
        (
            *NODES,
            *HOST_PORTS,
            *VIP,
            *USER_MODE_FROM_ELSEWHERE,
            *LEAVING_LINUX,
            *OUTBOUND_PORTS,
            "hostport-from-other-node/.*windows",
            "nodeport-from-pod-source-address/.*windows",
            "nodeport-at-empty-node/",
            "network-policy/.*/denied(#|$)",  # the plugin enforces none on either system
        )
    )
    for profile in PROFILES:
        for check, one in expectations(cluster_facts(profile)).items():
            if check.split("/")[1] == "linux-1" and not re.match(elsewhere, check):
                assert one.limitation is None, check
                assert one.expected == one.claim


ENTRIES = [
    (index, entry.id)
    for index, one in enumerate(manifests())
    for entry in one.limitations
    if not entry.part
]


@pytest.mark.parametrize(("index", "name"), ENTRIES, ids=[name for _, name in ENTRIES])
def test_removing_an_entry_changes_only_what_it_decided(index: int, name: str) -> None:
    """Without an entry exactly the checks that it decided are expected to work as claimed."""
    facts = cluster_facts("win2019-overlay")
    before = expectations(facts)
    left = [_without(one, name) if n == index else one for n, one in enumerate(manifests())]
    left = [_keeping_references(one, name) for one in left]
    kept = {entry.id for manifest in left for entry in manifest.limitations}
    gone = [entry for entry in entries() if entry.id not in kept]
    # What no removed entry covers has the same candidates as before.
    concerned = [check for check in planned(facts) if any(covers(one, check) for one in gone)]
    after = expect.resolve(concerned, facts, left)
    changed = {check for check in after if before[check].expected != after[check].expected}
    decided = {
        check
        for check, one in before.items()
        if one.limitation is not None and one.limitation.id == name
    }
    assert changed == decided
    assert all(after[check].expected == after[check].claim for check in changed)


def _without(manifest: Manifest, name: str) -> Manifest:
    kept = tuple(entry for entry in manifest.limitations if entry.id != name)
    return Manifest(file=manifest.file, layer=manifest.layer, limitations=kept)


def _keeping_references(manifest: Manifest, removed: str) -> Manifest:
    """Leave out what overrides or cancels a removed entry: it would refer to nothing."""
    kept = tuple(
        entry for entry in manifest.limitations if removed not in (*entry.overrides, *entry.cancels)
    )
    return Manifest(file=manifest.file, layer=manifest.layer, limitations=kept)


def test_the_default_profile_has_limitations_of_every_kind() -> None:
    """The default profile shows expected failures, other addresses and other distributions."""
    counts = Counter(
        said.split(":")[0] for said in deciding(cluster_facts("win2019-l2bridge")).values()
    )
    assert min(counts.values()) >= 1
    assert sum(counts.values()) >= 25
