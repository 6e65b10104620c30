"""Several runs: an entry holds on the fewest facts that tell those which show a deviation from those which do not."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import pytest

from nettests.baseline.accepting import Accepted, accepted
from nettests.baseline.entries import Baseline
from nettests.baseline.matching import Fit, fittings
from nettests.compare.recorded import RecordedRun
from nettests.model.facts import ClusterFacts, known, unknown
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import Outcome, Verdict
from tests.baseline.runs import BROKEN, FACTS, LAST_DAY, OPEN, OTHER, TODAY, run, with_check
from tests.facts import with_windows

NEWER = replace(FACTS, server_version=KubernetesVersion(1, 33, 5), server_git_version="v1.33.5")
BOTH = replace(OTHER, server_version=KubernetesVersion(1, 33, 5), server_git_version="v1.33.5")
_IDS = count()


def shown(facts: ClusterFacts = FACTS, broken: str = BROKEN, outcome: Outcome = Outcome.TIMED_OUT) -> RecordedRun:  # fmt: skip
    """Return a run of its own id and start, later than all before it, in which the path is broken."""
    number = next(_IDS)
    of = run(facts, broken, outcome)
    info = replace(of.run, run_id=f"run-{number}", started=f"2026-11-24T09:{number // 60:02}:{number % 60:02}+00:00")  # fmt: skip
    return replace(of, run=info)


def fine(facts: ClusterFacts = FACTS) -> RecordedRun:
    return shown(facts, broken="")


def of_all(*runs: RecordedRun, check: str = BROKEN) -> Accepted:
    """Return what is accepted of one check."""
    (found,) = accepted(runs, [check], reason="ticket 4711", expires=LAST_DAY)
    return found


def facts_of(one: Accepted) -> dict[str, Sequence[str]]:
    return {str(fact): values for fact, values in one.entry.facts.items()}


def test_one_fact_is_the_condition_where_one_tells_the_runs_apart() -> None:
    """Red with the update, on two versions of Kubernetes, and good before: the build alone."""
    found = of_all(fine(), fine(NEWER), shown(OTHER), shown(BOTH))
    assert facts_of(found) == {"target build": ("17763.6532",)}
    assert (len(found.showing), len(found.without), found.alike) == (2, 2, ())


def test_two_facts_are_where_none_does_alone() -> None:
    """Red only with both: each of them is good without the other."""
    found = of_all(fine(), fine(NEWER), fine(OTHER), shown(BOTH))
    assert facts_of(found) == {"Kubernetes": ("1.33.5",), "target build": ("17763.6532",)}


def test_a_fact_may_have_several_values() -> None:
    """Red on two builds and good on a third: either of the two."""
    third = with_windows(FACTS, build=known(WindowsBuild.parse("17763.7000"), "test"))
    found = of_all(shown(), fine(third), shown(OTHER))
    assert facts_of(found) == {"target build": ("17763.1339", "17763.6532")}


def test_without_a_run_that_does_not_show_it_facts_are_exact() -> None:
    """Nothing has to be told apart: the facts of every entry, with the values of all runs."""
    found = of_all(shown(), shown(OTHER))
    assert facts_of(found) == {
        "Kubernetes": ("1.24.17",),
        "CNI plugin": ("flannel",),
        "target build": ("17763.1339", "17763.6532"),
    }
    assert found.without == ()


def test_what_no_fact_separates_is_said_and_held_to_the_facts_of_its_runs() -> None:
    """The same cluster showed it one night and not the other: no condition is made up."""
    good = fine()
    found = of_all(good, fine(NEWER), shown())
    assert found.alike == (good.run.run_id,)
    assert facts_of(found)["Kubernetes"] == ("1.24.17",)
    assert set(facts_of(found)) == {"Kubernetes", "CNI plugin", "target build"}


def test_the_newest_deviation_is_accepted_and_another_one_does_not_show_it() -> None:
    """Refused before the update and timed out since: the entry holds on what separates the two."""
    found = of_all(shown(outcome=Outcome.REFUSED), shown(OTHER))
    assert found.entry.seen.outcome == "timed_out"
    assert facts_of(found) == {"target build": ("17763.6532",)}


def test_the_order_of_the_command_line_does_not_matter() -> None:
    """The newest run is the one that started last."""
    old, new = shown(outcome=Outcome.REFUSED), shown(OTHER)
    assert of_all(new, old) == of_all(old, new)


def test_what_could_not_be_judged_is_on_neither_side() -> None:
    """It says nothing of the deviation."""
    (check,) = [one for one in run().checks if one.id == BROKEN]
    blind = with_check(fine(), replace(check, verdict=Verdict.UNKNOWN))
    found = of_all(blind, shown(OTHER))
    assert (found.without, set(facts_of(found))) == (
        (),
        {"Kubernetes", "CNI plugin", "target build"},
    )


def test_a_fact_that_is_unknown_separates_nothing() -> None:
    """Whether it differs, nobody knows: another fact does, or none."""
    hidden = with_windows(FACTS, kube_proxy={"dsr": unknown("no log")})
    good = fine(hidden)
    assert of_all(good, shown()).alike == (good.run.run_id,)
    off = with_windows(FACTS, kube_proxy={"dsr": known(False, "test")})
    assert facts_of(of_all(fine(off), shown())) == {"target DSR": ("on",)}
    hidden_and_newer = replace(NEWER, nodes=hidden.nodes)
    assert facts_of(of_all(fine(hidden_and_newer), shown())) == {"Kubernetes": ("1.24.17",)}


def test_runs_without_facts_separate_nothing() -> None:
    """A document may have none."""
    bare = replace(fine(), facts=None)
    assert of_all(bare, shown()).alike == (bare.run.run_id,)
    assert facts_of(of_all(fine(), replace(shown(), facts=None))) == {}


def test_facts_that_the_expectation_depends_on_come_first() -> None:
    """What documents leave open depending on DSR differs with it and with the build at once: DSR is taken."""
    without, with_dsr = shown(broken=OPEN, outcome=Outcome.REFUSED), shown(OTHER, broken=OPEN, outcome=Outcome.UNREACHABLE)  # fmt: skip
    off = with_windows(without.facts or FACTS, kube_proxy={"dsr": known(False, "test")})
    found = of_all(replace(without, facts=off), with_dsr, check=OPEN)
    assert facts_of(found) == {"source DSR": ("on",)}


@pytest.mark.parametrize(
    ("facts", "fit"), [(OTHER, Fit.HOLDS), (BOTH, Fit.HOLDS), (FACTS, Fit.OTHER_FACTS)]
)
def test_the_condition_decides_where_the_entry_holds(facts: ClusterFacts, fit: Fit) -> None:
    """On a version that no run had, where only the build counts; and not on the build that was good."""
    found = of_all(fine(), shown(OTHER))
    held = Baseline(file="b.yaml", entries=(found.entry,))
    (one,) = fittings(shown(facts), held, TODAY)
    assert one.fit is fit
    if fit is Fit.OTHER_FACTS:
        assert one.why == "target build: 17763.6532 → 17763.1339"
