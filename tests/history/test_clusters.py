"""Which runs are of one cluster, in which order, and what is left out."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from nettests.compare.recorded import cluster_of
from nettests.history.trends import ONE, ReadRun, clusters, history_of
from tests.history.story import altered, night, nights


def named(*runs: ReadRun, one_cluster: bool = False) -> dict[str, list[str]]:
    """Return the names of runs by cluster."""
    return {
        name: [run.name for run in of]
        for name, of in clusters(runs, one_cluster=one_cluster)[0].items()
    }


def reasons(*runs: ReadRun) -> dict[str, str]:
    """Return why runs are left out."""
    return {one.name: one.reason for one in clusters(runs)[1]}


@pytest.mark.parametrize(
    ("server", "context", "name"),
    [
        ("https://api.staging.test:6443", "admin", "api.staging.test:6443"),
        ("https://api.staging.test", "admin", "api.staging.test"),
        ("https://[2001:db8::1]:6443", "admin", "2001:db8::1:6443"),
        ("https://127.0.0.1:35035", "kind-a", "context kind-a at this machine"),
        ("https://[::1]:35035", "kind-a", "context kind-a at this machine"),
        ("https://localhost:8443", "kind-a", "context kind-a at this machine"),
        ("https://127.0.0.1:35035", "", "context of no name at this machine"),
        ("https://[::1", "x", "https://[::1"),
        ("https://api.test:99999999", "x", "https://api.test:99999999"),
    ],
)
def test_a_cluster_is_told_by_its_api_server(server: str, context: str, name: str) -> None:
    """By host and port; where that is a tunnel or a lab on this machine, whose ports change, by the context."""
    assert cluster_of(altered(night(0), server=server, context=context).run) == name


def test_two_clusters_are_never_mixed() -> None:
    """Two API servers are two histories, the one with the newest run first."""
    one, two = night(0), altered(night(1), "other", server="https://api.other.test:6443")
    three = night(2)
    assert named(one, two, three) == {
        "api.staging.test:6443": [one.name, three.name],
        "api.other.test:6443": ["other"],
    }
    found = history_of([one, two, three])
    assert [len(each.runs) for each in found.clusters] == [2, 1]
    assert found.left_out == ()


def test_another_context_of_one_api_server_is_the_same_cluster() -> None:
    """Two people's kubeconfigs name their contexts as they like."""
    assert len(named(night(0), altered(night(1), context="of-somebody-else"))) == 1


def test_whoever_knows_better_takes_all_for_one_cluster() -> None:
    """Labs have another context each: the option says that they stand for one."""
    labs = [
        altered(night(at), context=f"lab-{at}", server=f"https://127.0.0.1:{6000 + at}")
        for at in range(3)
    ]
    assert len(named(*labs)) == 3
    assert named(*labs, one_cluster=True) == {ONE: [lab.name for lab in labs]}


def test_runs_are_in_the_order_of_their_start() -> None:
    """Whatever their folders are called and in whatever order they were read."""
    first, second = altered(night(0), "z"), altered(night(1), "a")
    assert named(second, first) == {"api.staging.test:6443": ["z", "a"]}


def test_the_order_is_that_of_times_not_of_their_spelling() -> None:
    """Noon in Tokyo is before nine in Reykjavik."""
    tokyo = altered(night(0), "tokyo", started="2026-10-05T12:00:00+09:00")
    reykjavik = altered(night(1), "reykjavik", started="2026-10-05T09:00:00Z")
    assert named(reykjavik, tokyo) == {"api.staging.test:6443": ["tokyo", "reykjavik"]}


def test_since_leaves_earlier_runs_out_without_a_word() -> None:
    """They are what the option is there to leave out."""
    found, left_out = clusters(nights(range(5)), since=datetime(2026, 10, 30, tzinfo=UTC))
    assert [run.name for runs in found.values() for run in runs] == [night(3).name, night(4).name]
    assert left_out == ()


def test_a_run_counts_once() -> None:
    """A copy of a run's folder is named and left out."""
    copy = replace(night(0), name="zz-copy")
    assert reasons(night(0), copy) == {
        "zz-copy": f"it holds run {night(0).name} again, as does {night(0).name}"
    }


def test_what_has_no_place_is_named_with_the_reason() -> None:
    """A run that names no cluster, and one that does not say when it started, are in nobody's history."""
    nowhere = altered(night(0), "nowhere", server="", context="", error="no route to host")
    silent = altered(night(1), "silent", server="", context="")
    undated = altered(night(2), "undated", started="")
    wordy = altered(night(3), "wordy", started="yesterday")
    assert reasons(nowhere, silent, undated, wordy) == {
        "nowhere": "it could not start: no route to host",
        "silent": "it names no cluster",
        "undated": "it does not say when it started",
        "wordy": "it does not say when it started",
    }
    assert named(nowhere, silent, undated) == {}


def test_runs_without_ids_are_not_each_other() -> None:
    """Old documents have none; they are told apart by their folders."""
    one, two = (altered(night(at), f"old-{at}", run_id="") for at in range(2))
    assert reasons(one, two) == {}
