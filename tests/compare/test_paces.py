"""A time is another time only beyond noise: by a factor, by an amount, on enough answers, at the runs' own pace."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.compare import paces
from nettests.compare.difference import difference
from nettests.compare.paces import NEVER, WHOLE, PaceChange
from nettests.compare.recorded import RecordedRun
from nettests.model.journal_records import Convergence
from nettests.model.words import OS, Placement
from nettests.report.results import Latency, PathPace
from tests.compare.runs import quiet_run
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
RUN = replace(quiet_run(FACTS), checks=())


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[PaceChange]:
    return [*difference(replace(RUN, **before), replace(RUN, **after)).paces]


def latency(median: float, *, answers: int = 9, node: str = "win-1", flow: str = "f") -> Latency:
    return Latency(flow=flow, node=node, answers=answers, median=median, p99=median, worst=median)


def latencies(*found: Latency) -> dict[str, Any]:
    return {"latencies": found}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (0.2, 0.5, True),
        (0.5, 0.2, True),
        (0.2, 0.39, False),  # not twice as long
        (0.01, 0.2, False),  # twenty times as long, and still nothing
        (0.0, 0.25, True),
        (1.0, 1.9, False),
        (1.0, 2.0, True),
        (0.3, 0.3, False),
    ],
)
def test_a_median_changes_by_a_factor_and_by_an_amount(
    before: float, after: float, *, told: bool
) -> None:
    """Both, at the bounds exactly, and in either direction."""
    assert bool(changes(latencies(latency(before)), latencies(latency(after)))) is told


@pytest.mark.parametrize("few", [(4, 9), (9, 4), (1, 1)])
def test_few_answers_say_nothing(few: tuple[int, int]) -> None:
    """Each side needs enough of them."""
    one, other = few
    before, after = latency(0.1, answers=one), latency(9.0, answers=other)
    assert changes(latencies(before), latencies(after)) == []


def test_a_busy_machine_makes_no_path_slower() -> None:
    """Where everything took longer by the same factor, that is told once, and only what took longer still beside it."""
    flows = [f"flow-{number}" for number in range(9)]
    before = latencies(*(latency(0.2, flow=flow) for flow in flows))
    after = latencies(*(latency(0.8, flow=flow) for flow in flows[1:]), latency(4.0, flow=flows[0]))
    whole, slow = changes(before, after)
    assert (whole.what, whole.after, whole.worse) == (WHOLE, 4.0, True)
    assert (slow.subject, slow.before, slow.after) == ("flow-0 from win-1", 0.2, 4.0)


def test_a_path_that_did_not_slow_down_with_the_rest_is_not_called_faster() -> None:
    """It is beyond noise only at the runs' own pace, not by itself."""
    flows = [f"flow-{number}" for number in range(9)]
    before = latencies(*(latency(0.2, flow=flow) for flow in flows))
    after = latencies(*(latency(0.8, flow=flow) for flow in flows[1:]), latency(0.2, flow=flows[0]))
    assert [one.what for one in changes(before, after)] == [WHOLE]


def test_latencies_are_joined_across_renamed_nodes() -> None:
    """A replaced node is compared with the one whose place it took."""
    nodes = tuple(
        replace(one, name="win-new") if one.name == "win-1" else one for one in FACTS.nodes
    )
    after = {"facts": replace(FACTS, nodes=nodes), **latencies(latency(2.0, node="win-new"))}
    (found,) = changes(latencies(latency(0.1)), after)
    assert found.subject == "f from win-new"


def path(**fields: Any) -> dict[str, Any]:
    made = PathPace(
        source_os=OS.LINUX,
        target_os=OS.WINDOWS,
        placement=Placement.OTHER_NODE,
        answers=20,
        median=0.1,
        p99=0.1,
        transfers=6,
        mib_per_second=40.0,
    )
    return {"paths": (replace(made, **fields),)}


def test_paths_and_their_throughput_are_compared() -> None:
    """A path that answers late and one that sends slowly are two findings; less throughput is worse."""
    (late,) = changes(path(), path(median=0.9))
    assert (late.what, late.subject) == ("path latency", "Linux → Windows, other-node")
    (slow,) = changes(path(), path(mib_per_second=10.0))
    assert (slow.what, slow.worse) == ("throughput", True)
    (fast,) = changes(path(), path(mib_per_second=100.0))
    assert not fast.worse
    assert changes(path(), path(mib_per_second=30.0)) == []
    assert changes(path(), path(mib_per_second=1.0, transfers=1)) == []
    assert changes(path(), path(mib_per_second=None)) == []


def convergence(*seconds: float, converged: bool = True) -> dict[str, Any]:
    found = [
        Convergence(service=f"svc-{number}", probe="probe-1", seconds=each, converged=converged)
        for number, each in enumerate(seconds)
    ]
    return {"convergence": tuple(found)}


def test_convergence_is_compared_by_probe_over_its_services() -> None:
    """One Service that took longer is noise; a probe at which most do is not."""
    quick = convergence(1, 1, 1, 1, 1, 1)
    assert changes(quick, convergence(1, 1, 1, 1, 1, 40)) == []
    (found,) = changes(quick, convergence(9, 9, 9, 9, 9, 1))
    assert (found.subject, found.before, found.after) == ("Services at probe-1", 1, 9)
    assert changes(convergence(1, 1), convergence(30, 30)) == []
    assert changes(quick, convergence(5, 5, 5, 5, 5, 5)) == []  # four seconds more


def test_a_busy_machine_makes_no_convergence_slower() -> None:
    """Services that converge later by as much as all answers come later are told with these."""
    flows = [f"flow-{number}" for number in range(9)]
    before, after = (
        {**latencies(*(latency(each, flow=flow) for flow in flows)), **convergence(*[late] * 6)}
        for each, late in ((0.2, 2), (2.0, 20))
    )
    assert [one.what for one in changes(before, after)] == [WHOLE]


def test_a_service_that_no_longer_converges_is_always_told() -> None:
    """That is no question of paces."""
    (found,) = changes(convergence(1), convergence(60, converged=False))
    assert (found.what, found.before, found.after, found.worse) == (NEVER, 1, None, True)
    (back,) = changes(convergence(60, converged=False), convergence(1))
    assert not back.worse


SECONDS = st.floats(min_value=0, max_value=100)


@given(SECONDS, SECONDS, st.sampled_from([0.25, 1.0, 5.0]))
def test_noise_is_the_same_both_ways(one: float, other: float, least: float) -> None:
    """Whichever run comes first, the two figures differ or do not."""
    assert paces.beyond(one, other, least) is paces.beyond(other, one, least)
    assert not paces.beyond(one, one, least)


@given(st.lists(st.tuples(SECONDS, SECONDS), max_size=12))
def test_the_pace_of_a_run_is_a_positive_factor(pairs: list[tuple[float, float]]) -> None:
    """Nothing divides by nothing, and few pairs make no pace."""
    assert paces.pace(pairs) > 0
    if len(pairs) < paces.FEWEST:
        assert paces.pace(pairs) == 1.0


def test_the_same_run_has_no_other_pace() -> None:
    """All figures of a real story compared with themselves are paces."""
    run: RecordedRun = replace(RUN, latencies=(latency(0.4), latency(3.0, flow="g")))
    assert difference(run, run).paces == ()
