"""After the upgrade: every change is predicted, explained or unexplained, and forecasts that failed are listed."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.compare.difference import difference
from nettests.compare.recorded import Expecting, RecordedCheck, RecordedRun
from nettests.forecast.expected_run import OPEN, UNDECIDED, text_of
from nettests.forecast.facts_after import changed
from nettests.forecast.forecast import Forecast
from nettests.forecast.fulfilment import (
    ON_SOME,
    STAYED,
    Attribution,
    Fulfilment,
    Missed,
    fulfilment,
)
from nettests.forecast.keys import read_change
from nettests.model.check import Check
from nettests.model.check_id import parent_of
from nettests.model.expectation import Expectation, Expected
from nettests.model.facts import known
from nettests.model.words import OS, Outcome, Verdict
from tests.compare.runs import as_expected, but, quiet_run, recorded, results
from tests.facts import cluster_facts
from tests.forecast.forecasts import NEW, OLD, forecast_of

DSR = "kubeProxy.dsr=true"
SEEN = "dsr-source-address/windows-1/windows-1/same-node/tcp"
HAIRPIN = "service-hairpin/windows-1/windows-1/same-node/tcp"
BEFORE = quiet_run(cluster_facts(OLD))
FACTS = changed(cluster_facts(OLD), [read_change(DSR)])
FORECAST = forecast_of(OLD, DSR, of=BEFORE.run.run_id)


def came(after: RecordedRun, forecast: Forecast = FORECAST) -> Fulfilment:
    """Return what became of the forecast in a run."""
    return fulfilment(forecast, difference(BEFORE, after), after)


def with_check(
    run: RecordedRun, name: str, change: Callable[[RecordedCheck], RecordedCheck | None]
) -> RecordedRun:
    """Return a run of which one check is another one, or is not there."""
    made = [change(one) if one.id == name else one for one in run.checks]
    return replace(run, checks=tuple(one for one in made if one is not None))


def missed(found: Fulfilment) -> Missed:
    """Return the only forecast that failed."""
    (one,) = found.missed
    return one


def test_what_breaks_beside_the_upgrade_is_the_only_thing_unexplained() -> None:
    """All that the upgrade changed is predicted; the fault is neither predicted nor explained."""
    broken = but("pod-to-pod-ip", Outcome.TIMED_OUT, "linux-1/windows-1", "tcp")
    found = came(recorded(results(FACTS, broken)))
    assert found.changes[Attribution.UNEXPLAINED] == (
        "pod-to-pod-ip/linux-1/windows-1/other-node/tcp",
    )
    assert found.changes[Attribution.EXPLAINED] == ()
    assert len(found.changes[Attribution.PREDICTED]) == found.observed
    assert found.missed == ()


def test_a_limitation_that_stays_is_a_forecast_that_failed() -> None:
    """DSR is on, and backends still see the node: the change of verdict is explained, the forecast missed."""
    stays = Expected(outcome=Outcome.CONNECTED, source_seen=None)

    def behaves(check: Check, expectation: Expectation) -> Expected:
        old = cluster_before[SEEN] if parent_of(check.id) == SEEN else None
        return old or as_expected(check, expectation)

    cluster_before = {
        one.id: one.expectation.expected or stays
        for one in results(cluster_facts(OLD), flows=["dsr-source-address"]).checks
        if one.expectation
    }
    found = came(recorded(results(FACTS, behaves)))
    one = missed(found)
    assert (one.id, one.forecast) == (
        SEEN,
        "connected, source = client-node → connected, source = client-pod",
    )
    assert one.seen == "fail: connected"
    assert "was not observed" in one.why
    assert found.changes[Attribution.EXPLAINED] == (SEEN,)


def test_a_fault_on_a_check_that_was_to_change_is_no_prediction() -> None:
    """It shows neither what was nor what was to come."""
    found = came(
        recorded(
            results(
                FACTS,
                but("dsr-source-address", Outcome.REFUSED, "windows-1/windows-1/same-node/tcp"),
            )
        )
    )
    assert missed(found).id == SEEN
    assert found.changes[Attribution.UNEXPLAINED] == (SEEN,)


def test_a_change_that_was_not_made_misses_all_of_it() -> None:
    """DSR was to be on and is off: nothing changed, each forecast says what is expected instead, and the fact is named."""
    found = came(replace(BEFORE, run=replace(BEFORE.run, run_id="later")))
    assert not any(found.changes.values())
    assert found.observed == 0
    assert len(found.missed) == len(FORECAST.changes) + len(FORECAST.comes) + len(FORECAST.goes)
    whys = {one.why for one in found.missed if one.id == SEEN}
    assert whys == {"expected on the facts of the later run: connected, source = client-node"}
    assert [(one.subject, one.after) for one in found.facts] == [("windows-1 DSR", STAYED)]


def test_a_fact_that_changed_unstated_is_named_and_explains_by_itself() -> None:
    """Somebody upgraded Windows as well: its changes are explained as ever, and are not predicted."""
    both = changed(FACTS, [read_change("windows.build=20348.3207")])
    found = came(quiet_run(both))
    assert "windows-1 build: 17763.1339 → 20348.3207" in map(str, found.facts)
    assert any(one.startswith("session-affinity/") for one in found.changes[Attribution.EXPLAINED])
    assert found.changes[Attribution.UNEXPLAINED] == ()
    assert found.changes[Attribution.PREDICTED]


@pytest.mark.parametrize(
    ("to", "build"), [("windows.build=20348.x", "20348.3207"), ("kubernetes=1.34", "1.34.2")]
)
def test_a_fact_without_its_patch_is_met_by_any_patch(to: str, build: str) -> None:
    """The forecast left it out, so whatever it is agrees."""
    exact = changed(cluster_facts(OLD), [read_change(f"{to.partition('=')[0]}={build}")])
    found = came(quiet_run(exact), forecast_of(OLD, to, of=BEFORE.run.run_id))
    assert found.facts == ()
    assert found.missed == ()


def test_a_fact_with_another_value_is_named() -> None:
    """It changed, and not to what was stated."""
    other = changed(cluster_facts(OLD), [read_change("windows.build=26100.4061")])
    found = came(quiet_run(other), forecast_of(OLD, "windows.build=20348.x", of=BEFORE.run.run_id))
    assert [str(one) for one in found.facts] == ["windows-1 build: 17763.1339 → 26100.4061"]


def test_what_could_not_be_told_is_no_forecast() -> None:
    """Whatever comes of it is explained by its facts, and missed by nobody."""
    after = quiet_run(changed(cluster_facts(NEW), [read_change("windows.build=20348.2600")]))
    before = quiet_run(cluster_facts(NEW))
    forecast = forecast_of(NEW, "windows.build=20348.x", of=before.run.run_id)
    found = fulfilment(forecast, difference(before, after), after)
    undecided = {name for one in forecast.undecided for name in one.checks}
    counted = {attribution: ids for attribution, ids in found.changes.items() if ids}
    assert counted.keys() == {Attribution.EXPLAINED}
    assert {*counted[Attribution.EXPLAINED]} <= undecided
    assert found.missed == ()


def test_a_check_that_was_not_judged_shows_nothing() -> None:
    """Neither is its change accounted for, nor was the forecast observed."""

    def blind(one: RecordedCheck) -> RecordedCheck:
        return replace(one, verdict=Verdict.UNKNOWN, message="its node went away")

    found = came(with_check(quiet_run(FACTS), SEEN, blind))
    assert missed(found).why == "it was not judged: its node went away"
    assert found.changes[Attribution.NOT_JUDGED] == (SEEN,)


def test_a_check_that_is_gone_shows_nothing() -> None:
    """The later run did not plan it, and its document says why, or not."""
    found = came(with_check(quiet_run(FACTS), SEEN, lambda one: None))
    one = missed(found)
    assert (one.seen, one.why) == ("no such check", "the later run did not plan it")
    assert found.changes[Attribution.UNEXPLAINED] == (SEEN,)


def test_checks_that_were_to_come_and_to_go_are_looked_for() -> None:
    """One that is skipped has not come, and one that runs has not gone."""
    forecast = forecast_of(NEW, "cni.backend=vxlan", of=BEFORE.run.run_id)
    comes, goes = forecast.comes[0].id, forecast.goes[0].id
    before = quiet_run(cluster_facts(NEW))
    after = quiet_run(changed(cluster_facts(NEW), [read_change("cni.backend=vxlan")]))
    kept = next(one for one in before.checks if one.id == goes)

    def skipped(one: RecordedCheck) -> RecordedCheck:
        return replace(one, verdict=Verdict.SKIPPED, message="not here")

    other = with_check(replace(after, checks=(*after.checks, kept)), comes, skipped)
    found = fulfilment(forecast, difference(before, other), other)
    told = {one.id: (one.forecast, one.why) for one in found.missed}
    assert told == {
        comes: ("added to the plan", "not here"),
        goes: ("no longer in the plan", "the later run planned it"),
    }


def test_a_check_that_is_skipped_has_gone() -> None:
    """Its skip has its id: it is one of both runs, and predicted all the same."""
    before = quiet_run(cluster_facts(NEW))
    forecast = forecast_of(NEW, "cni.backend=vxlan", of=before.run.run_id)
    goes = forecast.goes[0].id
    after = quiet_run(changed(cluster_facts(NEW), [read_change("cni.backend=vxlan")]))
    kept = next(one for one in before.checks if one.id == goes)
    skip = replace(kept, verdict=Verdict.SKIPPED, message="the rule is about l2bridge")
    there = replace(after, checks=(*after.checks, skip))
    found = fulfilment(forecast, difference(before, there), there)
    assert found.missed == ()
    assert goes in found.changes[Attribution.PREDICTED]


def test_members_decided_by_something_else_are_named() -> None:
    """A forecast of members is met by each of them that is still there."""
    old = cluster_facts("fleet")
    words = "windows.build=20348.3207"
    before, after = quiet_run(old), quiet_run(changed(old, [read_change(words)]))
    forecast = forecast_of(old, words, of=before.run.run_id)
    name = "session-affinity/windows-1/linux-1/other-node/tcp"

    def as_before(one: RecordedCheck) -> RecordedCheck:
        return replace(one, members=next(was for was in before.checks if was.id == name).members)

    other = with_check(after, name, as_before)
    found = fulfilment(forecast, difference(before, other), other)
    assert missed(found).id == name
    assert missed(found).why == "something else decides at win-1, win-2, win-3, win-4"
    less = with_check(after, name, lambda one: replace(one, members=type(one.members)()))
    assert fulfilment(forecast, difference(before, less), less).missed == ()


def test_a_forecast_of_another_cluster_is_a_warning() -> None:
    """Run ids and contexts are compared, and nothing is refused: names change."""
    other = replace(FORECAST, of="production")
    (warning,) = came(quiet_run(FACTS), other).warnings
    assert warning.startswith("the forecast is of production, and the first run is of ")
    assert came(quiet_run(FACTS), replace(FORECAST, of="staging")).warnings == ()
    assert came(quiet_run(FACTS)).warnings == ()


@pytest.mark.parametrize(
    ("expecting", "text"),
    [
        (Expecting(), OPEN),
        (Expecting(outcome="connected", undecided="X depends on …"), UNDECIDED),
        (Expecting(outcome="refused", alternatives=("timed_out",)), "refused or timed_out"),
        (
            Expecting(outcome="connected", source_seen="client-pod", distribution="one-backend"),
            "connected, source = client-pod, one-backend",
        ),
    ],
)
def test_an_expectation_has_the_same_words_in_both_documents(
    expecting: Expecting, text: str
) -> None:
    """They are made of its parts, whatever sentence a run wrote beside them."""
    assert text_of(replace(expecting, text="whatever")) == text


def test_words_of_expectations_are_the_vocabulary_s_own() -> None:
    """As ``Expected`` is written everywhere else."""
    for one in FORECAST.changes:
        run = next(check for check in quiet_run(FACTS).checks if check.id == one.id)
        assert one.after.expected == (run.expected.text if not run.expected.open else OPEN)
    assert HAIRPIN in {one.id for one in FORECAST.changes}


def test_a_fact_that_nobody_could_state_is_met_by_any_value() -> None:
    """The MTU of the new network was unknown in the forecast: whatever discovery reads of it is no surprise."""
    there = changed(cluster_facts(OLD), [read_change("cni.backend=vxlan")])
    read = replace(there, cni=replace(there.cni, mtu=known(1450, "cluster profile")))
    found = came(quiet_run(read), forecast_of(OLD, "cni.backend=vxlan", of=BEFORE.run.run_id))
    assert "MTU of Pods" not in {one.name for one in found.facts}


def test_an_outcome_that_another_limitation_decides_is_no_fulfilment() -> None:
    """The same was to be seen for another reason, and the old reason stands."""
    (one,) = [each for each in FORECAST.changes if each.id == HAIRPIN]
    other = replace(one, after=replace(one.after, limitation="svc-other"))
    found = came(quiet_run(FACTS), replace(FORECAST, changes=(other,), comes=(), goes=()))
    assert missed(found).why == "decided by svc-hairpin-dsr"


def test_a_pool_of_which_some_nodes_were_upgraded_is_named() -> None:
    """All Windows nodes were to get the build, and one did."""
    old, words = cluster_facts("fleet"), "windows.build=20348.3207"
    all_of_them = changed(old, [read_change(words)])
    first = next(node.name for node in old.nodes if node.os is OS.WINDOWS)
    half = replace(
        old,
        nodes=tuple(
            new if new.name == first else was
            for was, new in zip(old.nodes, all_of_them.nodes, strict=True)
        ),
    )
    before, after = quiet_run(old), quiet_run(half)
    forecast = forecast_of(old, words, of=before.run.run_id)
    found = fulfilment(forecast, difference(before, after), after)
    assert [(one.subject, one.after) for one in found.facts] == [("windows-1 build", ON_SOME)]


def test_an_unknown_fact_that_stays_is_met_too() -> None:
    """The MTU could not be stated, and is what it was."""
    old = cluster_facts(OLD)
    old = replace(old, cni=replace(old.cni, mtu=known(1450, "cluster profile")))
    forecast = forecast_of(old, "cni.backend=vxlan", of=BEFORE.run.run_id)
    assert "MTU of Pods" in {one.name for one in forecast.facts}
    there = changed(old, [read_change("cni.backend=vxlan"), read_change("cni.mtu=1450")])
    before, after = quiet_run(old), quiet_run(there)
    assert fulfilment(forecast, difference(before, after), after).facts == ()


def test_a_forecast_of_other_facts_is_a_warning() -> None:
    """The cluster changed between the forecast and the first run."""
    older = changed(cluster_facts(OLD), [read_change("windows.build=17763.4")])
    words = "windows.build=20348.3207"
    after = quiet_run(changed(cluster_facts(OLD), [read_change(words)]))
    (warning,) = came(after, forecast_of(older, words, of=BEFORE.run.run_id)).warnings
    assert warning == (
        "windows-1 build was 17763.4 when the forecast was made, and is 17763.1339 in the first run"
    )
