"""Upgrades forecast from the facts of lab profiles, with the shipped suites and manifests, and acted out as documented."""

from itertools import permutations

import pytest

from nettests.compare.difference import Difference, Moved, difference
from nettests.forecast.facts_after import changed
from nettests.forecast.forecast import UNCHANGED, Coming, Forecast
from nettests.forecast.fulfilment import Attribution, Fulfilment, fulfilment
from nettests.forecast.keys import read_change
from nettests.model.facts import ClusterFacts
from nettests.model.words import Verdict
from tests.compare.runs import quiet_run
from tests.facts import PROFILES, cluster_facts
from tests.forecast.forecasts import NEW, OLD, TO_NEW, flows_of, forecast_of, ids

OVERLAY = (
    *("kubernetes=1.34.2", "windows.build=20348.3207", "kubeProxy.dsr=true", "cni.backend=vxlan"),
    *("cni.mtu=1450", "cni.natExceptions=10.244.0.0/16,10.96.0.0/16", "cni.loopbackDSR=true"),
)
UPGRADES = {
    "a new Windows": (OLD, ("windows.build=20348.3207",)),
    "DSR": (OLD, ("kubeProxy.dsr=true",)),
    "host-gw to VXLAN": (NEW, ("cni.backend=vxlan", "cni.mtu=1450")),
    "VXLAN to host-gw": ("win2022-overlay-dsr", ("cni.backend=host-gw", "cni.mtu=1500")),
    "ten minors": (OLD, ("kubernetes=1.34.2",)),
    "all at once": (OLD, OVERLAY),
    "another plugin": (NEW, ("cni.plugin=antrea", "kubeProxy.windows.mode=none")),
    "one build of three": ("mixed-builds", ("windows.build=26100.4061",)),
    "a fleet": ("fleet", ("kubeProxy.dsr=true", "windows.build=20348.3207")),
}


def acted_out(facts: ClusterFacts, *to: str) -> tuple[Forecast, Difference, Fulfilment]:
    """Return a forecast, and what became of it where both clusters behave as documented."""
    after = quiet_run(changed(facts, [read_change(word) for word in to]))
    found = difference(quiet_run(facts), after)
    forecast = forecast_of(facts, *to, of=found.before.run.run_id)
    return forecast, found, fulfilment(forecast, found, after)


@pytest.mark.parametrize(("profile", "to"), UPGRADES.values(), ids=UPGRADES)
def test_an_upgrade_that_does_as_documented_comes_true(profile: str, to: tuple[str, ...]) -> None:
    """Every change is predicted, no prediction is missed, and nothing changed otherwise."""
    forecast, found, came = acted_out(cluster_facts(profile), *to)
    assert len(forecast.changes) > 5
    assert came.missed == ()
    assert {attribution for attribution, ids in came.changes.items() if ids} == {
        Attribution.PREDICTED
    }
    every = len(forecast.changes) + len(forecast.comes) + len(forecast.goes)
    assert came.observed == sum(map(len, came.changes.values())) == every
    assert (came.facts, came.warnings, found.unexplained) == ((), (), ())


def test_a_forecast_is_the_difference_of_the_profiles_themselves() -> None:
    """What was forecast for stated facts is observed on the facts that discovery reads afterwards."""
    after = quiet_run(cluster_facts(NEW))
    found = difference(quiet_run(cluster_facts(OLD)), after)
    forecast = forecast_of(OLD, *TO_NEW, of=found.before.run.run_id)
    came = fulfilment(forecast, found, after)
    assert (came.missed, came.facts) == ((), ())
    assert {attribution for attribution, ids in came.changes.items() if ids} == {
        Attribution.PREDICTED
    }


@pytest.mark.parametrize("profile", PROFILES)
def test_what_stays_is_expected_to_stay(profile: str) -> None:
    """A fact that is stated as it is changes no expectation and no plan, on any profile."""
    facts = cluster_facts(profile)
    found = forecast_of(facts, f"kubernetes={facts.server_version}")
    assert found.notes[-1] == UNCHANGED
    assert (found.changes, found.comes, found.goes, found.facts) == ((), (), (), ())
    assert found.limitations == ()


@pytest.mark.parametrize(("profile", "to"), list(UPGRADES.values())[:3], ids=list(UPGRADES)[:3])
def test_each_check_is_accounted_for_once(profile: str, to: tuple[str, ...]) -> None:
    """It changes, cannot be forecast, comes, goes, or stays: the numbers add up to the two plans."""
    forecast, found, _ = acted_out(cluster_facts(profile), *to)
    undecided = {name for one in forecast.undecided for name in one.checks}
    changes = {one.id for one in forecast.changes}
    assert not undecided & changes
    assert forecast.same + len(changes) + len(undecided) == len(found.checks)


def test_a_new_windows_lifts_what_its_build_had() -> None:
    """Affinity works and a Service may have more backends, each with its entry, its source and its fact."""
    found = forecast_of(OLD, "windows.build=20348.3207")
    lifts = [one for one in found.changes if one.kind is Coming.LIFTS]
    assert {"session-affinity", "service-65-backends"} <= flows_of(one.id for one in lifts)
    entries = {one.id: one for one in found.entries}
    for one in lifts:
        assert (one.before.verdict, one.after.verdict) == (Verdict.LIMITED, Verdict.PASS)
        assert one.before.limitation in one.ends
        assert entries[one.before.limitation or ""].sources
        assert {str(cause).partition(":")[0] for cause in one.causes} <= {
            "source build",
            "target build",
        }


def test_dsr_lifts_one_limitation_and_brings_another() -> None:
    """Backends see the Pod, and a Pod no longer reaches itself where loopbackDSR is off."""
    found = forecast_of(OLD, "kubeProxy.dsr=true")
    assert "dsr-source-address" in flows_of(ids(found, Coming.LIFTS))
    appears = [one for one in found.changes if one.kind is Coming.APPEARS]
    assert {one.after.limitation for one in appears} == {"svc-hairpin-dsr"}
    assert {str(cause) for one in appears for cause in one.causes} == {"source DSR: off → on"}
    assert [str(one) for one in found.facts] == ["windows-1 DSR: off → on"]


def test_an_overlay_brings_its_limitations_by_the_driver_that_follows() -> None:
    """Only the backend was stated: nodes reach Pods of their own alone, because the driver is another."""
    found = forecast_of(NEW, "cni.backend=vxlan")
    (one,) = [
        one for one in found.changes if one.id == "node-to-pod/windows-1/linux-1/other-node/tcp"
    ]
    assert (one.kind, one.applies) == (Coming.APPEARS, ("flow-node-remote-pod-overlay",))
    assert [str(cause) for cause in one.causes] == ["source network driver: l2bridge → overlay"]


def test_kubernetes_lifts_what_its_api_server_did_not_know() -> None:
    """Fields that old API servers do not know are refused by new ones, by the release that brought them."""
    found = forecast_of(OLD, "kubernetes=1.34.2")
    (one,) = [one for one in found.changes if one.id == "windows-pod-fields/api/hostUsers"]
    assert (one.before.expected, one.after.expected) == ("accepted", "rejected")
    assert [str(cause) for cause in one.causes] == ["Kubernetes: 1.24.17 → 1.34.2"]


def test_checks_that_come_and_go_say_what_keeps_them_out() -> None:
    """Rules of the overlay come, those of the bridge go, and what needs an MTU goes until it is stated."""
    found = forecast_of(NEW, "cni.backend=vxlan")
    assert "flannel-vxlan-configuration" in flows_of(one.id for one in found.comes)
    assert all("host-gw" in one.reason or "l2bridge" in one.reason for one in found.comes)
    gone = {one.id.partition("/")[0]: one.reason for one in found.goes}
    assert "state it with --to cni.mtu=" in gone["icmp-packet-at-mtu"]
    stated = forecast_of(NEW, "cni.backend=vxlan", "cni.mtu=1450")
    assert "icmp-packet-at-mtu" not in flows_of(one.id for one in stated.goes)


def test_limitations_come_and_go_with_the_checks_that_they_decide() -> None:
    """Each with its source and the facts by which."""
    found = forecast_of(OLD, "kubeProxy.dsr=true")
    changes = {one.id: one for one in found.limitations}
    assert changes["svc-hairpin-dsr"].what is Moved.CAME
    assert changes["dsr-source-ip-non-dsr"].what is Moved.WENT
    for one in found.limitations:
        assert one.sources
        assert one.causes
        assert {*one.gained, *one.lost} <= {change.id for change in found.changes}


def test_the_way_back_is_the_mirror() -> None:
    """What lifts one way appears the other way, and what opens is settled."""
    there = forecast_of(OLD, "kubeProxy.dsr=true")
    back = forecast_of(
        changed(cluster_facts(OLD), [read_change("kubeProxy.dsr=true")]), "kubeProxy.dsr=off"
    )
    for one, other in ((Coming.LIFTS, Coming.APPEARS), (Coming.OPENS, Coming.SETTLES)):
        assert ids(there, one) == ids(back, other)
        assert ids(there, other) == ids(back, one)
    assert {one.id for one in there.comes} == {one.id for one in back.goes}


def test_members_of_a_check_change_by_the_facts_of_their_own_nodes() -> None:
    """Of a fleet of two builds only the older nodes change, and are named."""
    found = forecast_of("fleet", "windows.build=20348.3207")
    (one,) = [
        one
        for one in found.changes
        if one.id == "session-affinity/windows-1/linux-1/other-node/tcp"
    ]
    assert [member.label for member in one.members] == ["win-1", "win-2", "win-3", "win-4"]
    assert {member.limitation_before for member in one.members} == {"aff-clientip-hns"}


@pytest.mark.nightly
def test_every_profile_is_forecast_with_the_version_of_every_other() -> None:
    """For all ordered pairs of profiles, what Kubernetes' version changes is observed."""
    odd = {}
    for old, new in permutations(PROFILES, 2):
        version = cluster_facts(new).server_version
        _, _, came = acted_out(cluster_facts(old), f"kubernetes={version}")
        told = {attribution for attribution, ids in came.changes.items() if ids} - {
            Attribution.PREDICTED
        }
        if came.missed or told:
            odd[old, new] = (came.missed[:2], told)
    assert odd == {}
