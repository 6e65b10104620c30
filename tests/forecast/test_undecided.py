"""What cannot be forecast is no change: it is named with what may decide it and the fact that would settle it."""

from dataclasses import replace

import pytest

from nettests.compare.known_facts import entries_in, unknown_in
from nettests.forecast.expected_run import at_any_patch
from nettests.forecast.forecast import Coming, Forecast, Undecided
from nettests.forecast.keys import read_change
from nettests.model.facts import NodeFacts, known, unknown
from nettests.model.versions import WindowsBuild
from nettests.model.words import Verdict
from tests.facts import cluster_facts, with_windows
from tests.forecast.forecasts import NEW, OLD, flows_of, forecast_of, ids, planned


def by_key(found: Forecast, key: str) -> list[Undecided]:
    """Return what a key would settle."""
    return [one for one in found.undecided if key in one.settled_by]


def test_a_build_without_its_patch_level_leaves_open_what_patches_decide() -> None:
    """Updates of Windows brought and mended bugs: which of them are there is not guessed."""
    found = forecast_of(NEW, "windows.build=20348.x")
    lacking = by_key(found, "windows.build")
    assert lacking
    assert {one.settled_by for one in lacking} == {("windows.build",)}
    assert "cni-kb5040437" in {name for one in lacking for name in one.entries}
    for one in lacking:
        assert "has no known patch level" in one.why
        assert not one.already
    checks = {name for one in lacking for name in one.checks}
    assert not checks & {one.id for one in found.changes}


def test_the_patch_level_settles_it() -> None:
    """Stated, as the head of each says: nothing is left to be told."""
    assert forecast_of(NEW, "windows.build=20348.3207").undecided == ()


def test_a_build_that_no_patch_divides_is_told_without() -> None:
    """Where no condition has a bound within the build, its patch level is of no interest."""
    assert by_key(forecast_of("userspace-l2bridge", "windows.build=26100.x"), "windows.build") == []


def test_a_minor_is_told_where_all_of_its_patch_releases_agree() -> None:
    """What one of them brought is not told; the release settles it, either way."""
    minor = forecast_of(NEW, "kubernetes=1.34")
    (one,) = minor.undecided
    assert (one.entries, one.settled_by) == (("itp-local-balancer-lost",), ("kubernetes",))
    assert one.why.endswith("the patch release of kubernetes=1.34")
    assert flows_of(one.checks) == {"itp-local-own-node"}
    first, newest = (forecast_of(NEW, f"kubernetes=1.34.{patch}") for patch in (0, 30))
    assert (first.undecided, newest.undecided) == ((), ())
    assert {*one.checks} <= ids(first, Coming.OPENS, Coming.SETTLES, Coming.CHANGES) ^ ids(
        newest, Coming.OPENS, Coming.SETTLES, Coming.CHANGES
    )


def test_what_any_patch_release_shows_is_shown_as_of_the_minor() -> None:
    """Facts and causes name only releases that were stated."""
    found = forecast_of(OLD, "kubernetes=1.34")
    assert "Kubernetes: 1.24.17 → 1.34" in map(str, found.facts)
    causes = {cause.after for one in found.changes for cause in one.causes}
    assert "1.34" in causes
    assert "1.34.0" not in causes


def test_kubelets_of_a_minor_are_of_any_of_its_releases_too() -> None:
    """The key of that fact is the one that settles, not the whole cluster's."""
    facts = cluster_facts(NEW)
    change = read_change("kubeProxy.version=1.34")
    first = planned(facts)
    name = next(check.id for check in first.plan.checks)
    told = first.expectations[name]
    other = {name: replace(told, expected=None, entries=(*told.entries, "made-up"))}
    merged = at_any_patch(first, [other], [change]).expectations[name]
    assert merged.undecided == (
        "made-up depends on what is not known: the patch release of kubeProxy.version=1.34"
    )
    assert entries_in(merged.undecided) == ("made-up",)
    assert unknown_in(merged.undecided) == ()


@pytest.mark.parametrize("words", [("kubernetes=1.34.2",), ("kubernetes=1.34",)])
def test_expectations_that_agree_are_left_as_they_are(words: tuple[str, ...]) -> None:
    """Sentences that name a version are no difference."""
    first = planned(cluster_facts(NEW))
    changes = [read_change(word) for word in words]
    assert at_any_patch(first, [first.expectations], changes) == first


def test_an_unknown_fact_of_today_is_named_as_such() -> None:
    """It could not be told before either: the upgrade is no reason."""
    hidden = with_windows(cluster_facts(NEW), kube_proxy={"dsr": unknown("no log")})
    found = forecast_of(hidden, "kubernetes=1.36.2")
    lacking = by_key(found, "kubeProxy.windows.dsr")
    assert lacking
    assert all(one.already for one in lacking)
    assert all("DSR: unknown (no log)" in one.why for one in lacking)


def test_stating_an_unknown_fact_decides_what_could_not_be_told() -> None:
    """It is no lifted limitation, since nobody knows whether there was one."""
    hidden = with_windows(cluster_facts(NEW), kube_proxy={"dsr": unknown("no log")})
    found = forecast_of(hidden, "kubeProxy.dsr=true")
    decided = [one for one in found.changes if one.kind is Coming.DECIDED]
    assert decided
    assert {one.before.verdict for one in decided} == {Verdict.UNKNOWN}
    assert {one.before.expected for one in decided} == {"undecided"}
    assert by_key(found, "kubeProxy.windows.dsr") == []


def test_what_becomes_unknown_takes_no_limitation_away() -> None:
    """A check that cannot be forecast is not one that its limitation lost."""
    found = forecast_of(NEW, "windows.build=20348.x")
    undecided = {name for one in found.undecided for name in one.checks}
    for one in found.limitations:
        assert not {*one.lost, *one.gained} & undecided


def test_what_opens_because_a_fact_became_unknown_names_its_key() -> None:
    """The exceptions were those of the old network; stated, the outcome is expected again."""
    found = forecast_of(NEW, "cni.backend=vxlan")
    settled = {one.id: one.settled_by for one in found.changes if one.settled_by}
    assert settled["icmp-pod-to-node/windows-1/linux-1/other-node/icmp"] == ("cni.natExceptions",)
    assert settled["service-hairpin/windows-1/windows-1/same-node/tcp"] == ("cni.loopbackDSR",)
    stated = forecast_of(
        NEW, "cni.backend=vxlan", "cni.natExceptions=10.244.0.0/16", "cni.loopbackDSR=true"
    )
    assert not any(one.settled_by for one in stated.changes)


def test_what_is_expected_then_needs_no_key() -> None:
    """Facts of the old plugin are unknown, and what no longer depends on them is settled without them."""
    found = forecast_of(NEW, "cni.plugin=antrea", "kubeProxy.windows.mode=none")
    unknown_then = [one for one in found.changes if "unknown" in {c.after for c in one.causes}]
    assert {Coming.SETTLES, Coming.OPENS} <= {one.kind for one in unknown_then}
    assert {one.kind for one in found.changes if one.settled_by} == {Coming.OPENS}


@pytest.fixture(scope="module")
def half_hidden() -> Forecast:
    """A fleet of which one node hides whether it has DSR, on its way to a build on which that matters."""
    fleet = cluster_facts("fleet")
    nodes = tuple(_without_dsr(node) if node.name == "win-5" else node for node in fleet.nodes)
    return forecast_of(replace(fleet, nodes=nodes), "windows.build=20348.700")


def _without_dsr(node: NodeFacts) -> NodeFacts:
    return replace(node, kube_proxy=replace(node.kube_proxy, dsr=unknown("no log")))


def test_a_member_that_cannot_be_told_is_no_changed_member(half_hidden: Forecast) -> None:
    """Its check is listed with the key of what that node hides, and is no change because of it alone."""
    name = "dns-via-service/windows-2/tcp/nslookup"
    (one,) = [lacking for lacking in half_hidden.undecided if name in lacking.checks]
    assert one.settled_by == ("kubeProxy.windows.dsr",)
    assert name not in {change.id for change in half_hidden.changes}
    for change in half_hidden.changes:
        assert all(member.after is not Verdict.UNKNOWN for member in change.members)


def test_what_could_be_told_of_some_checks_before_is_not_called_undecided_before() -> None:
    """One pool hides its patch level today, the other does so then: together they are something new."""
    mixed = cluster_facts("mixed-builds")
    hidden = known(WindowsBuild(20348), "a label")
    nodes = tuple(
        replace(node, build=hidden) if node.pool == "windows-2" else node for node in mixed.nodes
    )
    before = replace(mixed, nodes=nodes)
    found = forecast_of(before, "windows.build=20348.x")
    undecided = {
        name for name, told in planned(before).expectations.items() if told.undecided is not None
    }
    assert {one.already for one in found.undecided} == {False}
    assert undecided & {name for one in found.undecided for name in one.checks}


def test_whatever_is_undecided_has_a_key(half_hidden: Forecast) -> None:
    """Also of a check whose source has another OS than the target that lacks the fact."""
    checks = {name for one in half_hidden.undecided for name in one.checks}
    assert any(name.startswith("nodeport-from-pod-other-node/linux-1/") for name in checks)
    assert all(one.settled_by for one in half_hidden.undecided)
