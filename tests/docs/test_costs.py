"""The page about costs counts what a run would create, as the planner does for clusters of these sizes."""

import sys
from dataclasses import replace
from functools import cache

import pytest

from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import SAMPLE, ClusterFacts
from nettests.plan import build, load
from nettests.resources import suites_path
from nettests.session.estimate import estimate
from tests.docs.documents import rows
from tests.facts import PROFILES, cluster_facts

PAGE = "docs/guides/costs-and-risks.md"
HEADER = (
    "| nodes | tested | checks | members | Pods that stay | Pods in all | Services "
    "| requests, about | execs, about | seconds, about |"
)
LARGE = 12
"""The numbers of larger clusters, all of whose nodes are tested, take seconds or minutes to count."""


def facts_of(nodes: int, tested: str) -> ClusterFacts:
    """Return the facts of a cluster: a quarter Linux nodes, two at least, and Windows nodes of two builds."""
    of_each = (nodes - max(2, nodes // 4)) // 2
    shape = replace(
        PROFILES["win2022-l2bridge-dsr"],
        build=None,
        builds=("17763.5329", "20348.3207"),
        of_each=of_each,
        linux=nodes - 2 * of_each,
    )
    facts = cluster_facts(shape)
    return (
        replace(facts, fleet=replace(facts.fleet, chosen=SAMPLE)) if tested == "sample" else facts
    )


@cache
def counted(nodes: int, tested: str) -> list[str]:
    """Return the cells of a row."""
    facts = facts_of(nodes, tested)
    size = estimate(build(facts, load([suites_path()]).flows), facts, ClusterProfile())
    numbers = (size.checks, size.members, size.probes, size.pods, size.services, size.requests)
    execs = size.processes * 3
    return [str(nodes), tested, *(f"{number:,}" for number in (*numbers, execs, size.seconds))]


TABLE = rows(PAGE, HEADER)


def test_the_page_has_the_sizes_of_the_estimate() -> None:
    """Four, twelve, fifty and two hundred nodes; a sample is a row of its own, because it does not grow."""
    assert [(row[0], row[1]) for row in TABLE] == [
        ("4", "all"),
        ("12", "all"),
        ("50", "all"),
        ("200", "all"),
        ("200", "sample"),
    ]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row,
            id=f"{row[0]}-{row[1]}",
            marks=pytest.mark.nightly if int(row[0]) > LARGE and row[1] == "all" else (),
        )
        for row in TABLE
    ],
)
def test_every_number_is_close_to_what_the_planner_counts(row: list[str]) -> None:
    """Within a tenth, so that one new flow changes no page; `python -m tests.docs.test_costs` prints the rows."""
    told, today = (
        [int(cell.replace(",", "")) for cell in cells[2:]]
        for cells in (row, counted(int(row[0]), row[1]))
    )
    assert told == pytest.approx(today, rel=0.1)


if __name__ == "__main__":
    for number, which in ((4, "all"), (12, "all"), (50, "all"), (200, "all"), (200, "sample")):
        sys.stdout.write(f"| {' | '.join(counted(number, which))} |\n")
