"""What a profile supports beside the cluster that was tested: inside, outside, not known."""

from dataclasses import replace

import pytest

from nettests.conformance.assessment import not_covered, pool_rows, scope_rows
from nettests.conformance.vendor_profile import VendorProfile
from nettests.expect.condition import Truth
from nettests.model.facts import ClusterFacts, known, unknown
from nettests.model.versions import WindowsBuild
from nettests.model.words import OS
from tests.conformance.claimed import FACTS, profile
from tests.facts import cluster_facts


def told(facts: ClusterFacts, claims: VendorProfile | None = None) -> dict[str, Truth]:
    """Return what holds of each part."""
    return {row.subject: row.holds for row in scope_rows(claims or profile(), facts)}


def with_build(build: WindowsBuild | None) -> ClusterFacts:
    """Return facts whose first Windows node has this build."""
    fact = known(build, "test") if build else unknown("it was not read")
    first = next(node for node in FACTS.nodes if node.os is OS.WINDOWS)
    nodes = tuple(
        replace(node, build=fact) if node.name == first.name else node for node in FACTS.nodes
    )
    return replace(FACTS, nodes=nodes)


def test_a_supported_cluster_is_inside() -> None:
    """Each part with what is claimed and what was found."""
    rows = {row.subject: row for row in scope_rows(profile(), FACTS)}
    assert [*rows] == ["plugin", "Kubernetes", "Windows build", "driver"]
    assert {row.holds for row in rows.values()} == {Truth.YES}
    assert (rows["Windows build"].claimed, rows["Windows build"].found) == (
        "17763, >=20348.1 <20349",
        "17763.1339",
    )


@pytest.mark.parametrize(
    ("build", "holds"),
    [
        (WindowsBuild(26100, 1), Truth.NO),
        (WindowsBuild(20348, 0), Truth.NO),
        (WindowsBuild(20348), Truth.UNKNOWN),
        (WindowsBuild(17763), Truth.YES),
        (None, Truth.UNKNOWN),
    ],
)
def test_every_windows_node_counts(build: WindowsBuild | None, holds: Truth) -> None:
    """One node outside what is supported, or not known to be inside, decides."""
    assert told(with_build(build))["Windows build"] is holds


def test_another_plugin_version_driver_or_backend_is_outside() -> None:
    """Each in its own row."""
    overlay = cluster_facts("win2019-overlay")
    claims = profile(lambda data: data["supports"].update(backends=["host-gw"]))
    assert told(overlay, claims) == {
        "plugin": Truth.YES,
        "Kubernetes": Truth.YES,
        "Windows build": Truth.YES,
        "driver": Truth.NO,
        "backend": Truth.NO,
    }
    other = profile(lambda data: data.update(plugin="calico"))
    assert told(FACTS, other)["plugin"] is Truth.NO
    newer = profile(lambda data: data["supports"].update(kubernetes=">=1.30"))
    assert told(FACTS, newer)["Kubernetes"] is Truth.NO


def test_an_unread_plugin_is_not_inside() -> None:
    """Neither is one outside: nobody knows."""
    facts = replace(FACTS, cni=replace(FACTS.cni, plugin=unknown("no DaemonSet tells it")))
    (row,) = [one for one in scope_rows(profile(), facts) if one.subject == "plugin"]
    assert (row.found, row.holds) == ("unknown", Truth.UNKNOWN)


def test_a_cluster_without_windows_shows_nothing_of_windows() -> None:
    """No node is no supported node."""
    linux = cluster_facts("linux")
    found = {row.subject: row for row in scope_rows(profile(), linux)}
    assert found["Windows build"].holds is Truth.NO
    assert found["Windows build"].found == "no Windows node"


def test_what_is_supported_besides_is_listed() -> None:
    """A report of one cluster says nothing of the others."""
    claims = profile(
        lambda data: data["supports"].update(
            drivers=["l2bridge", "overlay"], backends=["host-gw", "vxlan"]
        )
    )
    assert not_covered(claims, FACTS) == (
        "Windows build >=20348.1 <20349",
        "driver overlay",
        "backend vxlan",
    )


def test_node_pools_have_their_exact_versions() -> None:
    """Nodes of a pool that differ stand beside each other; Linux has no build and no HNS network."""
    rows = {row.pool: row for row in pool_rows(with_build(WindowsBuild(17763, 9)))}
    assert rows["windows-1"].build == "17763.1339, 17763.9"
    assert (rows["windows-1"].nodes, rows["windows-1"].driver) == (2, "l2bridge")
    assert "no DSR" in rows["windows-1"].kube_proxy
    assert (rows["linux-1"].build, rows["linux-1"].driver) == ("", "")
    assert "DSR" not in rows["linux-1"].kube_proxy
