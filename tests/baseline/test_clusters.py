"""A baseline names the clusters that it was accepted for, and says so of a run of another one; it holds there all the same."""

from dataclasses import replace

import pytest

from nettests.baseline.accepting import merged
from nettests.baseline.entries import AcceptedOn, Baseline, read_baseline, render_baseline
from nettests.baseline.matching import compared, elsewhere
from nettests.compare.recorded import RecordedRun
from nettests.report.results import facts_digest
from tests.baseline.runs import FACTS, OTHER, TODAY, entries, run

STAGING, PROD = "https://api.staging.test:6443", "https://api.prod.test:6443"
DIGEST = facts_digest(FACTS)


def of(server: str, facts: str = "") -> RecordedRun:
    made = run(OTHER) if facts else run()
    return replace(made, run=replace(made.run, server=server))


def held(*runs: RecordedRun) -> Baseline:
    return merged(Baseline(file="b.yaml"), entries(run()), runs)


def test_a_baseline_names_the_clusters_of_its_runs_once() -> None:
    """By what a history calls them, with the digest of their facts; it is written and read again."""
    made = held(of(STAGING), of(STAGING), of(PROD, "others"))
    assert made.clusters == (
        AcceptedOn(name="api.staging.test:6443", facts_digest=DIGEST),
        AcceptedOn(name="api.prod.test:6443", facts_digest=facts_digest(OTHER)),
    )
    assert read_baseline(render_baseline(made), "b.yaml").clusters == made.clusters


def test_a_file_of_before_names_none_and_nothing_is_said() -> None:
    """Nobody knows where it was accepted."""
    assert elsewhere(of(PROD), Baseline(file="b.yaml", entries=entries(run()))) == ""


def test_its_own_cluster_is_nothing_to_speak_of_whatever_its_facts_are_now() -> None:
    """Each update changes them, and each entry has its own."""
    assert elsewhere(of(STAGING, "others"), held(of(STAGING))) == ""


@pytest.mark.parametrize(
    ("facts", "said"),
    [("", "with the same facts"), ("others", f"with other facts ({facts_digest(OTHER)[7:19]})")],
)
def test_another_cluster_is_said_with_whether_it_is_a_twin(facts: str, said: str) -> None:
    """Both are named, and entries hold as ever."""
    told = compared(of(PROD, facts), held(of(STAGING)), TODAY)
    assert told.elsewhere == (
        f"accepted for api.staging.test:6443 (facts {DIGEST[7:19]}), and this run is of"
        f" api.prod.test:6443, {said}"
    )
    assert told.elsewhere in list(told.lines())
    assert bool(told.known) is (not facts)


def test_of_many_clusters_some_are_named() -> None:
    """The file has all."""
    many = held(*(of(f"https://api-{number}.test") for number in range(5)))
    said = elsewhere(of(PROD), many)
    assert "api-2.test" in said
    assert "api-3.test" not in said
    assert "… and 2 more clusters" in said


def test_a_run_without_facts_has_a_name_alone() -> None:
    """There is no digest of nothing."""
    bare = replace(of(PROD), facts=None)
    assert "with other facts (none)" in elsewhere(bare, held(of(STAGING)))
    assert str(held(bare).clusters[0]) == "api.prod.test:6443"
